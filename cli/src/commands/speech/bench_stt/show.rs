//! A run as a table: which prompt understands how many commands, and is the difference real?

use serde::Serialize;
use serde_json::json;
use tenpass_frame::Kind;
use tenpass_listening::stt::{
    ArmSummary, Confusion, Judgement, Share, SttPass, Style, Summary, confusions, missing, score, summarise,
};

use super::setup::Stored;
use crate::args::Format;
use crate::args::speech::bench_stt::BenchStt;
use crate::commands::table::{Columns, export, show, table};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Prints a run; the answer is no when an expected prompt is not REAL.
pub(super) fn print(context: &Context, typed: &BenchStt, stored: &Stored) -> Result<Exit, Failure> {
    let passes = stored.run.passes::<SttPass>()?;
    let scored = score(&stored.arms, &stored.clips, &passes, &stored.prompts, &stored.commands);
    let delta = typed.delta.unwrap_or(stored.delta);
    if !(delta > 0.0 && delta < 1.0) {
        return Err(Failure::mistake(format!("--delta {delta} is not between 0 and 1")));
    }
    let summary = summarise(&stored.arms, &scored, delta, stored.run.manifest().seed);
    let list = confusions(&scored);
    let format = typed.format.format;
    let missing = missing(&stored.arms, &stored.clips, stored.passes, &stored.english, &passes);
    if missing > 0 {
        let id = &stored.run.manifest().id;
        context.printer.note(&format!(
            "warning: run {id} is unfinished: {missing} of {} transcriptions are missing; \
             tenpass bench stt --resume {id}",
            missing + passes.iter().filter(|pass| pass.error.is_none()).count()
        ));
    }
    if typed.confusions {
        show(context.printer, format, CONFUSIONS, &list, || confused(&list))?;
    } else {
        match format {
            Format::Table => context.printer.out(&text(stored, &summary, delta, passes.len())),
            Format::Json => context.printer.json(&json!({
                "run": stored.run.manifest().id,
                "corpus": stored.run.manifest().corpora,
                "clips": stored.clips.len(),
                "passes": passes.len(),
                "missing": missing,
                "delta": delta,
                "summary": summary,
                "confusions": list,
            }))?,
            other => {
                let rows: Vec<Row> = summary.arms.iter().map(|arm| Row::of(&stored.run.manifest().id, arm)).collect();
                export(context.printer, other, ROWS, &rows)?;
            }
        }
    }
    expected(context, typed, stored, &summary)
}

fn expected(context: &Context, typed: &BenchStt, stored: &Stored, summary: &Summary) -> Result<Exit, Failure> {
    let Some(first) = stored.arms.first() else { return Ok(Exit::Yes) };
    let mut exit = Exit::Yes;
    for id in &typed.expect_real {
        let arm = summary
            .arms
            .iter()
            .find(|arm| arm.prompt == *id && arm.engine == first.engine && arm.style == first.style.name())
            .ok_or_else(|| Failure::mistake(format!("the run has no prompt {id}")))?;
        let verdict = arm.comparison.as_ref().map_or(Judgement::Inconclusive, |found| found.verdict);
        if verdict != Judgement::Real {
            context.printer.note(&format!("{id} was expected to be REAL and is {}", verdict.word()));
            exit = Exit::No;
        }
    }
    Ok(exit)
}

fn text(stored: &Stored, summary: &Summary, delta: f64, passes: usize) -> String {
    let several = |field: fn(&ArmSummary) -> &str| summary.arms.iter().any(|arm| field(arm) != field(&summary.arms[0]));
    let (engines, styles) = (several(|arm| &arm.engine), several(|arm| arm.style));
    let real = summary.arms.iter().any(|arm| arm.real.of > 0);
    let mut header = vec!["prompt"];
    let (mut right, mut rows) = (Vec::new(), vec![Vec::new(); summary.arms.len()]);
    for (row, arm) in rows.iter_mut().zip(&summary.arms) {
        row.push(arm.prompt.clone());
    }
    let mut column = |name: &'static str, numeric: bool, cell: &dyn Fn(&ArmSummary) -> String| {
        if numeric {
            right.push(header.len());
        }
        header.push(name);
        for (row, arm) in rows.iter_mut().zip(&summary.arms) {
            row.push(cell(arm));
        }
    };
    if engines {
        column("engine", false, &|arm| arm.engine.clone());
    }
    if styles {
        column("decoding", false, &|arm| arm.style.to_owned());
    }
    column("understands", true, &|arm| k_of_n(&arm.understood));
    column("95 %", true, &|arm| range(&arm.understood));
    column("if woken", true, &|arm| count(arm.understood_woken.hits));
    if real {
        column("people", true, &|arm| k_of_n(&arm.real));
    }
    column("wrong", true, &|arm| count(arm.wrong_command + arm.wrong_slot));
    column("none", true, &|arm| count(arm.no_command));
    column("empty", true, &|arm| count(arm.empty));
    column("WER", true, &|arm| percent(arm.wer));
    column("CER", true, &|arm| percent(arm.cer));
    column("false commands", true, &|arm| k_of_n(&arm.false_commands));
    column("from silence", true, &|arm| k_of_n(&arm.hallucinated));
    column("ms", true, &|arm| arm.median_ms.map_or("–".to_owned(), |ms| format!("{ms:.0}")));
    column("difference", true, &difference);
    column("p (Holm)", true, &|arm| arm.comparison.as_ref().map_or(String::new(), |found| p(found.p_holm)));
    column("verdict", false, &|arm| arm.comparison.as_ref().map_or("", |found| found.verdict.word()).to_owned());
    let mut text = table(&header, &rows, &right);
    text.push_str(&notes(stored, summary, delta, passes));
    text
}

