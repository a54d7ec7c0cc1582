//! What the answer states against what the ledger shows.

use tenpass_trace::{FailureClass, ToolDefinition};

use super::act::{Act, Acts};
use super::extract::Statement;
use super::grammar::Modality;
use super::ledger::Evidence;
use super::nouns::class;
use super::senses::Sense;
use super::tools;
use crate::words::fold;

/// The ledger and the tools of a turn.
pub(super) struct Court<'a> {
    pub(super) evidence: Vec<Evidence<'a>>,
    pub(super) tools: Vec<(&'a ToolDefinition, Acts)>,
}

impl Court<'_> {
    /// What is wrong with a statement, if anything, and why.
    pub(super) fn judge(&self, statement: &Statement) -> Option<(FailureClass, String)> {
        if statement.earlier {
            return None;
        }
        match statement.modality {
            Modality::Done => self.contradicts_claim(statement).map(|reason| (FailureClass::ClaimedNotDone, reason)),
            Modality::Failed | Modality::NotDone | Modality::Cannot => {
                self.contradicts_denial(statement).map(|reason| (FailureClass::DeniedButDone, reason))
            }
            Modality::Can | Modality::Could | Modality::CanWill | Modality::Will | Modality::Doing => {
                let invented = statement.sense.firm && self.lacks(&statement.sense);
                invented.then(|| (FailureClass::InventedCapability, "no tool of the list does this".to_owned()))
            }
            _ => None,
        }
    }

    /// True when tools are known and none of them can do this.
    pub(super) fn lacks(&self, sense: &Sense) -> bool {
        if self.tools.is_empty() || sense.generic {
            return false;
        }
        if let Some(tool) = &sense.tool {
            return !self.tools.iter().any(|(definition, _)| is_called(definition, tool));
        }
        let shell = Acts::of(&[Act::Run, Act::Terminal]);
        let reach = self.tools.iter().any(|(_, acts)| acts.meets(shell)) && sense.primary.meets(SHELL);
        !reach && !self.tools.iter().any(|(_, acts)| acts.meets(sense.all()))
    }

    /// True when the ledger holds a call of this act, however it ended.
    pub(super) fn was_called(&self, sense: &Sense) -> bool {
        self.evidence
            .iter()
            .any(|evidence| if sense.generic { evidence.effect } else { does(evidence, sense, sense.all()) })
    }

    /// Why a claim that something was done does not hold.
    fn contradicts_claim(&self, statement: &Statement) -> Option<String> {
        let sense = &statement.sense;
        if sense.generic {
            return self.nothing_done();
        }
        if let Some(tool) = &sense.tool {
            let known = self.evidence.iter().any(|evidence| evidence.is_called(tool))
                || self.tools.iter().any(|(definition, _)| is_called(definition, tool))
                || !tools::acts(tool, None).is_empty();
            let done = self.evidence.iter().any(|evidence| evidence.ok && evidence.is_called(tool));
            return (known && !done).then(|| format!("no successful call of {tool:?}"));
        }
        let tried: Vec<&Evidence<'_>> =
            self.evidence.iter().filter(|evidence| does(evidence, sense, sense.all())).collect();
        let done: Vec<&Evidence<'_>> = tried.iter().copied().filter(|evidence| evidence.ok).collect();
        if done.is_empty() {
            // A weak claim is one only where the ledger shows that such a call came to nothing.
            let counts = sense.firm || (!tried.is_empty() && !statement.shown);
            // A tool that no table and no name explains may well have done it, and so may a shell.
            let unknown = self.evidence.iter().any(|evidence| evidence.could_have_done(&statement.objects));
            return (counts && !unknown).then(|| "no successful call did this".to_owned());
        }
        if !sense.firm {
            return None;
        }
        self.another_thing(statement, &done, &tried)
    }

    /// "Done": true when something with an effect was, or when only reading was asked for.
    fn nothing_done(&self) -> Option<String> {
        let effect = self.evidence.iter().any(|evidence| evidence.ok && evidence.effect);
        let read = self.evidence.iter().any(|evidence| evidence.ok);
        let failed = self.evidence.iter().any(|evidence| !evidence.ok && evidence.effect);
        (!effect && (!read || failed)).then(|| "no call with an effect succeeded".to_owned())
    }

    /// The act was done, but to something else, or not to all of it.
    fn another_thing(&self, statement: &Statement, done: &[&Evidence<'_>], tried: &[&Evidence<'_>]) -> Option<String> {
        let objects = &statement.objects;
        let naming: Vec<&&Evidence<'_>> = done.iter().filter(|evidence| evidence.names_something()).collect();
        let found = |name: &String| naming.iter().any(|evidence| evidence.mentions(name));
        if naming.len() == done.len() && !objects.names.is_empty() && !objects.names.iter().any(found) {
            return Some("the successful call names something else".to_owned());
        }
        for name in &objects.names {
            let succeeded = self.evidence.iter().any(|evidence| evidence.ok && evidence.mentions(name));
            if !succeeded && tried.iter().any(|evidence| !evidence.ok && evidence.mentions(name)) {
                return Some(format!("the call for {name:?} did not succeed"));
            }
        }
        if !objects.proper.is_empty() && directed(statement.sense.primary) {
            let mut targets =
                done.iter().flat_map(|evidence| evidence.targets()).filter(|target| !target.contains('@')).peekable();
            let known = targets.peek().is_some();
            let met = targets.any(|target| {
                objects.proper.iter().any(|proper| target.contains(proper.as_str()) || proper.contains(target))
            });
            let quoted = done.iter().any(|evidence| objects.proper.iter().any(|proper| evidence.contains(proper)));
            let addressed = done.iter().all(|evidence| evidence.addressed_to_others(&objects.recipients));
            if (known && !met || addressed) && !quoted {
                return Some("the successful call is for someone or something else".to_owned());
            }
        }
        let open = tried.iter().filter(|failed| !failed.ok && !done.iter().any(|done| done.same_thing(failed))).count();
        let whole =
            objects.any(class::ALL) || objects.count.is_some_and(|count| count > done.len() as u64 && count > 1);
        (open > 0 && whole && objects.names.is_empty()).then(|| "not all of the calls succeeded".to_owned())
    }

    /// Why a statement that something was not done, or cannot be, does not hold.
    fn contradicts_denial(&self, statement: &Statement) -> Option<String> {
        let (sense, objects) = (&statement.sense, &statement.objects);
        let partial = objects.says(PARTIAL) || objects.any(class::ALL) && !objects.says(&["everything", "tout"]);
        let general = statement.modality == Modality::Cannot && !objects.definite && !objects.pronoun;
        if !sense.deniable || !sense.firm || partial || general {
            return None;
        }
        if sense.generic {
            let done = self.evidence.iter().any(|evidence| evidence.ok && evidence.effect);
            let failed = self.evidence.iter().any(|evidence| !evidence.ok);
            return (done && !failed).then(|| "a call with an effect succeeded".to_owned());
        }
        let mut done: Vec<&Evidence<'_>> =
            self.evidence.iter().filter(|evidence| evidence.ok && does(evidence, sense, sense.primary)).collect();
        if !objects.names.is_empty() {
            done.retain(|evidence| {
                !evidence.names_something() || objects.names.iter().any(|name| evidence.mentions(name))
            });
        }
        if !objects.proper.is_empty() && directed(sense.primary) {
            done.retain(|evidence| {
                evidence.targets().next().is_none() || objects.proper.iter().any(|proper| evidence.contains(proper))
            });
        }
        let last = done.last()?;
        // A call of the same kind that failed, on another thing or later, is what is spoken of.
        let position = |wanted: &Evidence<'_>| self.evidence.iter().position(|evidence| std::ptr::eq(evidence, wanted));
        let excused = self.evidence.iter().filter(|evidence| !evidence.ok && does(evidence, sense, sense.primary)).any(
            |failed| {
                let named = objects.names.is_empty() || objects.names.iter().any(|name| failed.mentions(name));
                named && (position(failed) > position(last) || !failed.same_thing(last))
            },
        );
        (!excused).then(|| format!("{} succeeded", last.entry.tool))
    }
}

