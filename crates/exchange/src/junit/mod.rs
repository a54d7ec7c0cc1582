//! JUnit XML, as Jenkins, GitLab, GitHub's actions and most editors read it.
//!
//! One `testsuite` a configuration, one `testcase` a case; its counts are properties. What counts as what:
//!
//! | case | entry |
//! |---|---|
//! | a guard whose gate (8 of 10, in proportion for other numbers of passes) is out of reach | `failure` |
//! | a guard whose gate is neither held nor out of reach, for want of answers | `error` |
//! | no answer at all: every pass INVALID, or none made | `error` |
//! | a guard that holds its gate | passed |
//! | a target, however often it is right | passed: it is a known failure, and its rate is in the properties |
//!
//! A single run cannot tell whether a target became worse: that is a comparison, and whoever has one writes
//! its own suite with [`write`]. What failing passes were blamed for stands in `system-out`.

mod run;

use std::io::{self, Write};

pub use run::{GATE_SHARE, suites};

/// Some tests.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Suite {
    /// Its name, such as a configuration's.
    pub name: String,
    /// When it began, as the store writes moments: `2026-11-30T14:22:33.125Z`.
    pub timestamp: Option<String>,
    /// Facts about it.
    pub properties: Vec<(String, String)>,
    /// Its tests.
    pub cases: Vec<TestCase>,
}

/// One test.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TestCase {
    /// Its name.
    pub name: String,
    /// The group it is shown in.
    pub class: String,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// What came of it.
    pub result: TestResult,
    /// Facts about it.
    pub properties: Vec<(String, String)>,
    /// What it said, for people.
    pub output: String,
}

/// What came of a test.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum TestResult {
    /// It is as it must be.
    #[default]
    Passed,
    /// It is not.
    Failed(Trouble),
    /// It could not be found out.
    Errored(Trouble),
    /// It was left out, for this reason.
    Skipped(String),
}

/// Why a test did not pass.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trouble {
    /// One line.
    pub message: String,
    /// A word for its kind, such as a failure class.
    pub kind: String,
    /// The whole story.
    pub text: String,
}

/// How many there are of each, and their time.
struct Counts {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
    seconds: f64,
}

impl Counts {
    fn of<'a>(cases: impl Iterator<Item = &'a TestCase> + Clone) -> Self {
        let count = |wanted: fn(&TestResult) -> bool| cases.clone().filter(|case| wanted(&case.result)).count();
        Self {
            tests: cases.clone().count(),
            failures: count(|result| matches!(result, TestResult::Failed(_))),
            errors: count(|result| matches!(result, TestResult::Errored(_))),
            skipped: count(|result| matches!(result, TestResult::Skipped(_))),
            seconds: cases.map(|case| case.seconds).filter(|seconds| seconds.is_finite()).sum(),
        }
    }

    fn attributes(&self) -> String {
        let Self { tests, failures, errors, seconds, .. } = self;
        format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" time=\"{seconds:.3}\"")
    }
}

