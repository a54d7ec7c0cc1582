//! Proposals from a window of turns: what went wrong, with what may have been right, without what there
//! is a case for.
//!
//! - A turn is proposed for what its own records say against it ([`super::Signal`]), or because the person
//!   asked the same again. An interrupted turn counts for what happened before its end only, and never
//!   for being asked again. A turn that was taken back is proposed, and is in nobody's history.
//! - A turn in which something from outside was read is marked: what the model did behind it is suggested
//!   as a mere guess, unless the person approved it.
//! - What there is already: a case whose provenance names the turn, or whose request says the same.
//!   Proposals that say the same are one, and say how many they stand for.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::Serialize;
use tenpass_trace::Role;

use super::LifeError;
use super::draft::{Draft, DraftOptions};
use super::expect::asked_again;
use super::moment::{Signal, signals};
use super::similar::Gist;
use super::turns::{Life, LivedTurn};
use crate::cases::{Case, to_toml};

/// Characters of a request in a list of proposals.
const REQUEST_CHARACTERS: usize = 400;
/// Turns of one window that are made into proposals; the newest.
const MOST_PROPOSALS: usize = 2_000;

/// A turn that may become a case.
#[derive(Debug, Serialize)]
pub struct Proposal {
    /// The turn.
    pub turn: String,
    /// When it began.
    pub at: Timestamp,
    /// What says that it went wrong, what says most first.
    pub signals: Vec<Signal>,
    /// How much that is: 1 to 3, and one more for each further signal.
    pub strength: u8,
    /// The model that answered.
    pub model: String,
    /// The person's words, rewritten.
    pub request: String,
    /// What the person said it should have been, rewritten.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correction: Option<String>,
    /// Which request of the turn is the question.
    pub round: u32,
    /// Something from outside was read in the turn.
    pub is_tainted: bool,
    /// The turn was interrupted.
    pub is_interrupted: bool,
    /// The person took it back.
    pub is_undone: bool,
    /// What may have been right: lines of `[case.expect]`, with their reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect: Option<String>,
    /// Why that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect_why: Option<String>,
    /// How sure: 1 to 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect_strength: Option<u8>,
    /// Further turns that said the same.
    pub folded: usize,
    /// The case, with the expectation where there is one.
    #[serde(skip)]
    pub case: Case,
    #[serde(skip)]
    gist: Option<Gist>,
}

/// What a window of turns gave.
#[derive(Debug, Default, Serialize)]
pub struct Harvest {
    /// The proposals, what says most first, then the newest.
    pub proposals: Vec<Proposal>,
    /// Turns in the window.
    pub turns: usize,
    /// Turns that went wrong and that there is a case for.
    pub known: usize,
    /// Those cases, by id.
    pub known_cases: BTreeSet<String>,
    /// Turns that are folded into a proposal of another.
    pub folded: usize,
    /// Turns that cannot become cases.
    pub unfit: usize,
    /// Turns that went wrong beyond the number that is looked at.
    pub left_out: usize,
    /// Lines of the journal that cannot be read.
    pub unreadable: usize,
}

/// What went wrong in a turn, being asked again included.
fn against(life: &Life, turn: &LivedTurn) -> Vec<Signal> {
    let mut found = signals(turn);
    if asked_again(life, turn) {
        found.push(Signal::AskedAgain);
        found.sort_by_key(|signal| (std::cmp::Reverse(signal.strength()), *signal));
    }
    found
}

/// Proposes cases from the turns since `since`. `known` are the cases there are.
pub fn harvest(
    life: &Life,
    since: Option<Timestamp>,
    known: &[Case],
    options: &DraftOptions,
) -> Result<Harvest, LifeError> {
    let gists: Vec<Gist> = known.iter().map(|case| Gist::of(&request_of(case))).collect();
    let mut harvest = Harvest { unreadable: life.unreadable, ..Harvest::default() };
    let in_window = |turn: &&LivedTurn| since.is_none_or(|since| turn.at >= since);
    let window: Vec<&LivedTurn> = life.turns().iter().filter(in_window).collect();
    harvest.turns = window.len();
    let mut drawn = 0;
    for turn in window.into_iter().rev() {
        let signals = against(life, turn);
        if signals.is_empty() {
            continue;
        }
        if let Some(case) = known.iter().find(|case| case.provenance.contains(&turn.turn)) {
            harvest.known += 1;
            harvest.known_cases.insert(case.id.clone());
            continue;
        }
        if drawn >= MOST_PROPOSALS {
            harvest.left_out += 1;
            continue;
        }
        drawn += 1;
        let mut draft = match Draft::of(life, turn, options, None) {
            Ok(draft) => draft,
            Err(LifeError::Unfit { .. }) => {
                harvest.unfit += 1;
                continue;
            }
            Err(error) => return Err(error),
        };
        let gist = Gist::of(&draft.request);
        if let Some(place) = gists.iter().position(|known| known.is_duplicate_of(&gist)) {
            harvest.known += 1;
            harvest.known_cases.insert(known[place].id.clone());
            continue;
        }
        draft.say_provenance(None);
        let proposal = proposal(turn, draft, signals, gist);
        fold_in(&mut harvest, proposal);
    }
    harvest.proposals.sort_by_key(|proposal| std::cmp::Reverse((proposal.strength, proposal.at)));
    name_apart(&mut harvest.proposals, known);
    Ok(harvest)
}

