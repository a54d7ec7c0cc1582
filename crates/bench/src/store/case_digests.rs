//! The cases of a run without what they say: enough to know which are there and whether two runs asked
//! the same, in a few bytes a case.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::Deserialize;
use serde_json::value::RawValue;
use tenpass_trace::Role;

use crate::cases::{CaseKind, Language};
use crate::store::lines::{LineReader, parse_line};
use crate::store::{CASES, CaseHead, Run, StoreError};

/// A case's names, and digests of its parts as they are stored. Equal digests are equal parts; different
/// ones may still mean the same, written by another version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseDigests {
    /// Its names.
    pub head: CaseHead,
    /// Of the system messages.
    pub system: u64,
    /// Of the other messages, and the scenario.
    pub asked: u64,
    /// Of the tools.
    pub tools: u64,
    /// Of what must happen, and the scenario.
    pub expected: u64,
    /// It stands for a scenario.
    pub is_scenario: bool,
}

/// A case's line with its parts unread.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    family: Cow<'a, str>,
    language: Language,
    kind: CaseKind,
    #[serde(borrow)]
    messages: Vec<&'a RawValue>,
    #[serde(borrow)]
    tools: &'a RawValue,
    #[serde(borrow)]
    expect: &'a RawValue,
    #[serde(borrow, default)]
    scenario: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Speaker {
    role: Role,
}

impl CaseDigests {
    fn of(line: &Line<'_>) -> serde_json::Result<Self> {
        let scenario = line.scenario.map_or("", RawValue::get);
        let (mut system, mut asked) = (DefaultHasher::new(), DefaultHasher::new());
        for message in &line.messages {
            let speaker: Speaker = serde_json::from_str(message.get())?;
            let part = if speaker.role == Role::System { &mut system } else { &mut asked };
            message.get().hash(part);
        }
        scenario.hash(&mut asked);
        let digest = |parts: &[&str]| {
            let mut hasher = DefaultHasher::new();
            parts.hash(&mut hasher);
            hasher.finish()
        };
        Ok(Self {
            head: CaseHead {
                id: line.id.clone().into_owned(),
                family: line.family.clone().into_owned(),
                language: line.language,
                kind: line.kind,
            },
            system: system.finish(),
            asked: asked.finish(),
            tools: digest(&[line.tools.get()]),
            expected: digest(&[line.expect.get(), scenario]),
            is_scenario: line.scenario.is_some(),
        })
    }
}

impl Run {
    /// The digests of the cases as this configuration met them, in the run's order.
    pub fn case_digests(&self, configuration: &str) -> Result<Vec<CaseDigests>, StoreError> {
        let record = self.manifest().configurations.iter().find(|record| record.id == configuration);
        let path = self.directory().join(record.map_or(CASES, |record| record.cases_file()));
        let mut found = Vec::new();
        let Some(mut reader) = LineReader::open(&path)? else { return Ok(found) };
        while let Some((place, bytes)) = reader.next()? {
            let line: Line<'_> = parse_line(&path, place, bytes)?;
            let digests = CaseDigests::of(&line);
            found.push(digests.map_err(|error| StoreError::line(&path, place.number, error.to_string()))?);
        }
        Ok(found)
    }
}
