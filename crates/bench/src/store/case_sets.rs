//! The cases of a run, as each of its configurations meets them.

use std::fs;
use std::io::Write;
use std::path::Path;

use crate::cases::Case;
use crate::store::{CASES, ConfigurationRecord, Manifest, StoreError, lines};

/// The cases of a run; some configurations may meet them with other tools or prompts. Ids and order are
/// the same for all.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct CaseSets {
    shared: Vec<Case>,
    /// By position of the configuration.
    own: Vec<Option<Vec<Case>>>,
}

impl CaseSets {
    /// `own` has an entry for each configuration.
    pub(crate) fn new(shared: Vec<Case>, own: Vec<Option<Vec<Case>>>) -> Self {
        Self { shared, own }
    }

    /// Reads the sets of the run in `directory`.
    pub(crate) fn read(directory: &Path, manifest: &Manifest) -> Result<Self, StoreError> {
        let shared: Vec<Case> = lines::read_all(&directory.join(CASES))?;
        let own = |record: &ConfigurationRecord| {
            let Some(name) = &record.cases else { return Ok(None) };
            let path = directory.join(name);
            let cases: Vec<Case> = lines::read_all(&path)?;
            let differs = cases.iter().zip(&shared).position(|(own, case)| own.id != case.id);
            if let Some(place) = differs.or((cases.len() != shared.len()).then_some(cases.len().min(shared.len()))) {
                return Err(StoreError::line(&path, place as u64 + 1, format!("not the case that {CASES} has here")));
            }
            Ok(Some(cases))
        };
        let own = manifest.configurations.iter().map(own).collect::<Result<_, _>>()?;
        Ok(Self { shared, own })
    }

    /// Writes the sets into the folder of a run that nobody reads yet, under the names of the manifest.
    pub(crate) fn write(&self, directory: &Path, manifest: &Manifest) -> Result<(), StoreError> {
        write_lines(&directory.join(CASES), &self.shared)?;
        for (record, own) in manifest.configurations.iter().zip(&self.own) {
            if let Some(cases) = own {
                write_lines(&directory.join(record.cases_file()), cases)?;
            }
        }
        Ok(())
    }

    /// Those of the run.
    pub(crate) fn shared(&self) -> &[Case] {
        &self.shared
    }

    /// Those that the configuration at this position meets.
    pub(crate) fn of(&self, configuration: usize) -> &[Case] {
        self.own.get(configuration).and_then(Option::as_deref).unwrap_or(&self.shared)
    }

    /// Deals the sets of several parts together: first cases of all parts, then second ones, as the
    /// partition dealt them out.
    pub(crate) fn join(parts: Vec<Self>) -> Self {
        let has_own: Vec<bool> =
            parts.first().map(|part| part.own.iter().map(Option::is_some).collect()).unwrap_or_default();
        let configurations = has_own.len();
        let mut own_hands: Vec<Vec<Vec<Case>>> = vec![Vec::new(); configurations];
        let mut shared = Vec::new();
        for part in parts {
            for (configuration, hands) in own_hands.iter_mut().enumerate() {
                hands.push(part.of(configuration).to_vec());
            }
            shared.push(part.shared);
        }
        let shared = deal(shared);
        let own = own_hands.into_iter().zip(has_own).map(|(hands, has_own)| has_own.then(|| deal(hands))).collect();
        Self { shared, own }
    }
}

fn deal(hands: Vec<Vec<Case>>) -> Vec<Case> {
    let most = hands.iter().map(Vec::len).max().unwrap_or(0);
    let mut hands: Vec<_> = hands.into_iter().map(Vec::into_iter).collect();
    let mut cases = Vec::new();
    for _ in 0..most {
        cases.extend(hands.iter_mut().filter_map(Iterator::next));
    }
    cases
}

fn write_lines(path: &Path, cases: &[Case]) -> Result<(), StoreError> {
    let mut bytes = Vec::new();
    for case in cases {
        serde_json::to_writer(&mut bytes, case)
            .map_err(|error| StoreError::Encode { path: path.to_owned(), reason: error.to_string() })?;
        bytes.push(b'\n');
    }
    let written = fs::File::create(path).and_then(|mut file| {
        file.write_all(&bytes)?;
        file.sync_all()
    });
    written.map_err(|error| StoreError::write(path, error))
}
