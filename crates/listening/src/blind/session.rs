//! A session on disk: what is asked, the answers, who is who, the votes.
//!
//! Beside the manifest of every run: `answers.jsonl`, `votes.jsonl`, `sealed.json` (which number is which candidate),
//! `sounds/` and, once somebody was told, `revealed.json`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tenpass_audio::Random;

use super::ballots::{Ballot, REPLAYED, ballots, shuffled};
use super::choice::Choice;
use super::names::strip_names;
use super::outcome::{Outcome, outcome};
use super::prompts::BlindPrompt;
use crate::store::{EngineRecord, Manifest, Pass, Provenance, SpeechRun, StoreError, Writer};

/// The bench's name in the store.
const BENCH: &str = "blind";
/// More answers side by side cannot be compared.
pub const MOST_CANDIDATES: usize = 4;
const SEALED: &str = "sealed.json";
const REVEALED: &str = "revealed.json";
const SOUNDS: &str = "sounds";

/// Why a session cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum BlindError {
    /// Its files.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It cannot be made like this.
    #[error("{0}")]
    Plan(String),
    /// Answers are missing.
    #[error("session {id} has {have} of {of} answers")]
    NotReady {
        /// The session.
        id: String,
        /// Answers that are there.
        have: usize,
        /// Answers that belong to it.
        of: usize,
    },
    /// Votes are missing.
    #[error("{voted} of {of} ballots are voted: names come at the end")]
    NotDone {
        /// Ballots with a vote.
        voted: usize,
        /// Ballots.
        of: usize,
    },
    /// Names were told.
    #[error("the names of session {0} were told: a vote would no longer be blind")]
    Revealed(String),
    /// There is no such ballot or answer.
    #[error("{0}")]
    Unknown(String),
}

impl BlindError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Store(error) => error.hint().to_owned(),
            Self::Plan(_) => "name 2 to 4 different models (--models A,B) or voices (--voices A,B)".to_owned(),
            Self::NotReady { id, .. } => format!("tenpass blind new --resume {id} makes the missing ones"),
            Self::NotDone { .. } => {
                "vote on (tenpass blind vote), or look early with --early, which ends the voting".to_owned()
            }
            Self::Revealed(_) => "start a new session: tenpass blind new".to_owned(),
            Self::Unknown(_) => "vote on the ballot that is shown".to_owned(),
        }
    }
}

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Answers as text.
    Text,
    /// Answers of models, spoken by one voice.
    SpokenAnswers,
    /// One text, spoken by several voices.
    Voices,
}

/// Who answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// A model's or a voice's SPEC.
    pub spec: String,
    /// Digest of what answers.
    pub digest: String,
}

/// What a session is made of.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// Its title.
    pub title: String,
    /// What is compared.
    pub kind: Kind,
    /// Who answers.
    pub candidates: Vec<Candidate>,
    /// What is asked.
    pub prompts: Vec<BlindPrompt>,
    /// Where the order comes from.
    pub seed: u64,
    /// Whether some ballots come twice.
    pub replays: bool,
    /// Program, machine, arguments.
    pub provenance: Provenance,
}

/// The manifest's details.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Details {
    title: String,
    kind: Kind,
    prompts: Vec<BlindPrompt>,
    ballots: Vec<Ballot>,
}

/// An answer to a prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The prompt's place.
    pub prompt: usize,
    /// The candidate's sealed number.
    pub number: usize,
    /// As it was given.
    pub text: String,
    /// As it is shown: without names.
    pub shown: String,
    /// How long it took.
    pub ms: f64,
    /// Its sound, a name in the session's folder of sounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sound: Option<String>,
}

impl Pass for Answer {
    const FILE: &'static str = "answers.jsonl";

    fn key(&self) -> String {
        format!("{}/{}", self.prompt, self.number)
    }
}

