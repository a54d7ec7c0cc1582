//! The folder of nights: its lock, its files.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::error::NightError;
use super::night::{NIGHT_VERSION, Night, NightState, Plan};

const LOCK: &str = "lock";
const FILE: &str = "night.json";

/// The folder of nights.
#[derive(Debug, Clone)]
pub struct Nights {
    folder: PathBuf,
}

/// Held while a night runs; the system releases it when the process ends, however it ends.
#[derive(Debug)]
pub struct NightLock {
    file: File,
}

impl Drop for NightLock {
    fn drop(&mut self) {
        // A child process forked a moment ago may hold a copy of the file, and with it the lock.
        let _ = self.file.unlock();
    }
}

impl Nights {
    /// The nights in this folder, which need not exist yet.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder of one night.
    pub fn of(&self, night: &str) -> PathBuf {
        self.folder.join(night)
    }

    /// Takes the lock, or says who has it. Never waits.
    pub fn lock(&self) -> Result<NightLock, NightError> {
        fs::create_dir_all(&self.folder).map_err(|error| NightError::file(&self.folder, error))?;
        let path = self.folder.join(LOCK);
        let opened = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(&path);
        let mut file = opened.map_err(|error| NightError::file(&path, error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let owner = fs::read_to_string(&path).unwrap_or_default();
                let by = if owner.trim().is_empty() { "another process" } else { owner.trim() };
                return Err(NightError::Running { by: by.to_owned() });
            }
            Err(TryLockError::Error(error)) => return Err(NightError::file(&path, error)),
        }
        // Only a courtesy to whoever is refused: a full disk must not stop the night here.
        let _ = file.set_len(0);
        let _ = write!(
            file,
            "process {} since {}",
            std::process::id(),
            tenpass_bench::store::timestamp(std::time::SystemTime::now())
        );
        Ok(NightLock { file })
    }

    /// Every night, oldest first.
    pub fn all(&self) -> Result<Vec<Night>, NightError> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(|error| NightError::file(&self.folder, error))?,
        };
        let mut nights = Vec::new();
        for entry in entries {
            let path = entry.map_err(|error| NightError::file(&self.folder, error))?.path().join(FILE);
            if path.is_file() {
                nights.push(load(&path)?);
            }
        }
        nights.sort_by(|a, b| a.started.cmp(&b.started).then_with(|| a.id.cmp(&b.id)));
        Ok(nights)
    }

    /// The newest night that has not ended and does the same.
    pub fn unfinished(&self, plan: &Plan) -> Result<Option<Night>, NightError> {
        let newest = self.all()?.pop();
        Ok(newest.filter(|night| night.state == NightState::Running && night.plan == *plan))
    }

    /// A new night of `date` (`2026-11-30`), written to its folder.
    pub fn create(&self, date: &str, plan: Plan, seed: u64, started: String) -> Result<Night, NightError> {
        fs::create_dir_all(&self.folder).map_err(|error| NightError::file(&self.folder, error))?;
        let mut number = 1;
        let id = loop {
            let id = if number == 1 { date.to_owned() } else { format!("{date}-{number}") };
            let path = self.of(&id);
            match fs::create_dir(&path) {
                Ok(()) => break id,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(NightError::file(&path, error)),
            }
        };
        let night = Night::new(id, plan, seed, started);
        self.save(&night)?;
        Ok(night)
    }

    /// Writes how far a night is.
    pub fn save(&self, night: &Night) -> Result<(), NightError> {
        let mut text = serde_json::to_vec_pretty(night)
            .map_err(|error| NightError::Damaged { path: self.of(&night.id), reason: error.to_string() })?;
        text.push(b'\n');
        self.write(&night.id, FILE, &text).map(|_| ())
    }

    /// Writes a file into a night's folder, whole or not at all.
    pub fn write(&self, night: &str, name: &str, bytes: &[u8]) -> Result<PathBuf, NightError> {
        let path = self.of(night).join(name);
        let partial = self.of(night).join(format!(".{name}.partial"));
        let written = File::create(&partial).and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&partial, &path)
        });
        written.map_err(|error| NightError::file(&path, error))?;
        Ok(path)
    }
}

fn load(path: &Path) -> Result<Night, NightError> {
    let bytes = fs::read(path).map_err(|error| NightError::file(path, error))?;
    let damaged = |error: serde_json::Error| NightError::Damaged { path: path.to_owned(), reason: error.to_string() };
    let value: serde_json::Value = serde_json::from_slice(&bytes).map_err(damaged)?;
    let found = value.get("version").and_then(serde_json::Value::as_u64).unwrap_or(0) as u32;
    if found > NIGHT_VERSION {
        return Err(NightError::Newer { path: path.to_owned(), found, supported: NIGHT_VERSION });
    }
    serde_json::from_value(value).map_err(damaged)
}