fn proposal(turn: &LivedTurn, mut draft: Draft, signals: Vec<Signal>, gist: Gist) -> Proposal {
    let best = draft.candidates.first().cloned();
    if let Some(best) = &best {
        draft.choose(best);
    }
    let safe = draft.check_leaks().is_ok();
    let strongest = signals.iter().map(|signal| signal.strength()).max().unwrap_or(0);
    let model = draft.shown_model().to_owned();
    Proposal {
        turn: turn.turn.clone(),
        at: turn.at,
        strength: strongest + (signals.len() as u8).saturating_sub(1).min(2),
        signals,
        model,
        request: super::conversation::cut(&draft.request, REQUEST_CHARACTERS),
        correction: draft.correction.clone(),
        round: draft.moment.round,
        is_tainted: turn.tainted_from().is_some(),
        is_interrupted: turn.is_interrupted(),
        is_undone: turn.is_undone,
        expect: best.as_ref().filter(|_| safe).map(|best| best.lines.clone()),
        expect_why: best.as_ref().filter(|_| safe).map(|best| best.why.clone()),
        expect_strength: best.as_ref().filter(|_| safe).map(|best| best.strength),
        folded: 0,
        case: draft.case,
        gist: Some(gist),
    }
}

/// Adds a proposal, or counts it with one that says the same; the stronger one stays.
fn fold_in(harvest: &mut Harvest, new: Proposal) {
    let same = harvest.proposals.iter_mut().find(|known| match (&known.gist, &new.gist) {
        (Some(known), Some(new)) => known.is_duplicate_of(new),
        _ => false,
    });
    let Some(known) = same else {
        harvest.proposals.push(new);
        return;
    };
    harvest.folded += 1;
    let folded = known.folded + 1;
    let says_more = |proposal: &Proposal| (proposal.strength, proposal.expect_strength);
    if says_more(&new) > says_more(known) {
        *known = new;
    }
    known.folded = folded;
}

/// Gives every proposal an id that no case and no other proposal has.
fn name_apart(proposals: &mut [Proposal], known: &[Case]) {
    let mut taken: BTreeMap<String, u32> = known.iter().map(|case| (case.id.clone(), 1)).collect();
    for proposal in proposals {
        let base = proposal.case.id.clone();
        while taken.contains_key(&proposal.case.id) {
            let number = taken.entry(base.clone()).and_modify(|number| *number += 1).or_insert(2);
            proposal.case.id = format!("{base}-{number}");
        }
        taken.insert(proposal.case.id.clone(), 1);
    }
}

/// The person's words of a case: its last message of the user, without the application's blocks.
fn request_of(case: &Case) -> String {
    let last = case.messages.iter().rev().find(|message| message.role == Role::User);
    own_words(last.map_or("", |message| message.content.as_str()))
}

/// A message without the blocks that the application put before it.
fn own_words(text: &str) -> String {
    let mut rest = text.trim_start();
    while let Some(inner) = rest.strip_prefix("[[tenpass:") {
        let Some((name, _)) = inner.split_once([' ', ']']) else { break };
        let close = format!("[[/tenpass:{name}]]");
        let Some((_, behind)) = inner.split_once(close.as_str()) else { break };
        rest = behind.trim_start();
    }
    rest.to_owned()
}

/// The proposals as a case file; those without a suggestion are left out. What is only suggested says so.
pub fn drafts_toml(proposals: &[Proposal]) -> Option<String> {
    let told: Vec<&Proposal> = proposals.iter().filter(|proposal| proposal.expect.is_some()).collect();
    if told.is_empty() {
        return None;
    }
    let head = "Drafts from life, by `tenpass cases harvest`. Every expectation in here is a suggestion: read it, correct it,\n\
                and move the case to its family. `tenpass cases add --from-trace TURN` also checks that it fails today.";
    let cases: Vec<Case> = told.iter().map(|proposal| proposal.case.clone()).collect();
    let mut text = to_toml(super::LIFE_FAMILY, head, &cases);
    for proposal in told {
        let why = proposal.expect_why.as_deref().unwrap_or_default();
        let signals: Vec<&str> = proposal.signals.iter().map(|signal| signal.words()).collect();
        let comment = format!("# {}. Suggested, for a person to judge: {why}.", signals.join("; "));
        let heading = format!("[[case]]\nid = \"{}\"\n", proposal.case.id);
        text = text.replacen(&heading, &format!("{comment}\n{heading}"), 1);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_applications_blocks_are_no_words_of_the_person() {
        let text = "[[tenpass:context]]\nNow: Monday\n[[/tenpass:context]]\n\nRead notes.md";
        assert_eq!(own_words(text), "Read notes.md");
        assert_eq!(own_words("[[tenpass:x"), "[[tenpass:x");
        assert_eq!(own_words("plain"), "plain");
    }
}
