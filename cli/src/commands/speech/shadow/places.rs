//! Where the head in service, its record and the shadow logs lie.

use std::path::{Path, PathBuf};

use jiff::civil::DateTime;
use tenpass_train::promote::Service;
use tenpass_train::records::digest_file;
use tenpass_train::shadow::{Line, Session, civil_s, read_shadow};

use super::super::head::threshold_beside;
use crate::args::speech::shadow::Which;
use crate::context::Context;
use crate::failure::Failure;

/// The folder of everything about the wake word's heads.
pub(in crate::commands::speech) struct Places {
    /// The folder.
    pub(in crate::commands::speech) folder: PathBuf,
    /// Now, local time.
    pub(in crate::commands::speech) now: DateTime,
}

/// The shadow of one candidate.
pub(in crate::commands::speech) struct ShadowPlace {
    /// Its folder.
    pub(in crate::commands::speech) folder: PathBuf,
    /// Its log.
    pub(in crate::commands::speech) lines: Vec<Line>,
}

impl Places {
    /// What was typed, or `wake` in the agent's folder.
    pub(in crate::commands::speech) fn new(context: &Context, typed: Option<&Path>) -> Self {
        let now = jiff::Zoned::now().datetime();
        // Nobody reads nanoseconds.
        let now = now.round(jiff::Unit::Second).unwrap_or(now);
        Self { folder: typed.map_or_else(|| context.agent_folder().join("wake"), Path::to_owned), now }
    }

    /// The head in service.
    pub(in crate::commands::speech) fn service(&self) -> Result<Service, Failure> {
        Ok(Service::open(&self.folder, self.now)?)
    }

    /// Where all shadow logs lie.
    pub(in crate::commands::speech) fn shadows(&self) -> PathBuf {
        self.folder.join("shadow")
    }

    /// The folder of a candidate's shadow.
    pub(in crate::commands::speech) fn shadow_of(&self, candidate: &Path) -> Result<PathBuf, Failure> {
        let digest = digest_file(candidate)?;
        Ok(self.shadows().join(&digest[..12]))
    }

    /// The shadow that is meant: of the candidate that was named, or the one that listened last.
    pub(in crate::commands::speech) fn shadow(&self, which: &Which) -> Result<ShadowPlace, Failure> {
        if let Some(candidate) = &which.candidate {
            let folder = self.shadow_of(candidate)?;
            let lines = read_shadow(&folder)?;
            if lines.is_empty() {
                return Err(Failure::mistake(format!("{} has not listened yet", candidate.display()))
                    .hint(format!("tenpass shadow start --candidate {}", candidate.display())));
            }
            return Ok(ShadowPlace { folder, lines });
        }
        let mut last: Option<(f64, ShadowPlace)> = None;
        for folder in std::fs::read_dir(self.shadows()).into_iter().flatten().filter_map(Result::ok) {
            let folder = folder.path();
            let lines = read_shadow(&folder)?;
            let began = sessions(&lines).map(|session| civil_s(session.at)).fold(f64::NEG_INFINITY, f64::max);
            if began.is_finite() && last.as_ref().is_none_or(|(at, _)| began > *at) {
                last = Some((began, ShadowPlace { folder, lines }));
            }
        }
        last.map(|(_, place)| place).ok_or_else(|| {
            Failure::mistake("no candidate has listened yet")
                .hint("tenpass shadow start --candidate FILE lets one listen beside the head in service")
        })
    }
}

impl ShadowPlace {
    /// The candidate's file, as it was when it began to listen.
    pub(in crate::commands::speech) fn candidate(&self) -> PathBuf {
        self.folder.join("candidate.onnx")
    }

    /// The head that it was compared with, as it was then.
    pub(in crate::commands::speech) fn champion(&self) -> PathBuf {
        self.folder.join("champion.onnx")
    }

    /// The last session.
    pub(in crate::commands::speech) fn session(&self) -> Result<&Session, Failure> {
        sessions(&self.lines).last().ok_or_else(|| {
            Failure::mistake(format!("{}: the log has no session", self.folder.join("shadow.jsonl").display()))
        })
    }
}

fn sessions(lines: &[Line]) -> impl Iterator<Item = &Session> {
    lines.iter().filter_map(|line| match line {
        Line::Session(session) => Some(session),
        _ => None,
    })
}

/// The thresholds that two heads bring in the files beside them.
pub(in crate::commands::speech) fn thresholds(heads: [&Path; 2]) -> [Option<f32>; 2] {
    heads.map(threshold_beside)
}
