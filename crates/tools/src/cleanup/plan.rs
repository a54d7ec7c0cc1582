//! Plans: computed from a folder and a filter, kept in memory, executed at most once.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use jiff::Zoned;
use sha2::{Digest as _, Sha256};

use super::CleanupOptions;
use super::folder::{Entry, Folder, Scan};
use crate::files::{Identity, Protected, fold, shown_bytes};

/// Most plans that are remembered, used and expired ones included.
const MOST_PLANS: usize = 32;

/// Which files of a folder are meant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    /// Without dot; `None` for every file.
    pub(crate) extension: Option<String>,
    pub(crate) older_than_days: u64,
    pub(crate) larger_than_bytes: u64,
}

impl Filter {
    /// An extension as models write it: `.LOG`, `*.log`, `log`, `*`.
    pub(crate) fn extension(typed: &str) -> Option<String> {
        let plain = typed.trim().trim_start_matches('*').trim_start_matches('.').to_lowercase();
        (!plain.is_empty()).then_some(plain)
    }

    fn takes(&self, entry: &Entry, now: SystemTime) -> bool {
        let name = entry.name.to_lowercase();
        let extension = self.extension.as_ref().is_none_or(|wanted| {
            name.strip_suffix(wanted.as_str()).is_some_and(|stem| stem.len() > 1 && stem.ends_with('.'))
        });
        let least_age = Duration::from_secs(self.older_than_days.saturating_mul(86_400));
        // A file from the future has no age.
        let old = self.older_than_days == 0 || now.duration_since(entry.modified).is_ok_and(|age| age >= least_age);
        extension && old && (self.larger_than_bytes == 0 || entry.bytes > self.larger_than_bytes)
    }

    /// The filter in words.
    pub(crate) fn words(&self) -> String {
        let mut words = match &self.extension {
            Some(extension) => format!("files ending in .{extension}"),
            None => "files".to_owned(),
        };
        if self.older_than_days > 0 {
            words.push_str(&format!(", at least {} days old", self.older_than_days));
        }
        if self.larger_than_bytes > 0 {
            words.push_str(&format!(", larger than {}", shown_bytes(self.larger_than_bytes)));
        }
        words
    }
}

/// A computed list of files.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) id: String,
    /// The folder's configured name.
    pub(crate) folder: String,
    /// Its canonical path.
    pub(crate) path: PathBuf,
    pub(crate) identity: Identity,
    pub(crate) entries: Vec<Entry>,
    pub(crate) filter: Filter,
    made: Instant,
}

impl Plan {
    pub(crate) fn bytes(&self) -> u64 {
        self.entries.iter().map(|entry| entry.bytes).sum()
    }
}

/// What a scan and a filter came to.
#[derive(Debug)]
pub(crate) struct Planned {
    /// `None` when no file matches.
    pub(crate) plan: Option<Plan>,
    pub(crate) scan: Scan,
    /// Matching files beyond the most that one plan takes.
    pub(crate) beyond: usize,
    /// The folder's configured name.
    pub(crate) folder: String,
}

#[derive(Debug)]
enum Slot {
    Live(Plan),
    Used(String),
}

impl Slot {
    fn id(&self) -> &str {
        match self {
            Self::Live(plan) => &plan.id,
            Self::Used(id) => id,
        }
    }
}

/// The plans of this process, and the folders they may be made of.
#[derive(Debug)]
pub(crate) struct Plans {
    options: CleanupOptions,
    protected: Protected,
    slots: Mutex<Vec<Slot>>,
    /// Plans made so far.
    made: AtomicU64,
}

impl Plans {
    pub(crate) fn new(options: CleanupOptions) -> Self {
        let protected = Protected::new(&options.protected);
        Self { options, protected, slots: Mutex::new(Vec::new()), made: AtomicU64::new(0) }
    }

    pub(crate) fn protected(&self) -> &Protected {
        &self.protected
    }

    pub(crate) fn lifetime(&self) -> Duration {
        self.options.lifetime
    }

    /// The names of the folders, for a reader.
    pub(crate) fn folder_names(&self) -> String {
        let names: Vec<String> = self.options.folders.iter().map(|(name, _)| format!("{name:?}")).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }

