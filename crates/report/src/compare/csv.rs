//! The comparison as CSV: a row a case.

use super::data::{ComparedCase, RunComparison};
use crate::csv_view::{inert, number};
use crate::json::ReportError;
use crate::summary::Rate;

pub(crate) const COLUMNS: [&str; 23] = [
    "case",
    "family",
    "language",
    "role",
    "before_passed",
    "before_total",
    "before_rate",
    "before_low",
    "before_high",
    "before_effective_n",
    "before_invalid",
    "after_passed",
    "after_total",
    "after_rate",
    "after_low",
    "after_high",
    "after_effective_n",
    "after_invalid",
    "difference",
    "p",
    "p_adjusted",
    "moved",
    "verdict",
];

/// The cases as CSV with a header, those that moved most first. `verdict` is that of the comparison.
pub fn comparison_csv(comparison: &RunComparison) -> Result<String, ReportError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(COLUMNS)?;
    for case in &comparison.cases {
        writer.write_record(row(case, &comparison.verdict))?;
    }
    let bytes = writer.into_inner().map_err(|failed| csv::Error::from(failed.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn row(case: &ComparedCase, verdict: &str) -> Vec<String> {
    let mut row = vec![inert(&case.case), inert(&case.family), inert(&case.language), case.role.as_str().to_owned()];
    for (rate, invalid) in [(&case.before, case.invalid_before), (&case.after, case.invalid_after)] {
        row.extend(observed(rate));
        row.push(invalid.to_string());
    }
    row.push(number(Some(case.difference), 4));
    row.extend([case.p, case.p_adjusted].map(|p| format!("{p:.6}")));
    row.extend([case.moved.to_string(), verdict.to_owned()]);
    row
}

fn observed(rate: &Rate) -> [String; 6] {
    [
        rate.passed.to_string(),
        rate.total.to_string(),
        number(rate.rate, 4),
        number(Some(rate.low), 4),
        number(Some(rate.high), 4),
        rate.effective_n.to_string(),
    ]
}
