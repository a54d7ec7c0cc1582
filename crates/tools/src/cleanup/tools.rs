//! `plan_cleanup` and `execute_cleanup`.

use std::sync::Arc;

use jiff::Zoned;
use serde_json::{Map, Value, json};
use tenpass_agent::tool::{CallContext, Inspection, Note, NoteStatus, Tool, ToolOutput};
use tenpass_model::BoxFuture;
use tenpass_trace::{ToolCategory, ToolDefinition};

use super::folder::{Entry, Folder};
use super::plan::{Filter, Plan, Planned, Plans};
use super::trash::Trash;
use crate::files::{Definition, blocking, integer, shown_bytes, shown_time, string};

/// Most file names of a plan's result; the confirmation shows all of them.
const MOST_NAMED: usize = 40;

/// Computes which files could go to the trash.
#[derive(Debug)]
pub struct PlanCleanup {
    plans: Arc<Plans>,
    definition: ToolDefinition,
}

/// Moves the files of a plan to the trash.
pub struct ExecuteCleanup {
    plans: Arc<Plans>,
    trash: Arc<dyn Trash>,
    definition: ToolDefinition,
}

impl PlanCleanup {
    pub(crate) fn new(plans: Arc<Plans>) -> Self {
        let filter = json!({
            "type": "object",
            "required": ["extension"],
            "properties": {
                "extension": { "type": "string", "description": "Without the dot; a star for every file." },
                "older_than_days": { "type": "integer", "minimum": 0 },
                "larger_than_mb": { "type": "number", "minimum": 0 },
            },
        });
        let definition = Definition::new(
            "plan_cleanup",
            "Computes which files of a folder could go to the trash; deletes nothing.",
            ToolCategory::PcRead,
        )
        .reads()
        .keywords(&[
            "nettoyer",
            "nettoyage",
            "nettoie",
            "clean",
            "cleanup",
            "trash",
            "corbeille",
            "vieux",
            "old",
            "supprimer",
            "delete",
        ])
        .required("directory", json!({ "type": "string" }))
        .required("filter", filter)
        .build();
        Self { plans, definition }
    }
}

impl Tool for PlanCleanup {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn note(&self) -> Note {
        Note {
            serves: "finds old or large files that could go to the trash",
            status: NoteStatus::KnownLimit,
            limit: "only in the folders that the configuration names, not in their subfolders",
        }
    }

    fn inspect(&self, arguments: &Map<String, Value>) -> Inspection {
        Inspection { reject: self.plans.folder(string(arguments, "directory")).err(), ..Inspection::default() }
    }

    fn run<'a>(&'a self, arguments: &'a Map<String, Value>, context: &'a CallContext) -> BoxFuture<'a, ToolOutput> {
        let (plans, directory, now) =
            (Arc::clone(&self.plans), string(arguments, "directory").to_owned(), context.now.clone());
        let filter = filter(arguments);
        blocking(move || match plans.plan(&directory, filter.clone(), &now) {
            Ok(planned) => {
                let source = format!("file names of {}", planned.folder);
                ToolOutput::ok(described(&plans, &planned, &filter, &now)).untrusted(source)
            }
            Err(reason) => ToolOutput::error(reason),
        })
    }
}

fn filter(arguments: &Map<String, Value>) -> Filter {
    let empty = Map::new();
    let filter = arguments.get("filter").and_then(Value::as_object).unwrap_or(&empty);
    let megabytes = filter.get("larger_than_mb").and_then(Value::as_f64).unwrap_or(0.0);
    Filter {
        extension: Filter::extension(string(filter, "extension")),
        older_than_days: integer(filter, "older_than_days").unwrap_or(0),
        larger_than_bytes: (megabytes * 1e6) as u64,
    }
}

fn described(plans: &Plans, planned: &Planned, filter: &Filter, now: &Zoned) -> String {
    let Planned { plan, scan, beyond, folder } = planned;
    let looked = scan.entries.len();
    let mut text = match plan {
        None => format!(
            "Nothing in {folder:?} matches: {}. {looked} files were looked at, subfolders were not.",
            filter.words()
        ),
        Some(plan) => format!(
            "Plan {:?}: {} of {looked} files in {folder:?} could go to the trash ({}), {} in all. Nothing was moved. \
             execute_cleanup with this plan_id moves them, within {} minutes.",
            plan.id,
            plan.entries.len(),
            filter.words(),
            shown_bytes(plan.bytes()),
            plans.lifetime().as_secs() / 60,
        ),
    };
    if *beyond > 0 {
        text.push_str(&format!(" {beyond} more match; one plan takes the oldest ones."));
    }
    if scan.left_out > 0 {
        text.push_str(&format!(" Never planned: {} folders, links, hidden or sensitive files.", scan.left_out));
    }
    if scan.more {
        text.push_str(" The folder has more entries than were looked at.");
    }
    if let Some(plan) = plan {
        text.push('\n');
        text.extend(plan.entries.iter().take(MOST_NAMED).map(|entry| format!("\n{}", line(entry, now))));
        if plan.entries.len() > MOST_NAMED {
            text.push_str(&format!("\n… and {} more", plan.entries.len() - MOST_NAMED));
        }
    }
    text
}