/// A vote as it is kept. Of two on one ballot the later counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Vote {
    /// The ballot's place.
    pub ballot: usize,
    /// What was chosen.
    pub choice: Choice,
    /// How long the answers were looked at.
    pub ms: u64,
    /// When, RFC 3339.
    pub at: String,
    /// Where: `terminal`, `page`.
    pub by: String,
}

impl Pass for Vote {
    const FILE: &'static str = "votes.jsonl";

    fn key(&self) -> String {
        self.ballot.to_string()
    }
}

/// A ballot as a person sees it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shown {
    /// Its place: what a vote names.
    pub ballot: usize,
    /// How many there are.
    pub of: usize,
    /// What was asked.
    pub prompt: String,
    /// The answers from left to right.
    pub answers: Vec<ShownAnswer>,
}

/// An answer on a ballot.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ShownAnswer {
    /// The letter above it.
    pub letter: char,
    /// The text; empty where only the sound counts.
    pub text: String,
    /// The sound.
    #[serde(skip)]
    pub sound: Option<PathBuf>,
}

/// A session.
#[derive(Debug, Clone)]
pub struct Session {
    run: SpeechRun,
    details: Details,
    /// Which candidate of the manifest a number is.
    sealed: Vec<usize>,
}

impl Session {
    /// Makes a session without answers.
    pub fn create(runs: &Path, new: NewSession) -> Result<Self, BlindError> {
        let count = new.candidates.len();
        let distinct = new.candidates.iter().map(|one| &one.spec).collect::<std::collections::BTreeSet<_>>().len();
        if !(2..=MOST_CANDIDATES).contains(&count) || distinct < count {
            return Err(BlindError::Plan(format!("{distinct} different candidates of {count} named")));
        }
        let share = if new.replays { REPLAYED } else { 0.0 };
        let details = Details {
            title: new.title,
            kind: new.kind,
            ballots: ballots(new.prompts.len(), count, share, new.seed),
            prompts: new.prompts,
        };
        // From the system's randomness, not from the seed: who knows the seed must not know who is who.
        let sealed = shuffled(count, &mut Random::new(uuid::Uuid::new_v4().as_u64_pair().0));
        let value = serde_json::to_value(&details).map_err(|error| BlindError::Plan(error.to_string()))?;
        let run = SpeechRun::create(runs, BENCH, |manifest: &mut Manifest| {
            manifest.provenance = new.provenance;
            manifest.engines = new
                .candidates
                .into_iter()
                .map(|candidate| EngineRecord { spec: candidate.spec, digest: candidate.digest })
                .collect();
            manifest.seed = new.seed;
            manifest.details = value;
        })?;
        write(&run.folder().join(SEALED), &sealed)?;
        Ok(Self { run, details, sealed })
    }

    /// Finds a session: `latest`, an id, or how one begins.
    pub fn find(runs: &Path, query: &str) -> Result<Self, BlindError> {
        Self::of(SpeechRun::find(runs, BENCH, query)?)
    }

    /// Every session, oldest first; broken ones are left out.
    pub fn list(runs: &Path) -> Result<Vec<Self>, BlindError> {
        Ok(SpeechRun::list(runs, BENCH)?.into_iter().filter_map(|run| Self::of(run).ok()).collect())
    }

    fn of(run: SpeechRun) -> Result<Self, BlindError> {
        let invalid = |path: PathBuf, problem: String| StoreError::Invalid { path, line: None, problem };
        let details: Details = serde_json::from_value(run.manifest().details.clone())
            .map_err(|error| invalid(run.folder().join("manifest.json"), error.to_string()))?;
        let path = run.folder().join(SEALED);
        let text = std::fs::read(&path).map_err(|source| StoreError::File { path: path.clone(), source })?;
        let sealed: Vec<usize> =
            serde_json::from_slice(&text).map_err(|error| invalid(path.clone(), error.to_string()))?;
        let count = run.manifest().engines.len();
        let mut sorted = sealed.clone();
        sorted.sort_unstable();
        if count < 2 || sorted != (0..count).collect::<Vec<_>>() {
            return Err(invalid(path, "it does not name every candidate once".to_owned()).into());
        }
        let fits = |ballot: &Ballot| {
            ballot.prompt < details.prompts.len()
                && ballot.order.len() == count
                && ballot.order.iter().all(|number| *number < count)
        };
        if !details.ballots.iter().all(fits) {
            return Err(
                invalid(run.folder().join("manifest.json"), "a ballot names what is not there".to_owned()).into()
            );
        }
        Ok(Self { run, details, sealed })
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.run.manifest().id
    }