    /// The whitelisted folder that is meant: by its name, its own last name, or its whole path.
    pub(crate) fn folder(&self, typed: &str) -> Result<(&str, &Path), String> {
        let trimmed = typed.trim().trim_end_matches(['/', '\\']);
        let expanded = match (trimmed.strip_prefix('~'), &self.options.home) {
            (Some(rest), Some(home)) => home.join(rest.trim_start_matches(['/', '\\'])),
            _ => PathBuf::from(trimmed),
        };
        let wanted = fold(trimmed.trim_start_matches("./"));
        self.options
            .folders
            .iter()
            .find(|(name, path)| {
                let own = path.file_name().map(|own| fold(&own.to_string_lossy()));
                fold(name) == wanted
                    || own.as_deref() == Some(&wanted)
                    || *path == expanded
                    || path.canonicalize().is_ok_and(|canonical| canonical == expanded)
            })
            .map(|(name, path)| (name.as_str(), path.as_path()))
            .ok_or_else(|| {
                format!("{typed:?} is not a folder that may be cleaned up. These are: {}.", self.folder_names())
            })
    }

    /// Computes a plan and keeps it.
    pub(crate) fn plan(&self, directory: &str, filter: Filter, now: &Zoned) -> Result<Planned, String> {
        let (name, path) = self.folder(directory)?;
        let unreadable = |error: std::io::Error| format!("The folder {name:?} cannot be read: {error}.");
        let folder = Folder::open(path).map_err(unreadable)?;
        let scan = folder.scan(&self.protected).map_err(unreadable)?;
        let now = SystemTime::from(now.timestamp());
        let mut entries: Vec<Entry> = scan.entries.iter().filter(|entry| filter.takes(entry, now)).cloned().collect();
        let beyond = entries.len().saturating_sub(self.options.most_files);
        entries.truncate(self.options.most_files);
        let plan = (!entries.is_empty()).then(|| Plan {
            id: short_id(name, &entries, self.made.fetch_add(1, Ordering::Relaxed)),
            folder: name.to_owned(),
            path: folder.path.clone(),
            identity: folder.identity,
            entries,
            filter,
            made: Instant::now(),
        });
        if let Some(plan) = &plan {
            let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
            if slots.len() >= MOST_PLANS {
                slots.remove(0);
            }
            slots.push(Slot::Live(plan.clone()));
        }
        Ok(Planned { plan, scan, beyond, folder: name.to_owned() })
    }

    /// A plan that may still be executed.
    pub(crate) fn live(&self, id: &str) -> Result<Plan, String> {
        let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let id = id.trim();
        match slots.iter().find(|slot| slot.id() == id) {
            Some(Slot::Live(plan)) if plan.made.elapsed() < self.options.lifetime => Ok(plan.clone()),
            Some(Slot::Live(_)) => Err(format!("The plan {id:?} is too old. Make a new one with plan_cleanup.")),
            Some(Slot::Used(_)) => {
                Err(format!("The plan {id:?} was executed already. Make a new one with plan_cleanup."))
            }
            None => Err(self.unknown(id, &slots)),
        }
    }

    /// Takes a plan for execution: nobody else can.
    pub(crate) fn take(&self, id: &str) -> Result<Plan, String> {
        let plan = self.live(id)?;
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        match slots.iter_mut().find(|slot| slot.id() == plan.id) {
            Some(slot @ Slot::Live(_)) => {
                *slot = Slot::Used(plan.id.clone());
                Ok(plan)
            }
            _ => Err(format!("The plan {id:?} was executed already. Make a new one with plan_cleanup.")),
        }
    }

    /// An id from an earlier turn may be forgotten (K20), so the live ones are named.
    fn unknown(&self, id: &str, slots: &[Slot]) -> String {
        let live: Vec<String> = slots
            .iter()
            .filter_map(|slot| match slot {
                Slot::Live(plan) if plan.made.elapsed() < self.options.lifetime => {
                    Some(format!("{:?} ({} files of {:?})", plan.id, plan.entries.len(), plan.folder))
                }
                _ => None,
            })
            .collect();
        let known = if live.is_empty() {
            "There is none now; make one with plan_cleanup.".to_owned()
        } else {
            format!("There is: {}.", live.join(", "))
        };
        format!("There is no plan {id:?}. {known}")
    }
}

/// Eight hexadecimal digits: short enough to be copied without a mistake. They follow from the list and
/// from how many plans there were before, so that a world that is played again says the same; what
/// protects a plan is its confirmation, not its name.
fn short_id(folder: &str, entries: &[Entry], number: u64) -> String {
    let mut hasher = Sha256::new();
    hasher.update(format!("{number}\0{folder}"));
    for entry in entries {
        let changed = entry.modified.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        hasher.update(format!("\0{}\0{}\0{}", entry.name, entry.bytes, changed.as_nanos()));
    }
    let [first, second, third, fourth, ..]: [u8; 32] = hasher.finalize().into();
    format!("{first:02x}{second:02x}{third:02x}{fourth:02x}")
}
