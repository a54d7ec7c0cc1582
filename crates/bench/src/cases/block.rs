//! One case as a person would write it into a file of its suite: what the suite shares is named and
//! not repeated, long texts stand on lines of their own.
//!
//! Every text goes through one escape, so that nothing in it can end its string: a text is data
//! whatever it says.

use serde_json::Value;
use tenpass_trace::{Message, Role, ToolDefinition};

use super::case::{Case, CaseKind, Expect};
use super::write::{inline, put, string, tool_table, write_expect};

/// What a suite's folder gives every case.
#[derive(Debug, Clone, Copy, Default)]
pub struct SuiteShared<'a> {
    /// The tools of `tools.toml`.
    pub tools: &'a [ToolDefinition],
    /// The system prompt of `prompt.md`.
    pub system: &'a str,
}

/// The block `[[case]]` of a case. What is equal to the suite's is left to the suite: the system
/// prompt, the tools as a whole, or by name as far as they stand first; the rest is written out.
///
/// JSON null has no writing in TOML: the case must have none in its calls.
pub fn case_text(case: &Case, shared: &SuiteShared<'_>) -> String {
    let mut text = String::new();
    put(&mut text, format_args!("[[case]]\nid = {}\nlanguage = \"{}\"\n", string(&case.id), case.language));
    if case.kind != CaseKind::default() {
        put(&mut text, format_args!("kind = \"{}\"\n", case.kind));
    }
    put(&mut text, format_args!("provenance = {}\n", string(&case.provenance)));
    let (system, rest) = match case.messages.split_first() {
        Some((first, rest)) if first.role == Role::System => (first.content.as_str(), rest),
        _ => ("", case.messages.as_slice()),
    };
    if system != shared.system.trim_end() {
        put(&mut text, format_args!("system = {}\n", lines(system)));
    }
    if let [only] = rest
        && only.role == Role::User
    {
        put(&mut text, format_args!("prompt = {}\n", lines(&only.content)));
    }
    let inlined = write_tool_names(&mut text, &case.tools, shared.tools);
    if !matches!(rest, [only] if only.role == Role::User) {
        for message in rest {
            write_message(&mut text, message);
        }
    }
    for tool in inlined {
        write_tool(&mut text, tool);
    }
    text.push('\n');
    write_expect(&mut text, &case.expect);
    text
}

/// The lines of `[case.expect]`, without its heading.
pub fn expect_lines(expect: &Expect) -> String {
    let mut text = String::new();
    write_expect(&mut text, expect);
    text.split_once('\n').map_or_else(String::new, |(_, lines)| lines.to_owned())
}

/// Writes `tools` where it is needed, and returns the tools that have to be written out.
fn write_tool_names<'c>(
    text: &mut String,
    tools: &'c [ToolDefinition],
    shared: &[ToolDefinition],
) -> &'c [ToolDefinition] {
    if tools == shared {
        return &[];
    }
    // Named tools come before those written out, and the order is part of the prompt.
    let named = tools.iter().take_while(|tool| shared.contains(tool)).count();
    if named > 0 {
        let names = tools[..named].iter().map(|tool| Value::String(tool.name.clone())).collect();
        put(text, format_args!("tools = {}\n", inline(&Value::Array(names))));
    }
    &tools[named..]
}

fn write_message(text: &mut String, message: &Message) {
    put(text, format_args!("\n[[case.history]]\nrole = \"{}\"\n", message.role.as_str()));
    if let Some(tool) = &message.tool_name {
        put(text, format_args!("tool_name = {}\n", string(tool)));
    }
    if let Some(id) = &message.tool_call_id {
        put(text, format_args!("tool_call_id = {}\n", string(id)));
    }
    if !message.content.is_empty() {
        put(text, format_args!("content = {}\n", lines(&message.content)));
    }
    if !message.tool_calls.is_empty() {
        put(text, format_args!("tool_calls = [\n"));
        for call in &message.tool_calls {
            put(text, format_args!("  {},\n", inline(&serde_json::to_value(call).unwrap_or_default())));
        }
        put(text, format_args!("]\n"));
    }
}

fn write_tool(text: &mut String, tool: &ToolDefinition) {
    put(text, format_args!("\n[[case.tool]]\n"));
    let table = tool_table(tool);
    for (name, value) in table.as_object().into_iter().flatten() {
        put(text, format_args!("{name} = {}\n", inline(value)));
    }
}

