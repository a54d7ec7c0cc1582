//! What the shadow log says, counted.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::conditions::{Limits, exposed};
use crate::records::RecordError;
use crate::shadow::{By, Is, Label, Line, Rule, ShadowEvent, civil_s, read_shadow};

/// A clip of the frozen golden set, heard by both heads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GoldenClip {
    /// Its file.
    pub file: String,
    /// SHA-256 of the file.
    pub sha256: String,
    /// The user says the wake word: `true`; someone else says it: `false`.
    pub own_voice: bool,
    /// The head in service fired.
    pub champion: bool,
    /// The candidate fired.
    pub candidate: bool,
}

/// The frozen golden set.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Golden {
    /// Its clips.
    pub clips: Vec<GoldenClip>,
}

/// How many events were labelled by whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LabelCounts {
    /// By a person.
    pub human: u32,
    /// By what followed.
    pub weak: u32,
}

impl LabelCounts {
    fn add(&mut self, by: By) {
        match by {
            By::Human => self.human += 1,
            By::Weak => self.weak += 1,
        }
    }

    /// Both.
    pub fn all(self) -> u32 {
        self.human + self.weak
    }
}

/// Everything that the conditions ask for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Evidence {
    /// How it is judged.
    pub rule: Rule,
    /// Candidates that were tried in the month of the last session, this one included.
    pub candidates_this_month: u32,
    /// Days with the microphone on.
    pub days: u32,
    /// Hours on the clock.
    pub clock_h: f64,
    /// Hours with speech.
    pub speech_h: f64,
    /// Hours in which the agent spoke.
    pub playback_h: f64,
    /// Days with a true wake.
    pub wake_days: u32,
    /// True wakes, by who says so.
    pub wakes: LabelCounts,
    /// True wakes that both heads heard, the head in service only, the candidate only.
    pub wakes_both: u32,
    /// See `wakes_both`.
    pub wakes_champion_only: u32,
    /// See `wakes_both`.
    pub wakes_candidate_only: u32,
    /// False wakes, by who says so.
    pub falses: LabelCounts,
    /// False wakes of either head, in the order of time: +1 the head in service only, −1 the candidate only, 0 both.
    pub false_signs: Vec<i8>,
    /// Events on which the two disagree and nobody has said what they were.
    pub unlabelled_discordant: u32,
    /// Events on which they agree and nobody has said what they were.
    pub unlabelled_concordant: u32,
    /// Times the candidate fired while the agent spoke and nobody had called it.
    pub self_triggers: u32,
    /// Someone else said the wake word: how often, and how often each head fired.
    pub other_voice: u32,
    /// See `other_voice`.
    pub other_voice_champion: u32,
    /// See `other_voice`.
    pub other_voice_candidate: u32,
    /// Median of the candidate's delay against the head in service, in milliseconds, over true wakes of both.
    pub delay_ms: Option<f64>,
    /// Time of the candidate's head for a frame, in microseconds.
    pub frame_us: Option<f64>,
    /// Prompted probes, and how many each head heard.
    pub probes: u32,
    /// See `probes`.
    pub probes_champion: u32,
    /// See `probes`.
    pub probes_candidate: u32,
    /// Those that neither heard: what a shadow alone never shows.
    #[serde(default)]
    pub probes_neither: u32,
    /// Configurations, rules and heads in service that were in force; more than one is no single experiment.
    pub configurations: u32,
    /// The day that completed the exposure, where more was heard since: misses and false wakes are judged once, by what
    /// was heard until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged_until: Option<String>,
    /// The golden set, once both heads have heard it.
    pub golden: Option<Golden>,
    /// Files that the candidate was trained on and is tested on; absent while its training files are unknown.
    pub overlap: Option<Vec<String>>,
}

impl Evidence {
    /// Counts a shadow log.
    pub fn of(lines: &[Line]) -> Self {
        Self::until(lines, None)
    }

    /// Counts a shadow log for its judgement. By a fixed horizon a candidate is looked at once: at the end of the first
    /// day on which the exposure is complete. What came later must not tip it, though it still counts against
    /// self-triggers and other voices. The e-value may be looked at on any day.
    pub fn judged(lines: &[Line], limits: &Limits) -> Self {
        let all = Self::of(lines);
        if all.rule == Rule::EValue {
            return all;
        }
        let days: BTreeSet<&str> = lines
            .iter()
            .filter_map(|line| match line {
                Line::Exposure(part) => Some(part.day.as_str()),
                _ => None,
            })
            .collect();
        let complete =
            days.iter().map(|day| (*day, Self::until(lines, Some(day)))).find(|(_, so_far)| exposed(so_far, limits));
        match complete {
            Some((day, so_far)) if days.last() != Some(&day) => Self {
                judged_until: Some(day.to_owned()),
                playback_h: all.playback_h,
                self_triggers: all.self_triggers,
                other_voice: all.other_voice,
                other_voice_champion: all.other_voice_champion,
                other_voice_candidate: all.other_voice_candidate,
                ..so_far
            },
            _ => all,
        }
    }

