//! `tenpass commands check`.

use std::path::Path;

use serde_json::{Value, json};
use tenpass_speech::commands::{
    Axis, Check as Found, Commands, Count, FalseCommand, Language, Matching, Rates, check, load_other, taken,
};
use tenpass_stats::{Tally, clopper_pearson};

use super::commands_path;
use crate::args::speech::commands::Check;
use crate::commands::table::table;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Most false commands that are told one by one.
const TOLD: usize = 20;

/// Carries out the command; the answer is no when a sentence is taken for a command.
pub(super) fn run(context: &Context, typed: &Check) -> Result<Exit, Failure> {
    let path = commands_path(context, typed.commands.file.as_deref())?;
    let commands = Commands::load(&path)?;
    let beside = path.parent().unwrap_or(Path::new(".")).join("other.toml");
    let other = load_other(typed.other.as_deref().unwrap_or(&beside))?;
    let found = check(&commands, &other, typed.closest, typed.seed);
    let fresh = fresh(&commands, &path, typed)?;
    let sentences = found.false_commands.iter().filter(|one| other.iter().any(|sentence| sentence.text == one.text));
    let wrong = sentences.count() + fresh.as_ref().map_or(0, |(_, told)| told.len());
    if typed.format.json() {
        context.printer.json(&value(&commands, &found, fresh.as_ref()))?;
    } else {
        context.printer.out(&text(&commands, &found, fresh.as_ref()));
    }
    Ok(if wrong == 0 { Exit::Yes } else { Exit::No })
}

/// How many sentences that chose nothing are taken for a command, and which.
type Fresh = (Count, Vec<FalseCommand>);

/// A file that was named has to be there, the one beside the commands may be missing.
fn fresh(commands: &Commands, path: &Path, typed: &Check) -> Result<Option<Fresh>, Failure> {
    let beside = path.parent().unwrap_or(Path::new(".")).join("fresh.toml");
    let file = match &typed.fresh {
        Some(named) => named,
        None if beside.exists() => &beside,
        None => return Ok(None),
    };
    Ok(Some(taken(commands, &load_other(file)?)))
}

fn text(commands: &Commands, found: &Found, fresh: Option<&Fresh>) -> String {
    let mut text = head(commands, found);
    text.push_str("\nclosest phrasings of different commands\n");
    let pairs = found.closest.iter().map(|pair| {
        vec![
            format!("{:.2}", pair.distance),
            pair.language.to_string(),
            format!("{} ({})", pair.first.1, pair.first.0),
            format!("{} ({})", pair.second.1, pair.second.0),
        ]
    });
    text.push_str(&table(&["distance", "language", "one", "other"], &pairs.collect::<Vec<_>>(), &[0]));
    text.push_str("\ntaken for a command, on the half that chose nothing (as if the wake word had been heard)\n");
    let fresh_row = fresh.map(|(count, _)| ("fresh sentences, written afterwards".to_owned(), *count));
    let rows: Vec<Vec<String>> = rates(&found.rates)
        .into_iter()
        .chain(fresh_row)
        .map(|(name, count)| vec![name, count.hits.to_string(), count.of.to_string(), percent(count), bounds(count)])
        .collect();
    text.push_str(&table(&["what", "taken", "of", "rate", "95 % (Clopper-Pearson)"], &rows, &[1, 2, 3]));
    let misheard = found.rates.misheard;
    text.push_str(&format!(
        "\nunderstood with misheard letters: {} of {} ({}, {})\n",
        misheard.hits,
        misheard.of,
        percent(misheard),
        bounds(misheard)
    ));
    text.push_str(&thresholds(found));
    let told: Vec<&FalseCommand> = fresh.iter().flat_map(|(_, told)| told).chain(&found.false_commands).collect();
    if !told.is_empty() {
        text.push_str("\nwhat was taken for what: fresh sentences, and on either half\n");
        let rows = told
            .iter()
            .take(TOLD)
            .map(|one| vec![one.kind.clone(), one.language.to_string(), one.text.clone(), one.id.clone()]);
        text.push_str(&table(&["what", "language", "said", "taken for"], &rows.collect::<Vec<_>>(), &[]));
        if let Some(more) = told.len().checked_sub(TOLD).filter(|more| *more > 0) {
            text.push_str(&format!("and {more} more: --format json has all\n"));
        }
    }
    text
}

