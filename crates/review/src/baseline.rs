//! `runs/baselines.json`: for each bench the run, and the configuration of it, that others are compared
//! with.
//!
//! ```json
//! {
//!   "version": 1,
//!   "baselines": {
//!     "tools": {
//!       "run": "20261130-142233-k3f9",
//!       "configuration": "embedded:smollm2-135m",
//!       "at": "2026-11-30T15:02:11.090Z",
//!       "command": "tenpass runs bless latest"
//!     }
//!   }
//! }
//! ```
//!
//! It is replaced by renaming a complete file over the old one. A name that it holds and the store does
//! not is an error for whoever needs that baseline, and for nobody else.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use tenpass_bench::store::{Run, StoreError, open_run, timestamp};

use crate::ReviewError;
use crate::find::the_configuration;

/// File name within the store's folder.
const FILE: &str = "baselines.json";
/// Version of the file; newer ones are refused.
const VERSION: u32 = 1;

/// A run that was made the baseline of its bench.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blessing {
    /// The run.
    pub run: String,
    /// The configuration of it.
    pub configuration: String,
    /// When, UTC.
    pub at: String,
    /// By which command.
    pub command: String,
}

/// The baseline of a bench, found in the store.
#[derive(Debug, Clone, PartialEq)]
pub struct Baseline {
    /// The run.
    pub run: Run,
    /// The configuration of it.
    pub configuration: String,
}

#[derive(Serialize, Deserialize)]
struct File {
    version: u32,
    baselines: BTreeMap<String, Blessing>,
}

/// Makes `configuration` of `run` (or the only one it has) the baseline of the run's bench. `command` is
/// what was typed, for whoever asks later.
pub fn bless(store: &Path, run: &Run, configuration: Option<&str>, command: &str) -> Result<Blessing, ReviewError> {
    let blessing = Blessing {
        run: run.id().to_owned(),
        configuration: the_configuration(run, configuration)?,
        at: timestamp(SystemTime::now()),
        command: command.to_owned(),
    };
    let mut all = baselines(store)?;
    all.insert(run.manifest().bench.clone(), blessing.clone());
    save(&store.join(FILE), &File { version: VERSION, baselines: all })?;
    Ok(blessing)
}

/// All baselines by bench. A store without the file has none.
pub fn baselines(store: &Path) -> Result<BTreeMap<String, Blessing>, ReviewError> {
    let path = store.join(FILE);
    let bytes = match std::fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        other => other.map_err(|source| StoreError::Read { path: path.clone(), source })?,
    };
    let bad = |reason: String| ReviewError::Baselines { path: path.clone(), reason };
    let file: File = serde_json::from_slice(&bytes).map_err(|error| bad(error.to_string()))?;
    if file.version > VERSION {
        return Err(bad(format!("its version is {}, this program reads up to {VERSION}", file.version)));
    }
    Ok(file.baselines)
}

/// The baseline of `bench`, or the only one there is.
pub fn baseline_of(store: &Path, bench: Option<&str>) -> Result<Baseline, ReviewError> {
    let mut all = baselines(store)?;
    let bench = match bench {
        Some(bench) => bench.to_owned(),
        None if all.len() > 1 => {
            return Err(ReviewError::SeveralBaselines { benches: all.into_keys().collect() });
        }
        None => all.keys().next().cloned().unwrap_or_default(),
    };
    let Some(blessing) = all.remove(&bench) else {
        let bench = (!bench.is_empty()).then_some(bench);
        return Err(ReviewError::NoBaseline { directory: store.to_owned(), bench });
    };
    let run = match open_run(store, &blessing.run) {
        Err(StoreError::NoRun { .. }) => {
            return Err(ReviewError::BaselineGone { bench, run: blessing.run, directory: store.to_owned() });
        }
        other => other?,
    };
    let configuration = the_configuration(&run, Some(&blessing.configuration))?;
    Ok(Baseline { run, configuration })
}

fn save(path: &Path, file: &File) -> Result<(), StoreError> {
    let failed = |source: io::Error| StoreError::Write { path: path.to_owned(), source, kept: None };
    let encode = |error: serde_json::Error| StoreError::Encode { path: path.to_owned(), reason: error.to_string() };
    let mut bytes = serde_json::to_vec_pretty(file).map_err(encode)?;
    bytes.push(b'\n');
    // Of this process alone: two that bless at once must not write into one file.
    let partial: PathBuf = path.with_extension(format!("{}.partial", std::process::id()));
    let written = std::fs::File::create(&partial).and_then(|mut output| {
        output.write_all(&bytes)?;
        output.sync_all()
    });
    written.and_then(|()| std::fs::rename(&partial, path)).map_err(|error| {
        let _ = std::fs::remove_file(&partial);
        failed(error)
    })
}
