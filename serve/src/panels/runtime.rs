//! `/api/runtime`: what runs where, and what it holds.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};
use sysinfo::{ProcessRefreshKind, ProcessesToUpdate, System};
use tenpass_model::http::{is_loopback, parse_url};

use super::blocking;
use crate::application::Application;
use crate::error::ApiError;
use crate::model::ModelState;
use crate::text::{clean, one_line};

/// How long the driver's tool may take.
const PATIENCE: Duration = Duration::from_secs(3);

/// `GET /api/runtime`.
pub(crate) async fn show(State(application): State<Arc<Application>>) -> Result<Json<Value>, ApiError> {
    let gpu = gpu().await;
    let uptime = application.started.elapsed().as_secs();
    let mut rows = vec![model_row(&application)];
    if let Some(voice) = application.voice() {
        let status = voice.status();
        for part in ["stt", "voice", "wake"] {
            if let Some(engine) = status[part].as_str() {
                let part = if part == "voice" { "tts" } else { part };
                rows.push(json!({ "part": part, "engine": engine, "device": "cpu", "state": "ready" }));
            }
        }
    }
    let process = blocking(move || Ok(process(uptime))).await?;
    Ok(Json(json!({ "rows": rows, "gpu": gpu, "process": process })))
}

fn model_row(application: &Application) -> Value {
    let slot = &application.conversations.model;
    let state = slot.state();
    let mut row = json!({ "part": "model", "engine": clean(&slot.spec), "device": "cpu", "state": state.as_str() });
    match &state {
        ModelState::Ready(live) => {
            let info = live.assistant.agent().model.info();
            row["engine"] = json!(clean(&info.spec));
            let is_remote = info.backend != "embedded" && info.backend != "replay" && !is_here(&info.spec);
            if is_remote {
                row["device"] = json!("remote");
            } else if info.backend != "embedded" && info.backend != "replay" {
                row["note"] = json!("another process of this machine; where it computes is its own choice");
            }
            if let Some(runtime) = &info.runtime {
                row["runtime"] = json!(clean(runtime));
            }
        }
        ModelState::Failed(failure) => row["note"] = json!(one_line(&failure.message, 300)),
        ModelState::Loading => {}
    }
    row
}

/// Whether the address in a SPEC is of this machine; one without an address is.
fn is_here(spec: &str) -> bool {
    let Some(start) = spec.find("http") else { return true };
    let address = spec[start..].split('#').next().unwrap_or_default();
    parse_url(address).is_ok_and(|url| is_loopback(&url))
}

fn process(uptime: u64) -> Value {
    let mut process = json!({ "uptime_s": uptime, "rss_bytes": null, "threads": null });
    if let (Ok(pid), Ok(mut system)) = (sysinfo::get_current_pid(), System::new()) {
        let what = ProcessRefreshKind::nothing().with_memory();
        system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), true, what);
        process["rss_bytes"] = json!(system.process(pid).map(sysinfo::Process::memory));
    }
    let threads = std::fs::read_dir("/proc/self/task").map(Iterator::count);
    process["threads"] = json!(threads.ok());
    process
}

/// What the driver of an NVIDIA card says; `null` without one. The tool is taken from the system's own
/// folders, not from a PATH that somebody else may have set.
async fn gpu() -> Value {
    let places = ["/usr/bin/nvidia-smi", "/usr/local/bin/nvidia-smi", "/usr/lib/wsl/lib/nvidia-smi"];
    let Some(tool) = places.iter().map(PathBuf::from).find(|path| path.is_file()) else { return Value::Null };
    let ask = |query: &'static str| {
        let mut command = tokio::process::Command::new(&tool);
        command.arg(query).arg("--format=csv,noheader,nounits").stdin(Stdio::null()).kill_on_drop(true);
        async move {
            let output = tokio::time::timeout(PATIENCE, command.output()).await.ok()?.ok()?;
            output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
        }
    };
    let Some(card) = ask("--query-gpu=name,memory.total,memory.used").await else { return Value::Null };
    let processes = ask("--query-compute-apps=pid,process_name,used_memory").await.unwrap_or_default();
    read_gpu(&card, &processes)
}

fn read_gpu(card: &str, processes: &str) -> Value {
    let fields = |line: &str| line.split(',').map(|field| clean(field.trim())).collect::<Vec<_>>();
    let bytes = |text: &String| text.parse::<u64>().ok().map(|mebibytes| mebibytes << 20);
    let Some(first) = card.lines().next().map(fields).filter(|fields| fields.len() == 3) else { return Value::Null };
    let processes: Vec<Value> = processes
        .lines()
        .map(fields)
        .filter(|fields| fields.len() == 3)
        .map(|fields| json!({ "pid": fields[0].parse::<u32>().ok(), "name": fields[1], "bytes": bytes(&fields[2]) }))
        .collect();
    json!({
        "name": first[0], "memory_bytes": bytes(&first[1]), "used_bytes": bytes(&first[2]), "processes": processes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drivers_lines_are_read() {
        let read = read_gpu("NVIDIA GeForce RTX 4070, 12282, 8120\n", "1234, /usr/bin/ollama, 7900\nbroken\n");
        assert_eq!(read["memory_bytes"], 12_282_u64 << 20);
        assert_eq!(read["processes"][0]["pid"], 1234);
        assert_eq!(read["processes"].as_array().unwrap().len(), 1);
        assert_eq!(read_gpu("", ""), Value::Null);
        assert_eq!(read_gpu("card, N/A, N/A", "")["memory_bytes"], Value::Null);
    }

    #[test]
    fn an_address_elsewhere_is_remote() {
        assert!(is_here("ollama:gemma3") && is_here("openai:http://127.0.0.1:8080/v1#m"));
        assert!(!is_here("openai:https://api.example.org/v1#m"));
    }
}