fn head(commands: &Commands, found: &Found) -> String {
    let of = |axis: Axis| commands.list().iter().filter(|command| command.axis == axis).count();
    let phrasings =
        |language: Language| -> usize { commands.list().iter().map(|command| command.phrasings(language).len()).sum() };
    let mut text = format!(
        "{}: {} commands ({} view, {} line, {} word), {} English and {} French phrasings, no collision\n",
        commands.path().display(),
        commands.list().len(),
        of(Axis::View),
        of(Axis::Line),
        of(Axis::Word),
        phrasings(Language::En),
        phrasings(Language::Fr),
    );
    for (id, language) in &found.unspoken {
        text.push_str(&format!("note: {id} cannot be said in {language}\n"));
    }
    for (words, english, french) in &found.across {
        text.push_str(&format!("warning: \"{words}\" is {english} in English and {french} in French\n"));
    }
    text
}

fn thresholds(found: &Found) -> String {
    let one = |matching: &Matching| {
        let Matching { short, medium, long, margin } = matching;
        format!("short {short:.2}, medium {medium:.2}, long {long:.2}, margin {margin:.2}")
    };
    let same = same(found);
    let mut text = format!("thresholds in force: {}\n", one(&found.in_force));
    if same {
        text.push_str("the development half chooses the same\n");
    } else {
        let sum = found.rates_chosen.sentences();
        text.push_str(&format!(
            "the development half would choose: {} (then {} of {} sentences taken, {} of {} misheard understood)\n",
            one(&found.chosen),
            sum.hits,
            sum.of,
            found.rates_chosen.misheard.hits,
            found.rates_chosen.misheard.of
        ));
    }
    text
}

fn same(found: &Found) -> bool {
    let pair = |matching: &Matching| [matching.short, matching.medium, matching.long, matching.margin];
    pair(&found.in_force).iter().zip(pair(&found.chosen)).all(|(a, b)| (a - b).abs() < 1e-9)
}

/// What must not be taken for a command, by name.
fn rates(rates: &Rates) -> Vec<(String, Count)> {
    let mut rows: Vec<(String, Count)> =
        rates.other.iter().map(|(kind, count)| (format!("sentences: {kind}"), *count)).collect();
    rows.push(("sentences, all".to_owned(), rates.sentences()));
    rows.push(("a word alone".to_owned(), rates.lone));
    rows.push(("a command with a word left out, as another".to_owned(), rates.deleted));
    rows.push(("a command with a word replaced, as another".to_owned(), rates.replaced));
    rows.push(("a command with misheard letters, as another".to_owned(), rates.confused));
    rows
}

fn percent(count: Count) -> String {
    if count.of == 0 {
        "–".to_owned()
    } else {
        format!("{:.1} %", 100.0 * f64::from(count.hits) / f64::from(count.of))
    }
}

fn bounds(count: Count) -> String {
    let interval = clopper_pearson(Tally::new(count.hits, count.of - count.hits), 0.95);
    format!("{:.1} % to {:.1} %", 100.0 * interval.low, 100.0 * interval.high)
}

fn value(commands: &Commands, found: &Found, fresh: Option<&Fresh>) -> Value {
    let count = |count: Count| {
        let interval = clopper_pearson(Tally::new(count.hits, count.of - count.hits), 0.95);
        json!({ "hits": count.hits, "of": count.of, "low": interval.low, "high": interval.high })
    };
    let all = |rates: &Rates| {
        let other: serde_json::Map<String, Value> =
            rates.other.iter().map(|(kind, found)| (kind.clone(), count(*found))).collect();
        json!({
            "other": other,
            "sentences": count(rates.sentences()),
            "lone": count(rates.lone),
            "deleted": count(rates.deleted),
            "replaced": count(rates.replaced),
            "confused": count(rates.confused),
            "misheard_understood": count(rates.misheard),
        })
    };
    let closest = found.closest.iter().map(|pair| {
        json!({ "distance": pair.distance, "language": pair.language, "first": pair.first, "second": pair.second })
    });
    let told = |one: &FalseCommand| json!({ "text": one.text, "language": one.language, "taken_for": one.id, "kind": one.kind });
    let taken = found.false_commands.iter().map(told);
    json!({
        "commands": commands.list().len(),
        "matching": found.in_force,
        "chosen": found.chosen,
        "chosen_is_in_force": same(found),
        "rates": all(&found.rates),
        "rates_chosen": all(&found.rates_chosen),
        "fresh": fresh.map(|(found, told_of)| json!({
            "taken": count(*found), "false_commands": told_of.iter().map(told).collect::<Vec<_>>() })),
        "closest": closest.collect::<Vec<_>>(),
        "false_commands": taken.collect::<Vec<_>>(),
        "unspoken": found.unspoken,
        "across": found.across,
    })
}
