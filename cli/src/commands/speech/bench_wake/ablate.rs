//! `tenpass bench wake --ablate`: what a source contributes.

use std::path::PathBuf;

use tenpass_frame::Kind;
use tenpass_listening::store::{CorpusRecord, SpeechRun};
use tenpass_listening::wake::{AblatedPass, Ablation, AblationRow, WakeBenchError, ablate, ablation_rows};
use tenpass_train::wake::{Stage, Tools, Voices, prepare};

use super::{BENCH, digest_of};
use crate::args::speech::bench_wake::BenchWake;
use crate::commands::speech::provenance::provenance;
use crate::commands::speech::train::setup::{Speakers, extractor, plan, slug, stage_name};
use crate::commands::table::{Columns, show, table};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::StageProgress;

const COLUMNS: &Columns = &[
    ("arm", Kind::Text),
    ("seeds", Kind::Int),
    ("words", Kind::Int),
    ("miss_rate", Kind::Float),
    ("miss_best", Kind::Float),
    ("miss_worst", Kind::Float),
    ("per_hour", Kind::Float),
    ("only_all", Kind::Int),
    ("only_arm", Kind::Int),
    ("p", Kind::Float),
    ("low", Kind::Float),
    ("high", Kind::Float),
];

/// Carries out the command.
pub(super) fn run(context: &Context, command: &BenchWake) -> Result<Exit, Failure> {
    let Some(word) = &command.word else {
        return Err(Failure::mistake("an ablation trains: it needs the word").hint("name it with --word WORD"));
    };
    let plan = plan(word, &command.data)?;
    let work = command.data.work.clone().unwrap_or_else(|| PathBuf::from(format!("{}.work", slug(&plan.word))));
    let extractor = extractor(context, &work)?;
    let speakers = Speakers::find(context, &command.data.voices)?;
    let progress = StageProgress::new(context.printer);
    let tell = |stage: Stage, done: usize, of: usize| progress.tell(stage_name(stage), done, of);
    let voices = Voices { present: &speakers.present, open: &|voice| speakers.open(voice) };
    let tools = Tools { voices, extractor: &extractor, work: &work, progress: &tell };
    let data = prepare(&plan, &tools)?;
    let sources = command.ablate.iter().map(|source| (*source).into()).collect();
    let ablation = Ablation { plan, sources, seeds: command.seeds };
    let hashes: Vec<&str> = data.sounds.iter().map(|sound| sound.hash.as_str()).collect();
    let corpus = CorpusRecord { name: "prepared".into(), digest: digest_of(&hashes), clips: hashes.len() as u64 };
    let details = serde_json::json!({
        "word": ablation.plan.word, "ablation": true, "seeds": ablation.seeds, "steps": ablation.plan.steps,
        "architecture": ablation.plan.architecture, "features": extractor.version(),
        "optimisation": ablation.plan.optimisation, "target": ablation.plan.target_per_hour,
    });
    let run = match &command.resume {
        Some(query) => {
            let run = SpeechRun::find(&context.runs(), BENCH, query).map_err(WakeBenchError::from)?;
            if run.manifest().corpora != [corpus] || run.manifest().details != details {
                return Err(Failure::mistake(format!("run {} is of other sounds or another plan", run.manifest().id))
                    .hint("leave --resume away to start a run of its own"));
            }
            run
        }
        None => SpeechRun::create(&context.runs(), BENCH, |manifest| {
            let typed = serde_json::json!({
                "word": word, "positives": command.data.positives, "negatives": command.data.negatives,
                "synthetic": command.data.synthetic, "voices": command.data.voices,
            });
            manifest.provenance = provenance(context, &typed);
            manifest.corpora = vec![corpus];
            manifest.seed = ablation.plan.seed;
            manifest.details = details;
        })
        .map_err(WakeBenchError::from)?,
    };
    ablate(&run, &ablation, &data, &work.join("ablate"), &|done, of| progress.tell("trainings", done, of))?;
    progress.end();
    let passes = run.passes::<AblatedPass>().map_err(WakeBenchError::from)?;
    let rows = ablation_rows(&passes);
    show(context.printer, command.format.format, COLUMNS, &rows, || text(&rows))?;
    context.printer.note(&format!("kept in {}", run.folder().display()));
    Ok(Exit::Yes)
}

fn text(rows: &[AblationRow]) -> String {
    let percent = |rate: f64| format!("{:.1}", 100.0 * rate);
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            vec![
                row.arm.clone(),
                row.seeds.to_string(),
                percent(row.miss_rate),
                format!("{}–{}", percent(row.miss_best), percent(row.miss_worst)),
                format!("{:.2}", row.per_hour),
                row.only_all.to_string(),
                row.only_arm.to_string(),
                format!("{:.4}", row.p),
                format!("{:+.1} to {:+.1}", 100.0 * row.low, 100.0 * row.high),
            ]
        })
        .collect();
    let words = rows.first().map_or(0, |row| row.words);
    let header = ["arm", "seeds", "missed %", "best–worst", "false/h", "only all", "only arm", "p", "hits, points"];
    let mut text = table(&header, &cells, &[1, 2, 3, 4, 5, 6, 7, 8]);
    text.push_str(&format!(
        "\n{words} words of held-out voices and days. `only all`: clips that most seeds of the full training hit and most of \
         the arm's do not;\np: exact McNemar test over clips. Seeds differ by themselves: look at best–worst first.\n"
    ));
    text
}
