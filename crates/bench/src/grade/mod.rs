//! Grading: a parsed answer against what the case says must happen.
//!
//! Rules (each is a test below):
//! - The choice and the arguments decide. That a call had to be recovered from text is a column of its
//!   own ([`Grade::recovered`]), never a reason to fail and never hidden.
//! - Arguments are valid by the tool's own JSON Schema and right by the case's matchers. 5 equals 5.0;
//!   strings are compared exactly, after trimming outer white space; a default equals its absence unless
//!   the matcher states `absent_ok`.
//! - Calls that only read are free, unless the tool is forbidden or the case asks for no call at all.
//! - "No call" is a finding about an answer that was understood. When a call could not be parsed, that is
//!   the finding, for a case that wants a call and for one that wants none.
//! - What cannot be scored is INVALID_grader, never a pass.

mod ask;
mod assign;
mod calls;
pub(crate) mod compare;
pub(crate) mod date;
pub(crate) mod text;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use tenpass_model::calls::{Parsed, ParsedCall};
use tenpass_trace::{FailureClass, FailureKind, ToolDefinition};

use crate::cases::Case;
use calls::Judge;

/// The verdict on one answer, with its reasons.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Grade {
    /// The right calls with the right arguments, or rightly none.
    pub pass: bool,
    /// The most specific thing that is wrong; `None` exactly when the answer passes.
    pub class: Option<FailureClass>,
    /// Everything that is wrong, most specific first. A pass may carry a transport class here.
    pub classes: Vec<FailureClass>,
    /// One fragment for each finding, in the same order.
    pub reasons: Vec<String>,
    /// A call did not come through the structured channel or the declared shape.
    pub recovered: bool,
    /// The calls that were graded.
    pub calls: Vec<ParsedCall>,
    /// The answer's prose.
    pub text: String,
}

/// One thing that is wrong with an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Finding {
    class: FailureClass,
    reason: String,
}

impl Finding {
    fn new(class: FailureClass, reason: impl Into<String>) -> Self {
        Self { class, reason: reason.into() }
    }
}

/// Grades one answer. `tools` are the tools that were offered in this turn, after selection.
pub fn grade(case: &Case, tools: &[ToolDefinition], parsed: &Parsed) -> Grade {
    let mut findings = judge(case, tools, parsed);
    let pass = findings.is_empty();
    if let Some(class) = parsed.class
        && !findings.iter().any(|finding| finding.class == class)
    {
        findings.push(Finding::new(class, transport_reason(class, parsed)));
    }
    findings.sort_by_key(|finding| specificity(finding.class));
    let mut classes: Vec<FailureClass> = Vec::new();
    for finding in &findings {
        if !classes.contains(&finding.class) {
            classes.push(finding.class);
        }
    }
    Grade {
        pass,
        class: if pass { None } else { classes.first().copied() },
        classes,
        reasons: findings.into_iter().map(|finding| finding.reason).collect(),
        recovered: parsed.calls.iter().any(|call| call.recovered),
        calls: parsed.calls.clone(),
        text: parsed.text.clone(),
    }
}

/// What keeps the answer from passing; empty when it passes.
fn judge(case: &Case, tools: &[ToolDefinition], parsed: &Parsed) -> Vec<Finding> {
    if let Some(class) = parsed.class.filter(|class| class.is_invalid()) {
        return vec![Finding::new(class, "the answer is not one: infrastructure failed")];
    }
    if !case.expect.is_effective() {
        return vec![Finding::new(
            FailureClass::InvalidGrader,
            "the case has no effective check, so nothing can be scored",
        )];
    }
    let judge = Judge::new(case, tools, &parsed.calls);
    let mut findings = if case.expect.no_call { judge.no_call() } else { judge.best_alternative() };
    let attempt = parsed.class.filter(|class| is_lost(*class) || (parsed.calls.is_empty() && shows_a_call(*class)));
    if let Some(class) = attempt {
        // Rule: no_call is never inferred from a parse failure.
        findings.retain(|finding| finding.class != FailureClass::NoCall);
        if !findings.iter().any(|finding| finding.class == class) {
            findings.push(Finding::new(class, transport_reason(class, parsed)));
        }
    } else if parsed.calls.is_empty()
        && findings.iter().any(|finding| finding.class == FailureClass::NoCall)
        && ask::asks_for_confirmation(&parsed.text)
    {
        let reason = "asked in the text for a confirmation instead of calling";
        findings.push(Finding::new(FailureClass::AskedInText, reason));
    }
    findings
}

/// Classes of a call that did not come out of the parser as it was meant: a failure, whatever else was
/// called.
fn is_lost(class: FailureClass) -> bool {
    matches!(class, FailureClass::ArgsUnparseable | FailureClass::ArgsTruncated | FailureClass::UnknownTool)
}

/// Classes that say: there was a call, although none came out of the parser.
fn shows_a_call(class: FailureClass) -> bool {
    match class {
        // Markers can leak into an answer that calls nothing.
        FailureClass::TemplateMarkerLeak => false,
        other => matches!(other.kind(), FailureKind::Transport | FailureKind::Arguments),
    }
}

fn transport_reason(class: FailureClass, parsed: &Parsed) -> String {
    match class {
        FailureClass::ArgsUnparseable => return "the arguments of a call could not be parsed".to_owned(),
        FailureClass::ArgsTruncated => return "the answer ended inside a call, which is not executed".to_owned(),
        FailureClass::UnknownTool => return "a tool was called that is not one of this turn".to_owned(),
        _ => {}
    }
    let recovered: Vec<String> = parsed.calls.iter().filter(|call| call.recovered).map(how_recovered).collect();
    if recovered.is_empty() {
        format!("the parser found {class}")
    } else {
        format!("{class}: {}", recovered.join("; "))
    }
}

fn how_recovered(call: &ParsedCall) -> String {
    let notes = if call.notes.is_empty() { String::new() } else { format!(" ({})", call.notes.join(", ")) };
    format!("`{}` recovered from the shape {}{notes}", call.name, call.shape)
}

/// Sort key: what explains an answer best comes first.
fn specificity(class: FailureClass) -> usize {
    use FailureClass as Class;
    const ORDER: [FailureClass; 15] = [
        Class::InvalidGrader,
        Class::ArgsTruncated,
        Class::ArgsUnparseable,
        Class::CalledWhenForbidden,
        Class::UnknownTool,
        Class::WrongTool,
        Class::MissingRequired,
        Class::TypeMismatch,
        Class::UnexpectedParam,
        Class::WrongValue,
        Class::DuplicateCall,
        Class::ExtraCall,
        Class::AskedInText,
        Class::ArgsDoubleEncoded,
        Class::CallInThinking,
    ];
    match class {
        _ if class.is_invalid() => 0,
        // Says the least; what else was found explains it.
        Class::NoCall => ORDER.len() + 1,
        _ => ORDER.iter().position(|other| *other == class).unwrap_or(ORDER.len()),
    }
}
