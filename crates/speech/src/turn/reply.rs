//! A reply on its way from text to sound.

use std::collections::BTreeMap;

use tenpass_tts::Chunker;

use super::{Action, Manner};
use crate::heard::Heard;
use crate::parts::Milestones;

/// Samples of a clause: all, silent at the head, silent at the end.
type Sound = (u64, u64, u64);

/// One reply.
#[derive(Debug, Clone)]
pub(super) struct Reply {
    pub(super) id: u32,
    pub(super) manner: Manner,
    pub(super) question: String,
    pub(super) command: Option<String>,
    pub(super) milestones: Milestones,
    pub(super) sounded: bool,
    clauses: Chunker,
    texts: Vec<String>,
    /// Sounds that came before their turn.
    early: BTreeMap<u32, Sound>,
    heard: Heard,
    given: u32,
    text_ended: bool,
    drained: bool,
}

impl Reply {
    pub(super) fn new(id: u32, question: String, command: Option<String>, milestones: Milestones) -> Self {
        Self {
            id,
            manner: Manner::Reading,
            question,
            command,
            milestones,
            sounded: false,
            clauses: Chunker::plain(),
            texts: Vec::new(),
            early: BTreeMap::new(),
            heard: Heard::new(),
            given: 0,
            text_ended: false,
            drained: true,
        }
    }

    pub(super) fn piece(&mut self, now_us: u64, text: &str, out: &mut impl Extend<Action>) {
        for clause in self.clauses.push(text) {
            self.clause(now_us, clause, out);
        }
    }

    pub(super) fn ended(&mut self, now_us: u64, manner: Manner, out: &mut impl Extend<Action>) {
        for rest in self.clauses.finish() {
            self.clause(now_us, rest, out);
        }
        self.manner = manner;
        self.text_ended = true;
    }

    fn clause(&mut self, now_us: u64, text: String, out: &mut impl Extend<Action>) {
        if self.texts.is_empty() {
            self.milestones.clause_us = now_us;
        }
        out.extend([Action::Speak { reply: self.id, chunk: self.texts.len() as u32, text: text.clone() }]);
        self.texts.push(text);
    }

    /// A clause's sound. Clauses are played in order, whatever the order they are spoken in.
    pub(super) fn synthesised(&mut self, now_us: u64, chunk: u32, sound: Sound) {
        if chunk == 0 {
            self.milestones.synthesised_us = now_us;
        }
        self.early.insert(chunk, sound);
    }

    /// Gives the device what is next; nothing while the reply is held.
    pub(super) fn give(&mut self, out: &mut impl Extend<Action>) {
        while let Some((samples, lead, tail)) = self.early.remove(&self.given) {
            let text = self.texts.get(self.given as usize).map_or("", String::as_str);
            if samples > 0 {
                self.heard.push(text, samples, lead, tail);
                self.drained = false;
                out.extend([Action::Play { reply: self.id, chunk: self.given }]);
            }
            self.given += 1;
        }
    }

    pub(super) fn drained(&mut self) {
        self.drained = true;
    }

    /// Playback goes on from a cut point.
    pub(super) fn resumed(&mut self) {
        self.drained = false;
    }

    /// Nothing more will sound.
    pub(super) fn over(&self) -> bool {
        self.text_ended && self.drained && self.given as usize == self.texts.len()
    }

    /// What was heard when so many samples were played.
    pub(super) fn heard(&self, played: u64) -> String {
        self.heard.until(played)
    }

    /// All that was played.
    pub(super) fn whole(&self) -> String {
        self.heard.whole()
    }

    /// Samples given to the device.
    pub(super) fn samples(&self) -> u64 {
        self.heard.samples()
    }
}
