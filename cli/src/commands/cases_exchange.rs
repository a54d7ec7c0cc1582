//! `tenpass cases import promptfoo|tau2` and `tenpass cases export`.

use std::collections::BTreeMap;
use std::path::Path;

use tenpass_bench::bfcl;
use tenpass_bench::cases::{Case, load_suite, to_toml};
use tenpass_exchange::promptfoo::Converted;
use tenpass_exchange::{promptfoo, tau2};

use crate::args::tools::{ForeignCases, Import};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Notes that are printed; the rest is counted.
const MOST_NOTES: usize = 20;

/// Reads cases of others and writes them as case files.
pub(crate) fn import(context: &Context, command: &Import) -> Result<Exit, Failure> {
    match command {
        Import::Promptfoo { file, out } => {
            file_cases(context, promptfoo::import(file)?, out, "Imported from a promptfoo configuration.")
        }
        Import::Tau2 { dir, out } => {
            let comment = "Imported from tau2-bench (MIT licence, Sierra Research): the first call of each task.";
            file_cases(context, tau2::import(dir)?, out, comment)
        }
        Import::Bfcl { .. } => Err(Failure::bug("BFCL is imported elsewhere")),
    }
}

/// Writes one file a family, and loads them again: what is written must be a suite.
fn file_cases(context: &Context, converted: Converted, out: &Path, comment: &str) -> Result<Exit, Failure> {
    notes(context, &converted.notes);
    if converted.cases.is_empty() {
        return Err(Failure::mistake("no case came of it").hint("the notes above say why each was left out"));
    }
    let mut families: BTreeMap<String, Vec<Case>> = BTreeMap::new();
    let count = converted.cases.len();
    for case in converted.cases {
        families.entry(case.family.clone()).or_default().push(case);
    }
    std::fs::create_dir_all(out).map_err(|error| Failure::file(out, &error))?;
    for (family, cases) in &families {
        let path = out.join(format!("{family}.toml"));
        if path.exists() {
            return Err(Failure::mistake(format!("{} is there already", path.display()))
                .hint("nothing is overwritten: name another folder with --out, or move it away"));
        }
        std::fs::write(&path, to_toml(family, comment, cases)).map_err(|error| Failure::file(&path, &error))?;
    }
    if let Err(errors) = load_suite(out) {
        let first = errors.first().map(ToString::to_string).unwrap_or_default();
        return Err(Failure::mistake(format!("the written cases are refused: {first}"))
            .hint("mend the file and check it with `tenpass cases check --cases DIR`"));
    }
    let files = if families.len() == 1 { "file" } else { "files" };
    context.printer.out(&format!("{count} cases in {} {files} in {}", families.len(), out.display()));
    Ok(Exit::Yes)
}

/// Writes a suite in a format of others.
pub(crate) fn export(
    context: &Context,
    format: ForeignCases,
    out: &Path,
    typed: Option<&Path>,
) -> Result<Exit, Failure> {
    let suite = context.suite(typed)?;
    let (written, left_out) = match format {
        ForeignCases::Promptfoo => {
            let converted = promptfoo::export(&suite.cases, out)?;
            (suite.cases.len() - converted.notes.len(), converted.notes)
        }
        ForeignCases::Bfcl => {
            let exported =
                bfcl::export(&suite.cases, out).map_err(|error| Failure::mistake(&error).hint(error.hint()))?;
            (exported.written, exported.left_out.iter().map(|reason| format!("left out: {reason}")).collect())
        }
    };
    notes(context, &left_out);
    if written == 0 {
        return Err(Failure::mistake("no case can be said in that format"));
    }
    context.printer.out(&format!("{written} of {} cases in {}", suite.cases.len(), out.display()));
    Ok(Exit::Yes)
}

fn notes(context: &Context, notes: &[String]) {
    for note in notes.iter().take(MOST_NOTES) {
        context.printer.note(&format!("note: {}", tenpass_agent::untrusted::visible(note)));
    }
    if notes.len() > MOST_NOTES {
        context.printer.note(&format!("note: and {} more", notes.len() - MOST_NOTES));
    }
}
