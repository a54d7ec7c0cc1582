//! What a verb means with its object: which acts it claims, and how firmly.
//!
//! "I deleted the file" is about the disk; "I deleted the last sentence" is most likely about the
//! text in the answer. The first is a firm claim, the second a weak one, which counts only where the
//! ledger shows that such a call was tried and came to nothing. What a model can do in words alone
//! (explain, translate, write a poem here) is no act at all.

use super::act::Act::{self, *};
use super::act::Acts;
use super::concept::Concept as C;
use super::meanings::{changing, desktop, looking, making, media, outside};
use super::nouns::class::{
    ACCOUNT, CALENDAR, COMMAND, FILE, IDIOM, MEDIA, REMINDER, SOUND, TASK, TEXT, TRASH, UTTERANCE,
};
use super::objects::Objects;

/// The acts that a verb claims together with its object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sense {
    /// What was done, strictly: a denial of it contradicts a call that did one of these.
    pub(super) primary: Acts,
    /// Other acts that make the claim true all the same.
    pub(super) also: Acts,
    /// False for what is most likely said about the text of the answer.
    pub(super) firm: bool,
    /// False where "did not" speaks of the result and not of the act ("found nothing").
    pub(super) deniable: bool,
    /// "Done", "the task is complete": whatever was to be done.
    pub(super) generic: bool,
    /// One tool by its own name ("I used web_search"), or by its own verb.
    pub(super) tool: Option<String>,
}

impl Sense {
    pub(super) fn firm(primary: &[Act]) -> Option<Self> {
        Some(Self {
            primary: Acts::of(primary),
            also: Acts::NONE,
            firm: true,
            deniable: true,
            generic: false,
            tool: None,
        })
    }

    pub(super) fn weak(primary: &[Act]) -> Option<Self> {
        Self::firm(primary).map(|sense| Self { firm: false, ..sense })
    }

    /// Whatever the turn was about.
    pub(super) fn anything() -> Self {
        Self { primary: Acts::NONE, also: Acts::NONE, firm: true, deniable: true, generic: true, tool: None }
    }

    /// Whatever changes a file.
    pub(super) fn any_writing() -> Self {
        Self { primary: Acts::of(&[Create, Append, Update]), generic: false, ..Self::anything() }
    }

    /// Every act that makes the claim true.
    pub(super) fn all(&self) -> Acts {
        self.primary.or(self.also)
    }
}

pub(super) trait Wider {
    fn also(self, acts: &[Act]) -> Self;
    fn reads(self) -> Self;
    fn undeniable(self) -> Self;
    fn when(self, condition: bool) -> Self;
}

impl Wider for Option<Sense> {
    fn also(self, acts: &[Act]) -> Self {
        self.map(|sense| Sense { also: sense.also.or(Acts::of(acts)), ..sense })
    }

    fn reads(self) -> Self {
        self.map(|sense| Sense { also: sense.also.or(Acts::READS), ..sense })
    }

    fn undeniable(self) -> Self {
        self.map(|sense| Sense { deniable: false, ..sense })
    }

    /// Firm on this condition, else weak.
    fn when(self, condition: bool) -> Self {
        self.map(|sense| Sense { firm: sense.firm && condition, ..sense })
    }
}

