//! Everything on a page against its first column.

use tenpass_bench::store::Run;
use tenpass_report::RunComparison;
use tenpass_stats::holm;

use crate::ReviewError;
use crate::compare::{CompareOptions, Side, compare};

/// Configurations of the first run are compared in full up to this many; of more, the page's summary
/// has the verdicts, corrected for all of them.
const IN_FULL: usize = 4;

/// Compares the first configuration of the first run with every other one of the same bench, in the
/// order of the page, corrected by Holm where there are several. `only` as in
/// [`crate::ReportOptions::only`]. Also returns the comparisons that were refused, each with its reason:
/// a page shows them, and goes on.
pub fn compare_columns(
    runs: &[Run],
    only: &[(String, String)],
    options: &CompareOptions,
) -> Result<(Vec<RunComparison>, Vec<String>), ReviewError> {
    let columns: Vec<Side<'_>> = runs.iter().flat_map(|run| columns(run, only)).collect();
    let Some((before, others)) = columns.split_first() else { return Ok((Vec::new(), Vec::new())) };
    let mut found = Vec::new();
    let mut refused = Vec::new();
    let is_own = |side: &Side<'_>| side.run.id() == before.run.id();
    let summarised = others.iter().filter(|side| is_own(side)).count() > IN_FULL;
    let others = others.iter().filter(|side| !(summarised && is_own(side)));
    for after in others.filter(|after| after.run.manifest().bench == before.run.manifest().bench) {
        match compare(*before, *after, options) {
            Ok(comparison) => found.push(comparison),
            Err(error) if is_refusal(&error) => {
                refused.push(format!("{}/{}: {error}", after.run.id(), after.configuration.unwrap_or_default()));
            }
            Err(error) => return Err(error),
        }
    }
    if found.len() > 1 {
        let corrected = holm(&found.iter().map(|comparison| comparison.delta.p).collect::<Vec<_>>());
        let count = found.len();
        found.iter_mut().zip(corrected).for_each(|(comparison, p)| comparison.correct(p, count, None));
    }
    Ok((found, refused))
}

/// The configurations of a run that a page shows.
fn columns<'a>(run: &'a Run, only: &[(String, String)]) -> Vec<Side<'a>> {
    let named: Vec<&String> = only.iter().filter(|(id, _)| id == run.id()).map(|(_, name)| name).collect();
    let ids = run.manifest().configurations.iter().map(|record| &record.id);
    let shown = ids.filter(|id| named.is_empty() || named.contains(id));
    shown.map(|id| Side { run, configuration: Some(id) }).collect()
}

/// The two cannot be compared, which is no mistake of whoever asked for a page.
fn is_refusal(error: &ReviewError) -> bool {
    matches!(
        error,
        ReviewError::SeveralDifferences { .. } | ReviewError::NoCommonCase { .. } | ReviewError::NothingScored { .. }
    )
}
