//! `tenpass shadow status` and `tenpass shadow label`.

use std::collections::BTreeSet;

use serde::Serialize;
use tenpass_train::promote::Evidence;
use tenpass_train::shadow::{By, Is, Label, Line, ShadowEvent, ShadowLog};

use super::super::super::table::table;
use super::places::{Places, ShadowPlace};
use crate::args::speech::shadow::{LabelEvent, Status, Was};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// What is printed as JSON.
#[derive(Serialize)]
struct Shown<'a> {
    folder: String,
    champion: &'a str,
    candidate: &'a str,
    evidence: &'a Evidence,
    unlabelled: Vec<&'a ShadowEvent>,
}

/// Carries out `shadow status`.
pub(super) fn run(context: &Context, command: &Status) -> Result<Exit, Failure> {
    let places = Places::new(context, command.which.folder.as_deref());
    let place = places.shadow(&command.which)?;
    let session = place.session()?;
    let evidence = Evidence::of(&place.lines);
    let unlabelled = unlabelled(&place);
    if command.format.json() {
        context.printer.json(&Shown {
            folder: place.folder.display().to_string(),
            champion: &session.champion.name,
            candidate: &session.candidate.name,
            evidence: &evidence,
            unlabelled,
        })?;
        return Ok(Exit::Yes);
    }
    if command.unlabelled && unlabelled.is_empty() {
        context.printer.note("every event that would have woken the agent has a label");
        return Ok(Exit::Yes);
    }
    if command.unlabelled {
        context.printer.out(&listed(&unlabelled));
        return Ok(Exit::Yes);
    }
    context.printer.out(&summary(&place, &evidence, unlabelled.len())?);
    Ok(Exit::Yes)
}

fn summary(place: &ShadowPlace, evidence: &Evidence, unlabelled: usize) -> Result<String, Failure> {
    let session = place.session()?;
    let (worse, better) = evidence.discordant();
    let cell = |name: &str, text: String| vec![name.to_owned(), text];
    let rows = vec![
        cell(
            "in service",
            format!(
                "{} ({})",
                session.champion.name,
                &session.champion.sha256[..12.min(session.champion.sha256.len())]
            ),
        ),
        cell(
            "candidate",
            format!(
                "{} ({})",
                session.candidate.name,
                &session.candidate.sha256[..12.min(session.candidate.sha256.len())]
            ),
        ),
        cell(
            "exposure",
            format!(
                "{} days, {:.1} clock hours, {:.1} speech hours, {:.1} h of playback",
                evidence.days, evidence.clock_h, evidence.speech_h, evidence.playback_h
            ),
        ),
        cell(
            "true wakes",
            format!(
                "{} by a person, {} by what followed, on {} days; both heard {}, only the one in service {}, only the \
                 candidate {}",
                evidence.wakes.human,
                evidence.wakes.weak,
                evidence.wake_days,
                evidence.wakes_both,
                evidence.wakes_champion_only,
                evidence.wakes_candidate_only
            ),
        ),
        cell(
            "false wakes",
            format!(
                "{} by a person, {} by what followed; candidate only : service only {worse}:{better}",
                evidence.falses.human, evidence.falses.weak
            ),
        ),
        cell(
            "probes",
            format!(
                "{}; the one in service heard {}, the candidate {}, neither {}",
                evidence.probes, evidence.probes_champion, evidence.probes_candidate, evidence.probes_neither
            ),
        ),
        cell("no label", format!("{unlabelled} events, {} on which they disagree", evidence.unlabelled_discordant)),
        cell("log", place.folder.join("shadow.jsonl").display().to_string()),
    ];
    Ok(table(&["what", "so far"], &rows, &[]))
}

/// Events that fired and have no label of a person's or of what followed; disagreements first.
fn unlabelled(place: &ShadowPlace) -> Vec<&ShadowEvent> {
    let labelled: BTreeSet<&str> = place
        .lines
        .iter()
        .filter_map(|line| match line {
            Line::Label(label) => Some(label.event.as_str()),
            _ => None,
        })
        .collect();
    let mut found: Vec<&ShadowEvent> = events(place)
        .filter(|event| event.champion.fired_s.is_some() || event.candidate.fired_s.is_some())
        .filter(|event| !labelled.contains(event.id.as_str()))
        .collect();
    let mut seen = BTreeSet::new();
    found.retain(|event| seen.insert(event.id.as_str()));
    found
        .sort_by_key(|event| (event.champion.fired_s.is_some() == event.candidate.fired_s.is_some(), event.id.clone()));
    found
}

fn events(place: &ShadowPlace) -> impl Iterator<Item = &ShadowEvent> {
    place.lines.iter().filter_map(|line| match line {
        Line::Event(event) => Some(event),
        _ => None,
    })
}

fn listed(events: &[&ShadowEvent]) -> String {
    let scored = |peak: f32, fired: bool| format!("{peak:.2}{}", if fired { " woke" } else { "" });
    let rows: Vec<Vec<String>> = events
        .iter()
        .map(|event| {
            vec![
                event.id.clone(),
                scored(event.champion.peak, event.champion.fired_s.is_some()),
                scored(event.candidate.peak, event.candidate.fired_s.is_some()),
                format!("{:.2}", event.vad),
                if event.playback { "yes" } else { "" }.to_owned(),
                event.audio.clone().unwrap_or_default(),
            ]
        })
        .collect();
    table(&["event", "in service", "candidate", "speech", "playback", "sound"], &rows, &[])
}

/// Carries out `shadow label`.
pub(super) fn label(context: &Context, command: &LabelEvent) -> Result<Exit, Failure> {
    let places = Places::new(context, command.which.folder.as_deref());
    let place = places.shadow(&command.which)?;
    if !events(&place).any(|event| event.id == command.event) {
        return Err(Failure::mistake(format!("there is no event {}", command.event))
            .hint("`tenpass shadow status --unlabelled` lists them"));
    }
    let is = match command.is {
        Was::Wake => Is::Wake,
        Was::OtherVoice => Is::OtherVoice,
        Was::Other => Is::Other,
    };
    ShadowLog::open(&place.folder)?.append(&Line::Label(Label { event: command.event.clone(), by: By::Human, is }))?;
    let was = match command.is {
        Was::Wake => "the user saying the wake word",
        Was::OtherVoice => "someone else saying it",
        Was::Other => "something else",
    };
    context.printer.out(&format!("{} was {was}", command.event));
    Ok(Exit::Yes)
}