    /// When it was made, RFC 3339.
    pub fn started(&self) -> &str {
        &self.run.manifest().started
    }

    /// Its title.
    pub fn title(&self) -> &str {
        &self.details.title
    }

    /// What is compared.
    pub fn kind(&self) -> Kind {
        self.details.kind
    }

    /// What is asked.
    pub fn prompts(&self) -> &[BlindPrompt] {
        &self.details.prompts
    }

    /// The ballots.
    pub fn ballots(&self) -> &[Ballot] {
        &self.details.ballots
    }

    /// Who answers, in the order they were named. For making answers, and for the end.
    pub fn candidates(&self) -> &[EngineRecord] {
        &self.run.manifest().engines
    }

    /// What was typed, and where it was made.
    pub fn provenance(&self) -> &Provenance {
        &self.run.manifest().provenance
    }

    /// Where the order came from.
    pub fn seed(&self) -> u64 {
        self.run.manifest().seed
    }

    /// The answers that are there.
    pub fn answers(&self) -> Result<Vec<Answer>, BlindError> {
        Ok(self.run.passes::<Answer>()?)
    }

    /// Prompts that a candidate (as in [`Session::candidates`]) has not answered.
    pub fn unanswered(&self, candidate: usize) -> Result<Vec<usize>, BlindError> {
        let number = self.number(candidate)?;
        let done = self.run.done::<Answer>()?;
        Ok((0..self.prompts().len()).filter(|prompt| !done.contains(&format!("{prompt}/{number}"))).collect())
    }

    fn number(&self, candidate: usize) -> Result<usize, BlindError> {
        let found = self.sealed.iter().position(|sealed| *sealed == candidate);
        found.ok_or_else(|| BlindError::Unknown(format!("there is no candidate {}", candidate + 1)))
    }

    /// Takes answers; one process at a time.
    pub fn answer_writer(&self) -> Result<Writer, BlindError> {
        Ok(self.run.writer_of(Answer::FILE)?)
    }

    /// Keeps an answer. `sound` is a whole file (FLAC) at its final loudness.
    pub fn answer(
        &self,
        writer: &mut Writer,
        (prompt, candidate): (usize, usize),
        text: &str,
        ms: f64,
        sound: Option<&[u8]>,
    ) -> Result<(), BlindError> {
        let number = self.number(candidate)?;
        let specs: Vec<&str> = self.candidates().iter().map(|one| one.spec.as_str()).collect();
        let sound = sound.map(|bytes| self.keep_sound(prompt, number, bytes)).transpose()?;
        let answer = Answer { prompt, number, text: text.to_owned(), shown: strip_names(text, &specs), ms, sound };
        Ok(writer.append(&answer)?)
    }

    fn keep_sound(&self, prompt: usize, number: usize, bytes: &[u8]) -> Result<String, StoreError> {
        let folder = self.run.folder().join(SOUNDS);
        let name = format!("{prompt:04}-{number}.flac");
        let path = folder.join(&name);
        std::fs::create_dir_all(&folder)
            .and_then(|()| std::fs::write(&path, bytes))
            .map_err(|source| StoreError::File { path, source })?;
        Ok(name)
    }

    /// The votes, one a ballot at most.
    pub fn votes(&self) -> Result<Vec<Vote>, BlindError> {
        Ok(self.run.passes::<Vote>()?)
    }

