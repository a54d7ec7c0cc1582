//! CSV: one row per case and configuration, for spreadsheets and data frames.

use std::fmt::Write as _;

use crate::json::ReportError;
use crate::summary::{CaseCell, CaseSummary, ConfigurationSummary, Distribution, RunSummary};

const COLUMNS: [&str; 35] = [
    "case",
    "family",
    "language",
    "kind",
    "configuration",
    "model",
    "structure",
    "tools",
    "passed",
    "total",
    "rate",
    "low",
    "high",
    "effective_n",
    "distinct_outputs",
    "invalid",
    "recovered",
    "failures",
    "warm_n",
    "warm_first_token_ms_p50",
    "warm_first_token_ms_p90",
    "warm_first_call_ms_p50",
    "warm_first_call_ms_p90",
    "warm_total_ms_p50",
    "warm_total_ms_p90",
    "cold_n",
    "cold_first_token_ms_p50",
    "cold_first_token_ms_p90",
    "cold_first_call_ms_p50",
    "cold_first_call_ms_p90",
    "cold_total_ms_p50",
    "cold_total_ms_p90",
    "prompt_tokens_p50",
    "prompt_tokens_max",
    "completion_tokens_p50",
];

/// The cases as CSV with a header. Unknown numbers are empty, failures are `class:passes` joined
/// by `;`, and a text that a spreadsheet would run as a formula is preceded by an apostrophe.
pub fn render_csv(summary: &RunSummary) -> Result<String, ReportError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(COLUMNS)?;
    for case in &summary.cases {
        for (configuration, cell) in summary.configurations.iter().zip(&case.cells) {
            writer.write_record(row(case, configuration, cell))?;
        }
    }
    let bytes = writer.into_inner().map_err(|failed| csv::Error::from(failed.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn row(case: &CaseSummary, configuration: &ConfigurationSummary, cell: &CaseCell) -> Vec<String> {
    let facts = &configuration.facts;
    let texts = [
        &case.case,
        &case.family,
        &case.language,
        &case.kind,
        &facts.label,
        &facts.model,
        &facts.structure,
        &facts.tools,
    ];
    let mut row: Vec<String> = texts.into_iter().map(|text| inert(text)).collect();
    let rate = &cell.rate;
    row.extend([rate.passed.to_string(), rate.total.to_string()]);
    row.extend([number(rate.rate, 4), number(Some(rate.low), 4), number(Some(rate.high), 4)]);
    row.extend([rate.effective_n, cell.distinct_outputs, cell.invalid, cell.recovered].map(|count| count.to_string()));
    row.push(failures(cell));
    for latency in [&cell.measured.warm, &cell.measured.cold] {
        row.push(latency.total_ms.n.to_string());
        for distribution in [&latency.first_token_ms, &latency.first_call_ms, &latency.total_ms] {
            row.extend(percentiles(distribution));
        }
    }
    let measured = &cell.measured;
    row.extend(
        [measured.prompt_tokens.p50, measured.prompt_tokens.max, measured.completion_tokens.p50]
            .map(|tokens| number(tokens, 0)),
    );
    row
}

fn percentiles(distribution: &Distribution) -> [String; 2] {
    [number(distribution.p50, 3), number(distribution.p90, 3)]
}

pub(crate) fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(String::new, |value| format!("{value:.decimals$}"))
}

pub(crate) fn failures(cell: &CaseCell) -> String {
    let mut text = String::new();
    for failure in &cell.failures {
        let class = failure.class.map_or("unclassified", |class| class.as_str());
        let separator = if text.is_empty() { "" } else { ";" };
        // Writing to a String cannot fail.
        let _ = write!(text, "{separator}{class}:{}", failure.passes);
    }
    text
}

/// A text that a spreadsheet does not run as a formula.
pub(crate) fn inert(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}") } else { text.to_owned() }
}
