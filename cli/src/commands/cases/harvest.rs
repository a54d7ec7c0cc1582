//! `tenpass cases harvest`: proposes cases from what went wrong lately.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use tenpass_agent::untrusted::visible;
use tenpass_bench::cases::{Case, SuiteText, parse_suite};
use tenpass_bench::life::{Harvest, LIFE_FAMILY, Life, LifeError, Proposal, drafts_toml, harvest};
use tenpass_frame::Kind;

use super::life::{failed, folder, options};
use crate::args::Format;
use crate::args::tools::CasesPath;
use crate::commands::chat::style::shortened;
use crate::commands::table::{Columns, export, table};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Characters of a request and of a suggestion in the table; JSON has all of it.
const REQUEST: usize = 44;
const SUGGESTION: usize = 40;

/// Carries out the command.
pub(super) fn run(
    context: &Context,
    days: u32,
    out: Option<&Path>,
    path: &CasesPath,
    format: Format,
) -> Result<Exit, Failure> {
    let known = known(context, path)?;
    let life = match Life::open(&folder(context)) {
        Ok(life) => life,
        Err(error @ LifeError::Nothing { .. }) if format == Format::Table => {
            context.printer.note(&format!("{error}; {}", error.hint()));
            return Ok(Exit::Yes);
        }
        Err(LifeError::Nothing { .. }) => return printed(context, &Harvest::default(), days, format),
        Err(error) => return Err(failed(context, error)),
    };
    let since = Timestamp::now() - SignedDuration::from_hours(i64::from(days) * 24);
    let options = options(context, &[]);
    let found = harvest(&life, Some(since), &known, &options).map_err(|error| failed(context, error))?;
    if let Some(out) = out {
        write(context, &found, out)?;
    }
    printed(context, &found, days, format)
}

fn printed(context: &Context, found: &Harvest, days: u32, format: Format) -> Result<Exit, Failure> {
    match format {
        Format::Table => print(context, found, days),
        Format::Json => context.printer.json(found)?,
        Format::Csv | Format::Parquet => {
            let rows: Vec<Row<'_>> = found.proposals.iter().map(Row::of).collect();
            export(context.printer, format, COLUMNS, &rows)?;
        }
    }
    Ok(Exit::Yes)
}

/// The columns of CSV and Parquet.
const COLUMNS: &Columns = &[
    ("turn", Kind::Text),
    ("at", Kind::Text),
    ("strength", Kind::Int),
    ("signals", Kind::Text),
    ("undone", Kind::Bool),
    ("interrupted", Kind::Bool),
    ("tainted", Kind::Bool),
    ("folded", Kind::Int),
    ("request", Kind::Text),
    ("suggested", Kind::Text),
];

/// One proposal, flat.
#[derive(Serialize)]
struct Row<'a> {
    turn: &'a str,
    at: String,
    strength: i64,
    signals: String,
    undone: bool,
    interrupted: bool,
    tainted: bool,
    folded: i64,
    request: &'a str,
    suggested: Option<&'a str>,
}

impl<'a> Row<'a> {
    fn of(proposal: &'a Proposal) -> Self {
        let signals: Vec<&str> = proposal.signals.iter().map(|signal| signal.words()).collect();
        Self {
            turn: &proposal.turn,
            at: proposal.at.to_string(),
            strength: i64::from(proposal.strength),
            signals: signals.join(", "),
            undone: proposal.is_undone,
            interrupted: proposal.is_interrupted,
            tainted: proposal.is_tainted,
            folded: proposal.folded as i64,
            request: &proposal.request,
            suggested: proposal.expect.as_deref(),
        }
    }
}

/// The cases there are; outside a project none, unless a suite is named.
fn known(context: &Context, path: &CasesPath) -> Result<Vec<Case>, Failure> {
    if path.cases.is_none() && context.cases_path(None).is_err() {
        return Ok(Vec::new());
    }
    Ok(context.suite(path.cases.as_deref())?.cases)
}