    /// Ballots with a vote, and all ballots.
    pub fn progress(&self) -> Result<(usize, usize), BlindError> {
        Ok((self.votes()?.len(), self.details.ballots.len()))
    }

    /// The first ballot without a vote; `None` when all are voted.
    pub fn next(&self) -> Result<Option<Shown>, BlindError> {
        let done = self.run.done::<Vote>()?;
        let open = (0..self.details.ballots.len()).find(|ballot| !done.contains(&ballot.to_string()));
        open.map(|ballot| self.shown(ballot)).transpose()
    }

    /// A ballot as it is shown.
    pub fn shown(&self, ballot: usize) -> Result<Shown, BlindError> {
        let Some(drawn) = self.details.ballots.get(ballot) else {
            return Err(BlindError::Unknown(format!("there is no ballot {}", ballot + 1)));
        };
        let answers = self.answers()?;
        let expected = self.prompts().len() * self.candidates().len();
        if answers.len() < expected {
            return Err(BlindError::NotReady { id: self.id().to_owned(), have: answers.len(), of: expected });
        }
        let of: BTreeMap<usize, &Answer> =
            answers.iter().filter(|answer| answer.prompt == drawn.prompt).map(|one| (one.number, one)).collect();
        let answers = drawn.order.iter().enumerate().filter_map(|(place, number)| {
            let answer = of.get(number)?;
            Some(ShownAnswer {
                letter: Choice::letter(place),
                text: if self.kind() == Kind::Text { answer.shown.clone() } else { String::new() },
                sound: answer.sound.as_ref().map(|name| self.run.folder().join(SOUNDS).join(name)),
            })
        });
        Ok(Shown {
            ballot,
            of: self.details.ballots.len(),
            prompt: self.prompts()[drawn.prompt].text.clone(),
            answers: answers.collect(),
        })
    }

    /// Keeps a vote. A second one on the same ballot replaces the first while the names are sealed.
    pub fn vote(&self, ballot: usize, choice: Choice, ms: u64, by: &str) -> Result<(), BlindError> {
        if self.is_revealed() {
            return Err(BlindError::Revealed(self.id().to_owned()));
        }
        let shown = self.shown(ballot)?;
        if let Choice::Place(place) = choice
            && place >= shown.answers.len()
        {
            return Err(BlindError::Unknown(format!("ballot {} has no answer {choice}", ballot + 1)));
        }
        let at = jiff::Timestamp::now().to_string();
        let vote = Vote { ballot, choice, ms, at, by: by.to_owned() };
        Ok(self.run.writer_of(Vote::FILE)?.append(&vote)?)
    }

    /// Whether somebody was told who is who.
    pub fn is_revealed(&self) -> bool {
        self.run.folder().join(REVEALED).exists()
    }

    /// Tells who is who and what the votes show. Before the last vote only when `early`; there is no voting after it.
    pub fn outcome(&self, early: bool) -> Result<Outcome, BlindError> {
        let votes = self.votes()?;
        let of = self.details.ballots.len();
        if votes.len() < of && !early && !self.is_revealed() {
            return Err(BlindError::NotDone { voted: votes.len(), of });
        }
        let answers = self.answers()?;
        let found = outcome(self, &self.sealed, &votes, &answers);
        if !self.is_revealed() {
            write(
                &self.run.folder().join(REVEALED),
                &serde_json::json!({ "at": jiff::Timestamp::now(), "votes": votes.len() }),
            )?;
        }
        Ok(found)
    }
}

/// Writes a small file as a whole.
fn write(path: &Path, value: &impl Serialize) -> Result<(), StoreError> {
    let failed = |source| StoreError::File { path: path.to_owned(), source };
    let text = serde_json::to_vec_pretty(value).map_err(|error| failed(error.into()))?;
    let partial = path.with_extension("partial");
    std::fs::write(&partial, text).and_then(|()| std::fs::rename(&partial, path)).map_err(failed)
}