    /// Counts what was heard until the end of a day.
    fn until(lines: &[Line], last: Option<&str>) -> Self {
        let within = |day: &str| last.is_none_or(|last| day <= last);
        let mut found = Self { candidates_this_month: 1, ..Self::default() };
        let labels = labels(lines);
        let mut exposure: BTreeMap<&str, f64> = BTreeMap::new();
        let (mut frames, mut candidate_us) = (0_u64, 0.0);
        let mut configurations = BTreeSet::new();
        let mut wake_days = BTreeSet::new();
        let mut delays = Vec::new();
        let mut events: Vec<&ShadowEvent> = Vec::new();
        let mut ids = BTreeSet::new();
        for line in lines {
            match line {
                Line::Session(session) => {
                    configurations.insert((&session.configuration, &session.champion.sha256, rule_key(session.rule)));
                    found.rule = session.rule;
                }
                Line::Exposure(part) if within(&part.day) => {
                    *exposure.entry(part.day.as_str()).or_default() += part.clock_s;
                    found.clock_h += part.clock_s / 3600.0;
                    found.speech_h += part.speech_s / 3600.0;
                    found.playback_h += part.playback_s / 3600.0;
                    frames += part.frames;
                    candidate_us += part.candidate_us;
                }
                Line::Event(event) if within(&event.day()) => {
                    // A recording that a crash has interrupted is listened to again: an event of one name is one event.
                    if ids.insert(event.id.as_str()) {
                        events.push(event);
                    }
                }
                Line::Probe(probe) if within(&probe.at.date().to_string()) => {
                    found.probes += 1;
                    found.probes_champion += u32::from(probe.champion);
                    found.probes_candidate += u32::from(probe.candidate);
                    found.probes_neither += u32::from(!probe.champion && !probe.candidate);
                }
                Line::Exposure(_) | Line::Event(_) | Line::Probe(_) | Line::Label(_) | Line::Recording(_) => {}
            }
        }
        events.sort_by(|a, b| civil_s(a.at).total_cmp(&civil_s(b.at)).then_with(|| a.id.cmp(&b.id)));
        for event in events {
            found.event(event, labels.get(event.id.as_str()).copied(), &mut wake_days, &mut delays);
        }
        found.days = exposure.values().filter(|seconds| **seconds > 0.0).count() as u32;
        found.wake_days = wake_days.len() as u32;
        found.configurations = configurations.len() as u32;
        delays.sort_unstable_by(f64::total_cmp);
        found.delay_ms = tenpass_stats::quantile(&delays, 0.5);
        found.frame_us = (frames > 0).then(|| candidate_us / frames as f64);
        found
    }

    fn event(
        &mut self,
        event: &ShadowEvent,
        label: Option<(By, Is)>,
        wake_days: &mut BTreeSet<String>,
        delays: &mut Vec<f64>,
    ) {
        let (champion, candidate) = (event.champion.fired_s, event.candidate.fired_s);
        if champion.is_none() && candidate.is_none() {
            return;
        }
        if candidate.is_some() && event.playback && !matches!(label, Some((_, Is::Wake | Is::OtherVoice))) {
            self.self_triggers += 1;
        }
        match label {
            None if champion.is_some() != candidate.is_some() => self.unlabelled_discordant += 1,
            None => self.unlabelled_concordant += 1,
            Some((by, Is::Wake)) => {
                self.wakes.add(by);
                wake_days.insert(event.day());
                match (champion, candidate) {
                    (Some(champion), Some(candidate)) => {
                        self.wakes_both += 1;
                        delays.push((candidate - champion) * 1000.0);
                    }
                    (Some(_), None) => self.wakes_champion_only += 1,
                    _ => self.wakes_candidate_only += 1,
                }
            }
            Some((_, Is::OtherVoice)) => {
                self.other_voice += 1;
                self.other_voice_champion += u32::from(champion.is_some());
                self.other_voice_candidate += u32::from(candidate.is_some());
            }
            Some((by, Is::Other)) => {
                self.falses.add(by);
                self.false_signs.push(i8::from(champion.is_some()) - i8::from(candidate.is_some()));
            }
        }
    }

    /// False wakes of the candidate.
    pub fn candidate_falses(&self) -> u32 {
        self.false_signs.iter().filter(|sign| **sign <= 0).count() as u32
    }

    /// False wakes of the candidate only, and of the head in service only.
    pub fn discordant(&self) -> (u32, u32) {
        let count = |wanted| self.false_signs.iter().filter(|sign| **sign == wanted).count() as u32;
        (count(-1), count(1))
    }
}

/// A rule as something that can be ordered.
fn rule_key(rule: Rule) -> Option<u32> {
    match rule {
        Rule::FixedHorizon { days } => Some(days),
        Rule::EValue => None,
    }
}

/// The label that holds for each event: a person's before a weak one, the later of equals.
fn labels(lines: &[Line]) -> BTreeMap<&str, (By, Is)> {
    let mut found: BTreeMap<&str, (By, Is)> = BTreeMap::new();
    for line in lines {
        let Line::Label(Label { event, by, is }) = line else { continue };
        let held = found.get(event.as_str()).map(|(by, _)| *by);
        if *by == By::Human || held != Some(By::Human) {
            found.insert(event, (*by, *is));
        }
    }
    found
}

/// How many candidates have a log with a session in this month, under the folder of all logs.
pub fn candidates_in_month(folder: &Path, month: Date) -> Result<u32, RecordError> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(0) };
    let mut tried = 0;
    for entry in entries.filter_map(Result::ok) {
        let lines = read_shadow(&entry.path())?;
        let within = |line: &Line| {
            matches!(line, Line::Session(session)
                if (session.at.year(), session.at.month()) == (month.year(), month.month()))
        };
        tried += u32::from(lines.iter().any(within));
    }
    Ok(tried)
}
