//! Functions of the queries beside SQLite's own.

use std::collections::BTreeMap;
use std::io;

use rusqlite::Connection;
use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use tenpass_bench::store::Run;
use tenpass_stats::{Interval, quantile, wilson_rate};

/// What they are called, and what for.
pub(crate) const FUNCTIONS: &[(&str, &str)] = &[
    ("latest()", "the run that began last; latest('tools') the last of that bench"),
    ("baseline('tools')", "the run that `tenpass runs bless` made the baseline of that bench"),
    ("wilson_low(passed, total)", "lower end of Wilson's 95 % interval of a rate"),
    ("wilson_high(passed, total)", "upper end of it"),
    ("median(x)", "the median of a group, NULLs left out"),
    ("quantile(x, q)", "the q quantile of a group (q from 0 to 1), NULLs left out"),
];

/// Coverage of the intervals.
const CONFIDENCE: f64 = 0.95;

/// What `latest()` and `baseline()` give.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    latest: Option<String>,
    latest_of: BTreeMap<String, String>,
    baselines: BTreeMap<String, String>,
}

impl Names {
    /// The runs are ordered by name; of equal moments the last name counts.
    pub(crate) fn of(runs: &[Run], baselines: BTreeMap<String, String>) -> Self {
        // As `latest` on the command line: a check of a new case is nobody's latest.
        let mut ordered: Vec<&Run> = runs.iter().filter(|run| !run.manifest().is_check()).collect();
        ordered.sort_by(|a, b| a.manifest().started().cmp(b.manifest().started()).then_with(|| a.id().cmp(b.id())));
        let latest_of = ordered.iter().map(|run| (run.manifest().bench.clone(), run.id().to_owned())).collect();
        Self { latest: ordered.last().map(|run| run.id().to_owned()), latest_of, baselines }
    }

    fn baseline(&self, bench: Option<&str>) -> Result<String, String> {
        let found = match bench {
            Some(bench) => self.baselines.get(bench),
            None if self.baselines.len() > 1 => {
                let benches: Vec<String> = self.baselines.keys().map(|bench| format!("baseline('{bench}')")).collect();
                return Err(format!("there are several baselines: write {}", benches.join(" or ")));
            }
            None => self.baselines.values().next(),
        };
        let of = bench.map(|bench| format!(" of bench {bench}")).unwrap_or_default();
        found.cloned().ok_or_else(|| format!("there is no baseline{of}: `tenpass runs bless RUN` makes one"))
    }
}

/// Adds them to a connection.
pub(crate) fn register(connection: &Connection, names: &Names) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    let (all, of_bench) = (names.latest.clone(), names.latest_of.clone());
    connection.create_scalar_function("latest", 0, flags, move |_| Ok(all.clone()))?;
    connection.create_scalar_function("latest", 1, flags, move |context| {
        Ok(of_bench.get(&context.get::<String>(0)?).cloned())
    })?;
    for arguments in [0, 1] {
        let names = names.clone();
        connection.create_scalar_function("baseline", arguments, flags, move |context| {
            let bench: Option<String> = if arguments == 1 { Some(context.get(0)?) } else { None };
            names.baseline(bench.as_deref()).map_err(user_error)
        })?;
    }
    connection.create_scalar_function("wilson_low", 2, flags, |context| Ok(wilson(context)?.map(|ends| ends.low)))?;
    connection.create_scalar_function("wilson_high", 2, flags, |context| Ok(wilson(context)?.map(|ends| ends.high)))?;
    connection.create_aggregate_function("median", 1, flags, Quantile { fixed: Some(0.5) })?;
    connection.create_aggregate_function("quantile", 2, flags, Quantile { fixed: None })
}

fn user_error(message: String) -> rusqlite::Error {
    rusqlite::Error::UserFunctionError(Box::new(io::Error::other(message)))
}

/// NULL for NULL and for nothing counted: an interval from 0 to 1 would look like an answer.
fn wilson(context: &Context<'_>) -> rusqlite::Result<Option<Interval>> {
    let (passed, total): (Option<f64>, Option<f64>) = (context.get(0)?, context.get(1)?);
    let Some((passed, total)) = passed.zip(total).filter(|(_, total)| *total > 0.0) else { return Ok(None) };
    if passed < 0.0 || passed > total {
        return Err(user_error(format!("wilson: {passed} of {total} is no rate")));
    }
    Ok(Some(wilson_rate(passed / total, total, CONFIDENCE)))
}

