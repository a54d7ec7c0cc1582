//! One side of a comparison, read from the store.

use tenpass_bench::store::{CaseDigests, ConfigurationRecord, PassFilter, Run};
use tenpass_report::{SideFacts, SideGathering};

use crate::{ReviewError, measured};

/// The numbers of every pass of a configuration, from the run's index: no text is read.
pub(crate) fn read(
    run: &Run,
    record: &ConfigurationRecord,
    cases: &[CaseDigests],
) -> Result<SideGathering, ReviewError> {
    let mut side = SideGathering::new(facts(run, record));
    let mut begun = 0;
    let mut begin_up_to = |side: &mut SideGathering, end: usize| {
        for case in cases.iter().take(end).skip(begun) {
            side.begin(&case.head.id, &case.head.family, case.head.language.as_str());
        }
        begun = begun.max(end);
    };
    let only = PassFilter { configuration: Some(record.id.clone()), ..PassFilter::default() };
    // Rows come case by case, in the order of the run's cases.
    run.index()?.rows(&only, |row| {
        begin_up_to(&mut side, row.case + 1);
        side.add(&measured(row));
    })?;
    begin_up_to(&mut side, cases.len());
    Ok(side)
}

fn facts(run: &Run, record: &ConfigurationRecord) -> SideFacts {
    let manifest = run.manifest();
    let known = |name: &str| !record.unknown.iter().any(|unknown| unknown == name);
    SideFacts {
        run: manifest.id.clone(),
        configuration: record.id.clone(),
        model: record.spec.clone(),
        started: manifest.started().to_owned(),
        // Through its decimal form: 0.3 and not 0.30000001192092896.
        temperature: record.options.temperature.to_string().parse().ok().filter(|_| known("temperature")),
        seed: manifest.seed,
        passes_per_case: manifest.passes,
        // A run that stops early is complete with fewer, and says so itself.
        planned_passes: if manifest.early_stop.is_some() { 0 } else { manifest.cases * u64::from(manifest.passes) },
    }
}