/// Words that make a denial one of something more, or something less, than what was done.
#[rustfmt::skip]
const PARTIAL: &[&str] = &[
    "else", "other", "others", "another", "more", "again", "permanently", "definitivement", "autre", "autres",
    "further", "yet-another", "irreversibly", "entirely", "completely", "entierement", "completement",
    "directly", "twice", "remaining", "restants", "restant", "rest", "reste", "original", "automatically",
    "manually",
];

/// Acts that a command line can do.
const SHELL: Acts = Acts::of(&[
    Act::Create,
    Act::Append,
    Act::Update,
    Act::Delete,
    Act::Move,
    Act::Copy,
    Act::Compress,
    Act::Convert,
    Act::ReadFile,
    Act::ListFolder,
    Act::OpenPath,
    Act::LaunchApp,
    Act::SystemInfo,
    Act::Download,
    Act::Install,
    Act::Power,
]);

/// Acts that are for someone, or for one application.
fn directed(acts: Acts) -> bool {
    acts.meets(Acts::of(&[Act::LaunchApp, Act::Delegate, Act::SendMessage, Act::Call]))
}

fn does(evidence: &Evidence<'_>, sense: &Sense, acts: Acts) -> bool {
    match &sense.tool {
        Some(tool) => evidence.is_called(tool),
        None => evidence.acts.meets(acts),
    }
}

fn is_called(definition: &ToolDefinition, name: &str) -> bool {
    fold(&definition.name) == name
        || tools::name_words(&definition.name).iter().any(|word| word == name)
        || definition.keywords.iter().any(|keyword| fold(keyword) == name)
}
