//! In which order answers are shown: drawn, balanced and kept.

use serde::{Deserialize, Serialize};
use tenpass_audio::Random;

/// Share of the prompts that come a second time.
pub const REPLAYED: f64 = 0.15;
/// Orders of more candidates than these are not enumerated: a block then has one order for each place.
const ENUMERATED_UP_TO: usize = 3;

/// One prompt with the answers of every candidate in the order they are shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ballot {
    /// The prompt's place in the list.
    pub prompt: usize,
    /// Sealed numbers of the candidates, from left to right.
    pub order: Vec<usize>,
    /// The earlier ballot with the same prompt, when this one tests self-consistency. It does not count as a vote.
    pub replay_of: Option<usize>,
}

/// The ballots of a session, in the order they are voted.
///
/// Prompts come in a random order. Within each block of prompts (2 for two candidates, 6 for three, as many as
/// candidates beyond) every candidate stands equally often in each place. `share` of the prompts come again in another order,
/// somewhere behind all first ballots of the first two thirds and never directly behind their first.
pub fn ballots(prompts: usize, candidates: usize, share: f64, seed: u64) -> Vec<Ballot> {
    let mut random = Random::named(seed, "ballots");
    let sequence = shuffled(prompts, &mut random);
    let mut first = Vec::with_capacity(prompts);
    while first.len() < prompts {
        let mut block = orders(candidates, &mut random);
        shuffle(&mut block, &mut random);
        for order in block {
            if let Some(&prompt) = sequence.get(first.len()) {
                first.push(Ballot { prompt, order, replay_of: None });
            }
        }
    }
    let again = if share > 0.0 && prompts > 1 { ((prompts as f64 * share).round() as usize).max(1) } else { 0 };
    let early = (prompts * 2 / 3).max(1);
    let mut chosen = shuffled(early, &mut random);
    chosen.truncate(again);
    let mut replays: Vec<Ballot> = chosen
        .into_iter()
        .map(|place| {
            let mut order = first[place].order.clone();
            // Any turn but the whole one moves every candidate to another place.
            order.rotate_left(1 + random.below(candidates.saturating_sub(1)));
            Ballot { prompt: first[place].prompt, order, replay_of: Some(place) }
        })
        .collect();
    let mut all: Vec<Ballot> = first.drain(..early).collect();
    while !(first.is_empty() && replays.is_empty()) {
        let (fresh, repeated) = (first.len(), replays.len());
        let follows = |ballot: &Ballot, all: &[Ballot]| ballot.replay_of == Some(all.len().wrapping_sub(1));
        let replay = fresh == 0 || (repeated > 0 && random.below(fresh + repeated) < repeated);
        if !replay || (fresh > 0 && follows(&replays[0], &all)) {
            all.push(first.remove(0));
            continue;
        }
        // Behind its first ballot it would be no test; another one goes first where there is one.
        let place = replays.iter().position(|ballot| !follows(ballot, &all)).unwrap_or(0);
        all.push(replays.remove(place));
    }
    all
}

/// A block of orders in which every candidate stands equally often in each place.
fn orders(candidates: usize, random: &mut Random) -> Vec<Vec<usize>> {
    let rotations = |order: &[usize]| {
        (0..order.len())
            .map(|turn| {
                let mut turned = order.to_vec();
                turned.rotate_left(turn);
                turned
            })
            .collect::<Vec<_>>()
    };
    if candidates > ENUMERATED_UP_TO {
        return rotations(&shuffled(candidates, random));
    }
    let mut start: Vec<usize> = (0..candidates).collect();
    let mut all = rotations(&start);
    if candidates == ENUMERATED_UP_TO {
        start.swap(0, 1);
        all.extend(rotations(&start));
    }
    all
}

fn shuffle<T>(items: &mut [T], random: &mut Random) {
    for last in (1..items.len()).rev() {
        items.swap(last, random.below(last + 1));
    }
}

/// 0 to `count` − 1 in a random order.
pub(super) fn shuffled(count: usize, random: &mut Random) -> Vec<usize> {
    let mut items: Vec<usize> = (0..count).collect();
    shuffle(&mut items, random);
    items
}
