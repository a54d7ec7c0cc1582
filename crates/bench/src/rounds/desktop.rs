//! The simulated computer of a world: what the desktop tools act on and `system_info` measures.
//!
//! A measurement of the real machine would differ from pass to pass, and with it the prompt. The
//! call itself is what is recorded: these tools leave nothing behind.

use serde_json::{Map, Value, json};
use tenpass_agent::tool::{CallContext, Inspection, Note, NoteStatus, Tool, ToolOutput};
use tenpass_model::BoxFuture;
use tenpass_tools::system::SystemInfo;
use tenpass_trace::{ToolCategory, ToolDefinition};

/// The desktop tools; a scenario has those that it names.
pub(super) const DESKTOP: &[&str] = &["open_url", "launch_app", "control_media"];

/// The applications of the simulated computer's launch table.
const APPS: &[&str] =
    &["browser", "calculator", "calendar", "camera", "files", "mail", "maps", "music", "notes", "terminal"];

type Answer = fn(&Map<String, Value>, &CallContext) -> ToolOutput;
type Refusal = fn(&Map<String, Value>) -> Option<String>;

/// One simulated tool.
pub(super) struct Simulated {
    definition: ToolDefinition,
    answer: Answer,
    refusal: Refusal,
}

impl Tool for Simulated {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn note(&self) -> Note {
        Note {
            serves: "plays a tool of the desktop in a bench",
            status: NoteStatus::KnownLimit,
            limit: "simulated: nothing happens on this computer",
        }
    }

    fn inspect(&self, arguments: &Map<String, Value>) -> Inspection {
        Inspection { reject: (self.refusal)(arguments), ..Inspection::default() }
    }

    fn run<'a>(&'a self, arguments: &'a Map<String, Value>, context: &'a CallContext) -> BoxFuture<'a, ToolOutput> {
        let output = (self.answer)(arguments, context);
        Box::pin(async move { output })
    }
}

fn text<'a>(arguments: &'a Map<String, Value>, name: &str) -> &'a str {
    arguments.get(name).and_then(Value::as_str).unwrap_or_default().trim()
}

/// `system_info` of a computer that always measures the same.
pub(super) fn system_info() -> Box<dyn Tool> {
    Box::new(Simulated {
        definition: SystemInfo::new().definition().clone(),
        answer: |arguments, context| {
            let measured = match text(arguments, "topic") {
                "battery" => "Battery: 64 %, discharging, about 3 h 10 min left. The charger is not connected.",
                "cpu" => "Processor: x86-64, 8 logical cores, 12 % used over the last 200 ms.",
                "disk" => "Disks, by where they are mounted:\n/: 118.4 GB free of 512.0 GB (77 % used)",
                "memory" => "Memory: 6.1 GB of 16.0 GB used (38 %), 9.9 GB available. No swap.",
                "network" => "Network interfaces, totals since they came up:\nwlan0: 1.2 GB received, 210.0 MB sent",
                _ => return ToolOutput::error("There is no such topic: battery, cpu, disk, memory or network."),
            };
            let time = context.now.strftime("%Y-%m-%d %H:%M");
            ToolOutput::ok(format!("Measured on this computer at {time}. {measured}"))
        },
        refusal: |_| None,
    })
}

/// `open_url`, `launch_app`, `control_media`.
pub(super) fn desktop_tools() -> Vec<Box<dyn Tool>> {
    vec![Box::new(open_url()), Box::new(launch_app()), Box::new(control_media())]
}

fn definition(name: &str, description: &str, keywords: &[&str], argument: &str, schema: &Value) -> ToolDefinition {
    let reason = json!({ "type": "string", "description": "Why, in a few words." });
    let parameters = json!({
        "type": "object",
        "properties": { argument: schema, "reason": reason },
        "required": [argument, "reason"]
    });
    ToolDefinition {
        category: ToolCategory::PcAction,
        keywords: keywords.iter().map(|word| (*word).to_owned()).collect(),
        ..ToolDefinition::new(name, description).with_parameters(parameters)
    }
}

fn open_url() -> Simulated {
    let keywords = ["open", "ouvrir", "ouvre", "browser", "navigateur", "montrer", "show", "http", "https"];
    Simulated {
        definition: definition(
            "open_url",
            "Shows a web page to the user in the browser; you do not see it.",
            &keywords,
            "url",
            &json!({ "type": "string", "minLength": 1 }),
        ),
        answer: |arguments, _| {
            ToolOutput::ok(format!(
                "Opened {} in the user's browser. You have not seen the page.",
                text(arguments, "url")
            ))
        },
        refusal: |arguments| {
            let url = url::Url::parse(text(arguments, "url"));
            let is_web = url.is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
            (!is_web).then(|| "only http and https addresses can be opened".to_owned())
        },
    }
}

fn launch_app() -> Simulated {
    let keywords = ["launch", "lancer", "lance", "start", "démarrer", "app", "application", "logiciel"];
    Simulated {
        definition: definition(
            "launch_app",
            "Starts an application of this computer.",
            &keywords,
            "app",
            &json!({ "type": "string", "minLength": 1 }),
        ),
        answer: |arguments, _| ToolOutput::ok(format!("Started {}.", text(arguments, "app").to_lowercase())),
        refusal: |arguments| {
            let app = text(arguments, "app").to_lowercase();
            (!APPS.contains(&app.as_str()))
                .then(|| format!("{app:?} is not in the user's table of applications: {}", APPS.join(", ")))
        },
    }
}

fn control_media() -> Simulated {
    let keywords = [
        "musique", "music", "pause", "play", "suivant", "next", "volume", "son", "couper", "sound", "mute", "chanson",
        "song", "loud", "quiet", "fort",
    ];
    let actions = json!(["play", "pause", "next", "previous", "volume_up", "volume_down", "mute"]);
    Simulated {
        definition: definition(
            "control_media",
            "Controls the music or video that is playing.",
            &keywords,
            "action",
            &json!({ "type": "string", "enum": actions }),
        ),
        answer: |arguments, _| ToolOutput::ok(format!("Done: {}.", text(arguments, "action").replace('_', " "))),
        refusal: |_| None,
    }
}
