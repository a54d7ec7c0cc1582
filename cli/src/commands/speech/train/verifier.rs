//! `tenpass train verifier`.

use tenpass_train::verifier::{Judgement, Sources, VerifierRecord, collect, train};
use tenpass_train::wake::Record;

use super::super::head;
use super::setup::extractor;
use crate::args::speech::train::TrainVerifier;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::StageProgress;

/// Carries out the command.
pub(super) fn run(context: &Context, command: &TrainVerifier) -> Result<Exit, Failure> {
    let chosen = head::head(context, command.head.as_deref())?;
    let (path, head) = (chosen.path.clone(), chosen.load()?);
    let record = Record::beside(&path)?;
    let threshold =
        command.threshold.or(record.as_ref().map(|record| record.threshold)).or(chosen.threshold).unwrap_or(0.5);
    let word = record.map_or_else(|| head.name().to_owned(), |record| record.word);
    // Without a head's name typed its folder is the program's: what is made is put where one stands.
    let beside = |name: String| if command.head.is_some() { path.with_file_name(name) } else { name.into() };
    let out = command.out.clone().unwrap_or_else(|| beside(format!("{}-verifier.json", head.name())));
    let work = command.work.clone().unwrap_or_else(|| out.with_extension("work"));
    let extractor = extractor(context, &work)?;
    let progress = StageProgress::new(context.printer);
    let sources = Sources { own: command.own.clone(), others: command.others.clone() };
    let threads = std::thread::available_parallelism().map_or(2, usize::from).min(8);
    let tell = |done: usize, of: usize| progress.tell("features", done, of);
    let examples = collect(&sources, &head, threshold, &extractor, threads, &tell)?;
    progress.end();
    let trained = train(&word, &examples, extractor.version(), command.seed)?;
    trained.verifier.save(&out).map_err(tenpass_train::wake::TrainError::from)?;
    let record = VerifierRecord::new(trained.judgement);
    let beside = out.with_extension("record.json");
    let written = serde_json::to_string_pretty(&record).map_err(Failure::bug)?;
    std::fs::write(&beside, written + "\n").map_err(|error| Failure::file(&beside, &error))?;
    if command.format.json() {
        context.printer.json(&record)?;
    } else {
        context.printer.out(&text(&record.judgement, &out.display().to_string()));
    }
    Ok(Exit::Yes)
}

fn text(found: &Judgement, out: &str) -> String {
    let percent = |value: f64| format!("{:.1} %", 100.0 * value);
    let mut lines = vec![
        format!("{out}: C {}, threshold {:.3}", found.c, found.threshold),
        format!(
            "own voice turned away: {} of {} ({} – {})",
            found.own_misses,
            found.own_events,
            percent(found.own_miss_rate.0),
            percent(found.own_miss_rate.1)
        ),
    ];
    lines.extend(found.days.iter().map(|(day, (misses, events))| format!("  {day}  {misses} of {events}")));
    lines.push(format!(
        "others turned away: {} (mean of {} speakers; {} – {})",
        percent(found.rejection),
        found.speakers.len(),
        percent(found.rejection_interval.0),
        percent(found.rejection_interval.1)
    ));
    lines.extend(found.speakers.iter().map(|one| format!("  {:<24} {} of {}", one.speaker, one.rejected, one.events)));
    lines.push("This is not authentication: a recording of the user passes it.".to_owned());
    lines.join("\n")
}
