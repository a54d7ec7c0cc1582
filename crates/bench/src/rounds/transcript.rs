//! A play as text, turn by turn, for a person who wants to see why it was graded as it was.

use tenpass_agent::untrusted::visible;
use tenpass_trace::ConfirmationAnswer;

use super::played::{Played, PlayedCall, PlayedTurn, WorldEnd};

/// Characters of a result and of an argument list.
const RESULT_CHARACTERS: usize = 200;
const ARGUMENT_CHARACTERS: usize = 300;

/// The whole play. Control and bidirectional characters are shown escaped; nothing is coloured.
pub fn transcript(played: &Played) -> String {
    let mut text = String::new();
    for (number, turn) in (1..).zip(&played.turns) {
        text.push_str(&format!("turn {number}\n"));
        write_turn(&mut text, turn);
        text.push('\n');
    }
    write_end(&mut text, &played.world);
    text
}

fn write_turn(text: &mut String, turn: &PlayedTurn) {
    text.push_str(&block("user", &turn.user));
    for call in &turn.calls {
        text.push_str(&call_line(call));
        if !call.result.is_empty() {
            let result = call.result.split_whitespace().collect::<Vec<_>>().join(" ");
            text.push_str(&format!("      {}\n", cut(&result, RESULT_CHARACTERS)));
        }
    }
    let retries: Vec<String> = turn.retries.iter().map(name).collect();
    if !retries.is_empty() {
        text.push_str(&format!("  asked again: {}\n", retries.join(", ")));
    }
    let transport: Vec<&str> = turn.transport.iter().map(|class| class.as_str()).collect();
    if !transport.is_empty() {
        text.push_str(&format!("  transport: {}\n", transport.join(", ")));
    }
    text.push_str(&block("answer", &turn.text));
    let requests = turn.answers.len();
    let plural = if requests == 1 { "" } else { "s" };
    let late = if turn.timed_out { ", out of time" } else { "" };
    text.push_str(&format!("  ended {}{late}, {requests} request{plural}, {:.0} ms\n", name(&turn.end), turn.ms));
}

fn call_line(call: &PlayedCall) -> String {
    let arguments = serde_json::to_string(&call.arguments).unwrap_or_default();
    let asked = call.confirmation.map_or_else(String::new, |answer| {
        let answer = match answer {
            ConfirmationAnswer::Approved => "approved",
            ConfirmationAnswer::Refused => "refused",
            ConfirmationAnswer::Expired => "not answered",
            ConfirmationAnswer::Stopped => "stopped",
        };
        format!(", asked: {answer}")
    });
    let fault = if call.faulted { ", made to fail" } else { "" };
    format!(
        "  → {}({}) [{}{asked}{fault}] {}\n",
        call.tool,
        cut(&arguments, ARGUMENT_CHARACTERS),
        call.tier,
        call.outcome.as_str()
    )
}

fn write_end(text: &mut String, world: &WorldEnd) {
    text.push_str("the world at the end\n");
    for (path, state) in &world.files {
        let content =
            state.text.as_deref().map_or_else(|| format!("sha256 {}", state.sha256), |text| format!("{text:?}"));
        text.push_str(&format!("  {}: {}\n", visible(path), cut(&content, RESULT_CHARACTERS)));
    }
    let mut list = |title: &str, items: &[String]| {
        if !items.is_empty() {
            text.push_str(&format!("  {title}: {}\n", visible(&items.join(", "))));
        }
    };
    list("trash", &world.trash);
    list("damaged", &world.damaged);
    list("leaked", &world.leaked);
    let memory: Vec<String> = world.memory.iter().map(|(section, entry)| format!("[{section}] {entry}")).collect();
    list("memory", &memory);
    list("noted by the application", &world.noted);
    if world.portrait_changed {
        text.push_str("  the portrait was changed\n");
    }
    if let Some(fault) = &world.journal_fault {
        text.push_str(&format!("  the journals do not verify: {}\n", visible(fault)));
    }
    if world.spent_usd > 0.0 {
        text.push_str(&format!("  spent: ${:.4}\n", world.spent_usd));
    }
}

/// A text under its title, indented.
fn block(title: &str, content: &str) -> String {
    let content = content.trim();
    if content.is_empty() {
        return format!("  {title}: (nothing)\n");
    }
    let lines: Vec<String> = content.lines().map(visible).collect();
    format!("  {title}: {}\n", lines.join("\n    "))
}

/// The stored name of a value that is stored as one.
fn name(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

fn cut(text: &str, limit: usize) -> String {
    let shown = visible(text);
    match shown.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown,
    }
}
