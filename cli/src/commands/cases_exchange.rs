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
/// Cases named behind a reason.
const MOST_IDS: usize = 3;

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
            (exported.written, grouped(&exported.left_out))
        }
    };
    notes(context, &left_out);
    if written == 0 {
        return Err(Failure::mistake("no case can be said in that format"));
    }
    context.printer.out(&format!("{written} of {} cases in {}", suite.cases.len(), out.display()));
    Ok(Exit::Yes)
}

/// `id: why` of every case that was left out, as one line a reason with its number of cases. What a reason names
/// in backticks differs from case to case.
fn grouped(left_out: &[String]) -> Vec<String> {
    let mut reasons: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for line in left_out {
        let (id, why) = line.split_once(": ").unwrap_or(("", line));
        let parts = why.split('`').enumerate();
        let general: String = parts.map(|(place, part)| if place % 2 == 0 { part } else { "…" }).collect();
        reasons.entry(general).or_default().push(id);
    }
    let mut reasons: Vec<(String, Vec<&str>)> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, ids)| std::cmp::Reverse(ids.len()));
    let line = |(why, ids): &(String, Vec<&str>)| {
        let shown = ids.iter().take(MOST_IDS).copied().collect::<Vec<_>>().join(", ");
        let more = ids.len().saturating_sub(MOST_IDS);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let cases = if ids.len() == 1 { "case" } else { "cases" };
        format!("{} {cases} left out: {why} ({shown}{more})", ids.len())
    };
    reasons.iter().map(line).collect()
}

fn notes(context: &Context, notes: &[String]) {
    for note in notes.iter().take(MOST_NOTES) {
        context.printer.note(&format!("note: {}", tenpass_agent::untrusted::visible(note)));
    }
    if notes.len() > MOST_NOTES {
        context.printer.note(&format!("note: and {} more", notes.len() - MOST_NOTES));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_counted_by_reason() {
        let lines = [
            "a: `x` of `f` is free",
            "b: it is a scenario",
            "c: `y` of `g` is free",
            "d: `z` of `h` is free",
            "e: `z` of `h` is free",
        ];
        assert_eq!(
            grouped(&lines.map(str::to_owned)),
            ["4 cases left out: … of … is free (a, c, d and 1 more)", "1 case left out: it is a scenario (b)"]
        );
    }
}