fn print(context: &Context, found: &Harvest, days: u32) {
    if !found.proposals.is_empty() {
        let rows: Vec<Vec<String>> = found.proposals.iter().map(row).collect();
        context.printer.out(&table(
            &["turn", "at", "strength", "what went wrong", "request", "suggested"],
            &rows,
            &[2],
        ));
    }
    let counted = |count: usize, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
    let mut said = vec![format!(
        "{} from {} of the last {}",
        counted(found.proposals.len(), "proposal", "proposals"),
        counted(found.turns, "turn", "turns"),
        counted(days as usize, "day", "days")
    )];
    for (count, one, many) in [
        (found.known, "has a case already", "have a case already"),
        (found.folded, "says the same as another", "say the same as another"),
        (found.unfit, "cannot become a case", "cannot become a case"),
        (found.left_out, "was not looked at", "were not looked at"),
        (found.unreadable, "line cannot be read", "lines cannot be read"),
    ] {
        if count > 0 {
            said.push(counted(count, one, many));
        }
    }
    if let Some(known) = said.iter_mut().find(|words| words.ends_with(" a case already")) {
        known.push_str(&format!(" ({})", named(&found.known_cases)));
    }
    context.printer.note(&said.join("; "));
    if let Some(first) = found.proposals.first() {
        context.printer.note(&format!("make one a case with: tenpass cases add --from-trace {}", short(&first.turn)));
    }
}

/// Ids, as many as one line has room for.
fn named(ids: &BTreeSet<String>) -> String {
    const MOST: usize = 5;
    let shown = ids.iter().take(MOST).map(String::as_str).collect::<Vec<_>>().join(", ");
    match ids.len().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn row(proposal: &Proposal) -> Vec<String> {
    let mut wrong: Vec<String> = proposal.signals.iter().map(|signal| signal.words().to_owned()).collect();
    for (is, mark) in [
        (proposal.is_undone, "undone"),
        (proposal.is_interrupted, "interrupted"),
        (proposal.is_tainted, "read from outside"),
    ] {
        if is {
            wrong.push(format!("({mark})"));
        }
    }
    if proposal.folded > 0 {
        wrong.push(format!("(and {} more)", proposal.folded));
    }
    let suggested = proposal.expect.as_deref().map_or_else(|| "–".to_owned(), |lines| one_line(lines, SUGGESTION));
    vec![
        short(&proposal.turn).to_owned(),
        proposal.at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string(),
        proposal.strength.to_string(),
        wrong.join(", "),
        one_line(&proposal.request, REQUEST),
        suggested,
    ]
}

fn short(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}

fn one_line(text: &str, most: usize) -> String {
    shortened(&visible(&text.split_whitespace().collect::<Vec<_>>().join(" ")), most)
}

/// Writes the drafts; a file that is there stays.
fn write(context: &Context, found: &Harvest, out: &Path) -> Result<(), Failure> {
    let without = found.proposals.iter().filter(|proposal| proposal.expect.is_none()).count();
    let Some(text) = drafts_toml(&found.proposals) else {
        context.printer.note("no draft was written: no proposal has a suggestion");
        return Ok(());
    };
    let path = out.join(format!("{LIFE_FAMILY}.toml"));
    let suite = SuiteText { files: vec![(path.display().to_string(), text.clone())], ..SuiteText::default() };
    if let Err(errors) = parse_suite(&suite) {
        let first = errors.first().map(ToString::to_string).unwrap_or_default();
        return Err(Failure::bug(format!("the drafts are no valid cases: {first}")));
    }
    std::fs::create_dir_all(out).map_err(|error| Failure::file(out, &error))?;
    let file = OpenOptions::new().write(true).create_new(true).open(&path);
    let mut file = file.map_err(|error| {
        let failure = Failure::file(&path, &error);
        if error.kind() == std::io::ErrorKind::AlreadyExists {
            failure.hint("name another folder with --out")
        } else {
            failure
        }
    })?;
    file.write_all(text.as_bytes()).map_err(|error| Failure::file(&path, &error))?;
    let left = if without > 0 { format!("; {without} have no suggestion and are left out") } else { String::new() };
    context.printer.note(&format!("drafts in {}{left}", path.display()));
    Ok(())
}
