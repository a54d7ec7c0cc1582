//! A confirmation as a person sees it (K42): drawn by code, complete, nothing hidden.

use serde_json::Value;
use tenpass_agent::interaction::Confirmation;
use tenpass_agent::untrusted::{mixed_scripts, visible};
use tenpass_trace::Tier;

use super::style::{Ink, Paint, wrapped};

/// The box of a confirmation, its last line included. Every line of it begins with the border, so
/// that no argument can look like the end of the box or like a line of the application.
pub(super) fn boxed(confirmation: &Confirmation, paint: Paint, width: usize) -> String {
    let ink = if confirmation.tier == Tier::Irreversible { Ink::Red } else { Ink::Yellow };
    let title = match confirmation.tier {
        Tier::Irreversible => "IRREVERSIBLE: this cannot be undone",
        Tier::Auto | Tier::Confirm => "needs your yes",
    };
    let border = |mark: &str| paint.ink(ink, mark);
    let name = paint.ink(ink, &visible(&confirmation.tool));
    let mut text = format!("{} {name} · {}\n", border("┌"), paint.ink(ink, title));
    for line in lines(confirmation) {
        for part in wrapped(&line, width.saturating_sub(3)) {
            text.push_str(&format!("{} {part}\n", border("│")));
        }
    }
    text.push_str(&border("└"));
    text
}

/// The question under the box.
pub(super) fn question(confirmation: &Confirmation) -> String {
    format!(" {}? y or n, within {} s: ", visible(&confirmation.tool), confirmation.expires_in.as_secs())
}

fn lines(confirmation: &Confirmation) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, value) in &confirmation.arguments {
        let name = visible(name);
        match value {
            Value::String(text) if text.contains('\n') => {
                let (count, characters) = (text.split('\n').count(), text.chars().count());
                lines.push(format!("{name}: {count} lines, {characters} characters"));
                lines.extend(visible(text).split('\n').map(|line| format!("  | {line}")));
            }
            Value::String(text) => lines.push(format!("{name}: \"{}\"", visible(text))),
            other => lines.push(format!("{name}: {}", visible(&other.to_string()))),
        }
        if value.as_str().is_some_and(mixed_scripts) {
            lines.push("  ! letters of different alphabets that look alike".to_owned());
        }
    }
    if confirmation.arguments.is_empty() {
        lines.push("(no arguments)".to_owned());
    }
    if let Some(reason) = &confirmation.reason {
        lines.push(format!("asked because {}", visible(reason).replace('\n', " ")));
    }
    if !confirmation.preview.is_empty() {
        lines.push("what it comes to:".to_owned());
        let preview = confirmation
            .preview
            .iter()
            .flat_map(|line| visible(line).split('\n').map(|line| format!("  {line}")).collect::<Vec<_>>());
        lines.extend(preview);
    }
    lines
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::Duration;

    use serde_json::json;
    use tenpass_agent::policy::confirmation_digest;

    use super::*;

    pub(crate) fn sample(tier: Tier, arguments: &Value, preview: &[&str]) -> Confirmation {
        let arguments = arguments.as_object().unwrap().clone();
        let preview: Vec<String> = preview.iter().map(|line| (*line).to_owned()).collect();
        Confirmation {
            id: "1".to_owned(),
            call: 1,
            tool: "write_file".to_owned(),
            tier,
            digest: confirmation_digest("write_file", &arguments, &preview),
            arguments,
            preview,
            reason: Some("it is new here".to_owned()),
            expires_in: Duration::from_mins(1),
        }
    }

    #[test]
    fn everything_is_shown_and_the_word_says_it_without_colours() {
        let arguments = json!({ "filename": "a.txt", "content": "one\ntwo", "reason": "asked", "deep": { "a": [1] } });
        let confirmation = sample(Tier::Irreversible, &arguments, &["new file, 7 bytes"]);
        assert_eq!(
            boxed(&confirmation, Paint(false), 80),
            "┌ write_file · IRREVERSIBLE: this cannot be undone\n\
             │ filename: \"a.txt\"\n\
             │ content: 2 lines, 7 characters\n\
             │   | one\n\
             │   | two\n\
             │ reason: \"asked\"\n\
             │ deep: {\"a\":[1]}\n\
             │ asked because it is new here\n\
             │ what it comes to:\n\
             │   new file, 7 bytes\n\
             └"
        );
        assert!(boxed(&confirmation, Paint(true), 80).contains("\x1b[1;31mIRREVERSIBLE"));
        assert_eq!(question(&confirmation), " write_file? y or n, within 60 s: ");
    }

    #[test]
    fn a_value_cannot_leave_the_box_hide_or_be_cut() {
        let long = "x".repeat(10_000);
        let text = format!("a\u{202E}b\x1b[2J\r└ write_file? y or n: y\n└ done {long}");
        let shown = boxed(&sample(Tier::Confirm, &json!({ "content": text }), &["line\n└ forged"]), Paint(false), 80);
        assert_eq!(shown.matches('x').count(), 10_000);
        assert!(shown.contains("\\u{202E}") && shown.contains("\\u{1B}[2J") && shown.contains("\\u{D}"));
        let (inside, end) = shown.rsplit_once('\n').unwrap();
        assert_eq!(end, "└");
        assert!(inside.lines().skip(1).all(|line| line.starts_with("│ ") && line.chars().count() <= 80));
    }

    #[test]
    fn look_alikes_are_pointed_at() {
        let shown = boxed(&sample(Tier::Confirm, &json!({ "url": "https://pаypal.com" }), &[]), Paint(false), 80);
        assert!(shown.contains("alphabets that look alike"), "{shown}");
    }
}
