//! The benches of speech in a night: measured as a person would, counted by clip, and compared with the last night that
//! heard the same.

use std::collections::{BTreeMap, BTreeSet};

use clap::Parser;
use tenpass_listening::barge::{BargePass, summarise_barge};
use tenpass_listening::store::SpeechRun;
use tenpass_listening::stt::{Judgement, compare};
use tenpass_listening::turn::{TurnKind, TurnPass, summarise_turns};
use tenpass_review::nightly::{BenchResult, CaseCount, Found, Night};
use tenpass_stats::Tally;

use super::step::Ended;
use crate::args::bench::Benches;
use crate::args::{Arguments, Command};
use crate::commands::speech::{bench_barge, bench_stt, bench_turn, bench_wake};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// The benches of speech.
pub(super) const BENCHES: [&str; 4] = ["stt", "wake", "turn", "barge"];

/// Intents of clips in which no command is said.
const NO_COMMAND: [&str; 4] = ["none", "wake", "silence", "noise"];

/// Whether this is one of them: it has no model, and its runs are kept with those of speech.
pub(super) fn is_one(bench: &str) -> bool {
    BENCHES.contains(&bench)
}

/// Successes by case, and what else is to be said.
pub(in crate::commands) struct Counted {
    /// By clip, trial or word.
    pub(in crate::commands) cases: BTreeMap<String, Tally>,
    /// Passes that could not be scored.
    pub(in crate::commands) invalid: u64,
    /// Lines for the summary.
    pub(in crate::commands) notes: Vec<String>,
}

/// Measures a step. `earlier` are the nights before this one, oldest first.
pub(super) fn measure(context: &Context, earlier: &[Night], night: &Night, bench: &str) -> Result<Ended, Failure> {
    let command = parsed(bench)?;
    // The benches wait for their engines, and some have a runtime of their own: not on a thread that others wait on.
    let ended = std::thread::scope(|scope| {
        let thread = scope.spawn(|| match &command {
            Benches::Stt(command) => bench_stt::run(context, command),
            Benches::Wake(command) => bench_wake::run(context, command),
            Benches::Turn(command) => bench_turn::run(context, command),
            Benches::Barge(command) => bench_barge::run(context, command),
            Benches::Model(_) => Err(Failure::bug("these words are no bench of speech")),
        });
        thread.join().unwrap_or_else(|_| Err(Failure::bug(format!("bench {bench} has panicked"))))
    })?;
    let run = SpeechRun::find(&context.runs(), bench, "latest")?;
    if ended == Exit::Interrupted {
        return Ok(Ended::Interrupted { run: Some(run.manifest().id.clone()) });
    }
    let counted = match bench {
        "stt" => bench_stt::understood(context, &run)?,
        "wake" => bench_wake::heard(&run)?,
        "turn" => turns(&run)?,
        _ => barge(&run)?,
    };
    let result = result(&run, counted, earlier, night, bench);
    Ok(Ended::Measured { result: Box::new(result), comparison: None })
}

fn parsed(bench: &str) -> Result<Benches, Failure> {
    let mut words = vec!["tenpass", "bench", bench];
    if bench == "stt" {
        // What is in force: greedy, without a prompt, which is the file's first.
        words.extend(["--arms", "greedy", "--only", "none", "--passes", "1"]);
    }
    match Arguments::try_parse_from(words).map_err(Failure::bug)?.command {
        Command::Bench(benches) => Ok(benches),
        _ => Err(Failure::bug("these words are no bench")),
    }
}

fn result(run: &SpeechRun, counted: Counted, earlier: &[Night], night: &Night, bench: &str) -> BenchResult {
    let manifest = run.manifest();
    let digest = manifest.corpora.iter().map(|corpus| corpus.digest.as_str()).collect::<Vec<_>>().join(" ");
    let case = |(case, tally): (&String, &Tally)| CaseCount {
        case: case.clone(),
        kind: "target".to_owned(),
        digest: digest.clone(),
        passed: tally.passed(),
        total: tally.total(),
        invalid: 0,
        effective: tally.total(),
    };
    let cases: Vec<CaseCount> = counted.cases.iter().map(case).collect();
    let mut notes = counted.notes;
    let engines: Vec<&str> = manifest.engines.iter().map(|engine| engine.spec.as_str()).collect();
    notes.insert(0, format!("measured with {}", engines.join(", ")));
    let comparison = last(earlier, bench).and_then(|(id, last)| against(id, last, &cases, night));
    if comparison.is_none() {
        notes.push("no earlier night has heard the same: the next one is compared with this".to_owned());
    }
    BenchResult {
        run: Some(manifest.id.clone()),
        passed: cases.iter().map(|case| u64::from(case.passed)).sum(),
        total: cases.iter().map(|case| u64::from(case.total)).sum(),
        invalid: counted.invalid,
        cases,
        comparison,
        again: None,
        gate_failed: None,
        notes,
    }
}

/// The last night with a result of this bench.
fn last<'a>(earlier: &'a [Night], bench: &str) -> Option<(&'a str, &'a BenchResult)> {
    earlier.iter().rev().find_map(|night| Some((night.id.as_str(), night.result(bench, None)?)))
}