fn line(entry: &Entry, now: &Zoned) -> String {
    format!("{} · {} · {}", entry.name, shown_bytes(entry.bytes), shown_time(Some(entry.modified), now))
}

impl ExecuteCleanup {
    pub(crate) fn new(plans: Arc<Plans>, trash: Arc<dyn Trash>) -> Self {
        let definition = Definition::new(
            "execute_cleanup",
            "Moves the files of a cleanup plan to the trash.",
            ToolCategory::PcWrite,
        )
        .keywords(&[
            "nettoyer",
            "nettoyage",
            "clean",
            "cleanup",
            "trash",
            "corbeille",
            "supprimer",
            "delete",
            "vider",
            "plan",
        ])
        .required("plan_id", json!({ "type": "string", "minLength": 1, "description": "From plan_cleanup." }))
        .build();
        Self { plans, trash, definition }
    }
}

impl std::fmt::Debug for ExecuteCleanup {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ExecuteCleanup").field("plans", &self.plans).finish_non_exhaustive()
    }
}

impl Tool for ExecuteCleanup {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn note(&self) -> Note {
        Note {
            serves: "moves the files of a cleanup plan to the trash, where they can be taken back from",
            status: NoteStatus::SeenWorking,
            limit: "",
        }
    }

    /// Every file that will be moved, none left out: the approval is bound to this list.
    fn inspect(&self, arguments: &Map<String, Value>) -> Inspection {
        match self.plans.live(string(arguments, "plan_id")) {
            Err(reason) => Inspection { reject: Some(reason), ..Inspection::default() },
            Ok(plan) => {
                let now = Zoned::now();
                let mut preview = vec![format!(
                    "moves {} to the trash, {} in all, from {} ({})",
                    files(plan.entries.len()),
                    shown_bytes(plan.bytes()),
                    plan.path.display(),
                    plan.filter.words()
                )];
                preview.extend(plan.entries.iter().map(|entry| line(entry, &now)));
                Inspection { preview, ..Inspection::default() }
            }
        }
    }

    fn run<'a>(&'a self, arguments: &'a Map<String, Value>, context: &'a CallContext) -> BoxFuture<'a, ToolOutput> {
        let (plans, trash) = (Arc::clone(&self.plans), Arc::clone(&self.trash));
        let (id, now, cancel) = (string(arguments, "plan_id").to_owned(), context.now.clone(), context.cancel.clone());
        blocking(move || match plans.take(&id) {
            Ok(plan) => execute(&plans, trash.as_ref(), &plan, &now, &|| cancel.is_cancelled()),
            Err(reason) => ToolOutput::error(reason),
        })
    }
}

/// Moves what is still as planned.
fn execute(plans: &Plans, trash: &dyn Trash, plan: &Plan, now: &Zoned, stopped: &dyn Fn() -> bool) -> ToolOutput {
    let folder = match Folder::open(&plan.path) {
        Ok(folder) if folder.identity == plan.identity => folder,
        Ok(_) => {
            return ToolOutput::error(format!(
                "The folder {:?} is not the one of the plan any more. Nothing was moved.",
                plan.folder
            ));
        }
        Err(error) => {
            return ToolOutput::error(format!(
                "The folder {:?} cannot be read: {error}. Nothing was moved.",
                plan.folder
            ));
        }
    };
    let (mut moved, mut bytes, mut skipped, mut failed) = (0, 0, Vec::new(), Vec::new());
    let mut left = 0;
    for (index, entry) in plan.entries.iter().enumerate() {
        if stopped() {
            left = plan.entries.len() - index;
            break;
        }
        if !folder.unchanged(entry, plans.protected()) {
            skipped.push(format!("{:?}", entry.name));
            continue;
        }
        match trash.put(&folder.path.join(&entry.name), now) {
            Ok(()) if folder.is_gone(&entry.name) => {
                moved += 1;
                bytes += entry.bytes;
            }
            Ok(()) => failed.push(format!("{:?} is still there", entry.name)),
            Err(error) => failed.push(format!("{:?}: {}", entry.name, error.reason)),
        }
    }
    let mut text = format!("Moved {} ({}) of {:?} to the trash.", files(moved), shown_bytes(bytes), plan.folder);
    if !skipped.is_empty() {
        text.push_str(&format!(" Skipped because changed or gone since the plan: {}.", skipped.join(", ")));
    }
    if !failed.is_empty() {
        text.push_str(&format!(" Not moved: {}.", failed.join("; ")));
    }
    if left > 0 {
        text.push_str(&format!(" Stopped before the last {}.", files(left)));
    }
    let named = !skipped.is_empty() || !failed.is_empty();
    let output = ToolOutput { ok: moved > 0 || failed.is_empty(), text, ..ToolOutput::default() };
    if named { output.untrusted(format!("file names of {}", plan.folder)) } else { output }
}

fn files(count: usize) -> String {
    if count == 1 { "1 file".to_owned() } else { format!("{count} files") }
}
