//! One play: the world is made, the person's turns are said one after the other, the end is looked
//! at. The loop, the policy and the tools are the real ones.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tenpass_agent::prompt::{self, Language, Sections};
use tenpass_agent::run::TurnReport;
use tenpass_agent::{Retrieval, Selection, Structure};
use tenpass_model::{ChatModel, ModelError, SamplingOptions, ThinkLevel};
use tenpass_trace::{CallOutcome, ToolDefinition};
use tokio_util::sync::CancellationToken;

use super::played::{Played, PlayedCall, PlayedTurn};
use super::record::{Record, RecordingModel};
use super::scenario::{Scenario, Turn};
use super::script::Script;
use super::world::{DEFAULT_CLOCK, World};
use crate::run::Configuration;
use crate::store::RequestRecord;

/// Characters of a result that are kept (R9).
const RESULT_CHARACTERS: usize = 800;

/// A configuration, as far as a play needs it.
#[derive(Clone)]
pub struct Stage {
    pub(super) model: Arc<dyn ChatModel>,
    pub(super) structure: Structure,
    pub(super) selection: Selection,
    pub(super) memory: Retrieval,
    pub(super) sections: Sections,
    pub(super) options: SamplingOptions,
    pub(super) think: Option<ThinkLevel>,
    pub(super) stream: bool,
}

impl Stage {
    /// The stage of a configuration.
    pub fn of(configuration: &Configuration) -> Self {
        Self {
            model: Arc::clone(&configuration.model),
            structure: configuration.structure,
            selection: configuration.selection,
            memory: configuration.memory,
            sections: configuration.sections,
            options: configuration.options.clone(),
            think: configuration.think,
            stream: configuration.stream,
        }
    }
}

/// What a play gave.
#[derive(Debug)]
pub struct Play {
    /// What happened.
    pub played: Played,
    /// The distinct requests, seeds zeroed.
    pub requests: Vec<RequestRecord>,
    /// What ended it early: a failure of the backend, which makes the pass INVALID.
    pub error: Option<ModelError>,
    /// Wall-clock time of everything, milliseconds.
    pub total_ms: f64,
}

/// Plays `scenario` once, offering `tools`. A turn takes at most `limit`; every request gets a seed
/// derived from `seed`. `None` when cancelled.
pub async fn play(
    scenario: &Scenario,
    tools: &[ToolDefinition],
    stage: &Stage,
    seed: u64,
    limit: Duration,
    cancel: &CancellationToken,
) -> Option<Play> {
    let started = Instant::now();
    let record = Arc::new(Record::default());
    let model = RecordingModel {
        model: Arc::clone(&stage.model),
        record: Arc::clone(&record),
        seed,
        label: scenario.id.clone(),
        stream: stage.stream,
    };
    let whole = whole(scenario, tools, stage, model, limit);
    // Dropping the rest of a play drops its request, its world and everything in it.
    let (played, error) = tokio::select! {
        biased;
        () = cancel.cancelled() => return None,
        whole = whole => whole,
    };
    let requests = record.take_requests();
    Some(Play { played, requests, error, total_ms: started.elapsed().as_secs_f64() * 1e3 })
}

async fn whole(
    scenario: &Scenario,
    tools: &[ToolDefinition],
    stage: &Stage,
    model: RecordingModel,
    limit: Duration,
) -> (Played, Option<ModelError>) {
    let record = Arc::clone(&model.record);
    let broken = |reason: String| ModelError::Stopped { model: format!("the scenario {}", scenario.id), reason };
    let mut world = match World::build(scenario, tools, stage, model, limit).await {
        Ok(world) => world,
        Err(error) => return (Played::default(), Some(broken(error.to_string()))),
    };
    let mut played = Played::default();
    let mut error = None;
    let mut waiting: VecDeque<Turn> = scenario.turns.iter().cloned().collect();
    while let Some(turn) = waiting.pop_front().filter(|_| error.is_none()) {
        match say(&mut world, &turn, &record).await {
            Ok((said, corrections, fault)) => {
                played.turns.push(said);
                error = fault;
                // A correction is said before what the person meant to say next.
                for user in corrections.into_iter().rev() {
                    waiting.push_front(Turn { user, reactions: Vec::new() });
                }
            }
            Err(reason) => error = Some(broken(reason)),
        }
    }
    match world.end(scenario, &played.turns, &record) {
        Ok(end) => played.world = end,
        Err(reason) => error = error.or_else(|| Some(broken(format!("the world cannot be looked at: {reason}")))),
    }
    (played, error)
}

/// Says one turn; gives what happened, what the person corrects, and the failure that ends the play.
async fn say(
    world: &mut World,
    turn: &Turn,
    record: &Record,
) -> Result<(PlayedTurn, Vec<String>, Option<ModelError>), String> {
    let stop = CancellationToken::new();
    let script = Script::new(&turn.reactions, stop.clone());
    let started = Instant::now();
    let report = world.assistant.say(&mut world.session, &turn.user, &script, stop).await;
    let report = report.map_err(|error| error.to_string())?;
    let ms = started.elapsed().as_secs_f64() * 1e3;
    if let Some(error) = &report.record_error {
        return Err(error.to_string());
    }
    let fault = report.fault.clone().or_else(|| record.error());
    Ok((played_turn(world, turn, record, report, ms), script.take_corrections(), fault))
}

fn played_turn(world: &World, turn: &Turn, record: &Record, report: TurnReport, ms: f64) -> PlayedTurn {
    let notes = world.recorder.take_notes();
    let mut ran = world.tools.take_ran().into_iter();
    let mut failed = HashSet::new();
    for entry in &report.ledger {
        // What ran ended in one of these, in this order; an interruption ends the turn.
        let began = matches!(entry.outcome, CallOutcome::Ok | CallOutcome::Error);
        if began && ran.next() == Some(true) {
            failed.insert(entry.call);
        }
    }
    let calls = report.ledger.into_iter().map(|entry| PlayedCall {
        confirmation: notes.confirmations.get(&entry.call).copied(),
        faulted: failed.contains(&entry.call),
        result: first_characters(&entry.result),
        tool: entry.tool,
        arguments: entry.arguments,
        tier: entry.tier,
        outcome: entry.outcome,
    });
    PlayedTurn {
        user: turn.user.clone(),
        answers: record.take_answers(),
        calls: calls.collect(),
        retries: notes.retries,
        transport: notes.transport,
        timed_out: notes.timed_out,
        end: report.end,
        author: report.author,
        text: report.text,
        ms,
    }
}

fn first_characters(text: &str) -> String {
    match text.char_indices().nth(RESULT_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The system messages that the loop writes with these sections: both languages, with the tools and
/// without any. For the run's digests.
pub(crate) fn prompts(sections: Sections, tools: &[ToolDefinition]) -> Vec<String> {
    let Ok(now) = DEFAULT_CLOCK.parse() else { return Vec::new() };
    let mut prompts = Vec::new();
    for language in [Language::English, Language::French] {
        for offered in [tools, &[]] {
            let input = prompt::Input { language, all: tools, offered, sections, ..prompt::Input::new("", &now) };
            prompts.extend(prompt::assemble(&input).messages.into_iter().next().map(|message| message.content));
        }
    }
    prompts
}
