//! Guesses from what happened: the correction, the call that was then right, what was refused.

use jiff::SignedDuration;
use tenpass_trace::{CallOutcome, ConfirmationAnswer, ToolCall, ToolDefinition};

use super::correction;
use crate::life::moment::{Moment, Signal, is_refused, signals};
use crate::life::similar::{Gist, objects};
use crate::life::turns::{Life, LivedCall, LivedTurn};

/// Turns behind this one that may show what was meant.
const LOOK_AHEAD: usize = 3;
/// How much later they may be.
const SOON: SignedDuration = SignedDuration::from_hours(1);
/// Guesses that are offered.
const MOST_GUESSES: usize = 6;

/// What may have been right, in the words of the trace.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::life) struct Guess {
    pub(in crate::life) calls: Vec<ToolCall>,
    pub(in crate::life) forbid: Vec<String>,
    pub(in crate::life) no_call: bool,
    pub(in crate::life) why: String,
    pub(in crate::life) strength: u8,
}

impl Guess {
    pub(super) fn new(why: &str, strength: u8) -> Self {
        Self { calls: Vec::new(), forbid: Vec::new(), no_call: false, why: why.to_owned(), strength }
    }

    fn calls(why: &str, strength: u8, calls: Vec<ToolCall>) -> Option<Self> {
        (!calls.is_empty()).then(|| Self { calls, ..Self::new(why, strength) })
    }
}

/// Guesses from what was done in this turn and those behind it, in the words of the trace: what is
/// personal in them is still to be rewritten.
pub(in crate::life) fn from_deeds(
    life: &Life,
    turn: &LivedTurn,
    moment: &Moment,
    tools: &[ToolDefinition],
) -> Vec<Guess> {
    let guesses = [next_turn(life, turn, tools), repaired(turn, moment, tools), as_it_was(turn, tools)];
    guesses.into_iter().flatten().collect()
}

/// Guesses from what was said, and from what was refused or went wrong. The words have been rewritten.
pub(in crate::life) fn from_words(
    turn: &LivedTurn,
    moment: &Moment,
    tools: &[ToolDefinition],
    request: &str,
    correction: Option<&str>,
) -> Vec<Guess> {
    let mut guesses = correction.map_or_else(Vec::new, |text| correction::guesses(text, request, tools));
    guesses.extend(refused(turn, moment));
    guesses.extend(by_signal(turn, moment, tools, request));
    guesses
}

/// Both, what says most first, each once.
pub(in crate::life) fn ranked(words: Vec<Guess>, deeds: Vec<Guess>) -> Vec<Guess> {
    let mut kept: Vec<Guess> = Vec::new();
    for guess in words.into_iter().chain(deeds) {
        let same = |other: &Guess| {
            (&other.calls, &other.forbid, other.no_call) == (&guess.calls, &guess.forbid, guess.no_call)
        };
        if !kept.iter().any(same) {
            kept.push(guess);
        }
    }
    kept.sort_by_key(|guess| std::cmp::Reverse(guess.strength));
    kept.truncate(MOST_GUESSES);
    kept
}

/// Calls that were right.
struct Right {
    calls: Vec<ToolCall>,
    /// The person approved one of them.
    is_approved: bool,
    /// They were made behind a result from outside, and nobody approved them.
    is_doubtful: bool,
}

impl Right {
    /// As a guess: what may be somebody else's wish says least.
    fn guess(self, why: &str, strength: u8) -> Option<Guess> {
        if self.is_doubtful {
            Guess::calls(&format!("{why}, behind a text from outside"), 1, self.calls)
        } else {
            Guess::calls(why, strength, self.calls)
        }
    }
}

/// The calls that ran in the first round that had one, from this round on: one answer is what a case
/// asks for. Reads beside an effect are free and left out.
fn first_right(turn: &LivedTurn, from_round: u32, tools: &[ToolDefinition]) -> Right {
    let tainted = turn.tainted_from().unwrap_or(u32::MAX);
    let is_right = |call: &&LivedCall| {
        let is_offered = tools.iter().any(|tool| tool.name == call.tool);
        call.outcome == CallOutcome::Ok && call.round >= from_round && is_offered
    };
    let right: Vec<&LivedCall> = turn.calls.iter().filter(is_right).collect();
    let round = right.first().map_or(0, |call| call.round);
    let reads = |call: &LivedCall| tools.iter().any(|tool| tool.name == call.tool && tool.reads);
    let of_round: Vec<&LivedCall> = right.into_iter().filter(|call| call.round == round).collect();
    let has_effect = of_round.iter().any(|call| !reads(call));
    let telling: Vec<&LivedCall> = of_round.into_iter().filter(|call| !has_effect || !reads(call)).collect();
    let is_approved = |call: &&LivedCall| call.answer == Some(ConfirmationAnswer::Approved);
    Right {
        is_approved: telling.iter().any(is_approved),
        is_doubtful: telling.iter().any(|call| call.number > tainted && !is_approved(call)),
        calls: telling
            .into_iter()
            .map(|call| ToolCall {
                id: None,
                name: call.tool.clone(),
                arguments: call.arguments.as_object().cloned().unwrap_or_default(),
            })
            .collect(),
    }
}