/// This night against an earlier one, on the cases that both have.
fn against(id: &str, last: &BenchResult, cases: &[CaseCount], night: &Night) -> Option<Found> {
    let same: BTreeSet<(&str, &str)> =
        last.cases.iter().map(|case| (case.case.as_str(), case.digest.as_str())).collect();
    let side = |of: &'_ [CaseCount]| -> BTreeMap<String, (String, Tally)> {
        let entry = |case: &CaseCount| (case.case.clone(), (cluster(&case.case), case.tally()));
        of.iter().map(entry).collect()
    };
    let shared: Vec<CaseCount> =
        cases.iter().filter(|case| same.contains(&(case.case.as_str(), case.digest.as_str()))).cloned().collect();
    let (before, now) = (side(&last.cases), side(&shared));
    let (before, now) = (borrowed(&before), borrowed(&now));
    let found = compare(&[(&now, id.to_owned(), &before)], night.plan.delta(), night.seed).pop()??;
    Some(Found {
        baseline: format!("the night of {id}"),
        verdict: found.verdict.word().to_owned(),
        regressed: found.verdict == Judgement::Regressed,
        delta: found.difference,
        low: found.low,
        high: found.high,
        passes_needed: None,
        worse: Vec::new(),
        under_test: Vec::new(),
    })
}

fn borrowed(side: &BTreeMap<String, (String, Tally)>) -> BTreeMap<&str, (String, Tally)> {
    side.iter().map(|(case, entry)| (case.as_str(), entry.clone())).collect()
}

/// Clips of one command by several voices are not independent: their names begin alike, up to the first dot.
fn cluster(case: &str) -> String {
    case.split('.').next().unwrap_or(case).to_owned()
}

/// Commands that were carried out, and how long they took.
fn turns(run: &SpeechRun) -> Result<Counted, Failure> {
    let passes: Vec<TurnPass> = run.passes()?;
    let mut cases: BTreeMap<String, Tally> = BTreeMap::new();
    for pass in passes.iter().filter(|pass| !NO_COMMAND.contains(&pass.intent.as_str())) {
        cases.entry(pass.clip.clone()).or_default().record(pass.command.as_deref() == Some(pass.intent.as_str()));
    }
    let rows = summarise_turns(&passes, false, run.manifest().seed);
    let notes = rows.iter().map(|row| {
        let what = if row.kind == TurnKind::Command { "closed commands" } else { "turns of the model" };
        let goal = |ms: Option<f64>| ms.map_or_else(String::new, |ms| format!(" (goal {ms:.0})"));
        format!(
            "{what}: p50 {:.0} ms{}, p95 {:.0} ms{} over {} turns",
            row.p50_ms,
            goal(row.goal.map(|goal| goal.p50_ms)),
            row.p95_ms,
            goal(row.goal.and_then(|goal| goal.p95_ms)),
            row.turns
        )
    });
    Ok(Counted { cases, invalid: 0, notes: notes.collect() })
}

/// Interruptions that stopped playback, and stops for nothing.
fn barge(run: &SpeechRun) -> Result<Counted, Failure> {
    let passes: Vec<BargePass> = run.passes()?;
    let mut cases: BTreeMap<String, Tally> = BTreeMap::new();
    for (pass, snr_db) in passes.iter().filter_map(|pass| Some((pass, pass.snr_db?))) {
        // The same scene at every level is one observation.
        cases.entry(format!("{:04}.{snr_db}dB", pass.index)).or_default().record(pass.stop_ms.is_some());
    }
    let found = summarise_barge(&passes);
    let note = format!(
        "false stops: {} in {:.2} h of playback, {:.1} an hour ({:.1}-{:.1})",
        found.false_stops, found.playback_h, found.stops_per_h, found.stops_low_per_h, found.stops_high_per_h
    );
    Ok(Counted { cases, invalid: 0, notes: vec![note] })
}

#[cfg(test)]
mod tests {
    use tenpass_review::nightly::Plan;

    use super::*;

    fn counts(right: impl Fn(usize) -> bool, digest: &str) -> Vec<CaseCount> {
        let one = |index: usize| CaseCount {
            case: format!("en/command-{index}.voice.flac"),
            kind: "target".into(),
            digest: digest.into(),
            passed: u32::from(right(index)),
            total: 1,
            invalid: 0,
            effective: 1,
        };
        (0..60).map(one).collect()
    }

    fn night() -> Night {
        let plan = Plan { profile: None, passes: 1, filter: vec![], delta_micros: 50_000, steps: vec![] };
        Night::new("2026-12-02".into(), plan, 7, String::new())
    }

    fn last_night(cases: Vec<CaseCount>) -> BenchResult {
        BenchResult {
            run: Some("r".into()),
            passed: 0,
            total: 0,
            invalid: 0,
            cases,
            comparison: None,
            again: None,
            gate_failed: None,
            notes: vec![],
        }
    }

    #[test]
    fn a_night_is_compared_with_the_last_one_clip_by_clip() {
        let verdict = |before: usize, now: usize| {
            let last = last_night(counts(|index| index < before, "a"));
            against("2026-12-01", &last, &counts(|index| index < now, "a"), &night()).unwrap()
        };
        assert_eq!(verdict(24, 42).verdict, "REAL");
        let worse = verdict(42, 24);
        assert_eq!((worse.verdict.as_str(), worse.regressed), ("REGRESSED", true));
        assert_eq!(worse.baseline, "the night of 2026-12-01");
        assert!(!verdict(42, 42).regressed);
    }

    #[test]
    fn another_corpus_begins_anew() {
        let last = last_night(counts(|_| true, "a"));
        assert_eq!(against("2026-12-01", &last, &counts(|_| false, "b"), &night()), None);
    }

    #[test]
    fn voices_of_one_command_are_one_observation() {
        assert_eq!(cluster("en/next.kokoro-am-michael.r0.8e07.flac"), "en/next");
        assert_eq!(cluster("0003.-5dB"), "0003");
        assert_eq!(cluster("word 12"), "word 12");
    }

    #[test]
    fn every_bench_of_speech_has_its_words() {
        for bench in BENCHES {
            assert!(parsed(bench).is_ok(), "{bench}");
        }
    }
}
