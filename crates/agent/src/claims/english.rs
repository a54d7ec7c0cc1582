//! English verb groups: tense, mood, negation, voice, and the verb at the end of them.

use super::concept::Concept;
use super::grammar::{Coordinates, Head, Modality, Reader};
use super::tokens::Kind;
use super::verbs::form;

/// What a verb that takes another verb does to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Succeeds,
    Fails,
    Omits,
    Tries,
    Decides,
    Begins,
    Ends,
    Wants,
}

/// Verbs that take a verb, any form, by their stem.
const TAKERS: &[(&str, Effect)] = &[
    ("managed manage", Effect::Succeeds),
    ("succeeded succeed", Effect::Succeeds),
    ("proceeded proceed", Effect::Succeeds),
    ("helped help", Effect::Succeeds),
    ("failed fail failing", Effect::Fails),
    ("struggled struggle", Effect::Fails),
    ("forgot forget forgotten", Effect::Omits),
    ("neglected refused declined omitted avoided refrained skipped hesitated", Effect::Omits),
    ("tried try attempted attempt trying attempting", Effect::Tries),
    ("decided chose opted preferred agreed decide chosen elected", Effect::Decides),
    ("started began begun starting", Effect::Begins),
    ("finished completed finish done", Effect::Ends),
    (
        "want wanted need needed plan planned intend intended hope hoped wish wished like liked love prefer mean meant aim expect expected planning hoping intending prepared wanting",
        Effect::Wants,
    ),
];

#[rustfmt::skip]
const ADVERBS: &[&str] = &[
    "just", "already", "also", "now", "then", "even", "only", "still", "ever", "first", "indeed", "always",
    "soon", "therefore", "thus", "both", "please", "yet", "again", "too", "all", "right", "away", "each", "so",
    "well", "gladly", "certainly",
];

/// Words for which an auxiliary's answer may be "yes": offers rather than plans.
const OFFERS: &[&str] = &["happy", "glad", "pleased", "delighted", "ready", "willing", "here", "prepared"];

