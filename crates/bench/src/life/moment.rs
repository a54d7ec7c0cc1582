//! Which point of a turn becomes the question: the request in whose answer something went wrong first.

use serde::Serialize;
use tenpass_agent::claims;
use tenpass_trace::database::Verdict;
use tenpass_trace::{CallOutcome, ConfirmationAnswer, FailureClass, RetryReason};

use super::turns::{LivedCall, LivedTurn};

/// What went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    /// The person said what it should have been.
    Corrected,
    /// The person rejected the answer: a thumb down, a typed word.
    Rejected,
    /// The person said no to a call.
    RefusedConfirmation,
    /// A call of a tool that does not exist, or with arguments that its schema refuses.
    RejectedCall,
    /// The answer claims what no call did, or denies what one did.
    ClaimMismatch,
    /// The answer announced an act and called no tool.
    NarratedAction,
    /// A call stood in the text and could not be read.
    CallAsText,
    /// The answer made up a result.
    FabricatedMarker,
    /// The person asked the same again, in other words.
    AskedAgain,
    /// The same call again and again.
    RepeatedCall,
    /// The person took the exchange back.
    Undone,
}

impl Signal {
    /// What it is in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Corrected => "the person corrected the answer",
            Self::Rejected => "the person rejected the answer",
            Self::RefusedConfirmation => "the person said no to a call",
            Self::RejectedCall => "a call could not be made as it was",
            Self::ClaimMismatch => "the answer says what was not done",
            Self::NarratedAction => "an act was announced and not done",
            Self::CallAsText => "a call in the text could not be read",
            Self::FabricatedMarker => "the answer made up a result",
            Self::AskedAgain => "the person asked the same again",
            Self::RepeatedCall => "the same call was made again",
            Self::Undone => "the person took the exchange back",
        }
    }

    /// How much it says about the answer, from 1 to 3: what the person did on purpose says most, and so
    /// does a call that cannot be right.
    pub fn strength(self) -> u8 {
        match self {
            Self::Corrected | Self::Rejected | Self::RefusedConfirmation | Self::RejectedCall => 3,
            Self::ClaimMismatch | Self::NarratedAction | Self::CallAsText | Self::FabricatedMarker => 2,
            Self::AskedAgain | Self::RepeatedCall | Self::Undone => 1,
        }
    }
}

/// The point of a turn that becomes the question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    /// The request, from 1.
    pub round: u32,
    /// Calls made before it, whose results it shows.
    pub calls_before: usize,
    /// What went wrong in its answer; `None` when nothing of the trace says.
    pub signal: Option<Signal>,
    /// The call that went wrong.
    pub call: Option<u32>,
}

impl Moment {
    /// The first thing that went wrong in a turn. What the person thought of the whole of it says nothing
    /// about where: then it is the first request, the person's own message.
    pub fn of(turn: &LivedTurn) -> Self {
        let calls = turn.calls.iter().filter_map(|call| Some((call.round, signal_of(call)?, Some(call.number))));
        let retries = turn.retries.iter().filter_map(|(round, reason)| Some((*round, signal_of_retry(*reason)?, None)));
        // Of one round, a call says more than a retry.
        let first = calls.chain(retries).min_by_key(|(round, signal, call)| (*round, call.is_none(), *signal));
        match first.map(|first| begun(turn, first)) {
            Some((round, signal, call)) => Self {
                round,
                calls_before: turn.calls.iter().filter(|call| call.round < round).count(),
                signal: Some(signal),
                call,
            },
            None => Self { round: 1, calls_before: 0, signal: signals(turn).into_iter().next(), call: None },
        }
    }
}

impl Moment {
    /// The request of a turn with this number, as the person chose it.
    pub fn at(turn: &LivedTurn, round: u32) -> Self {
        let call = turn.calls.iter().find(|call| call.round == round && signal_of(call).is_some());
        let retry = turn.retries.iter().find(|(other, _)| *other == round).and_then(|(_, why)| signal_of_retry(*why));
        Self {
            round,
            calls_before: turn.calls.iter().filter(|call| call.round < round).count(),
            signal: call.and_then(signal_of).or(retry).or_else(|| signals(turn).into_iter().next()),
            call: call.map(|call| call.number),
        }
    }
}