/// A quantile, by linear interpolation between order statistics.
struct Quantile {
    fixed: Option<f64>,
}

/// The values so far, and which quantile.
#[derive(Default)]
struct Sample {
    values: Vec<f64>,
    share: f64,
}

impl Aggregate<Sample, Option<f64>> for Quantile {
    fn init(&self, _: &mut Context<'_>) -> rusqlite::Result<Sample> {
        Ok(Sample::default())
    }

    fn step(&self, context: &mut Context<'_>, sample: &mut Sample) -> rusqlite::Result<()> {
        sample.share = match self.fixed {
            Some(share) => share,
            None => context.get(1)?,
        };
        if !(0.0..=1.0).contains(&sample.share) {
            return Err(user_error(format!("quantile: {} is not between 0 and 1", sample.share)));
        }
        sample.values.extend(context.get::<Option<f64>>(0)?);
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, sample: Option<Sample>) -> rusqlite::Result<Option<f64>> {
        let Some(Sample { mut values, share }) = sample else { return Ok(None) };
        values.sort_unstable_by(f64::total_cmp);
        Ok(quantile(&values, share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(names: &Names, sql: &str) -> Result<Option<f64>, String> {
        let connection = Connection::open_in_memory().unwrap();
        register(&connection, names).unwrap();
        connection.query_row(sql, [], |row| row.get(0)).map_err(|error| error.to_string())
    }

    #[test]
    fn intervals_and_quantiles_are_those_of_the_reports() {
        let names = Names::default();
        // statsmodels proportion_confint(7, 10, method="wilson") = (0.396778, 0.892209)
        assert!((ask(&names, "SELECT wilson_low(7, 10)").unwrap().unwrap() - 0.396_778).abs() < 1e-6);
        assert!((ask(&names, "SELECT wilson_high(7, 10)").unwrap().unwrap() - 0.892_209).abs() < 1e-6);
        assert_eq!(ask(&names, "SELECT wilson_low(0, 0)"), Ok(None));
        assert_eq!(ask(&names, "SELECT wilson_low(NULL, 3)"), Ok(None));
        assert!(ask(&names, "SELECT wilson_low(3, 2)").unwrap_err().contains("3 of 2 is no rate"));
        // numpy.quantile([3, 1, 4, 1, 5, 9, 2, 6], [0.5, 0.9]) = [3.5, 6.9]
        let values = "(VALUES (3), (1), (4), (1), (5), (NULL), (9), (2), (6))";
        assert_eq!(ask(&names, &format!("SELECT median(column1) FROM {values}")), Ok(Some(3.5)));
        let ninth = ask(&names, &format!("SELECT quantile(column1, 0.9) FROM {values}")).unwrap().unwrap();
        assert!((ninth - 6.9).abs() < 1e-12);
        assert_eq!(ask(&names, &format!("SELECT median(column1) FROM {values} WHERE column1 > 9")), Ok(None));
        assert!(
            ask(&names, &format!("SELECT quantile(column1, 2) FROM {values}")).unwrap_err().contains("not between")
        );
    }

    #[test]
    fn a_baseline_that_is_not_there_says_how_to_make_one() {
        let mut names = Names::default();
        assert!(ask(&names, "SELECT baseline('tools')").unwrap_err().contains("no baseline of bench tools"));
        names.baselines.insert("tools".to_owned(), "7".to_owned());
        let text = |names: &Names, sql: &str| {
            let connection = Connection::open_in_memory().unwrap();
            register(&connection, names).unwrap();
            connection.query_row(sql, [], |row| row.get::<_, String>(0)).map_err(|error| error.to_string())
        };
        assert_eq!(text(&names, "SELECT baseline()"), Ok("7".to_owned()));
        names.baselines.insert("rounds".to_owned(), "8".to_owned());
        assert_eq!(text(&names, "SELECT baseline('rounds')"), Ok("8".to_owned()));
        assert!(text(&names, "SELECT baseline()").unwrap_err().contains("baseline('rounds') or baseline('tools')"));
    }
}
