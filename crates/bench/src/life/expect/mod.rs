//! What should have happened: guesses from what the person said and did, and from what the model did
//! next, each as an expectation that a person can read.
//!
//! A call that was made behind a result from outside, a file's text among them, may be somebody else's
//! wish: unless the person approved it, it is a guess of the weakest kind, which nobody takes unasked.

mod correction;
mod guesses;
mod matchers;

pub(super) use guesses::{Guess, asked_again, from_deeds, from_words, ranked};
pub(super) use matchers::expected_call;

use serde::Serialize;
use tenpass_trace::ToolDefinition;

use crate::cases::{Expect, expect_lines, parse_expect};

/// What may have been right, with its reason.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Candidate {
    /// The expectation.
    #[serde(skip)]
    pub expect: Expect,
    /// Its lines, as they stand in `[case.expect]`.
    pub lines: String,
    /// Why this.
    pub why: String,
    /// 3: the person's own word or the call that was then right; 2: what follows from a refusal; 1: a guess.
    pub strength: u8,
}

impl Candidate {
    /// A guess as an expectation. Its calls have been rewritten; `request` is what was asked, rewritten.
    /// `None` when no answer could meet it, or every answer would.
    pub(super) fn of(guess: &Guess, request: &str, tools: &[ToolDefinition]) -> Option<Self> {
        let mut expect = Expect { no_call: guess.no_call, ..Expect::default() };
        let calls: Vec<_> = guess
            .calls
            .iter()
            .filter_map(|call| Some((tools.iter().find(|tool| tool.name == call.name)?, call)))
            .map(|(tool, call)| expected_call(tool, &call.arguments, request))
            .collect();
        if calls.len() < guess.calls.len() {
            return None;
        }
        if !calls.is_empty() {
            expect.alternatives.push(calls);
        }
        let is_expected = |name: &String| guess.calls.iter().any(|call| call.name == *name);
        let is_offered = |name: &String| tools.iter().any(|tool| tool.name == *name);
        expect.forbid = guess.forbid.iter().filter(|name| is_offered(name) && !is_expected(name)).cloned().collect();
        expect.forbid.dedup();
        // A value that the tool's schema refuses by now is left free.
        if !is_valid(&expect, tools) {
            for call in expect.alternatives.iter_mut().flatten() {
                call.arguments.clear();
            }
        }
        is_valid(&expect, tools).then(|| Self {
            lines: expect_lines(&expect),
            expect,
            why: guess.why.clone(),
            strength: guess.strength,
        })
    }
}

fn is_valid(expect: &Expect, tools: &[ToolDefinition]) -> bool {
    parse_expect("a suggestion", &expect_lines(expect), tools).is_ok_and(|read| read == *expect)
}
