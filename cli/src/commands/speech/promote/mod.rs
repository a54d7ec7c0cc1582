//! `tenpass promote`.

mod judge;

use std::path::Path;

use serde::Serialize;
use tenpass_train::promote::{Decision, Evidence, InService, Incoming, Proposal, State};
use tenpass_train::wake::Record;

use super::head::{self, threshold_beside};
use super::shadow::Places;
use crate::args::speech::promote::{Accept, Promote, Reject, Rollback, Status};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use judge::{Judgement, judge};

/// Carries out the command.
pub(crate) fn run(context: &Context, command: &Promote) -> Result<Exit, Failure> {
    match command {
        Promote::Status(command) => status(context, command),
        Promote::Accept(command) => accept(context, command),
        Promote::Reject(command) => reject(context, command),
        Promote::Rollback(command) => rollback(context, command),
    }
}

/// What is printed as JSON.
#[derive(Serialize)]
struct Shown<'a> {
    in_service: Option<InService>,
    previous: Option<InService>,
    candidate: Option<&'a str>,
    proposal: Option<&'a Proposal>,
    evidence: Option<&'a Evidence>,
    record: Vec<Decision>,
}

fn status(context: &Context, command: &Status) -> Result<Exit, Failure> {
    let places = Places::new(context, command.judged.which.folder.as_deref());
    let service = places.service()?;
    let (in_service, previous, record) = (service.current()?, service.previous()?, service.record()?);
    // Without any shadow there is still something to say: what is in service.
    let judged = match judge(context, &places, &command.judged) {
        Ok(judged) => Some(judged),
        Err(failure) if command.judged.which.candidate.is_none() => {
            context.printer.note(&failure.message);
            None
        }
        Err(failure) => return Err(failure),
    };
    let held = judged.as_ref().is_none_or(|judged| judged.proposal.state == State::Held);
    if command.format.json() {
        // The hashes of what it was trained on are nobody's reading.
        let brief = |head: Option<InService>| head.map(|head| InService { record: None, ..head });
        context.printer.json(&Shown {
            in_service: brief(in_service),
            previous: brief(previous),
            candidate: judged.as_ref().map(|judged| judged.name.as_str()),
            proposal: judged.as_ref().map(|judged| &judged.proposal),
            evidence: judged.as_ref().map(|judged| &judged.evidence),
            record,
        })?;
    } else {
        let mut text = String::new();
        text.push_str(&served(context, &places, in_service.as_ref())?);
        if let Some(head) = previous {
            text.push_str(&format!("previous: {}\n", described(&head)));
        }
        if let Some(judged) = &judged {
            text.push_str(&conditions(judged));
        }
        for decision in &record {
            text.push_str(&format!("{}\n", told(decision)));
        }
        context.printer.out(&text);
    }
    Ok(if held { Exit::Yes } else { Exit::No })
}

/// What listens for the wake word now, and where it came from. A setting or, without any head in service, the shipped head
/// stands before it: then that is said.
fn served(context: &Context, places: &Places, in_service: Option<&InService>) -> Result<String, Failure> {
    let mut text = String::new();
    if let Some(head) = in_service {
        text.push_str(&format!("in service: {}\n", described(head)));
    }
    match head::head_of(context, places, None) {
        Ok(head) if !matches!(head.origin, head::Origin::Service(_)) => {
            text.push_str(&format!("what listens: {}, threshold {}\n", head.told(), head.threshold_told()));
        }
        Ok(_) => {}
        Err(failure) if in_service.is_none() => text.push_str(&format!("in service: nothing ({})\n", failure.message)),
        Err(failure) => return Err(failure),
    }
    Ok(text)
}

/// One head with its threshold, hash and origin.
fn described(head: &InService) -> String {
    let threshold =
        head.threshold.map_or_else(|| "0.5, the usual one".to_owned(), |threshold| format!("{threshold:.3}"));
    let from = head.from.as_ref().map_or_else(String::new, |from| format!(", from {}", from.display()));
    format!("{} since {}, threshold {threshold} ({}){from}", head.name, head.since, short(&head.sha256))
}

/// The four conditions with their numbers.
fn conditions(judged: &Judgement) -> String {
    let mut text = format!("candidate: {}\n", judged.name);
    for condition in &judged.proposal.conditions {
        text.push_str(&format!("{}. {}: {}\n", condition.number, condition.name, condition.state.word()));
        for clause in &condition.clauses {
            text.push_str(&format!("   {:8}  {}\n", clause.state.word(), clause.text));
        }
    }
    text.push_str(match judged.proposal.state {
        State::Held => "All four hold: `tenpass promote accept wake` puts it into service.\n",
        State::NotYet => "Not yet: let it listen on.\n",
        State::NotHeld => "It does not replace the head in service.\n",
    });
    text
}

