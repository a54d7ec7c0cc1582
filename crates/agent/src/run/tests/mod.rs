//! The driver with scripted parts, and over real sockets.

mod injections;
mod records;
mod stops;
mod streaming;
mod wire;

use std::sync::Arc;

use serde_json::{Value, json};
use tenpass_trace::{Message, ToolDefinition};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::testing::{FixedClock, MemoryRecorder, Said, ScriptedModel, ScriptedPerson, ScriptedTools};
use crate::tool::ToolOutput;

fn definition(name: &str, argument: &str, reads: bool) -> ToolDefinition {
    let parameters = json!({
        "type": "object",
        "properties": {argument: {"type": "string"}, "content": {"type": "string"}, "reason": {"type": "string"}},
        "required": [argument, "reason"]
    });
    ToolDefinition { reads, ..ToolDefinition::new(name, name).with_parameters(parameters) }
}

fn tools() -> ScriptedTools {
    ScriptedTools::default()
        .with(definition("read_file", "filename", true), |call, _| {
            ToolOutput::ok(format!("content of {}", call.arguments["filename"]))
        })
        .with(definition("write_file", "filename", false), |_, _| ToolOutput::ok("written"))
}

/// An agent with its scripted parts.
struct Stage {
    agent: Agent,
    model: ScriptedModel,
    tools: ScriptedTools,
    recorder: Arc<MemoryRecorder>,
}

fn stage(model: ScriptedModel, tools: ScriptedTools) -> Stage {
    staged(model, tools, MemoryRecorder::default(), AgentSettings::default())
}

fn staged(model: ScriptedModel, tools: ScriptedTools, recorder: MemoryRecorder, settings: AgentSettings) -> Stage {
    let recorder = Arc::new(recorder);
    let agent = Agent::new(
        Arc::new(model.clone()),
        Arc::new(tools.clone()),
        Arc::clone(&recorder) as Arc<dyn crate::interaction::Recorder>,
        Arc::new(FixedClock::default()),
        settings,
    );
    Stage { agent, model, tools, recorder }
}

fn input(text: &str) -> TurnInput {
    TurnInput {
        thread: "thread".into(),
        turn: "turn".into(),
        messages: vec![Message::system("You help."), Message::user(text)],
        user_text: text.into(),
        ..TurnInput::default()
    }
}

fn read(filename: &str) -> Said {
    Said::call("read_file", json!({"filename": filename}))
}

fn write(filename: &str) -> Said {
    Said::call("write_file", json!({"filename": filename, "content": "x"}))
}

impl Stage {
    async fn turn(&self, text: &str, person: &ScriptedPerson) -> TurnReport {
        self.agent.turn(input(text), person, CancellationToken::new()).await.unwrap()
    }
}

fn object(value: &Value) -> String {
    value.to_string()
}