impl Reader<'_> {
    fn english_adverb(&self, at: usize) -> bool {
        let word = self.word(at);
        ADVERBS.contains(&word) || (word.ends_with("ly") && word.len() > 4 && self.lexicon.english(word).is_empty())
    }

    /// "went ahead and", "took the liberty of": words before the verb that add nothing to it.
    fn english_preamble(&self, at: usize) -> Option<(usize, u16)> {
        let says = |words: &[&str]| words.iter().enumerate().all(|(offset, word)| self.word(at + offset) == *word);
        if says(&["went", "ahead", "and"]) || says(&["gone", "ahead", "and"]) {
            return Some((3, form::PAST | form::PARTICIPLE));
        }
        if says(&["go", "ahead", "and"]) {
            return Some((3, form::BASE));
        }
        for verb in ["end", "ended"] {
            if says(&[verb, "up"]) {
                return Some((2, form::GERUND));
            }
        }
        for verb in ["took", "taken"] {
            if says(&[verb, "the", "liberty", "of"]) || says(&[verb, "the", "time", "to"]) {
                return Some((4, form::GERUND | form::BASE));
            }
            if says(&[verb, "care", "of"]) {
                return Some((3, form::GERUND));
            }
        }
        for verb in ["made", "make"] {
            if says(&[verb, "sure", "to"]) {
                return Some((3, form::BASE));
            }
        }
        None
    }

    /// The verb group that begins at `at`, right after its subject.
    pub(super) fn english_group(&self, at: usize) -> Option<Head> {
        let mut group = Group::new(self, at);
        group.finite()
    }

    /// Further verbs of the same group: "I opened it, read it and did not change it".
    pub(super) fn english_coordinates(&self, head: &Head) -> Coordinates {
        let mut index = head.at + 1;
        while index < self.to {
            let joined = matches!(self.word(index), "and" | "or" | "then" | "nor" | "but" | "plus");
            if !joined {
                index += 1;
                continue;
            }
            let mut next = index + 1;
            while self.english_adverb(next) || matches!(self.word(next), "then" | "and") {
                next += 1;
            }
            let auxiliary = matches!(
                self.word(next),
                "did" | "could" | "have" | "has" | "was" | "were" | "can" | "will" | "am" | "is" | "are" | "not"
            );
            if auxiliary && let Some(again) = self.english_group(next) {
                return Coordinates { end: index, next: Some(Head { start: next, ..again }) };
            }
            // "was able to get through and booked a table"
            let mask =
                if head.modality == Modality::Done && !head.passive { head.mask | form::PAST } else { head.mask };
            if let Some(entry) = self.english_form(next, mask) {
                let again = Head { at: next, concept: entry.concept, lemma: entry.lemma, start: next, ..head.clone() };
                return Coordinates { end: index, next: Some(again) };
            }
            // "the file was read and its typos fixed"
            if head.passive
                && let Some(at) =
                    (next + 1..self.to.min(next + 5)).find(|at| self.english_form(*at, form::PARTICIPLE).is_some())
                && let Some(entry) = self.english_form(at, form::PARTICIPLE)
                && !(next..at).any(|at| super::clause::FINITE.contains(&self.word(at)))
            {
                let again = Head { at, concept: entry.concept, lemma: entry.lemma, start: next, ..head.clone() };
                return Coordinates { end: index, next: Some(again) };
            }
            let restarts = !head.passive && self.english_taker(next).is_some_and(|(effect, _)| effect != Effect::Wants);
            if restarts && let Some(again) = self.english_group(next) {
                return Coordinates { end: index, next: Some(Head { start: next, ..again }) };
            }
            // "and flagged the rest": a verb that no table knows ends the objects all the same.
            let verb = self.word(next).len() > 4
                && self.word(next).ends_with("ed")
                && super::nouns::classes_of(self.word(next)) == 0;
            if verb && next > head.at + 2 {
                return Coordinates { end: index, next: None };
            }
            index += 1;
        }
        Coordinates { end: self.to, next: None }
    }

    fn english_form(&self, at: usize, mask: u16) -> Option<super::verbs::Form> {
        if at >= self.to || self.tokens[at].kind != Kind::Word {
            return None;
        }
        let word = self.word(at);
        // "is open" says what "has been opened" says.
        if word == "open" && mask & form::PARTICIPLE != 0 && mask & form::BASE == 0 {
            return Some(super::verbs::Form {
                concept: Concept::Open,
                bits: form::PARTICIPLE,
                lemma: "open".to_owned(),
            });
        }
        let mut entries = self.lexicon.english(word);
        // "double-checked", "re-read"
        if entries.is_empty()
            && let Some((head, tail)) = word.split_once('-')
            && matches!(head, "double" | "re" | "auto" | "pre")
        {
            entries = self.lexicon.english(tail);
        }
        entries.iter().find(|entry| entry.bits & mask != 0).cloned()
    }

    fn english_taker(&self, at: usize) -> Option<(Effect, bool)> {
        let word = self.word(at);
        let (words, effect) = TAKERS.iter().find(|(words, _)| words.split(' ').any(|taker| taker == word))?;
        let past = words.split(' ').next() == Some(word)
            || word.ends_with("ed")
            || matches!(word, "chose" | "forgot" | "began" | "done");
        Some((*effect, past && !word.is_empty()))
    }
}

/// The state of reading one verb group.
struct Group<'r, 't> {
    reader: &'r Reader<'t>,
    at: usize,
    start: usize,
    negated: bool,
    almost: bool,
    perfect: bool,
    past: bool,
}

impl<'r, 't> Group<'r, 't> {
    fn new(reader: &'r Reader<'t>, at: usize) -> Self {
        Self { reader, at, start: at, negated: false, almost: false, perfect: false, past: false }
    }