/// Verbs whose meaning lies in what follows: "took a screenshot", "mis à jour", "turned it up".
fn refine(concept: C, lemma: &str, objects: &Objects) -> C {
    let action = || objects.actions.iter().copied().find(|action| *action != C::RemindSet || objects.any(REMINDER));
    let says = |words: &[&str]| objects.says(words);
    match concept {
        C::Light if says(&["sure", "certain", "attention", "part", "partie", "suivre", "mieux", "best"]) => C::Other,
        C::Take | C::Light if objects.actions.contains(&C::Schedule) => C::Book,
        C::Generic if lemma == "execute" && objects.any(COMMAND) => C::Run,
        C::Light if lemma == "make" && objects.file() && objects.actions.is_empty() => C::Create,
        C::Light | C::Take | C::Run | C::Generic | C::Launch | C::Start | C::Give => match action() {
            Some(C::Note) if concept != C::Take && concept != C::Light => concept,
            Some(C::Copy) if concept == C::Take => concept,
            Some(action) if concept == C::Light || concept == C::Take || action != C::Read => action,
            _ if concept == C::Take && says(&["care"]) => C::Generic,
            _ => concept,
        },
        C::Get if says(&["rid"]) => C::Delete,
        C::Delete if lemma == "throw" && !(says(&["away", "out"]) || objects.any(TRASH)) => C::Other,
        C::Delete if lemma == "jeter" && says(&["oeil", "coup"]) => C::Check,
        C::Note if lemma == "log" && says(&["in", "into", "out"]) => C::Connect,
        C::Set if says(&["up"]) && objects.any(REMINDER | CALENDAR) => C::Schedule,
        C::Set if says(&["up"]) && (objects.file() || objects.any(ACCOUNT)) => C::Create,
        C::Look if says(&["up"]) => C::Search,
        C::Look if lemma == "go" && !says(&["through", "over"]) => C::Other,
        C::Look => C::Check,
        C::Put | C::Skip if objects.actions.contains(&C::Buy) => C::Buy,
        C::Write if lemma == "inscrire" && objects.to_user => C::Register,
        C::Put if says(&["pause"]) => C::Pause,
        C::Put if says(&["jour"]) => C::Change,
        C::Put if says(&["ligne"]) && !objects.any(FILE) => C::Post,
        C::Put if objects.any(TRASH) => C::Delete,
        C::Put if objects.any(SOUND) => C::Set,
        C::Put if objects.any(MEDIA) => C::Play,
        C::Turn if says(&["up"]) => C::Raise,
        C::Turn if says(&["down"]) => C::Lower,
        C::Turn if objects.any(MEDIA | SOUND) => {
            if says(&["on"]) {
                C::Play
            } else {
                C::Pause
            }
        }
        C::Send if says(&["back"]) && objects.any(UTTERANCE | TEXT) => C::Show,
        C::Write if says(&["down"]) => C::Note,
        C::Move if objects.any(TRASH) => C::Delete,
        other => other,
    }
}

/// The acts that a verb with these objects claims; `None` for what needs no tool.
pub(super) fn sense(concept: C, lemma: &str, objects: &Objects) -> Option<Sense> {
    let said = concept;
    let refined = refine(concept, lemma, objects);
    // A verb that turned out to be none ("made sure") is no verb of a tool's own either.
    if refined == C::Other && concept != C::Other {
        return None;
    }
    let concept = refined;
    let thing = objects.pronoun;
    let file = objects.file();
    // "it", a name of its own, or some noun that no list knows.
    let some = thing || file || !objects.proper.is_empty() || objects.quote || objects.unknown;
    let idiom = objects.any(IDIOM) && !file;
    if let Some(tool) = named_tool(concept, objects) {
        return Sense::firm(&[Other]).map(|sense| Sense { tool: Some(tool), ..sense });
    }
    // "I made a call", "je passe un appel"
    if said_by_noun(said) && objects.actions.contains(&C::Call) && !objects.any(UTTERANCE) {
        return Sense::firm(&[Act::Call]);
    }
    match concept {
        C::Save
        | C::Create
        | C::Write
        | C::Draft
        | C::Add
        | C::Note
        | C::Put
        | C::Record
        | C::Export
        | C::Backup
        | C::Copy
        | C::Convert
        | C::Compress => making(concept, lemma, objects, some, idiom),
        C::Change | C::Rename | C::Delete | C::Remove | C::Clean | C::Move | C::Undo | C::Cancel | C::Forget => {
            changing(concept, objects, some)
        }
        C::Search | C::Find | C::Check | C::Read | C::List | C::Get | C::See | C::Access | C::Measure | C::Plan => {
            looking(concept, objects)
        }
        C::Open
        | C::Launch
        | C::Start
        | C::Close
        | C::Show
        | C::Run
        | C::Restart
        | C::Shutdown
        | C::Connect
        | C::Install
        | C::Uninstall
        | C::Lock
        | C::Screenshot
        | C::Draw => desktop(concept, objects),
        C::Play | C::Pause | C::Stop | C::Resume | C::Skip | C::Mute | C::Raise | C::Lower | C::Turn | C::Set => {
            media(concept, objects)
        }
        C::Generic | C::Light => {
            let idiom = idiom && !objects.says(&["care"]);
            let whatever = thing || objects.any(TASK) || objects.definite && objects.any(UTTERANCE);
            (whatever && !idiom).then(Sense::anything)
        }
        C::Other if lemma.is_empty() => None,
        C::Other => Sense::firm(&[Other]).map(|sense| Sense { tool: Some(lemma.to_owned()), ..sense }),
        _ => outside(concept, lemma, objects, idiom),
    }
}

/// Verbs that leave the act to their noun.
fn said_by_noun(concept: C) -> bool {
    matches!(concept, C::Light | C::Skip | C::Take | C::Give | C::Put)
}

/// "I used web_search", "I called the write_file tool".
fn named_tool(concept: C, objects: &Objects) -> Option<String> {
    matches!(concept, C::Use | C::Call | C::Run)
        .then(|| objects.names.iter().find(|name| name.contains('_') && !name.contains(['.', '/'])).cloned())
        .flatten()
}
