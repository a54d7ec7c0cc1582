//! What was said and what was heard instead.

use std::collections::BTreeMap;

use serde::Serialize;

use super::outcome::{Kind, Outcome};
use super::summary::Scored;
use crate::normalise::normalise;

/// One truth heard as one other thing by one voice with one prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Confusion {
    /// The arm.
    pub arm: String,
    /// Its prompt.
    pub prompt: String,
    /// Who spoke.
    pub voice: String,
    /// What was said; empty for silence and noise.
    pub truth: String,
    /// What was heard, as it was written.
    pub heard: String,
    /// What came of it.
    pub outcome: Outcome,
    /// How often.
    pub count: u32,
    /// A clip to listen to.
    pub clip: String,
}

/// Everything that was not understood, most frequent first: commands that were not dispatched as they should be, false commands, and
/// texts from silence.
pub fn confusions(scored: &[Scored<'_>]) -> Vec<Confusion> {
    let mut found: BTreeMap<_, Confusion> = BTreeMap::new();
    for one in scored {
        let wrong = match one.kind {
            Kind::Command => one.outcome != Outcome::Understood,
            Kind::Speech => one.outcome == Outcome::FalseCommand,
            Kind::Nothing => one.outcome != Outcome::Quiet,
        };
        if !wrong {
            continue;
        }
        let heard = normalise(&one.pass.text, &one.clip.language).join(" ");
        let key = (one.arm, one.clip.voice.clone(), one.clip.text.clone(), heard, one.outcome);
        let fresh = || Confusion {
            arm: one.pass.arm.clone(),
            prompt: one.prompt.to_owned(),
            voice: one.clip.voice.clone(),
            truth: one.clip.text.clone(),
            heard: one.pass.text.clone(),
            outcome: one.outcome,
            count: 0,
            clip: one.clip.file.clone(),
        };
        found.entry(key).or_insert_with(fresh).count += 1;
    }
    let mut list: Vec<Confusion> = found.into_values().collect();
    // Stable: of equals the order of arms, voices and truths.
    list.sort_by_key(|confusion| std::cmp::Reverse(confusion.count));
    list
}
