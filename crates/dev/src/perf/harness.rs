//! What the harness itself costs: a replay backend answers at once, so everything measured is ours.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::measure::{Subject, fastest};
use crate::shell::Workspace;

/// Passes of the large run: 100 cases of 1000.
const CASES: usize = 100;
const PASSES: u64 = 1000;

/// Measures and prints.
pub(crate) fn run(workspace: &Workspace) -> anyhow::Result<Value> {
    let subject = Subject::new(workspace, "harness-runs")?;
    let suite = subject.runs.join("suite");
    std::fs::create_dir_all(&suite)?;
    std::fs::write(suite.join("prompt.md"), "You are a helpful assistant.\n")?;
    std::fs::write(suite.join("tools.toml"), TOOL)?;
    let mut cases = "family = \"lamps\"\n".to_owned();
    for case in 0..CASES {
        write!(
            cases,
            "\n[[case]]\nid = \"lamp-{case}\"\nlanguage = \"en\"\nprovenance = \"generated for a benchmark\"\nprompt = \"Switch on lamp {case}.\"\n[case.expect]\ncalls = [{{ tool = \"lamp\", arguments = {{ on = true }} }}]\n"
        )?;
    }
    std::fs::write(suite.join("lamps.toml"), cases)?;
    let replay = subject.runs.join("answers.jsonl");
    std::fs::write(
        &replay,
        "{\"match\":null,\"text\":\"\",\"calls\":[{\"name\":\"lamp\",\"arguments\":{\"on\":true}}],\"finish\":\"tool_calls\",\"prompt_tokens\":100,\"completion_tokens\":10}\n",
    )?;
    let spec = format!("replay:{}", replay.display());
    let suite = suite.display().to_string();
    let bench = |passes: &str| subject.bench(&["--cases", &suite, "--model", &spec, "--passes", passes]);

    let (_, _, small) = bench("10")?;
    let (seconds, report, large) = bench(&PASSES.to_string())?;
    let passes = CASES as f64 * PASSES as f64;
    let passed = report["configurations"][0]["rate"]["passed"].as_u64().unwrap_or(0);
    anyhow::ensure!(passed as f64 >= passes, "only {passed} of {passes} replayed passes are right");
    let start = fastest(20, || Ok(subject.run(&["--version"])?.wall))?;
    let show = fastest(5, || Ok(subject.run(&["runs", "show", "latest"])?.wall))?;
    let one = fastest(5, || Ok(subject.run(&["runs", "show", "latest", "--case", "lamp-42", "--pass", "777"])?.wall))?;
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    let rows = [
        ("harness overhead a pass", seconds * 1e3 / passes, "ms", "below 1"),
        ("peak memory, 1,000 passes", megabytes(small.peak_bytes), "MB", ""),
        ("peak memory, 100,000 passes", megabytes(large.peak_bytes), "MB", "below 150"),
        ("start-up (--version)", start.as_secs_f64() * 1e3, "ms", "below 50"),
        ("runs show, 100,000 passes", show.as_secs_f64() * 1e3, "ms", "below 200"),
        ("runs show, one pass of them", one.as_secs_f64() * 1e3, "ms", "below 200"),
    ];
    for (what, value, unit, wanted) in rows {
        let wanted = if wanted.is_empty() { String::new() } else { format!("   (wanted: {wanted})") };
        println!("{what:<30} {value:>9.3} {unit}{wanted}");
    }
    println!("inspect_ai with its mock model, measured on such a machine: 14.4 ms and 47 kB a pass");
    Ok(json!({
        "overhead_ms_per_pass": seconds * 1e3 / passes,
        "peak_bytes_1000_passes": small.peak_bytes, "peak_bytes_100000_passes": large.peak_bytes,
        "start_ms": start.as_secs_f64() * 1e3, "runs_show_ms": show.as_secs_f64() * 1e3, "runs_show_pass_ms": one.as_secs_f64() * 1e3,
    }))
}

const TOOL: &str = r#"
[[tool]]
name = "lamp"
description = "Switches a lamp on or off."
parameters = { type = "object", properties = { on = { type = "boolean" } }, required = ["on"] }
"#;
