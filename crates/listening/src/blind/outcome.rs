//! What the votes show, with names.

use std::collections::BTreeMap;

use serde::Serialize;
use tenpass_stats::{Tally, Votes, multinomial_exact, sign_e_value, sign_test, votes as judge, wilson};

use super::choice::Choice;
use super::session::{Answer, Session, Vote};

/// Votes are called a preference below this.
const ALPHA: f64 = 0.05;
/// ... or from this e-value on, whenever one looks.
const E_VALUE: f64 = 20.0;

/// A candidate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Standing {
    /// Its SPEC.
    pub candidate: String,
    /// Ballots on which it was picked.
    pub picked: u32,
    /// Median of its answers' times.
    pub median_ms: f64,
    /// Median of its answers' lengths in characters.
    pub median_characters: f64,
}

/// Two candidates.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pair {
    /// The one with more picks.
    pub ahead: String,
    /// The other.
    pub behind: String,
    /// Picks of the first.
    pub wins: u32,
    /// Picks of the second.
    pub losses: u32,
    /// Two-sided sign test.
    pub p: f64,
    /// The same with Holm's correction over all pairs.
    pub p_holm: f64,
    /// Mean of the e-values of both directions.
    pub e_value: f64,
}

/// Whether a place was picked more often than others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Position {
    /// Picks of each place, from left to right, over all ballots.
    pub picked: Vec<u32>,
    /// Exact binomial or multinomial test against equal chances.
    pub p: Option<f64>,
}

/// How often the longer answer was picked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Length {
    /// Decisive votes on answers of different lengths where the longest was picked.
    pub longest_picked: u32,
    /// Of how many.
    pub of: u32,
    /// Exact binomial test against chance.
    pub p: f64,
}

/// What may be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// One candidate is preferred.
    Preferred,
    /// It may be chance.
    NotProven,
    /// Nobody decided anything.
    NoVotes,
}

/// The result of a session.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// The session.
    pub session: String,
    /// Its title.
    pub title: String,
    /// Candidates, the most picked first.
    pub standings: Vec<Standing>,
    /// Votes that say that all are equally good.
    pub ties: u32,
    /// Votes that say that all are bad.
    pub all_bad: u32,
    /// Ballots with a vote, replays included, and all.
    pub voted: (usize, usize),
    /// What may be said.
    pub verdict: Verdict,
    /// For three or more candidates: exact multinomial test against no preference at all.
    pub p_any: Option<f64>,
    /// Every pair, ahead first.
    pub pairs: Vec<Pair>,
    /// With two candidates: picks of the leader that this many decisive votes need for a preference.
    pub needed: Option<(u32, u32)>,
    /// The check of places.
    pub position: Position,
    /// Ballots shown twice that were voted alike, and how many were shown twice, with a 95 % interval.
    pub consistency: (u32, u32, f64, f64),
    /// The check of lengths.
    pub length: Length,
    /// Whether votes were still missing.
    pub early: bool,
}

/// Judges the votes. `sealed` tells which candidate of the session a number is.
pub(super) fn outcome(session: &Session, sealed: &[usize], votes: &[Vote], answers: &[Answer]) -> Outcome {
    let count = sealed.len();
    let names: Vec<&str> = session.candidates().iter().map(|one| one.spec.as_str()).collect();
    let ballots = session.ballots();
    let lengths: BTreeMap<(usize, usize), usize> =
        answers.iter().map(|answer| ((answer.prompt, answer.number), answer.shown.chars().count())).collect();
    let mut counted = Counted { picked: vec![0; count], places: vec![0; count], ..Counted::default() };
    let by_ballot: BTreeMap<usize, Choice> = votes.iter().map(|vote| (vote.ballot, vote.choice)).collect();
    for (&ballot, &choice) in &by_ballot {
        let Some(drawn) = ballots.get(ballot) else { continue };
        let number = match choice {
            Choice::Place(place) => drawn.order.get(place).copied(),
            _ => None,
        };
        if let Choice::Place(place) = choice {
            counted.places[place.min(count - 1)] += 1;
        }
        if let Some(first) = drawn.replay_of {
            counted.replay(choice, number, by_ballot.get(&first).copied(), ballots.get(first).map(|one| &one.order));
            continue;
        }
        match (choice, number) {
            (Choice::Tie, _) => counted.ties += 1,
            (Choice::AllBad, _) => counted.all_bad += 1,
            (Choice::Place(_), Some(number)) => {
                counted.picked[sealed[number]] += 1;
                let length = |number: &usize| lengths.get(&(drawn.prompt, *number)).copied().unwrap_or(0);
                counted.length(number, drawn.order.iter().map(|number| (*number, length(number))));
            }
            (Choice::Place(_), None) => {}
        }
    }
    let decisive: u32 = counted.picked.iter().sum();
    let judged = judge(&counted.picked);
    let p_any = judged.as_ref().filter(|_| count > 2).and_then(|judged| judged.p);
    let pairs = pairs(&names, &counted.picked, judged.as_ref());
    let early = by_ballot.len() < ballots.len();
    let leads = match pairs.as_slice() {
        // A look before the end was not planned: only the e-value allows it.
        [pair] => pair.e_value >= E_VALUE || (!early && pair.p < ALPHA),
        // Among several the leader must be ahead of the crowd, not only of the last.
        _ => !early && judged.as_ref().is_some_and(|judged| judged.p_leader < ALPHA),
    };
    Outcome {
        session: session.id().to_owned(),
        title: session.title().to_owned(),
        standings: standings(&names, sealed, &counted.picked, answers),
        ties: counted.ties,
        all_bad: counted.all_bad,
        voted: (by_ballot.len(), ballots.len()),
        verdict: match (decisive, leads) {
            (0, _) => Verdict::NoVotes,
            (_, true) => Verdict::Preferred,
            (_, false) => Verdict::NotProven,
        },
        p_any,
        needed: (count == 2 && decisive > 0).then(|| needed(decisive)).flatten().map(|wins| (wins, decisive)),
        pairs,
        position: Position { p: multinomial_exact(&counted.places, None), picked: counted.places },
        consistency: {
            let interval = wilson(Tally::new(counted.same, counted.replayed - counted.same), 0.95);
            (counted.same, counted.replayed, interval.low, interval.high)
        },
        length: Length {
            longest_picked: counted.longest,
            of: counted.different,
            p: sign_test(counted.longest, counted.different - counted.longest),
        },
        early,
    }
}

