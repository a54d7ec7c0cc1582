//! The cases as rows for data frames: the columns of the CSV, with numbers as they were measured.

use serde::Serialize;

use crate::compare::{ComparedCase, RunComparison};
use crate::csv_view::failures;
use crate::summary::{CaseCell, CaseSummary, ConfigurationSummary, RunSummary};

/// One case with one configuration. Unknown numbers are `None`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[allow(missing_docs, reason = "named after the columns of the CSV")]
pub struct CaseRow<'a> {
    pub case: &'a str,
    pub family: &'a str,
    pub language: &'a str,
    pub kind: &'a str,
    pub configuration: &'a str,
    pub model: &'a str,
    pub structure: &'a str,
    pub tools: &'a str,
    pub passed: u64,
    pub total: u64,
    pub rate: Option<f64>,
    pub low: f64,
    pub high: f64,
    pub effective_n: u64,
    pub distinct_outputs: u64,
    pub invalid: u64,
    pub recovered: u64,
    pub failures: String,
    pub warm_n: u64,
    pub warm_first_token_ms_p50: Option<f64>,
    pub warm_first_token_ms_p90: Option<f64>,
    pub warm_first_call_ms_p50: Option<f64>,
    pub warm_first_call_ms_p90: Option<f64>,
    pub warm_total_ms_p50: Option<f64>,
    pub warm_total_ms_p90: Option<f64>,
    pub cold_n: u64,
    pub cold_first_token_ms_p50: Option<f64>,
    pub cold_first_token_ms_p90: Option<f64>,
    pub cold_first_call_ms_p50: Option<f64>,
    pub cold_first_call_ms_p90: Option<f64>,
    pub cold_total_ms_p50: Option<f64>,
    pub cold_total_ms_p90: Option<f64>,
    pub prompt_tokens_p50: Option<f64>,
    pub prompt_tokens_max: Option<f64>,
    pub completion_tokens_p50: Option<f64>,
}

/// One row a case and configuration, in the order of the CSV.
pub fn case_rows(summary: &RunSummary) -> Vec<CaseRow<'_>> {
    let cells = summary.cases.iter().flat_map(|case| {
        let configurations = summary.configurations.iter().zip(&case.cells);
        configurations.map(move |(configuration, cell)| row(case, configuration, cell))
    });
    cells.collect()
}

fn row<'a>(case: &'a CaseSummary, configuration: &'a ConfigurationSummary, cell: &CaseCell) -> CaseRow<'a> {
    let (facts, rate, measured) = (&configuration.facts, &cell.rate, &cell.measured);
    let (warm, cold) = (&measured.warm, &measured.cold);
    CaseRow {
        case: &case.case,
        family: &case.family,
        language: &case.language,
        kind: &case.kind,
        configuration: &facts.label,
        model: &facts.model,
        structure: &facts.structure,
        tools: &facts.tools,
        passed: rate.passed,
        total: rate.total,
        rate: rate.rate,
        low: rate.low,
        high: rate.high,
        effective_n: rate.effective_n,
        distinct_outputs: cell.distinct_outputs,
        invalid: cell.invalid,
        recovered: cell.recovered,
        failures: failures(cell),
        warm_n: warm.total_ms.n,
        warm_first_token_ms_p50: warm.first_token_ms.p50,
        warm_first_token_ms_p90: warm.first_token_ms.p90,
        warm_first_call_ms_p50: warm.first_call_ms.p50,
        warm_first_call_ms_p90: warm.first_call_ms.p90,
        warm_total_ms_p50: warm.total_ms.p50,
        warm_total_ms_p90: warm.total_ms.p90,
        cold_n: cold.total_ms.n,
        cold_first_token_ms_p50: cold.first_token_ms.p50,
        cold_first_token_ms_p90: cold.first_token_ms.p90,
        cold_first_call_ms_p50: cold.first_call_ms.p50,
        cold_first_call_ms_p90: cold.first_call_ms.p90,
        cold_total_ms_p50: cold.total_ms.p50,
        cold_total_ms_p90: cold.total_ms.p90,
        prompt_tokens_p50: measured.prompt_tokens.p50,
        prompt_tokens_max: measured.prompt_tokens.max,
        completion_tokens_p50: measured.completion_tokens.p50,
    }
}

/// One case of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[allow(missing_docs, reason = "named after the columns of the CSV")]
pub struct ComparedRow<'a> {
    pub case: &'a str,
    pub family: &'a str,
    pub language: &'a str,
    pub role: &'a str,
    pub before_passed: u64,
    pub before_total: u64,
    pub before_rate: Option<f64>,
    pub before_low: f64,
    pub before_high: f64,
    pub before_effective_n: u64,
    pub before_invalid: u64,
    pub after_passed: u64,
    pub after_total: u64,
    pub after_rate: Option<f64>,
    pub after_low: f64,
    pub after_high: f64,
    pub after_effective_n: u64,
    pub after_invalid: u64,
    pub difference: f64,
    pub p: f64,
    pub p_adjusted: f64,
    pub moved: bool,
    pub verdict: &'a str,
}

/// One row a case, in the order of the CSV.
pub fn comparison_rows(comparison: &RunComparison) -> Vec<ComparedRow<'_>> {
    comparison.cases.iter().map(|case| compared(case, &comparison.verdict)).collect()
}

fn compared<'a>(case: &'a ComparedCase, verdict: &'a str) -> ComparedRow<'a> {
    let (before, after) = (&case.before, &case.after);
    ComparedRow {
        case: &case.case,
        family: &case.family,
        language: &case.language,
        role: case.role.as_str(),
        before_passed: before.passed,
        before_total: before.total,
        before_rate: before.rate,
        before_low: before.low,
        before_high: before.high,
        before_effective_n: before.effective_n,
        before_invalid: case.invalid_before,
        after_passed: after.passed,
        after_total: after.total,
        after_rate: after.rate,
        after_low: after.low,
        after_high: after.high,
        after_effective_n: after.effective_n,
        after_invalid: case.invalid_after,
        difference: case.difference,
        p: case.p,
        p_adjusted: case.p_adjusted,
        moved: case.moved,
        verdict,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_comparison_have_the_columns_of_its_csv() {
        let rate = crate::Rate { passed: 1, total: 2, rate: Some(0.5), low: 0.1, high: 0.9, effective_n: 2 };
        let case = ComparedCase {
            case: "a".to_owned(),
            family: "f".to_owned(),
            language: "en".to_owned(),
            role: crate::Role::Target,
            before: rate,
            after: rate,
            invalid_before: 0,
            invalid_after: 0,
            difference: 0.0,
            p: 1.0,
            p_adjusted: 1.0,
            moved: false,
        };
        let value = serde_json::to_value(compared(&case, "NO CHANGE")).unwrap();
        let names: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(names, crate::compare::csv::COLUMNS);
    }

    #[test]
    fn rows_and_csv_have_the_same_columns_in_the_same_order() {
        let summary = crate::sample::summary(2);
        let rows = case_rows(&summary);
        let csv = crate::render_csv(&summary).unwrap();
        let header = csv.lines().next().unwrap();
        // Field by field as serde hands them out; a map would sort nothing here (preserve_order).
        let value = serde_json::to_value(&rows[0]).unwrap();
        let names: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(names.join(","), header);
        assert_eq!(rows.len(), csv::Reader::from_reader(csv.as_bytes()).records().count());
    }
}