/// What must be known to read the table.
fn notes(stored: &Stored, summary: &Summary, delta: f64, passes: usize) -> String {
    let Some(first) = summary.arms.first() else { return String::new() };
    let best = summary.arms.iter().max_by(|a, b| {
        // The first of equals.
        a.understood.hits.total_cmp(&b.understood.hits).then(std::cmp::Ordering::Greater)
    });
    let mut text = String::new();
    if let Some(best) = best.filter(|best| best.understood.of > 0) {
        text.push_str(&format!(
            "\n{} understands {} commands; the first, {}, {}.\n",
            best.arm,
            k_of_n(&best.understood),
            first.arm,
            k_of_n(&first.understood)
        ));
    }
    text.push_str(&format!(
        "A prompt is compared with {} of the same engine and decoding, other arms with the first; permutation by command, \
         Holm over all, smallest difference {:.0} points.\n",
        first.prompt,
        100.0 * delta
    ));
    let sampled: u32 = summary.arms.iter().map(|arm| arm.sampled).sum();
    let varied: u32 = summary.arms.iter().map(|arm| arm.varied).sum();
    if stored.arms.iter().any(|arm| arm.style == Style::Fallback) {
        text.push_str(&format!(
            "Greedy answers are always the same: one pass a clip. Fallback needed a higher temperature or gave nothing in \
             {sampled} clips, of which {} passes each were run; {varied} of them varied.\n",
            stored.passes
        ));
    } else {
        text.push_str("These answers are always the same: one pass a clip, ten would be copies.\n");
    }
    let silence = first.hallucinated.of;
    let bound = first.false_commands;
    text.push_str(&format!(
        "Any text from {silence} clips of silence and noise is a hallucination; echoes of the prompt: {}. With {} \
         sentences the false-command rate of {} is at most {:.1} % (Clopper-Pearson).\n",
        summary.arms.iter().map(|arm| arm.echoes).sum::<u32>(),
        bound.of,
        first.prompt,
        100.0 * bound.high
    ));
    let invalid: u32 = summary.arms.iter().map(|arm| arm.invalid).sum();
    if invalid > 0 {
        text.push_str(&format!("{invalid} transcriptions are INVALID and scored nowhere.\n"));
    }
    let id = &stored.run.manifest().id;
    text.push_str(&format!(
        "{passes} transcriptions, normaliser {}. What was heard instead: tenpass bench stt --show {id} --confusions\n",
        summary.normaliser
    ));
    text
}

fn k_of_n(share: &Share) -> String {
    if share.of == 0 { "–".to_owned() } else { format!("{} of {}", count(share.hits), share.of) }
}

fn count(hits: f64) -> String {
    if (hits - hits.round()).abs() < 1e-9 { format!("{hits:.0}") } else { format!("{hits:.1}") }
}

fn range(share: &Share) -> String {
    if share.of == 0 { "–".to_owned() } else { format!("{:.0}–{:.0} %", 100.0 * share.low, 100.0 * share.high) }
}

fn percent(rate: Option<f64>) -> String {
    rate.map_or("–".to_owned(), |rate| format!("{:.1} %", 100.0 * rate))
}

fn p(value: f64) -> String {
    if value < 0.0001 { "<0.0001".to_owned() } else { format!("{value:.4}") }
}

fn difference(arm: &ArmSummary) -> String {
    let Some(found) = &arm.comparison else { return String::new() };
    let points = |value: f64| format!("{:+.0}", 100.0 * value).replace('-', "−");
    format!("{} ({} to {})", points(found.difference), points(found.low), points(found.high))
}

