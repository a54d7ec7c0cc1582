//! `tenpass train wake`.

use std::path::{Path, PathBuf};

use tenpass_train::wake::{Measured, Record, Role, Stage, Tools, Voices, prepare, train};

use super::setup::{Speakers, extractor, plan, slug, stage_name};
use crate::args::speech::train::TrainWake;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::StageProgress;

/// Carries out the command.
pub(super) fn run(context: &Context, command: &TrainWake) -> Result<Exit, Failure> {
    let mut plan = plan(&command.word, &command.data)?;
    plan.without = command.without.iter().map(|source| (*source).into()).collect();
    let out = command.out.clone().unwrap_or_else(|| PathBuf::from(format!("{}.onnx", slug(&plan.word))));
    let work = command.data.work.clone().unwrap_or_else(|| out.with_extension("work"));
    let extractor = extractor(context, &work)?;
    let speakers = Speakers::find(context, &command.data.voices)?;
    let progress = StageProgress::new(context.printer);
    let tell = |stage: Stage, done: usize, of: usize| progress.tell(stage_name(stage), done, of);
    let voices = Voices { present: &speakers.present, open: &|voice| speakers.open(voice) };
    let tools = Tools { voices, extractor: &extractor, work: &work, progress: &tell };
    let data = prepare(&plan, &tools)?;
    let record = train(&plan, &data, &tools, &out, command.resume)?;
    progress.end();
    if command.format.json() {
        context.printer.json(&record)?;
    } else {
        context.printer.out(&text(&record, &out));
    }
    Ok(Exit::Yes)
}

fn text(record: &Record, out: &Path) -> String {
    let mut lines = vec![format!("{}: threshold {:.3}", out.display(), record.threshold)];
    let minutes = |role: Role| {
        let of = record.sounds.iter().filter(|amount| amount.role == role);
        of.fold((0, 0.0), |sum, amount| (sum.0 + amount.sounds, sum.1 + amount.seconds / 60.0))
    };
    let roles =
        [("the word", Role::Word), ("near misses", Role::Near), ("other speech", Role::Speech), ("noise", Role::Noise)];
    for (name, role) in roles {
        let (sounds, minutes) = minutes(role);
        if sounds > 0 {
            lines.push(format!("  {name:<13} {sounds:>6} sounds  {minutes:>7.1} min"));
        }
    }
    lines.push(measured("development", &record.dev));
    match &record.test {
        Some(test) => lines.push(measured("test", test)),
        None => lines.push("  test: nothing was held out (three voices or days of a kind are needed)".to_owned()),
    }
    if let Some(near) = &record.near {
        lines.push(format!(
            "  near misses of the test: {} of {} woke it: {:.1} % ({:.1} – {:.1} %); counted apart",
            near.woke,
            near.said,
            100.0 * near.woke as f64 / near.said.max(1) as f64,
            100.0 * near.rate.0,
            100.0 * near.rate.1
        ));
    }
    if record.dev.per_hour.0 > record.target_per_hour {
        lines.push(format!("warning: no threshold reaches {} false wakes an hour", record.target_per_hour));
    }
    for (voice, (count, problem)) in &record.failed {
        lines.push(format!("warning: {voice} could not say {count} texts: {problem}"));
    }
    lines.join("\n")
}

fn measured(name: &str, found: &Measured) -> String {
    let rate = 100.0 * found.misses as f64 / found.words.max(1) as f64;
    format!(
        "  {name}: {} of {} words missed: {rate:.1} % ({:.1} – {:.1} %); {}",
        found.misses,
        found.words,
        100.0 * found.miss_rate.0,
        100.0 * found.miss_rate.1,
        found.proves()
    )
}