#[derive(Default)]
struct Counted {
    picked: Vec<u32>,
    places: Vec<u32>,
    ties: u32,
    all_bad: u32,
    same: u32,
    replayed: u32,
    longest: u32,
    different: u32,
}

impl Counted {
    /// A ballot that came again.
    fn replay(&mut self, choice: Choice, number: Option<usize>, first: Option<Choice>, order: Option<&Vec<usize>>) {
        let (Some(first), Some(order)) = (first, order) else { return };
        self.replayed += 1;
        let before = match first {
            Choice::Place(place) => order.get(place).copied(),
            _ => None,
        };
        let alike = match (number, before) {
            (None, None) => choice == first,
            (now, before) => now == before,
        };
        self.same += u32::from(alike);
    }

    /// A pick among answers with lengths. Two candidates only decide by length when their lengths differ; among
    /// several the longest must be one.
    fn length(&mut self, picked: usize, lengths: impl Iterator<Item = (usize, usize)>) {
        let lengths: Vec<(usize, usize)> = lengths.collect();
        let longest = lengths.iter().map(|(_, length)| *length).max().unwrap_or(0);
        let mut longest_ones = lengths.iter().filter(|(_, length)| *length == longest);
        if let (Some((number, _)), None) = (longest_ones.next(), longest_ones.next())
            && lengths.len() == 2
        {
            self.different += 1;
            self.longest += u32::from(*number == picked);
        }
    }
}

/// Every pair with names, the clearest first.
fn pairs(names: &[&str], picked: &[u32], judged: Option<&Votes>) -> Vec<Pair> {
    let named = judged.map_or(&[][..], |judged| &judged.pairs).iter().map(|pair| {
        let (wins, losses) = (picked[pair.ahead], picked[pair.behind]);
        let (ahead, behind) = (names[pair.ahead].to_owned(), names[pair.behind].to_owned());
        let e_value = f64::midpoint(sign_e_value(wins, losses), sign_e_value(losses, wins));
        Pair { ahead, behind, wins, losses, p: pair.p, p_holm: pair.p_holm, e_value }
    });
    let mut pairs: Vec<Pair> = named.collect();
    pairs.sort_by(|a, b| a.p.total_cmp(&b.p));
    pairs
}

/// The fewest wins of so many decisive votes that the sign test calls a preference.
fn needed(decisive: u32) -> Option<u32> {
    (decisive.div_ceil(2)..=decisive).find(|wins| sign_test(*wins, decisive - wins) < ALPHA)
}

fn standings(names: &[&str], sealed: &[usize], picked: &[u32], answers: &[Answer]) -> Vec<Standing> {
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        tenpass_stats::quantile(&values, 0.5).unwrap_or(0.0)
    };
    let mut all: Vec<Standing> = names
        .iter()
        .enumerate()
        .map(|(candidate, name)| {
            let own = || answers.iter().filter(move |answer| sealed.get(answer.number) == Some(&candidate));
            Standing {
                candidate: (*name).to_owned(),
                picked: picked[candidate],
                median_ms: median(own().map(|answer| answer.ms).collect()),
                median_characters: median(own().map(|answer| answer.shown.chars().count() as f64).collect()),
            }
        })
        .collect();
    all.sort_by_key(|standing| std::cmp::Reverse(standing.picked));
    all
}