fn told(decision: &Decision) -> String {
    match decision {
        Decision::Accepted { at, head, despite: None, .. } => format!("{at}: {head} was accepted"),
        Decision::Accepted { at, head, despite: Some(reason), .. } => {
            format!("{at}: {head} was accepted although conditions did not hold: {reason}")
        }
        Decision::Rejected { at, head, reason, .. } => format!("{at}: {head} was rejected: {reason}"),
        Decision::RolledBack { at, from, to } => {
            format!("{at}: rolled back from {} to {}", short(from), short(to))
        }
        Decision::Recovered { at, finished, sha256 } => {
            let what = if *finished { "finished" } else { "undone" };
            format!("{at}: an interrupted swap was {what}; {} is in service", short(sha256))
        }
    }
}

fn short(digest: &str) -> &str {
    digest.get(..12).unwrap_or(digest)
}

fn accept(context: &Context, command: &Accept) -> Result<Exit, Failure> {
    let places = Places::new(context, command.judged.which.folder.as_deref());
    let service = places.service()?;
    let judged = match (judge(context, &places, &command.judged), &command.judged.which.candidate) {
        (Ok(judged), _) => judged,
        // A first head has nothing to be compared with.
        (Err(_), Some(candidate)) if command.despite.is_some() && candidate.is_file() => Judgement::unheard(candidate),
        (Err(failure), Some(candidate)) if candidate.is_file() && service.head().is_none() => {
            return Err(failure.hint("nothing is in service yet: --despite \"the first\" puts it there unheard"));
        }
        (Err(failure), _) => return Err(failure),
    };
    if judged.proposal.state != State::Held && command.despite.is_none() {
        context.printer.out(&conditions(&judged));
        return Err(Failure {
            exit: Exit::No,
            message: format!("{} is not promoted: not every condition holds", judged.name),
            hint: Some("--despite \"REASON\" promotes it all the same, and records the reason".to_owned()),
        });
    }
    // What cannot be read as a head must not get into service.
    tenpass_wake::Head::load(&judged.head)?;
    let beside = std::fs::read_to_string(Record::path(&judged.head)).ok();
    let incoming = Incoming {
        name: Some(judged.name.clone()),
        from: command.judged.which.candidate.as_deref().and_then(|path| std::path::absolute(path).ok()),
        threshold: threshold_beside(&judged.head),
        // Only what is known to be of this very file.
        record: match Record::beside(&judged.head)? {
            Some(_) => beside.and_then(|text| serde_json::from_str(&text).ok()),
            None => None,
        },
        head: judged.head.clone(),
    };
    let despite = command.despite.clone().filter(|_| judged.proposal.state != State::Held);
    let new = service.accept(incoming, places.now, |old, new| Decision::Accepted {
        at: places.now,
        head: judged.name.clone(),
        sha256: new.sha256.clone(),
        replaces: old.map(|old| old.sha256.clone()).unwrap_or_default(),
        despite,
        evidence: Box::new(judged.evidence.clone()),
        proposal: judged.proposal.clone(),
    })?;
    context.printer.out(&format!("in service: {}", described(&new)));
    match &context.resolved.settings.speech.wake_head {
        Some(setting) => context.printer.note(&format!(
            "the setting speech.wake_head names {}, and that is what listens: clear it to use the head in service",
            setting.display()
        )),
        None => context.printer.note(
            "from now on it is what `wake listen` and the benches use; `tenpass promote rollback wake` takes it back",
        ),
    }
    Ok(Exit::Yes)
}

fn reject(context: &Context, command: &Reject) -> Result<Exit, Failure> {
    let places = Places::new(context, command.judged.which.folder.as_deref());
    let service = places.service()?;
    let judged = judge(context, &places, &command.judged)?;
    service.note(&Decision::Rejected {
        at: places.now,
        head: judged.name.clone(),
        sha256: digest(&judged.head)?,
        reason: command.reason.clone(),
        evidence: Box::new(judged.evidence),
        proposal: judged.proposal,
    })?;
    context.printer.out(&format!("{} is rejected; its measurements stay in the record", judged.name));
    Ok(Exit::Yes)
}

fn digest(head: &Path) -> Result<String, Failure> {
    Ok(tenpass_train::records::digest_file(head)?)
}

fn rollback(context: &Context, command: &Rollback) -> Result<Exit, Failure> {
    let places = Places::new(context, command.folder.as_deref());
    let back = places.service()?.rollback(places.now)?;
    context.printer.out(&format!("in service again: {}", described(&back)));
    if let Some(setting) = &context.resolved.settings.speech.wake_head {
        let setting = setting.display();
        context.printer.note(&format!("the setting speech.wake_head names {setting}, and that is what listens"));
    }
    Ok(Exit::Yes)
}
