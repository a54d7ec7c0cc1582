//! An Ollama server that is there already: asked about once, in the terminal, and remembered beside
//! the journals. Nothing is asked where somebody chose a model, or where nobody sits at a terminal.

use std::io::IsTerminal as _;
use std::net::ToSocketAddrs as _;
use std::path::Path;

use serde_json::{Value, json};
use tenpass_config::Origin;
use tenpass_model::{ModelSpec, http};

use super::loopback;
use crate::context::Context;

/// The name of the file with the answer.
const FILE: &str = "ollama.json";
/// Most models that are listed.
const MOST: usize = 9;

/// The model that was chosen, now or before; `None` for what the settings say.
pub(super) async fn choice(context: &Context) -> Option<ModelSpec> {
    let chosen = context.resolved.entries().iter().any(|entry| entry.key == "model" && entry.origin != Origin::Default);
    if chosen || context.resolved.settings.offline {
        return None;
    }
    let file = context.agent_folder().join(FILE);
    if let Ok(text) = std::fs::read_to_string(&file) {
        let known: Value = serde_json::from_str(&text).unwrap_or_default();
        return known["model"].as_str().and_then(|spec| spec.parse().ok());
    }
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return None;
    }
    let address = context.resolved.settings.ollama_address.clone();
    let models = tokio::task::spawn_blocking(move || models(&address)).await.ok().flatten()?;
    let picked = ask(context, &models).await;
    remember(&file, picked.as_deref());
    picked.and_then(|name| format!("ollama:{name}").parse().ok())
}

/// The models of an Ollama server of this machine.
fn models(address: &str) -> Option<Vec<String>> {
    let url = http::parse_url(address).ok().filter(http::is_loopback)?;
    let port = url.port().unwrap_or(11434);
    let address = (url.host_str()?, port).to_socket_addrs().ok()?.next()?;
    let answer = loopback::request(address, "GET", "/api/tags", None, "").ok().filter(|answer| answer.status == 200)?;
    let listed = names(&answer.json());
    (!listed.is_empty()).then_some(listed)
}

/// Names from `/api/tags`: plain ones only, since they are printed.
fn names(tags: &Value) -> Vec<String> {
    let models = tags["models"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_plain =
        |name: &&str| name.len() <= 100 && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.:/".contains(c));
    models.iter().filter_map(|model| model["name"].as_str()).filter(is_plain).take(MOST).map(str::to_owned).collect()
}

async fn ask(context: &Context, models: &[String]) -> Option<String> {
    let printer = context.printer;
    printer.note("Ollama runs on this machine with these models:");
    for (number, name) in models.iter().enumerate() {
        printer.note(&format!("  {}  {name}", number + 1));
    }
    printer.note("A number takes one, Enter the embedded default (asked once; --model SPEC chooses any time):");
    let line = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).map(|_| line)
    });
    let line = tokio::select! {
        line = line => line.ok()?.ok()?,
        _ = tokio::signal::ctrl_c() => return None,
    };
    let number: usize = line.trim().parse().ok()?;
    models.get(number.checked_sub(1)?).cloned()
}

/// Writes the answer down; without a place to write it is asked again.
fn remember(file: &Path, picked: Option<&str>) {
    let answer = json!({ "model": picked.map(|name| format!("ollama:{name}")) });
    if let Some(folder) = file.parent() {
        let _ = std::fs::create_dir_all(folder);
    }
    let _ = std::fs::write(file, format!("{answer:#}\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_few() {
        let tags = json!({ "models": [{ "name": "gemma4:12b" }, { "name": "a\u{1b}[2J" }, { "x": 1 }] });
        assert_eq!(names(&tags), ["gemma4:12b"]);
        assert!(names(&json!({})).is_empty());
    }
}
