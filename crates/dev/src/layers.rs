//! Which crate may depend on which: the table of the architecture, held against `cargo metadata`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::shell::{Stop, Workspace};

/// Each crate of the workspace and those it may depend on, in every kind of dependency. What they may
/// depend on in turn is allowed too: it adds no arrow that is not there already.
const LAYERS: &[(&str, &[&str])] = &[
    ("tenpass-trace", &[]),
    ("tenpass-stats", &[]),
    ("tenpass-catalog", &[]),
    ("tenpass-config", &[]),
    ("tenpass-dev", &[]),
    ("tenpass-embed", &[]),
    ("tenpass-model", &["tenpass-trace"]),
    ("tenpass-audio", &[]),
    ("tenpass-wake", &["tenpass-audio"]),
    ("tenpass-stt", &["tenpass-audio", "tenpass-wake"]),
    ("tenpass-tts", &["tenpass-audio"]),
    ("tenpass-wyoming", &["tenpass-stt", "tenpass-tts", "tenpass-wake"]),
    ("tenpass-speech", &["tenpass-audio", "tenpass-stt", "tenpass-trace", "tenpass-tts", "tenpass-wake"]),
    ("tenpass-corpus", &["tenpass-audio", "tenpass-tts"]),
    ("tenpass-train", &["tenpass-audio", "tenpass-corpus", "tenpass-stats", "tenpass-wake"]),
    ("tenpass-listening", &["tenpass-corpus", "tenpass-speech", "tenpass-stats", "tenpass-train"]),
    ("tenpass-exporters", &["tenpass-trace"]),
    ("tenpass-engine", &["tenpass-model"]),
    ("tenpass-agent", &["tenpass-model", "tenpass-trace"]),
    ("tenpass-tools", &["tenpass-agent", "tenpass-model", "tenpass-trace"]),
    ("tenpass-bench", &["tenpass-agent", "tenpass-stats", "tenpass-tools"]),
    ("tenpass-report", &["tenpass-stats", "tenpass-trace"]),
    ("tenpass-review", &["tenpass-bench", "tenpass-report", "tenpass-stats"]),
    ("tenpass-exchange", &["tenpass-bench", "tenpass-stats"]),
    ("tenpass-frame", &["tenpass-bench", "tenpass-trace"]),
    (
        "tenpass-serve",
        &[
            "tenpass-agent",
            "tenpass-embed",
            "tenpass-listening",
            "tenpass-model",
            "tenpass-speech",
            "tenpass-stats",
            "tenpass-tools",
            "tenpass-trace",
            "tenpass-wyoming",
        ],
    ),
    (
        "tenpass",
        &[
            "tenpass-bench",
            "tenpass-catalog",
            "tenpass-config",
            "tenpass-engine",
            "tenpass-exchange",
            "tenpass-exporters",
            "tenpass-frame",
            "tenpass-listening",
            "tenpass-report",
            "tenpass-review",
            "tenpass-serve",
            "tenpass-train",
        ],
    ),
    ("tenpass-tests", &["tenpass"]),
];

/// One heavy dependency, one crate. The end-to-end tests may use them as a peer to compare with.
const HEAVY: &[(&str, &str)] = &[
    ("candle-core", "tenpass-engine"),
    ("candle-nn", "tenpass-engine"),
    ("candle-transformers", "tenpass-engine"),
    ("candle-core", "tenpass-embed"),
    ("candle-nn", "tenpass-embed"),
    ("candle-transformers", "tenpass-embed"),
    ("tokenizers", "tenpass-embed"),
    ("candle-core", "tenpass-stt"),
    ("candle-nn", "tenpass-stt"),
    ("candle-transformers", "tenpass-stt"),
    ("tokenizers", "tenpass-stt"),
    ("whisper-rs", "tenpass-stt"),
    ("ort", "tenpass-tts"),
    ("rustfft", "tenpass-audio"),
    ("rustfft", "tenpass-wake"),
    ("symphonia", "tenpass-audio"),
    ("symphonia", "tenpass-tts"),
    ("hound", "tenpass-audio"),
    ("flacenc", "tenpass-audio"),
    ("cpal", "tenpass-audio"),
    ("gemm", "tenpass-engine"),
    ("gemm", "tenpass-train"),
    ("llguidance", "tenpass-engine"),
    ("toktrie", "tenpass-engine"),
    ("tokenizers", "tenpass-engine"),
    ("rusqlite", "tenpass-bench"),
    ("rusqlite", "tenpass-trace"),
    ("rusqlite", "tenpass-frame"),
    ("polars", "tenpass-frame"),
    ("polars-io", "tenpass-frame"),
    ("plotters", "tenpass-report"),
    ("zip", "tenpass-exchange"),
    ("hf-hub", "tenpass-catalog"),
    ("zip", "tenpass-catalog"),
    ("zip", "tenpass-tools"),
    ("cap-std", "tenpass-tools"),
    ("calamine", "tenpass-tools"),
    ("lopdf", "tenpass-tools"),
    ("trash", "tenpass-tools"),
    ("rustyline", "tenpass"),
    ("indicatif", "tenpass"),
    ("clap", "tenpass"),
];