/// A text on lines of its own when it has several; every other special character stays an escape.
fn lines(text: &str) -> String {
    if !text.contains('\n') {
        return string(text);
    }
    let parts: Vec<String> = text
        .split('\n')
        .map(|line| {
            let quoted = string(line);
            quoted.get(1..quoted.len() - 1).unwrap_or_default().to_owned()
        })
        .collect();
    // The first line break behind the quotation marks does not count.
    format!("\"\"\"\n{}\"\"\"", parts.join("\n"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;
    use tenpass_trace::ToolCall;

    use super::*;
    use crate::cases::{Argument, ExpectedCall, Language, Matcher, SuiteText, parse_suite, to_toml};

    fn tool(name: &str, description: &str) -> ToolDefinition {
        ToolDefinition::new(name, description).with_parameters(
            json!({ "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] }),
        )
    }

    fn case(texts: [&str; 4], tools: Vec<ToolDefinition>) -> Case {
        let [system, said, argument, result] = texts;
        let call = ToolCall {
            id: Some("c1".to_owned()),
            name: "say".to_owned(),
            arguments: json!({ "text": argument }).as_object().unwrap().clone(),
        };
        let arguments = vec![("text".to_owned(), Argument::new(Matcher::Contains(format!("x{argument}"))))];
        let mut messages = vec![
            Message::user(format!("x{said}")),
            Message { tool_calls: vec![call], ..Message::assistant("") },
            Message { tool_call_id: Some("c1".to_owned()), ..Message::tool("say", result) },
        ];
        if !system.trim().is_empty() {
            messages.insert(0, Message::system(system.trim_end()));
        }
        Case {
            id: "a-case".to_owned(),
            family: "life".to_owned(),
            language: Language::French,
            kind: CaseKind::Guard,
            messages,
            tools,
            provenance: format!("turn {said}"),
            expect: Expect {
                alternatives: vec![vec![ExpectedCall { tool: "say".to_owned(), arguments, only: false }]],
                ..Expect::default()
            },
            source: String::new(),
            scenario: None,
        }
    }

    /// The case as its file gives it back.
    fn read_back(case: &Case, shared_tools: &[ToolDefinition], system: &str) -> Case {
        let shared = SuiteShared { tools: shared_tools, system };
        let text = format!("family = \"life\"\n\n{}", case_text(case, &shared));
        let tools = (!shared_tools.is_empty()).then(|| {
            // `tools.toml` has the notation of a case's inline tools.
            let whole = to_toml("t", "", std::slice::from_ref(&Case { tools: shared_tools.to_vec(), ..case.clone() }));
            let list = whole.split_once("tool = [\n").unwrap().1.split_once("]\nprovenance").unwrap().0;
            ("tools.toml".to_owned(), format!("tool = [\n{list}]\n"))
        });
        let suite = SuiteText { files: vec![("life.toml".to_owned(), text.clone())], tools, prompt: system.to_owned() };
        match parse_suite(&suite) {
            Ok(mut suite) => suite.cases.remove(0),
            Err(errors) => panic!("{errors:?}\n{text}"),
        }
    }

    #[test]
    fn what_the_suite_shares_is_named() {
        let (say, hear, see) = (tool("say", "Says."), tool("hear", "Hears."), tool("see", "Sees."));
        let shared = [say.clone(), hear.clone()];
        let text = |tools: Vec<ToolDefinition>| {
            case_text(&case(["S", "hi", "a", "r"], tools), &SuiteShared { tools: &shared, system: "S" })
        };
        let same = text(vec![say, hear.clone()]);
        assert!(!same.contains("tools =") && !same.contains("[[case.tool]]") && !same.contains("system"), "{same}");
        let part = text(vec![hear.clone(), see.clone()]);
        assert!(part.contains("tools = [\"hear\"]") && part.contains("name = \"see\""), "{part}");
        let order = text(vec![see, hear]);
        assert!(!order.contains("tools =") && order.matches("[[case.tool]]").count() == 2, "{order}");
    }

    #[test]
    fn a_case_comes_back_as_it_was() {
        let (say, other) = (tool("say", "Says \"it\"."), tool("other", "Line\nbreak."));
        for shared in [vec![], vec![say.clone()], vec![say.clone(), other.clone()], vec![tool("say", "Otherwise.")]] {
            let case = case(
                ["Rules.\nMore.", "two\nlines", "a\"b\\", "\r\n\u{0}\u{7f}\u{feff}"],
                vec![say.clone(), other.clone()],
            );
            let read = read_back(&case, &shared, "The suite's.\n");
            assert_eq!(Case { source: String::new(), ..read }, case, "{shared:?}");
        }
    }

    proptest! {
        /// Whatever a trace says, it is the text of a string and never a part of the file.
        #[test]
        fn no_text_becomes_structure(
            system in hostile(), said in hostile(), argument in hostile(), result in hostile(),
        ) {
            let case = case([&system, &said, &argument, &result], vec![tool("say", "Says.")]);
            let read = read_back(&case, &[], "");
            prop_assert_eq!(Case { source: String::new(), ..read }, case);
        }
    }

    fn hostile() -> impl Strategy<Value = String> {
        let pieces = prop_oneof![
            Just("\"\"\"\n[[case]]\nid = \"evil\"\n".to_owned()),
            Just("\\\"\"\"\n[case.expect]\nno_call = true\n".to_owned()),
            Just("'''".to_owned()),
            Just("\\".to_owned()),
            Just("\r\n# x".to_owned()),
            any::<String>(),
            "[\u{0}-\u{7f}]{0,12}",
        ];
        proptest::collection::vec(pieces, 0..5).prop_map(|pieces| pieces.concat())
    }
}