/// Where it began to go wrong: of a turn that the person judged wrong, a call that was made again and again was
/// wrong the first time.
fn begun(turn: &LivedTurn, first: (u32, Signal, Option<u32>)) -> (u32, Signal, Option<u32>) {
    let (_, signal, number) = first;
    let is_judged = matches!(turn.verdict, Some(Verdict::Corrected { .. } | Verdict::Rejected));
    if signal != Signal::RepeatedCall || !is_judged {
        return first;
    }
    let repeated = turn.calls.iter().find(|call| Some(call.number) == number);
    let is_same = |call: &&LivedCall| {
        repeated.is_some_and(|repeated| (&call.tool, &call.arguments) == (&repeated.tool, &repeated.arguments))
    };
    turn.calls.iter().find(is_same).map_or(first, |call| (call.round, signal, Some(call.number)))
}

/// True for a call that the person refused: nothing in time is no answer.
pub(super) fn is_refused(call: &LivedCall) -> bool {
    call.outcome == CallOutcome::Refused && call.answer == Some(ConfirmationAnswer::Refused)
}

fn signal_of(call: &LivedCall) -> Option<Signal> {
    match call.outcome {
        CallOutcome::Rejected => Some(Signal::RejectedCall),
        CallOutcome::Refused if is_refused(call) => Some(Signal::RefusedConfirmation),
        CallOutcome::Blocked | CallOutcome::Repeated => Some(Signal::RepeatedCall),
        _ => None,
    }
}

fn signal_of_retry(reason: RetryReason) -> Option<Signal> {
    match reason {
        RetryReason::NarratedAction => Some(Signal::NarratedAction),
        RetryReason::CallAsText => Some(Signal::CallAsText),
        RetryReason::FabricatedMarker => Some(Signal::FabricatedMarker),
        RetryReason::EmptyFinal | RetryReason::Unconstrained => None,
    }
}

/// What a turn's own records say against it, what says most first. That the person asked again is seen in
/// the turns behind it.
///
/// An answer that was interrupted is no answer: only what happened before counts, and what the person said
/// about it on purpose.
pub(super) fn signals(turn: &LivedTurn) -> Vec<Signal> {
    let mut found: Vec<Signal> = Vec::new();
    match &turn.verdict {
        Some(Verdict::Corrected { .. }) => found.push(Signal::Corrected),
        Some(Verdict::Rejected) => found.push(Signal::Rejected),
        Some(Verdict::Accepted) | None => {}
    }
    found.extend(turn.calls.iter().filter_map(signal_of));
    found.extend(turn.retries.iter().filter_map(|(_, reason)| signal_of_retry(*reason)));
    if !turn.is_interrupted() && has_false_claim(turn) {
        found.push(Signal::ClaimMismatch);
    }
    if turn.is_undone && !turn.is_interrupted() {
        found.push(Signal::Undone);
    }
    // A rejection that follows from a refused confirmation is that refusal.
    if found.contains(&Signal::RefusedConfirmation) {
        found.retain(|signal| *signal != Signal::Rejected);
    }
    found.sort_by_key(|signal| (std::cmp::Reverse(signal.strength()), *signal));
    found.dedup();
    found
}

/// The words of the answer held against the calls of the turn, as the chat does it.
fn has_false_claim(turn: &LivedTurn) -> bool {
    let ledger: Vec<claims::LedgerEntry> = turn
        .calls
        .iter()
        .filter(|call| call.outcome != CallOutcome::Repeated)
        .map(|call| claims::LedgerEntry {
            tool: call.tool.clone(),
            arguments: call.arguments.as_object().cloned().unwrap_or_default(),
            outcome: call.outcome.into(),
            confirmed: None,
            tier: None,
        })
        .collect();
    let is_false = |class: FailureClass| matches!(class, FailureClass::ClaimedNotDone | FailureClass::DeniedButDone);
    claims::check(&turn.answer, &ledger, &[]).iter().any(|finding| is_false(finding.class))
}
