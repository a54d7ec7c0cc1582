//! `/api/watchdog`: the rules that matched in the last day.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use super::blocking;
use crate::application::Application;
use crate::error::ApiError;

/// How loud a rule is.
pub(crate) fn level(rule: &str) -> &'static str {
    match rule {
        "acts_after_injection" | "silent_truncation" => "alarm",
        "spend_per_hour" | "calls_per_hour" | "refusals_in_a_row" | "repeated_call" => "warning",
        _ => "notice",
    }
}

/// `GET /api/watchdog`.
pub(crate) async fn show(State(application): State<Arc<Application>>) -> Result<Json<Value>, ApiError> {
    blocking(move || {
        let index = &application.conversations.index;
        index.refresh();
        let alerts: Vec<Value> = index
            .alerts()
            .into_iter()
            .map(|(rule, raised)| {
                json!({
                    "rule": rule, "level": level(&rule), "text": raised.detail, "since": raised.since.to_string(),
                    "last": raised.last.to_string(), "count": raised.count,
                })
            })
            .collect();
        Ok(Json(json!({ "alerts": alerts })))
    })
    .await
}

#[cfg(test)]
mod tests {
    use tenpass_agent::watchdog::Rule;

    #[test]
    fn every_rule_has_a_level() {
        let levels: Vec<&str> = Rule::ALL.iter().map(|rule| super::level(rule.as_str())).collect();
        assert_eq!(levels.iter().filter(|level| **level == "alarm").count(), 2);
        assert_eq!(levels.iter().filter(|level| **level == "warning").count(), 4);
    }
}
