//! One pass as a page shows it. Everything a model wrote is made visible first.

use serde_json::Value;
use tenpass_agent::untrusted::visible;
use tenpass_bench::rounds::{Played, transcript};
use tenpass_bench::store::{PassDetail, PassRecord, RequestRecord};
use tenpass_report::{PagePart, PassPage};
use tenpass_trace::Message;

/// The pass at this section and column.
pub(crate) fn pass_page(
    (section, column): (usize, usize),
    run: &str,
    detail: &PassDetail,
    earlier: &[PassRecord],
    expected: &str,
) -> PassPage {
    let pass = &detail.pass;
    let outcome = detail.outcome.as_ref();
    let verdict = match outcome.map(|outcome| outcome.success) {
        Some(Some(true)) => "right",
        Some(Some(false)) => "wrong",
        Some(None) => "INVALID",
        None => "ungraded",
    };
    let mut reasons: Vec<String> =
        outcome.map(|outcome| outcome.reasons.iter().map(|reason| visible(reason)).collect()).unwrap_or_default();
    if let Some(outcome) = outcome.filter(|outcome| outcome.classes.len() > 1) {
        let classes: Vec<&str> = outcome.classes.iter().map(|class| class.as_str()).collect();
        reasons.push(format!("everything wrong with it: {}", classes.join(", ")));
    }
    PassPage {
        section,
        column,
        case: pass.case.clone(),
        pass: pass.pass,
        verdict: verdict.to_owned(),
        class: outcome.and_then(|outcome| outcome.class).or(pass.fault.as_ref().map(|fault| fault.class)),
        reasons,
        facts: facts(detail).into_iter().map(|(name, value)| (name, visible(&value))).collect(),
        parts: parts(detail, earlier, expected),
        requests: requests(pass),
        command: visible(&command(run, pass)),
    }
}

fn command(run: &str, pass: &PassRecord) -> String {
    format!(
        "tenpass runs show {run} --case {} --configuration {} --pass {}",
        quoted(&pass.case),
        quoted(&pass.configuration),
        pass.pass
    )
}

/// A word as a shell takes it.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "@%+=:,./-_".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// The request, and of a play the last one, which has everything before it.
fn requests(pass: &PassRecord) -> Vec<String> {
    let mut requests = vec![pass.request.clone()];
    let last = pass.played.as_ref().and_then(|played| played.turns.iter().flat_map(|turn| &turn.answers).next_back());
    requests.extend(last.map(|answer| answer.request.clone()).filter(|last| *last != pass.request));
    requests.retain(|sha256| !sha256.is_empty());
    requests
}

fn parts(detail: &PassDetail, earlier: &[PassRecord], expected: &str) -> Vec<PagePart> {
    let pass = &detail.pass;
    let mut parts = vec![PagePart::new("expected", visible(expected.trim_end()))];
    let mut add = |title: &str, text: &str| parts.push(PagePart::new(title, visible(text)));
    if let Some(fault) = &pass.fault {
        add("fault", &format!("{}: {}\nhint: {}", fault.class, fault.message, fault.hint));
    }
    for attempt in earlier {
        let fault = attempt.fault.as_ref().map_or("", |fault| fault.message.as_str());
        add(&format!("attempt {}, repeated", attempt.attempt), fault);
    }
    if let Some(played) = &pass.played {
        add("the play", transcript(played).trim_end());
        add("answers, raw", &raw_answers(played));
        return parts;
    }
    add("text, raw, before parsing", &pass.text);
    if !pass.thinking.is_empty() {
        add("reasoning, raw", &pass.thinking);
    }
    if !pass.calls.is_empty() {
        add("structured calls, raw", &pretty(&pass.calls));
    }
    let calls = detail.outcome.as_ref().map(|outcome| outcome.calls.as_slice()).unwrap_or_default();
    add("calls, parsed", &if calls.is_empty() { "(none)".to_owned() } else { pretty(&calls) });
    parts
}

fn raw_answers(played: &Played) -> String {
    let mut text = String::new();
    for (number, turn) in (1..).zip(&played.turns) {
        for (answer_number, answer) in (1..).zip(&turn.answers) {
            text.push_str(&format!("── turn {number}, answer {answer_number}\n"));
            if !answer.thinking.is_empty() {
                text.push_str(&format!("(reasoning) {}\n", answer.thinking));
            }
            text.push_str(if answer.text.is_empty() { "(no text)" } else { &answer.text });
            text.push('\n');
            if !answer.calls.is_empty() {
                text.push_str(&format!("(structured calls) {}\n", pretty(&answer.calls)));
            }
        }
    }
    text
}

