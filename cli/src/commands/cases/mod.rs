//! `tenpass cases …`.

mod add;
mod ask;
mod harvest;
mod life;

use std::path::Path;

use serde::Serialize;
use tenpass_bench::bfcl::{self, Category};
use tenpass_bench::cases::{Suite, show};
use tenpass_frame::Kind;

use super::cases_exchange;
use super::table::{Columns, export};
use crate::args::Format;
use crate::args::tools::{Cases, Import};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Carries out the command.
pub(crate) fn run(context: &Context, command: &Cases) -> Result<Exit, Failure> {
    match command {
        Cases::List { path, format } => {
            let suite = context.suite(path.cases.as_deref())?;
            match format.format {
                Format::Table => context.printer.out(&show::list_text(&suite)),
                Format::Json => context.printer.json(&show::list_json(&suite))?,
                format => export(context.printer, format, LISTED, &listed(&suite))?,
            }
            Ok(Exit::Yes)
        }
        Cases::Show { id, path, format } => {
            let suite = context.suite(path.cases.as_deref())?;
            let case = find(&suite, id)?;
            if let Some(scenario) = &case.scenario {
                context.printer.json(scenario)?;
            } else if format.json() {
                context.printer.json(&show::show_json(case))?;
            } else {
                context.printer.out(&show::show_text(case));
            }
            Ok(Exit::Yes)
        }
        Cases::Check { path } => {
            let suite = context.suite(path.cases.as_deref())?;
            let families: std::collections::BTreeSet<&str> =
                suite.cases.iter().map(|case| case.family.as_str()).collect();
            let plural =
                |count: usize, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
            let (cases, families) =
                (plural(suite.cases.len(), "case", "cases"), plural(families.len(), "family", "families"));
            context.printer.out(&format!("{cases} in {families}, no mistakes"));
            Ok(Exit::Yes)
        }
        Cases::Add(command) => add::run(context, command),
        Cases::Harvest { days, out, path, format } => harvest::run(context, *days, out.as_deref(), path, format.format),
        Cases::Export { format, out, path } => cases_exchange::export(context, *format, out, path.cases.as_deref()),
        Cases::Import(command @ (Import::Promptfoo { .. } | Import::Tau2 { .. })) => {
            cases_exchange::import(context, command)
        }
        Cases::Import(Import::Bfcl { dir, out, category, check }) => {
            bfcl(context, dir, out.as_deref(), category, *check)
        }
    }
}

/// A case, as CSV and Parquet list it.
#[derive(Serialize)]
struct Listed<'a> {
    id: &'a str,
    family: &'a str,
    language: &'static str,
    kind: &'static str,
    tools: Vec<&'a str>,
    expects: String,
    source: &'a str,
}

const LISTED: &Columns = &[
    ("id", Kind::Text),
    ("family", Kind::Text),
    ("language", Kind::Text),
    ("kind", Kind::Text),
    ("tools", Kind::Text),
    ("expects", Kind::Text),
    ("source", Kind::Text),
];

fn listed(suite: &Suite) -> Vec<Listed<'_>> {
    suite
        .cases
        .iter()
        .map(|case| Listed {
            id: &case.id,
            family: &case.family,
            language: case.language.as_str(),
            kind: case.kind.as_str(),
            tools: case.tools.iter().map(|tool| tool.name.as_str()).collect(),
            expects: show::summary(&case.expect),
            source: &case.source,
        })
        .collect()
}

/// The case with this id, or a failure that names the nearest one.
pub(crate) fn find<'a>(suite: &'a Suite, id: &str) -> Result<&'a tenpass_bench::cases::Case, Failure> {
    suite.cases.iter().find(|case| case.id == id).ok_or_else(|| {
        let failure = Failure::mistake(format!("no case `{id}`"));
        let close = |case: &&str| strsim::jaro_winkler(case, id) > 0.85 || (id.len() > 3 && case.contains(id));
        let near = suite
            .cases
            .iter()
            .map(|case| case.id.as_str())
            .filter(close)
            .max_by(|a, b| strsim::jaro_winkler(a, id).total_cmp(&strsim::jaro_winkler(b, id)));
        match near {
            Some(near) => failure.hint(format!("did you mean `{near}`?")),
            None => failure.hint("`tenpass cases list` shows all; scenarios with --cases cases/rounds"),
        }
    })
}

fn bfcl(context: &Context, dir: &Path, out: Option<&Path>, category: &[String], check: bool) -> Result<Exit, Failure> {
    let failed = |error: bfcl::ImportError| Failure::mistake(&error).hint(error.hint());
    let categories = if category.is_empty() {
        bfcl::usual(dir).map_err(failed)?
    } else {
        category.iter().map(|name| name.parse::<Category>().map_err(Failure::mistake)).collect::<Result<_, _>>()?
    };
    if check {
        let report = bfcl::self_check(dir, &categories).map_err(failed)?;
        context.printer.out(&report.to_string());
        for line in report.categories.iter().flat_map(|category| &category.disagreements) {
            context.printer.note(line);
        }
        return Ok(if report.agrees() { Exit::Yes } else { Exit::No });
    }
    let Some(out) = out else { return Err(Failure::mistake("--out DIR is needed")) };
    let imported = bfcl::import(dir, &categories).map_err(failed)?;
    let files = bfcl::write(&imported, out).map_err(failed)?;
    let cases: usize = imported.iter().map(|category| category.cases.len()).sum();
    for note in imported.iter().flat_map(|category| &category.notes) {
        context.printer.note(&format!("note: {note}"));
    }
    context.printer.out(&format!("{cases} cases in {} files in {}", files.len(), out.display()));
    Ok(Exit::Yes)
}
