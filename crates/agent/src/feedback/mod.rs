//! Labels for what may be learned from (K90, K91).
//!
//! A turn is labelled by what the person did anyway: confirmations, a thumb, a typed word. What they
//! did on purpose overrides what follows from confirmations; silence is never approval. Only a turn
//! that ended by itself is kept to learn from.

use std::fmt;

use serde::{Deserialize, Serialize};
use tenpass_trace::{ConfirmationAnswer, TraceEvent, TraceRecord, TurnEnd};

use crate::session::Feedback;

/// What a person thinks of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It was right.
    Accepted,
    /// It was wrong.
    Rejected,
    /// It was wrong, and the right answer is known.
    Corrected,
}

impl Verdict {
    /// The stored and printed name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::Corrected => "corrected",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// Where a label came from, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LabelSource {
    /// The answers to the turn's confirmations.
    Confirmations,
    /// A thumb or a typed word.
    Feedback,
}

/// The label of an exchange.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// The verdict.
    pub verdict: Verdict,
    /// What the answer should have been, for [`Verdict::Corrected`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correction: Option<String>,
    /// Where it came from.
    pub source: LabelSource,
}

/// The verdict that follows from a turn's confirmations (K91): one refused → rejected; all approved
/// → accepted; none asked, or one that expired or was stopped → none, because silence is no answer.
pub fn label_from_confirmations(answers: &[ConfirmationAnswer]) -> Option<Verdict> {
    if answers.contains(&ConfirmationAnswer::Refused) {
        return Some(Verdict::Rejected);
    }
    let all_approved = !answers.is_empty() && answers.iter().all(|answer| *answer == ConfirmationAnswer::Approved);
    all_approved.then_some(Verdict::Accepted)
}

/// The verdict of a typed word or a thumb, with the correction.
pub fn label_from_feedback(feedback: &Feedback) -> Label {
    let (verdict, correction) = match feedback {
        Feedback::Accept | Feedback::Good => (Verdict::Accepted, None),
        Feedback::Reject | Feedback::Bad => (Verdict::Rejected, None),
        Feedback::Correct(text) => (Verdict::Corrected, Some(text.clone())),
    };
    Label { verdict, correction, source: LabelSource::Feedback }
}

/// The label of a turn: the last feedback on it, else what its confirmations say.
pub fn label(answers: &[ConfirmationAnswer], feedback: &[Feedback]) -> Option<Label> {
    feedback.last().map(label_from_feedback).or_else(|| {
        label_from_confirmations(answers).map(|verdict| Label {
            verdict,
            correction: None,
            source: LabelSource::Confirmations,
        })
    })
}

/// Whether a turn may be exported for training: it ended by itself and somebody judged it. A turn
/// that was taken back is not (K6, K90, K91).
pub fn exportable(end: TurnEnd, label: Option<&Label>, undone: bool) -> bool {
    end == TurnEnd::Natural && label.is_some() && !undone
}

/// The trace record of a feedback on turn `judged`.
pub fn verdict_record(thread: &str, judged: &str, feedback: &Feedback) -> TraceRecord {
    TraceRecord {
        thread: thread.to_owned(),
        turn: String::new(),
        event: TraceEvent::Verdict {
            judged: judged.to_owned(),
            verdict: label_from_feedback(feedback).verdict.as_str().to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use ConfirmationAnswer::{Approved, Expired, Refused, Stopped};

    use super::*;

    #[test]
    fn confirmations_are_labels() {
        for (answers, wanted) in [
            (&[][..], None),
            (&[Approved][..], Some(Verdict::Accepted)),
            (&[Approved, Approved][..], Some(Verdict::Accepted)),
            (&[Approved, Refused, Approved][..], Some(Verdict::Rejected)),
            (&[Expired][..], None),
            (&[Approved, Expired][..], None),
            (&[Approved, Stopped][..], None),
            (&[Refused, Expired][..], Some(Verdict::Rejected)),
        ] {
            assert_eq!(label_from_confirmations(answers), wanted, "{answers:?}");
        }
    }

    #[test]
    fn a_thumb_overrides_and_the_last_one_counts() {
        let from_thumb = label(&[Approved], &[Feedback::Bad]).unwrap();
        assert_eq!((from_thumb.verdict, from_thumb.source), (Verdict::Rejected, LabelSource::Feedback));
        let changed = label(&[Refused], &[Feedback::Reject, Feedback::Good]).unwrap();
        assert_eq!(changed.verdict, Verdict::Accepted);
        let corrected = label(&[], &[Feedback::Correct("b.txt".into())]).unwrap();
        assert_eq!((corrected.verdict, corrected.correction.as_deref()), (Verdict::Corrected, Some("b.txt")));
        assert_eq!(label(&[Approved], &[]).unwrap().source, LabelSource::Confirmations);
        assert_eq!(label(&[], &[]), None);
    }

    #[test]
    fn only_a_judged_natural_end_is_exported() {
        let accepted = label(&[Approved], &[]);
        assert!(exportable(TurnEnd::Natural, accepted.as_ref(), false));
        assert!(!exportable(TurnEnd::Natural, accepted.as_ref(), true));
        assert!(!exportable(TurnEnd::Natural, None, false));
        for end in [TurnEnd::LastResult, TurnEnd::Escalated, TurnEnd::RoundCap, TurnEnd::Stopped, TurnEnd::TimedOut] {
            assert!(!exportable(end, accepted.as_ref(), false));
        }
    }

    #[test]
    fn the_record_names_the_turn_that_was_judged() {
        let record = verdict_record("thread", "t7", &Feedback::Correct("x".into()));
        assert_eq!(
            serde_json::to_value(&record).unwrap(),
            serde_json::json!({
                "thread": "thread", "turn": "", "event": "verdict", "judged": "t7", "verdict": "corrected"
            })
        );
    }
}