/// Names and values of a pass.
fn facts(detail: &PassDetail) -> Vec<(String, String)> {
    let pass = &detail.pass;
    let mut facts: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: Option<String>| facts.extend(value.map(|value| (name.to_owned(), value)));
    let ms = |value: Option<f64>| value.map(|value| format!("{value:.0} ms"));
    let first_call = detail.outcome.as_ref().and_then(|outcome| outcome.first_call_ms);
    add("first token", ms(pass.timings.first_token_ms));
    add("first call", ms(first_call.or(pass.timings.first_call_ms)));
    add("end", ms(Some(pass.timings.total_ms)));
    add("loading the model", ms(pass.timings.load_ms.filter(|time| *time >= 0.5)));
    add("evaluating the prompt", ms(pass.timings.prompt_ms));
    add("decoding", ms(pass.timings.decode_ms));
    let cached = pass.usage.cached_tokens.map_or_else(String::new, |cached| format!(", {cached} of them cached"));
    add("prompt", pass.usage.prompt_tokens.map(|count| format!("{count} tokens{cached}")));
    add("answer", pass.usage.completion_tokens.map(|count| format!("{count} tokens")));
    add("ended", pass.finish.map(|finish| stored_name(&finish)).or(Some(stored_name(&pass.end))));
    add("state", Some(if pass.cold { "cold" } else { "warm" }.to_owned()));
    add("call recovered", detail.outcome.as_ref().filter(|outcome| outcome.recovered).map(|_| "yes".to_owned()));
    add("began", Some(pass.started.clone()));
    add("attempt", Some(pass.attempt.to_string()));
    add("seed", Some(pass.seed.to_string()));
    add("shape asked for", pass.declared_shape.clone());
    add("request", Some(pass.request.clone()));
    facts
}

/// The stored name of a value that is stored as one.
fn stored_name(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

fn pretty(value: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// A request: messages, then the tools with their definitions, then what the sampler was told.
pub(crate) fn request_parts(record: &RequestRecord) -> Vec<PagePart> {
    let request = &record.request;
    let offered = if record.offered.is_empty() { "(none)".to_owned() } else { record.offered.join(", ") };
    let mut parts = vec![PagePart::new("tools offered", visible(&offered))];
    parts.extend(request.messages.iter().map(message));
    if !request.tools.is_empty() {
        parts.push(PagePart::new("tool definitions", visible(&pretty(&request.tools))));
    }
    if let Some(format) = request.format.as_ref().filter(|format| **format != Value::Null) {
        parts.push(PagePart::new("schema that the sampler enforced", visible(&pretty(format))));
    }
    let mut sampling = serde_json::to_value(&request.options).unwrap_or_default();
    if let Some(fields) = sampling.as_object_mut() {
        // Requests are stored once for all seeds; each pass has its own.
        fields.remove("seed");
    }
    parts.push(PagePart::new("sampling", sampling.to_string()));
    parts
}

fn message(message: &Message) -> PagePart {
    let title = match &message.tool_name {
        Some(tool) => format!("{} {}", message.role.as_str(), visible(tool)),
        None => message.role.as_str().to_owned(),
    };
    let mut text = message.content.clone();
    if !message.tool_calls.is_empty() {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&pretty(&message.tool_calls));
    }
    PagePart::new(title, visible(&text))
}

/// What shows a failure best: the fault, the calls, or the text.
pub(crate) fn quote(detail: &PassDetail) -> String {
    const MOST: usize = 240;
    let whole = if let Some(fault) = &detail.pass.fault {
        fault.message.clone()
    } else {
        let calls = detail.outcome.as_ref().map(|outcome| outcome.calls.as_slice()).unwrap_or_default();
        let shown: Vec<String> =
            calls.iter().map(|call| format!("{}({})", call.name, Value::Object(call.arguments.clone()))).collect();
        if shown.is_empty() { detail.pass.text.clone() } else { shown.join(" ") }
    };
    let line = whole.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_takes_a_word_as_it_is() {
        assert_eq!(quoted("embedded:smollm2-135m"), "embedded:smollm2-135m");
        assert_eq!(quoted("it's $HOME"), "'it'\\''s $HOME'");
        assert_eq!(quoted(""), "''");
    }
}
