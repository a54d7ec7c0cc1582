//! `tenpass calls parse`.

use std::io::Read;
use std::path::Path;

use tenpass_model::FinishReason;
use tenpass_model::calls::{ParseInput, Shape, parse, parse_structured, parse_tools};
use tenpass_trace::ToolDefinition;

use crate::args::tools::{Calls, Finish};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printer::Printer;

/// Carries out the command.
pub(crate) fn run(command: &Calls, printer: Printer) -> Result<Exit, Failure> {
    let Calls::Parse { tools, structured, thinking, declared, finish } = command;
    let tools = read_tools(tools)?;
    let structured = match structured {
        None => Vec::new(),
        Some(path) => parse_structured(&read_json(path)?)
            .map_err(|reason| Failure::mistake(format!("{}: {reason}", path.display())))?,
    };
    let thinking = match thinking {
        None => String::new(),
        Some(path) => read(path)?,
    };
    if let Some(shape) = declared
        && let Err(error) = shape.parse::<Shape>()
    {
        let hint = error.hint();
        return Err(Failure::mistake(error).hint(hint));
    }
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::file(Path::new("standard input"), &error))?;
    let text = String::from_utf8_lossy(&bytes);
    let finish = match finish {
        Finish::Stop => FinishReason::Stop,
        Finish::Length => FinishReason::Length,
        Finish::ToolCalls => FinishReason::ToolCalls,
    };
    let parsed = parse(&ParseInput {
        text: &text,
        thinking: &thinking,
        structured: &structured,
        tools: &tools,
        declared: declared.as_deref(),
        finish,
    });
    printer.json(&parsed)?;
    Ok(Exit::Yes)
}

fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| Failure::file(path, &error))
}

fn read_json(path: &Path) -> Result<serde_json::Value, Failure> {
    serde_json::from_str(&read(path)?)
        .map_err(|error| Failure::mistake(format!("{}:{}: {error}", path.display(), error.line())))
}

/// Tool definitions from JSON, or from a suite's `tools.toml`.
fn read_tools(path: &Path) -> Result<Vec<ToolDefinition>, Failure> {
    if path.extension().is_some_and(|extension| extension == "toml") {
        return tenpass_bench::cases::load_tools(path).map_err(|errors| {
            let text = errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
            Failure::mistake(text)
        });
    }
    parse_tools(&read_json(path)?).map_err(|reason| {
        Failure::mistake(format!("{}: {reason}", path.display()))
            .hint("a list of {\"name\",\"description\",\"parameters\"}, or of OpenAI's {\"type\":\"function\",…}")
    })
}
