//! `/api/spend`: what the day has cost, against its caps.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use jiff::Zoned;
use serde_json::{Value, json};
use tenpass_trace::database::{SpendError, SpendKind};

use super::blocking;
use crate::application::Application;
use crate::error::ApiError;

/// `GET /api/spend`. Open reservations count as spent.
pub(crate) async fn show(State(application): State<Arc<Application>>) -> Result<Json<Value>, ApiError> {
    blocking(move || {
        let database = &application.conversations.store.database;
        let now = Zoned::now();
        let day = now.date().to_string();
        let unreadable = |error: SpendError| ApiError::internal(&error, error.hint());
        let usd = database.spent(SpendKind::Usd, &day).map_err(unreadable)?;
        let credits = database.spent(SpendKind::WebCredits, &day).map_err(unreadable)?;
        let midnight = now.start_of_day().map_or_else(|_| now.timestamp(), |start| start.timestamp());
        let mut by_provider: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for (_, usage) in database.usage(Some(midnight))? {
            let sum = by_provider.entry(usage.author).or_default();
            *sum = (sum.0 + usage.cost_micros, sum.1 + usage.requests);
        }
        let (cap_usd, cap_searches) = application.options.caps;
        let rows: Vec<Value> = by_provider
            .into_iter()
            .map(|(name, (micros, calls))| json!({ "name": name, "usd": dollars(micros), "calls": calls }))
            .collect();
        Ok(Json(json!({
            "day": usd.day,
            "usd": dollars(usd.total_micros()),
            "reserved_usd": dollars(usd.reserved_micros),
            "cap_usd": dollars(cap_usd),
            "searches": credits.total_micros().div_ceil(1_000_000),
            "cap_searches": cap_searches,
            "by_provider": rows,
            "fail_open": application.options.fail_open,
        })))
    })
    .await
}

fn dollars(micros: u64) -> f64 {
    micros as f64 / 1e6
}
