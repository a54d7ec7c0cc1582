//! `/metrics`: Prometheus' text format, written here: a counter or gauge a line.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde_json::Value;

use crate::application::Application;

/// A page of metrics.
#[derive(Debug, Default)]
pub struct Metrics(String);

impl Metrics {
    /// Begins a metric: its help and its kind (`counter`, `gauge`).
    pub fn describe(&mut self, name: &str, kind: &str, help: &str) {
        let help = help.replace('\\', "\\\\").replace('\n', "\\n");
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// Adds a value, with labels.
    pub fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        self.0.push_str(name);
        if !labels.is_empty() {
            let pairs: Vec<String> =
                labels.iter().map(|(label, value)| format!("{label}=\"{}\"", label_value(value))).collect();
            let _ = write!(self.0, "{{{}}}", pairs.join(","));
        }
        let _ = if value.is_nan() {
            writeln!(self.0, " NaN")
        } else if value.is_infinite() {
            writeln!(self.0, " {}Inf", if value > 0.0 { "+" } else { "-" })
        } else {
            writeln!(self.0, " {value}")
        };
    }

    /// One metric without labels.
    pub fn single(&mut self, name: &str, kind: &str, help: &str, value: f64) {
        self.describe(name, kind, help);
        self.sample(name, &[], value);
    }

    /// The page.
    pub fn into_text(self) -> String {
        self.0
    }
}

fn label_value(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// `GET /metrics`.
pub(crate) async fn metrics(State(application): State<Arc<Application>>) -> Response {
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    ([(CONTENT_TYPE, kind)], text(&application)).into_response()
}

fn text(application: &Application) -> String {
    let conversations = &application.conversations;
    conversations.index.refresh();
    let mut page = Metrics::default();
    page.describe("tenpass_info", "gauge", "Version and model of this server.");
    let state = conversations.model.message();
    let spec = state["spec"].as_str().unwrap_or_default();
    let model_state = state["state"].as_str().unwrap_or_default();
    let version = application.options.version.as_str();
    page.sample("tenpass_info", &[("version", version), ("model", spec), ("model_state", model_state)], 1.0);
    let uptime = application.started.elapsed().as_secs_f64();
    page.single("tenpass_uptime_seconds", "gauge", "Seconds since the start.", uptime);
    page.single("tenpass_turns_running", "gauge", "Turns that run now.", conversations.running() as f64);
    page.single("tenpass_turns_begun_total", "counter", "Turns begun since the start.", conversations.turns() as f64);
    page.single(
        "tenpass_questions_open",
        "gauge",
        "Confirmations that stand open.",
        conversations.open_questions() as f64,
    );
    page.single("tenpass_sockets_open", "gauge", "Sockets that are open.", application.open_sockets() as f64);
    page.describe("tenpass_trace", "gauge", "Counts over the whole trace, by what is counted.");
    if let Ok(Value::Object(counts)) = serde_json::to_value(conversations.index.counts()) {
        for (name, count) in counts.iter().filter(|(name, _)| !name.starts_with("tools")) {
            page.sample("tenpass_trace", &[("what", name)], count.as_f64().unwrap_or_default());
        }
    }
    page.into_text()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_and_help_are_escaped() {
        let mut page = Metrics::default();
        page.describe("a", "gauge", "one\ntwo \\");
        page.sample("a", &[("model", "x\"} 1\nb{c=\"\\"), ("k", "v")], 1.5);
        page.sample("a", &[], f64::INFINITY);
        assert_eq!(
            page.into_text(),
            "# HELP a one\\ntwo \\\\\n# TYPE a gauge\na{model=\"x\\\"} 1\\nb{c=\\\"\\\\\",k=\"v\"} 1.5\na +Inf\n"
        );
    }
}
