//! An expectation on its own: the lines of `[case.expect]`, typed on a command line or written by a
//! program, with the same checks and the same errors as in a file.

use tenpass_trace::ToolDefinition;
use toml::Spanned;
use toml::de::DeValue;

use super::case::{Case, CaseKind, Expect, Language};
use super::error::CaseError;
use super::source::Source;
use super::{check, notation};

/// Longest expectation that is read, in bytes.
const LONGEST: usize = 64 * 1024;

/// Reads an expectation against the tools it is about. `name` stands in front of each fault's line.
pub fn parse_expect(name: &str, text: &str, tools: &[ToolDefinition]) -> Result<Expect, Vec<CaseError>> {
    let text = text.replace("\r\n", "\n");
    let source = Source::new(name, &text);
    if text.len() > LONGEST {
        source.push(1, format!("{} bytes; an expectation has at most {LONGEST}", text.len()), None);
        return Err(source.into_errors());
    }
    let table = source.parse();
    if source.has_errors() {
        return Err(source.into_errors());
    }
    let root = Spanned::new(table.span(), DeValue::Table(table.into_inner()));
    let read = notation::expect(&source, &root);
    let expect = match read {
        Some((expect, spans)) if !source.has_errors() => {
            let case = bare(expect, tools);
            check::case(&source, &case, &spans);
            case.expect
        }
        _ => Expect::default(),
    };
    if source.has_errors() { Err(source.into_errors()) } else { Ok(expect) }
}

/// A case that consists of what an expectation is checked against.
fn bare(expect: Expect, tools: &[ToolDefinition]) -> Case {
    Case {
        id: String::new(),
        family: String::new(),
        language: Language::English,
        kind: CaseKind::Target,
        messages: Vec::new(),
        tools: tools.to_vec(),
        provenance: String::new(),
        expect,
        source: String::new(),
        scenario: None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cases::expect_lines;

    fn tools() -> Vec<ToolDefinition> {
        let schema = json!({ "type": "object", "properties": { "filename": { "type": "string" } } });
        vec![ToolDefinition::new("read_file", "Reads.").with_parameters(schema), ToolDefinition::new("say", "Says.")]
    }

    fn faults(text: &str) -> Vec<String> {
        parse_expect("--expect", text, &tools()).unwrap_err().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_expectation_is_read_as_in_a_file() {
        let text = "calls = [{ tool = 'read_file', arguments = { filename = { loose = 'a.txt' } } }]\nforbid = ['say']";
        let expect = parse_expect("--expect", text, &tools()).unwrap();
        assert_eq!(
            (expect.alternatives[0][0].tool.as_str(), expect.forbid.as_slice()),
            ("read_file", &["say".into()][..])
        );
        assert_eq!(parse_expect("x", &expect_lines(&expect), &tools()).unwrap(), expect);
        let several = "any_of = [[{ tool = 'say' }], [{ tool = 'read_file' }, { tool = 'say' }]]\nordered = true";
        let expect = parse_expect("--expect", several, &tools()).unwrap();
        assert_eq!(parse_expect("x", &expect_lines(&expect), &tools()).unwrap(), expect);
    }

    #[test]
    fn every_fault_has_its_line() {
        assert_eq!(faults("\ncalls = [{ tool = 'raed_file' }]"), ["--expect:2: unknown tool `raed_file`"]);
        assert_eq!(faults(""), ["--expect:1: the case has no effective check"]);
        assert_eq!(faults("no_call = 'yes'"), ["--expect:1: no_call is a string, not true or false"]);
        assert_eq!(faults("no_call = true\nforbidden = ['say']"), ["--expect:2: unknown key `forbidden` in expect"]);
        assert!(faults("calls = [")[0].starts_with("--expect:1: not valid TOML: "), "{:?}", faults("calls = ["));
        assert!(faults(&"x".repeat(LONGEST + 1))[0].contains("at most"));
        let wrong = faults("calls = [{ tool = 'read_file', arguments = { file = 'a' } }]");
        assert_eq!(wrong, ["--expect:1: `read_file` has no argument `file`"]);
    }
}
