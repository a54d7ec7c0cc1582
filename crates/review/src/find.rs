//! From what was typed to a run and one of its configurations.
//!
//! ```text
//! latest                      the run that began last, of the bench at hand
//! baseline                    the blessed run of the bench at hand, with its configuration
//! 20261130-142233-k3f9        a run; the beginning of its name will do
//! RUN/CONFIGURATION           one configuration of it; the beginning of its id will do
//! RUN/2, RUN/#2               the second of its configurations
//! ```

use std::path::Path;

use tenpass_bench::store::{Arguments, ConfigurationRecord, Run, latest_run, open_run};

use crate::{ReviewError, baseline};

/// The run that `query` names, and the configuration where it names one.
///
/// With `bench`, `latest` and `baseline` are those of that bench, and a run of another one is refused.
pub fn find(store: &Path, query: &str, bench: Option<&str>) -> Result<(Run, Option<String>), ReviewError> {
    // A run's name has no slash; a configuration's id may have several.
    let (name, wanted) = query.split_once('/').map_or((query, None), |(name, wanted)| (name, Some(wanted)));
    let (run, usual) = match name {
        "baseline" => {
            let found = baseline::baseline_of(store, bench)?;
            (found.run, Some(found.configuration))
        }
        "latest" => (latest_run(store, bench)?, None),
        _ => (open_run(store, name)?, None),
    };
    if let Some(bench) = bench.filter(|bench| *bench != run.manifest().bench) {
        let found = run.manifest().bench.clone();
        return Err(ReviewError::OtherBench { run: run.id().to_owned(), found, wanted: bench.to_owned() });
    }
    let configuration = match wanted {
        Some(wanted) => Some(configuration_named(&run, wanted)?),
        None => usual,
    };
    Ok((run, configuration))
}

/// The run that `query` names; a configuration in it is a mistake.
pub fn find_run(store: &Path, query: &str) -> Result<Run, ReviewError> {
    let (run, configuration) = find(store, query, None)?;
    match configuration.filter(|_| query.contains('/')) {
        Some(wanted) => Err(ReviewError::WholeRun { run: run.id().to_owned(), wanted }),
        None => Ok(run),
    }
}

/// The id of the configuration that is called so, or alone begins so, or has this number (`2`, `#2`).
pub fn configuration_named(run: &Run, wanted: &str) -> Result<String, ReviewError> {
    let names = ids(run);
    // `2` and `#2`: the second, where no configuration is called so.
    let place = wanted.strip_prefix('#').unwrap_or(wanted).parse::<usize>().ok();
    let numbered = place.and_then(|place| names.get(place.checked_sub(1)?)).cloned();
    let begins: Vec<&String> = names.iter().filter(|name| !wanted.is_empty() && name.starts_with(wanted)).collect();
    match (names.iter().find(|name| *name == wanted), begins.as_slice()) {
        (Some(name), _) => Ok(name.clone()),
        (None, [name]) => Ok((*name).clone()),
        _ if numbered.is_some() => Ok(numbered.unwrap_or_default()),
        _ => Err(ReviewError::NoConfiguration { run: run.id().to_owned(), wanted: wanted.to_owned(), names }),
    }
}

/// The configuration that was named, or the only one there is, or the first where the others are copies of it
/// (an A/A run): which of them is meant makes no difference.
pub fn the_configuration(run: &Run, named: Option<&str>) -> Result<String, ReviewError> {
    match (named, ids(run).as_slice()) {
        (Some(named), _) => configuration_named(run, named),
        (None, [only]) => Ok(only.clone()),
        (None, [first, ..]) if are_copies(&run.manifest().configurations) => Ok(first.clone()),
        (None, names) => Err(ReviewError::SeveralConfigurations { run: run.id().to_owned(), names: names.to_vec() }),
    }
}

/// Whether all ask the same of the same model: equal but for what tells copies apart.
fn are_copies(records: &[ConfigurationRecord]) -> bool {
    let bare = |record: &ConfigurationRecord| ConfigurationRecord {
        id: String::new(),
        salt: 0,
        jobs: 0,
        origin: None,
        arguments: Arguments::default(),
        ..record.clone()
    };
    let mut records = records.iter().map(bare);
    records.next().is_some_and(|first| records.all(|other| other == first))
}

fn ids(run: &Run) -> Vec<String> {
    run.manifest().configurations.iter().map(|configuration| configuration.id.clone()).collect()
}