fn confused(list: &[Confusion]) -> String {
    if list.is_empty() {
        return "everything was understood\n".to_owned();
    }
    let quoted = |text: &str| if text.is_empty() { "(nothing)".to_owned() } else { text.to_owned() };
    let rows = list.iter().map(|one| {
        vec![
            one.count.to_string(),
            quoted(&one.truth),
            quoted(&one.heard),
            outcome(one),
            one.voice.clone(),
            one.prompt.clone(),
            one.arm.rsplit(" · ").next().unwrap_or_default().to_owned(),
            one.clip.clone(),
        ]
    });
    let header = ["count", "said", "heard", "outcome", "voice", "prompt", "decoding", "clip"];
    table(&header, &rows.collect::<Vec<_>>(), &[0])
}

fn outcome(one: &Confusion) -> String {
    serde_json::to_value(one.outcome).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

const CONFUSIONS: &Columns = &[
    ("arm", Kind::Text),
    ("prompt", Kind::Text),
    ("voice", Kind::Text),
    ("truth", Kind::Text),
    ("heard", Kind::Text),
    ("outcome", Kind::Text),
    ("count", Kind::Int),
    ("clip", Kind::Text),
];

/// One arm in a flat table.
#[derive(Serialize)]
struct Row {
    run: String,
    engine: String,
    prompt: String,
    decoding: &'static str,
    commands: u32,
    understood: f64,
    low: f64,
    high: f64,
    understood_woken: f64,
    people: u32,
    people_understood: f64,
    wrong_command: f64,
    wrong_slot: f64,
    no_command: f64,
    empty: f64,
    matched: f64,
    wer: Option<f64>,
    cer: Option<f64>,
    sentences: u32,
    false_commands: f64,
    false_commands_high: f64,
    silences: u32,
    hallucinated: f64,
    echoes: u32,
    invalid: u32,
    median_ms: Option<f64>,
    real_time_factor: Option<f64>,
    difference: Option<f64>,
    difference_low: Option<f64>,
    difference_high: Option<f64>,
    p_mcnemar: Option<f64>,
    p: Option<f64>,
    p_holm: Option<f64>,
    verdict: Option<&'static str>,
}

impl Row {
    fn of(run: &str, arm: &ArmSummary) -> Self {
        let found = arm.comparison.as_ref();
        Self {
            run: run.to_owned(),
            engine: arm.engine.clone(),
            prompt: arm.prompt.clone(),
            decoding: arm.style,
            commands: arm.understood.of,
            understood: arm.understood.hits,
            low: arm.understood.low,
            high: arm.understood.high,
            understood_woken: arm.understood_woken.hits,
            people: arm.real.of,
            people_understood: arm.real.hits,
            wrong_command: arm.wrong_command,
            wrong_slot: arm.wrong_slot,
            no_command: arm.no_command,
            empty: arm.empty,
            matched: arm.matched.hits,
            wer: arm.wer,
            cer: arm.cer,
            sentences: arm.false_commands.of,
            false_commands: arm.false_commands.hits,
            false_commands_high: arm.false_commands.high,
            silences: arm.hallucinated.of,
            hallucinated: arm.hallucinated.hits,
            echoes: arm.echoes,
            invalid: arm.invalid,
            median_ms: arm.median_ms,
            real_time_factor: arm.real_time_factor,
            difference: found.map(|found| found.difference),
            difference_low: found.map(|found| found.low),
            difference_high: found.map(|found| found.high),
            p_mcnemar: found.map(|found| found.p_mcnemar),
            p: found.map(|found| found.p),
            p_holm: found.map(|found| found.p_holm),
            verdict: found.map(|found| found.verdict.word()),
        }
    }
}

const ROWS: &Columns = &[
    ("run", Kind::Text),
    ("engine", Kind::Text),
    ("prompt", Kind::Text),
    ("decoding", Kind::Text),
    ("commands", Kind::Int),
    ("understood", Kind::Float),
    ("low", Kind::Float),
    ("high", Kind::Float),
    ("understood_woken", Kind::Float),
    ("people", Kind::Int),
    ("people_understood", Kind::Float),
    ("wrong_command", Kind::Float),
    ("wrong_slot", Kind::Float),
    ("no_command", Kind::Float),
    ("empty", Kind::Float),
    ("matched", Kind::Float),
    ("wer", Kind::Float),
    ("cer", Kind::Float),
    ("sentences", Kind::Int),
    ("false_commands", Kind::Float),
    ("false_commands_high", Kind::Float),
    ("silences", Kind::Int),
    ("hallucinated", Kind::Float),
    ("echoes", Kind::Int),
    ("invalid", Kind::Int),
    ("median_ms", Kind::Float),
    ("real_time_factor", Kind::Float),
    ("difference", Kind::Float),
    ("difference_low", Kind::Float),
    ("difference_high", Kind::Float),
    ("p_mcnemar", Kind::Float),
    ("p", Kind::Float),
    ("p_holm", Kind::Float),
    ("verdict", Kind::Text),
];