/// What may stand at the top level, hidden files apart.
const ROOMS: &[&str] = &[
    "Cargo.toml",
    "Cargo.lock",
    "README.md",
    "CHANGELOG.md",
    "cli",
    "crates",
    "cases",
    "corpora",
    "runs",
    "exporters",
    "serve",
    "tests",
];

/// Prints every break of the table; none is success.
pub(crate) fn run(workspace: &Workspace) -> anyhow::Result<()> {
    let faults = [faults(&workspace.metadata), stray_rooms(workspace)].concat();
    for fault in &faults {
        eprintln!("==> layers: {fault}");
    }
    if !faults.is_empty() {
        let message = format!("{} breaks of the table in crates/dev/src/layers.rs", faults.len());
        return Err(Stop::failed(message).into());
    }
    eprintln!("==> layers: the workspace keeps to the table");
    Ok(())
}

/// Every dependency that the tables do not allow.
fn faults(metadata: &Value) -> Vec<String> {
    let allowed = closure();
    let mut faults = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let name = package["name"].as_str().unwrap_or_default();
        let Some(below) = allowed.get(name) else {
            faults.push(format!("{name} is not in the table"));
            continue;
        };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let other = dependency["name"].as_str().unwrap_or_default();
            let kind = dependency["kind"].as_str().unwrap_or("normal");
            // A crate may name itself for its own tests.
            if allowed.contains_key(other) && other != name && !below.contains(other) {
                faults.push(format!("{name} may not depend on {other} ({kind})"));
            }
            let owners: Vec<&str> =
                HEAVY.iter().filter(|(heavy, _)| *heavy == other).map(|(_, owner)| *owner).collect();
            if !owners.is_empty() && !owners.contains(&name) && name != "tenpass-tests" {
                let owners = owners.join(" and ");
                faults.push(format!("{name} may not depend on {other}: it belongs to {owners} ({kind})"));
            }
        }
    }
    faults
}

/// The table with everything that can be reached.
fn closure() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    let table: BTreeMap<&str, &[&str]> = LAYERS.iter().copied().collect();
    let reach = |start: &'static str| {
        let mut found = BTreeSet::new();
        let mut open: Vec<&str> = table[start].to_vec();
        while let Some(name) = open.pop() {
            if found.insert(name) {
                open.extend(table.get(name).copied().unwrap_or_default());
            }
        }
        found
    };
    table.keys().map(|name| (*name, reach(name))).collect()
}

/// Committed things at the top level that have no room there.
fn stray_rooms(workspace: &Workspace) -> Vec<String> {
    let output = std::process::Command::new("git").arg("ls-files").current_dir(&workspace.root).output();
    // Without git (an unpacked archive) there is nothing to hold against the list.
    let Ok(output) = output else { return Vec::new() };
    let names: BTreeSet<String> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|path| path.split('/').next())
        .filter(|name| !name.starts_with('.') && !ROOMS.contains(name))
        .map(str::to_owned)
        .collect();
    names.into_iter().map(|name| format!("{name} has no room at the top level")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(name: &str, dependencies: &[&str]) -> Value {
        let list: Vec<Value> =
            dependencies.iter().map(|other| serde_json::json!({"name": other, "kind": null})).collect();
        serde_json::json!({"packages": [{"name": name, "dependencies": list}]})
    }

    #[test]
    fn the_table_names_only_its_own_crates_and_has_no_circle() {
        let closure = closure();
        for (name, below) in &closure {
            assert!(!below.contains(name), "{name} reaches itself");
            assert!(below.iter().all(|other| closure.contains_key(other)), "{name}: {below:?}");
        }
    }

    #[test]
    fn arrows_point_down_only() {
        assert!(faults(&metadata("tenpass-bench", &["tenpass-agent", "tenpass-trace", "serde"])).is_empty());
        let up = faults(&metadata("tenpass-trace", &["tenpass-model"]));
        assert_eq!(up, ["tenpass-trace may not depend on tenpass-model (normal)"]);
        let side = faults(&metadata("tenpass-bench", &["tenpass-engine"]));
        assert_eq!(side, ["tenpass-bench may not depend on tenpass-engine (normal)"]);
        assert_eq!(faults(&metadata("tenpass-extra", &[])), ["tenpass-extra is not in the table"]);
    }

    #[test]
    fn a_heavy_dependency_has_one_home() {
        assert!(faults(&metadata("tenpass-engine", &["candle-core"])).is_empty());
        assert!(faults(&metadata("tenpass-tests", &["candle-core"])).is_empty());
        let stray = faults(&metadata("tenpass-model", &["candle-core"]));
        let owners = "tenpass-engine and tenpass-embed and tenpass-stt";
        assert_eq!(stray, [format!("tenpass-model may not depend on candle-core: it belongs to {owners} (normal)")]);
    }
}
