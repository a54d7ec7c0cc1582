//! `tenpass promote`.

mod judge;

use std::path::Path;

use serde::Serialize;
use tenpass_train::promote::{Decision, Evidence, InService, Proposal, State};
use tenpass_train::wake::Record;

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
        Err(failure) if in_service.is_some() && command.judged.which.candidate.is_none() => {
            context.printer.note(&failure.message);
            None
        }
        Err(failure) => return Err(failure),
    };
    let held = judged.as_ref().is_none_or(|judged| judged.proposal.state == State::Held);
    if command.format.json() {
        context.printer.json(&Shown {
            in_service,
            previous,
            candidate: judged.as_ref().map(|judged| judged.name.as_str()),
            proposal: judged.as_ref().map(|judged| &judged.proposal),
            evidence: judged.as_ref().map(|judged| &judged.evidence),
            record,
        })?;
    } else {
        let mut text = String::new();
        for (what, head) in [("in service", in_service), ("previous", previous)] {
            if let Some(head) = head {
                text.push_str(&format!("{what}: {} since {} ({})\n", head.name, head.since, &head.sha256[..12]));
            }
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
    let threshold = Record::beside(&judged.head).ok().flatten().map(|record| record.threshold);
    let despite = command.despite.clone().filter(|_| judged.proposal.state != State::Held);
    let new = service.accept(&judged.head, threshold, places.now, |old, new| Decision::Accepted {
        at: places.now,
        head: judged.name.clone(),
        sha256: new.sha256.clone(),
        replaces: old.map(|old| old.sha256.clone()).unwrap_or_default(),
        despite,
        evidence: Box::new(judged.evidence.clone()),
        proposal: judged.proposal.clone(),
    })?;
    context.printer.out(&format!(
        "{} is in service ({}); `tenpass promote rollback wake` takes it back",
        judged.name,
        short(&new.sha256)
    ));
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
    context.printer.out(&format!("{} is in service again ({})", back.name, short(&back.sha256)));
    Ok(Exit::Yes)
}