/// Writes a whole document.
pub fn write(suites: &[Suite], mut out: impl Write) -> io::Result<()> {
    let all = Counts::of(suites.iter().flat_map(|suite| &suite.cases));
    out.write_all(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")?;
    writeln!(out, "<testsuites name=\"tenpass\" {}>", all.attributes())?;
    for suite in suites {
        write_suite(suite, &mut out)?;
    }
    out.write_all(b"</testsuites>\n")?;
    out.flush()
}

fn write_suite(suite: &Suite, out: &mut impl Write) -> io::Result<()> {
    let counts = Counts::of(suite.cases.iter());
    write!(out, "  <testsuite name=\"{}\" {}", attribute(&suite.name), counts.attributes())?;
    write!(out, " skipped=\"{}\"", counts.skipped)?;
    // The format has no time zone; whole seconds are what every reader takes.
    if let Some(seconds) = suite.timestamp.as_deref().and_then(|moment| moment.get(..19)) {
        write!(out, " timestamp=\"{}\"", attribute(seconds))?;
    }
    out.write_all(b">\n")?;
    write_properties(&suite.properties, "    ", out)?;
    for case in &suite.cases {
        write_case(case, out)?;
    }
    out.write_all(b"  </testsuite>\n")
}

fn write_properties(properties: &[(String, String)], indent: &str, out: &mut impl Write) -> io::Result<()> {
    if properties.is_empty() {
        return Ok(());
    }
    writeln!(out, "{indent}<properties>")?;
    for (name, value) in properties {
        writeln!(out, "{indent}  <property name=\"{}\" value=\"{}\"/>", attribute(name), attribute(value))?;
    }
    writeln!(out, "{indent}</properties>")
}

fn write_case(case: &TestCase, out: &mut impl Write) -> io::Result<()> {
    let (name, class) = (attribute(&case.name), attribute(&case.class));
    let seconds = if case.seconds.is_finite() { case.seconds.max(0.0) } else { 0.0 };
    writeln!(out, "    <testcase name=\"{name}\" classname=\"{class}\" time=\"{seconds:.3}\">")?;
    write_properties(&case.properties, "      ", out)?;
    match &case.result {
        TestResult::Passed => {}
        TestResult::Failed(trouble) => write_trouble("failure", trouble, out)?,
        TestResult::Errored(trouble) => write_trouble("error", trouble, out)?,
        TestResult::Skipped(reason) => writeln!(out, "      <skipped message=\"{}\"/>", attribute(reason))?,
    }
    if !case.output.is_empty() {
        writeln!(out, "      <system-out>{}</system-out>", text(&case.output))?;
    }
    out.write_all(b"    </testcase>\n")
}

fn write_trouble(element: &str, trouble: &Trouble, out: &mut impl Write) -> io::Result<()> {
    let (message, kind) = (attribute(&trouble.message), attribute(&trouble.kind));
    writeln!(out, "      <{element} message=\"{message}\" type=\"{kind}\">{}</{element}>", text(&trouble.text))
}

/// Text between tags. What XML 1.0 cannot hold in any form is shown as `\u{1b}`.
fn text(content: &str) -> String {
    escape(content, false)
}

/// Text in an attribute: line ends and tabs would become spaces there.
fn attribute(content: &str) -> String {
    escape(content, true)
}

fn escape(content: &str, in_attribute: bool) -> String {
    let mut escaped = String::with_capacity(content.len());
    for letter in content.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            // Only needed after `]]`, and harmless elsewhere.
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' if in_attribute => escaped.push_str(&format!("&#{};", u32::from(letter))),
            // A reader would make a line feed of it.
            '\r' => escaped.push_str("&#13;"),
            letter if is_allowed(letter) => escaped.push(letter),
            letter => escaped.push_str(&format!("\\u{{{:x}}}", u32::from(letter))),
        }
    }
    escaped
}

/// The production `Char` of XML 1.0, without the control characters that it discourages.
fn is_allowed(letter: char) -> bool {
    matches!(letter, '\t' | '\n' | '\u{20}'..='\u{7e}' | '\u{85}' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(suites: &[Suite]) -> String {
        let mut out = Vec::new();
        write(suites, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn suite(cases: Vec<TestCase>) -> Suite {
        Suite {
            name: "a \"b\"".to_owned(),
            timestamp: Some("2026-11-30T14:22:33.125Z".to_owned()),
            properties: vec![("run".to_owned(), "x\ny".to_owned())],
            cases,
        }
    }

    #[test]
    fn a_document_counts_and_escapes() {
        let trouble = |message: &str| Trouble {
            message: message.to_owned(),
            kind: "wrong_tool".to_owned(),
            text: "]]> & <b>\u{1b}[1m\0".to_owned(),
        };
        let case =
            |name: &str, result| TestCase { name: name.to_owned(), seconds: 0.25, result, ..TestCase::default() };
        let text = written(&[suite(vec![
            case("passes", TestResult::Passed),
            case("fails", TestResult::Failed(trouble("1 of 10"))),
            case("breaks", TestResult::Errored(trouble("10 INVALID"))),
            case("waits", TestResult::Skipped("later".to_owned())),
        ])]);
        let root = "<testsuites name=\"tenpass\" tests=\"4\" failures=\"1\" errors=\"1\" time=\"1.000\">";
        assert!(text.contains(root), "{text}");
        assert!(text.contains("name=\"a &quot;b&quot;\"") && text.contains("timestamp=\"2026-11-30T14:22:33\""));
        assert!(text.contains("value=\"x&#10;y\"") && text.contains("skipped=\"1\""));
        assert!(text.contains("]]&gt; &amp; &lt;b&gt;\\u{1b}[1m\\u{0}</failure>"), "{text}");
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_document(any in "\\PC*|[\\x00-\\x7f]*|.*", odd in proptest::char::any()) {
            let any = format!("{any}{odd}");
            let case = TestCase { name: any.clone(), class: any.clone(), output: any, ..TestCase::default() };
            let text = written(&[suite(vec![case])]);
            let body: Vec<char> = text.chars().collect();
            prop_assert!(body.iter().all(|letter| is_allowed(*letter)));
            // Every `<` opens one of the tags that are written, every `&` an entity.
            let tags = ["<?xml", "<testsuite", "</testsuite", "<propert", "</propert", "<testcase", "</testcase", "<system-out", "</system-out"];
            for (place, _) in text.match_indices('<') {
                prop_assert!(tags.iter().any(|tag| text[place..].starts_with(tag)));
            }
            for (place, _) in text.match_indices('&') {
                prop_assert!(["&amp;", "&lt;", "&gt;", "&quot;", "&#"].iter().any(|entity| text[place..].starts_with(entity)));
            }
        }
    }
}