/// The person asks again soon after, and lets it happen.
fn next_turn(life: &Life, turn: &LivedTurn, tools: &[ToolDefinition]) -> Option<Guess> {
    if signals(turn).is_empty() && !asked_again(life, turn) {
        return None;
    }
    let gist = Gist::of(&turn.request);
    let later = life.behind(turn).take(LOOK_AHEAD).filter(|later| later.at.duration_since(turn.ended_at) <= SOON);
    for later in later {
        let is_about_it = Gist::of(&later.request).asks_again(&later.request, &gist) || objects(&later.request);
        let went_well =
            !later.is_interrupted() && !later.is_undone && !signals(later).iter().any(|signal| signal.strength() == 3);
        if !is_about_it || !went_well {
            continue;
        }
        let right = first_right(later, 1, tools);
        let (why, strength) = if right.is_approved {
            ("the person asked again and approved it", 3)
        } else {
            ("the person asked again and this was done", 2)
        };
        if let Some(mut guess) = right.guess(why, strength) {
            guess.forbid =
                refused_tools(turn).filter(|name| guess.calls.iter().all(|call| call.name != *name)).collect();
            return Some(guess);
        }
    }
    None
}

/// True when the person soon asks for the same in other words.
pub(in crate::life) fn asked_again(life: &Life, turn: &LivedTurn) -> bool {
    if turn.is_interrupted() {
        return false;
    }
    let gist = Gist::of(&turn.request);
    let next = life.behind(turn).next();
    next.is_some_and(|next| {
        next.at.duration_since(turn.ended_at) <= SOON && Gist::of(&next.request).asks_again(&next.request, &gist)
    })
}

/// A call that could not be made, or an act that was only announced, and the call that then was right.
fn repaired(turn: &LivedTurn, moment: &Moment, tools: &[ToolDefinition]) -> Option<Guess> {
    let why = match moment.signal? {
        Signal::RejectedCall => "the call that was then made right",
        Signal::NarratedAction | Signal::CallAsText | Signal::FabricatedMarker => {
            "the call that was made when asked once more"
        }
        _ => return None,
    };
    first_right(turn, moment.round, tools).guess(why, 3)
}

fn refused_tools(turn: &LivedTurn) -> impl Iterator<Item = String> + '_ {
    turn.calls.iter().filter(|call| is_refused(call)).map(|call| call.tool.clone())
}

fn refused(turn: &LivedTurn, moment: &Moment) -> Option<Guess> {
    let forbid: Vec<String> = turn
        .calls
        .iter()
        .filter(|call| is_refused(call) && call.round == moment.round)
        .map(|call| call.tool.clone())
        .collect();
    (!forbid.is_empty()).then(|| Guess { forbid, ..Guess::new("the person said no to this call", 2) })
}

/// What follows from the kind of failure alone.
fn by_signal(turn: &LivedTurn, moment: &Moment, tools: &[ToolDefinition], request: &str) -> Vec<Guess> {
    let Some(signal) = moment.signal else { return Vec::new() };
    let called = |round: u32| turn.calls.iter().filter(move |call| call.round == round);
    let wanted = || {
        let tool = correction::nearest(request, tools)?;
        Guess::calls("the tool whose words the request has", 1, vec![correction::filled(tool, "", request)])
    };
    match signal {
        Signal::RepeatedCall => {
            let forbid =
                called(moment.round).filter(|call| Some(call.number) == moment.call).map(|call| call.tool.clone());
            vec![Guess { forbid: forbid.collect(), ..Guess::new("its answer was there already", 2) }]
        }
        Signal::RejectedCall => {
            // Another tool by its words, or the same one made right.
            let tool = called(moment.round)
                .find(|call| Some(call.number) == moment.call)
                .and_then(|call| tools.iter().find(|tool| tool.name == call.tool));
            let again = tool.and_then(|tool| {
                Guess::calls("the tool that was meant, called right", 1, vec![correction::filled(tool, "", request)])
            });
            again.or_else(wanted).into_iter().collect()
        }
        Signal::NarratedAction | Signal::CallAsText | Signal::FabricatedMarker | Signal::ClaimMismatch => {
            wanted().into_iter().collect()
        }
        Signal::Corrected | Signal::Rejected | Signal::AskedAgain | Signal::Undone => {
            let reads = |name: &str| tools.iter().any(|tool| tool.name == name && tool.reads);
            let effects: Vec<String> = turn
                .calls
                .iter()
                .filter(|call| call.outcome == CallOutcome::Ok && !reads(&call.tool) && call.round == moment.round)
                .map(|call| call.tool.clone())
                .collect();
            if !effects.is_empty() {
                return vec![Guess { forbid: effects, ..Guess::new("the person did not want what it did", 1) }];
            }
            let is_talk = turn.calls.is_empty();
            wanted().filter(|_| is_talk).into_iter().collect()
        }
        Signal::RefusedConfirmation => Vec::new(),
    }
}

/// What the turn did, for a case that must stay good.
fn as_it_was(turn: &LivedTurn, tools: &[ToolDefinition]) -> Option<Guess> {
    if !signals(turn).is_empty() || turn.is_interrupted() {
        return None;
    }
    let why = "what the turn did";
    if turn.calls.is_empty() {
        return Some(Guess { no_call: true, ..Guess::new(why, 1) });
    }
    first_right(turn, 1, tools).guess(why, 1)
}