    fn word(&self) -> &'t str {
        self.reader.word(self.at)
    }

    /// Skips adverbs, and notes negation on the way.
    fn adverbs(&mut self) {
        while self.at < self.reader.to {
            let next = self.reader.word(self.at + 1);
            match self.word() {
                "not" if next == "only" || next == "just" => self.at += 2,
                "no" if next == "longer" => {
                    self.negated = true;
                    self.at += 2;
                }
                "not" | "never" | "neither" | "nor" => {
                    self.negated = true;
                    self.at += 1;
                }
                "almost" | "nearly" | "half" => {
                    self.almost = true;
                    self.at += 1;
                }
                _ if self.reader.english_adverb(self.at) => self.at += 1,
                _ => return,
            }
        }
    }

    fn head(&self, mask: u16, modality: Modality, passive: bool) -> Option<Head> {
        let entry = self.reader.english_form(self.at, mask)?;
        let modality = if self.almost { Modality::Unasserted } else { modality.negate(self.negated) };
        Some(Head {
            at: self.at,
            start: self.start,
            concept: entry.concept,
            lemma: entry.lemma,
            modality,
            passive,
            perfect: self.perfect,
            past: self.past,
            mask,
            clitics: Vec::new(),
        })
    }

    /// A verb group that ends without its verb: "I did not", "but I couldn't".
    fn elliptical(&self, modality: Modality) -> Option<Head> {
        let ends = self.at >= self.reader.to
            || matches!(self.word(), "so" | "it" | "that" | "this" | "them") && self.at + 1 >= self.reader.to;
        let ends = ends || matches!(self.word(), "because" | "since" | "yet" | "as" | "due");
        ends.then(|| Head {
            at: self.at.min(self.reader.to).saturating_sub(1),
            start: self.start,
            concept: Concept::Generic,
            lemma: String::new(),
            modality: modality.negate(self.negated),
            passive: false,
            perfect: self.perfect,
            past: true,
            mask: 0,
            clitics: Vec::new(),
        })
    }

    fn finite(&mut self) -> Option<Head> {
        self.adverbs();
        if let Some((width, mask)) = self.reader.english_preamble(self.at) {
            self.at += width;
            self.adverbs();
            self.past = true;
            return self.head(mask, Modality::Done, false);
        }
        let word = self.word();
        match word {
            "have" | "has" | "had" => self.have(word),
            "do" | "does" | "did" => self.do_support(word == "did"),
            "will" | "shall" | "can" | "could" | "may" | "might" | "must" | "would" | "should" | "ought" => {
                self.modal(word)
            }
            "'d" => {
                self.at += 1;
                self.adverbs();
                if self.reader.english_form(self.at, form::BASE).is_none()
                    && self.reader.english_form(self.at, form::PARTICIPLE).is_some()
                {
                    self.perfect = true;
                    return self.head(form::PARTICIPLE, Modality::Done, false);
                }
                self.at = self.start;
                self.after_modal(Modality::Unasserted, true)
            }
            "am" | "is" | "are" | "was" | "were" | "'s" => self.be(matches!(word, "was" | "were")),
            "let" if matches!(self.reader.word(self.at + 1), "me" | "us") => {
                self.at += 2;
                self.adverbs();
                self.head(form::BASE, Modality::Will, false)
            }
            _ => self.lexical(),
        }
    }

    /// A finite verb without an auxiliary.
    fn lexical(&mut self) -> Option<Head> {
        if let Some((effect, past)) = self.reader.english_taker(self.at)
            && let Some(head) = self.taker(effect, if past { Modality::Done } else { Modality::Unasserted })
        {
            return Some(head);
        }
        self.past = true;
        self.head(form::PAST, Modality::Done, false)
            .or_else(|| self.head(form::BASE | form::THIRD, Modality::Present, false))
    }

    /// The verb taken by another verb.
    fn taker(&mut self, effect: Effect, modality: Modality) -> Option<Head> {
        let (at, negated) = (self.at, self.negated);
        self.at += 1;
        let outer = modality.negate(self.negated);
        self.negated = false;
        // "helped you save", "got it done", "tried my best to open".
        let limit = self.at + 4;
        let mut mask = form::BASE | form::GERUND;
        while self.at < self.reader.to && self.at < limit {
            self.adverbs();
            match self.word() {
                "to" => mask = form::BASE,
                "in" | "with" | "of" | "from" | "on" | "at" => mask = form::GERUND,
                "you" | "us" | "my" | "best" | "hard" | "and" | "ahead" | "have" | "be" => {}
                _ => break,
            }
            self.at += 1;
        }
        let inner_negated = std::mem::take(&mut self.negated);
        let modality = match (effect, outer) {
            (Effect::Succeeds | Effect::Ends, Modality::NotDone) => Modality::Failed,
            (Effect::Succeeds | Effect::Ends, outer) => outer,
            (Effect::Fails, Modality::Done) => Modality::Failed,
            (Effect::Fails, Modality::NotDone) => Modality::Done,
            (Effect::Omits, Modality::Done) => Modality::NotDone,
            (Effect::Tries, Modality::Done) => Modality::Attempted,
            (Effect::Tries, Modality::NotDone) => Modality::NotDone,
            (Effect::Tries, outer) => outer,
            (Effect::Decides, Modality::Done) if inner_negated => Modality::NotDone,
            (Effect::Begins, Modality::Done) => Modality::Doing,
            _ => Modality::Unasserted,
        };
        // "decided against saving", "finished" without a verb.
        let found = self.head(mask, modality, false);
        if found.is_none() {
            (self.at, self.negated) = (at, negated);
        }
        found
    }

    fn have(&mut self, word: &str) -> Option<Head> {
        self.at += 1;
        self.adverbs();
        self.perfect = true;
        match self.word() {
            "to" => {
                self.at += 1;
                self.adverbs();
                let modality = if word == "had" { Modality::Done } else { Modality::Unasserted };
                self.head(form::BASE, modality, false)
            }
            "no" if self.reader.word(self.at + 1) == "access" => {
                self.negated = true;
                self.at += 1;
                self.access()
            }
            "access" | "direct" | "full" => self.access(),
            "the" | "no"
                if matches!(self.reader.word(self.at + 1), "ability" | "way" | "capability" | "possibility") =>
            {
                self.negated |= self.word() == "no";
                self.at += 2;
                if matches!(self.word(), "to" | "of") {
                    self.at += 1;
                }
                self.head(form::BASE | form::GERUND, Modality::Can, false)
            }
            "been" => {
                self.at += 1;
                self.after_be(Modality::Done, true)
            }
            "a" if matches!(self.reader.word(self.at + 1), "look" | "glance") => {
                self.at += 1;
                Some(self.made(Concept::Check, "check", Modality::Done))
            }
            "trouble" | "difficulty" | "problems" => {
                self.at += 1;
                self.head(form::GERUND, Modality::Failed, false)
            }
            _ => {
                if let Some((width, mask)) = self.reader.english_preamble(self.at) {
                    self.at += width;
                    return self.head(mask, Modality::Done, false);
                }
                if let Some((effect, _)) = self.reader.english_taker(self.at)
                    && let Some(head) = self.taker(effect, Modality::Done)
                {
                    return Some(head);
                }
                self.past = word == "had";
                self.head(form::PARTICIPLE, Modality::Done, false)
                    .or_else(|| self.elliptical(Modality::Done).filter(|_| self.negated))
            }
        }
    }

    /// "I have access to your files", "I do not have access to the web".
    fn access(&mut self) -> Option<Head> {
        if self.word() != "access" {
            self.at += 1;
        }
        (self.word() == "access").then(|| self.made(Concept::Access, "access", Modality::Can))
    }

    fn made(&self, concept: Concept, lemma: &str, modality: Modality) -> Head {
        Head {
            at: self.at,
            start: self.start,
            concept,
            lemma: lemma.to_owned(),
            modality: modality.negate(self.negated),
            passive: false,
            perfect: self.perfect,
            past: self.past,
            mask: 0,
            clitics: Vec::new(),
        }
    }

    fn do_support(&mut self, past: bool) -> Option<Head> {
        let main = self.at;
        self.at += 1;
        self.adverbs();
        let modality = if past { Modality::Done } else { Modality::Present };
        if self.word() == "have" {
            self.at += 1;
            return if matches!(self.word(), "access" | "direct" | "full") {
                self.access()
            } else if self.word() == "the" && matches!(self.reader.word(self.at + 1), "ability" | "capability") {
                self.at += 3;
                self.head(form::BASE, Modality::Can, false)
            } else if self.word() == "to" {
                None
            } else {
                self.elliptical(modality)
            };
        }
        if let Some((effect, _)) = self.reader.english_taker(self.at)
            && let Some(head) = self.taker(effect, modality)
        {
            return Some(head);
        }
        if let Some((width, mask)) = self.reader.english_preamble(self.at) {
            self.at += width;
            return self.head(mask, modality, false);
        }
        self.past = past;
        if let Some(head) = self.head(form::BASE, modality, false).filter(|_| self.at > main) {
            return Some(head);
        }
        if past && let Some(head) = self.elliptical(modality) {
            return Some(head);
        }
        // "did" is the verb itself: "I did a search".
        self.at = main;
        (past && !self.negated).then(|| self.head(form::PAST, Modality::Done, false)).flatten()
    }

    fn modal(&mut self, word: &str) -> Option<Head> {
        let modality = match word {
            "will" | "shall" => Modality::Will,
            "can" => Modality::Can,
            "could" => Modality::Could,
            _ => Modality::Unasserted,
        };
        self.after_modal(modality, word == "would")
    }

    fn after_modal(&mut self, modality: Modality, offers: bool) -> Option<Head> {
        self.at += 1;
        self.adverbs();
        match self.word() {
            // "could have saved": contrary to fact.
            "have" if self.reader.word(self.at + 1) != "access" => None,
            "have" => {
                self.at += 1;
                self.access()
            }
            "be" => {
                self.at += 1;
                let offer = offers && OFFERS.contains(&self.word());
                self.after_be(if offer { Modality::Can } else { modality }, false)
            }
            _ => {
                if let Some((width, mask)) = self.reader.english_preamble(self.at) {
                    self.at += width;
                    return self.head(mask, modality, false);
                }
                if let Some((effect, _)) = self.reader.english_taker(self.at)
                    && let Some(head) = self.taker(effect, modality)
                {
                    return Some(head);
                }
                self.head(form::BASE, modality, false).or_else(|| {
                    (self.negated && modality == Modality::Could).then(|| self.elliptical(modality)).flatten()
                })
            }
        }
    }

    fn be(&mut self, past: bool) -> Option<Head> {
        self.at += 1;
        self.past = past;
        self.adverbs();
        if self.word() == "been" {
            self.perfect = true;
            self.at += 1;
            return self.after_be(Modality::Done, true);
        }
        self.after_be(if past { Modality::Was } else { Modality::Is }, past)
    }

    /// After a form of "be"; `modality` is `Is`, `Was`, `Done` (has been) or that of a modal.
    fn after_be(&mut self, modality: Modality, past: bool) -> Option<Head> {
        self.adverbs();
        let stated = if matches!(modality, Modality::Is | Modality::Was) { Modality::Done } else { modality };
        let ability = match modality {
            Modality::Was | Modality::Done => Modality::Done,
            Modality::Is | Modality::Could => Modality::Can,
            Modality::Will => Modality::CanWill,
            other => other,
        };
        // "is ready and saved"
        if matches!(self.word(), "ready" | "complete" | "safe" | "up" | "finished")
            && self.reader.word(self.at + 1) == "and"
        {
            self.at += 2;
            self.adverbs();
        }
        let next = self.reader.word(self.at + 1);
        match self.word() {
            "going" if next == "to" => {
                self.at += 2;
                self.base(if past { Modality::Unasserted } else { Modality::Will })
            }
            "about" if next == "to" => {
                self.at += 2;
                self.base(if past { Modality::Unasserted } else { Modality::Will })
            }
            "able" | "allowed" | "permitted" | "authorized" | "authorised" | "free" if next == "to" => {
                let granted = self.word() != "able" && ability == Modality::Done && !self.negated;
                let unable = self.negated && ability == Modality::Done;
                self.negated &= !unable;
                self.at += 2;
                self.base(if unable {
                    Modality::Failed
                } else if granted {
                    Modality::Unasserted
                } else {
                    ability
                })
            }
            "unable" | "not-able" if next == "to" => {
                self.at += 2;
                self.base(if ability == Modality::Done { Modality::Failed } else { Modality::Cannot })
            }
            "capable" | "incapable" if next == "of" => {
                self.negated |= self.word() == "incapable";
                self.at += 2;
                self.head(form::GERUND, ability, false)
            }
            word if OFFERS.contains(&word) && next == "to" => {
                self.at += 2;
                self.base(Modality::Can)
            }
            "trying" | "attempting" | "planning" | "hoping" | "having" => None,
            "done" | "finished" if self.reader.english_form(self.at + 1, form::GERUND).is_some() => {
                self.at += 1;
                self.head(form::GERUND, stated, false)
            }
            "being" => {
                self.at += 1;
                self.head(form::PARTICIPLE, Modality::Doing, true)
            }
            _ => {
                let doing = match modality {
                    Modality::Is | Modality::Done => Modality::Doing,
                    Modality::Will => Modality::Will,
                    _ => Modality::Unasserted,
                };
                self.head(form::PARTICIPLE, stated, true).or_else(|| self.head(form::GERUND, doing, false))
            }
        }
    }

    fn base(&mut self, modality: Modality) -> Option<Head> {
        self.adverbs();
        if let Some((effect, _)) = self.reader.english_taker(self.at)
            && let Some(head) = self.taker(effect, modality)
        {
            return Some(head);
        }
        if self.word() == "be" {
            self.at += 1;
            return self.head(form::PARTICIPLE, modality, true);
        }
        self.head(form::BASE, modality, false)
            .or_else(|| matches!(modality, Modality::Failed).then(|| self.elliptical(modality)).flatten())
    }
}
