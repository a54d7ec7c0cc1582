//! From a row of the store's index to the view that reports count.

use tenpass_bench::store::PassRow;
use tenpass_report::PassView;

/// The numbers of a pass. Its names and its quote are left empty: the caller knows them.
pub fn measured<'a>(row: &PassRow) -> PassView<'a> {
    PassView {
        pass: row.pass,
        success: row.success,
        class: row.class,
        recovered: row.recovered,
        cold: row.cold,
        first_token_ms: row.first_token_ms,
        first_call_ms: row.first_call_ms,
        total_ms: Some(row.total_ms),
        prompt_tokens: row.prompt_tokens,
        completion_tokens: row.completion_tokens,
        output_digest: row.output.cast_unsigned(),
        ..PassView::default()
    }
}
