//! From a stored pass to its grade: the same function while a run goes on and years later.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tenpass_model::FinishReason;
use tenpass_model::calls::{self, ParseInput};
use tenpass_trace::{FailureClass, ToolDefinition};

use crate::cases::Case;
use crate::grade::{Grade, grade};
use crate::store::{End, OutcomeRecord, PassRecord};

/// Version of parser and grader together, stored with the outcomes they wrote. Raise it with
/// every change that can change a grade, so that old outcomes are known to be old.
pub const GRADER_VERSION: &str = "1";

/// Grades one pass. `offered` are the tools of its request, for the parser and the grader.
///
/// A timeout is a failure of the model, a fault is INVALID and has no grade, and so is an answer
/// over which parser or grader panicked.
pub fn judge(pass: &PassRecord, case: &Case, offered: &[ToolDefinition]) -> OutcomeRecord {
    match pass.end {
        End::Fault => {
            let (class, reason) = pass.fault.as_ref().map_or_else(
                || (FailureClass::InvalidTransport, "unknown fault".to_owned()),
                |fault| (fault.class, fault.message.clone()),
            );
            failed(pass, None, class, reason)
        }
        End::Timeout => {
            let seconds = pass.timings.total_ms / 1e3;
            failed(pass, Some(false), FailureClass::Timeout, format!("not finished after {seconds:.1} s"))
        }
        End::Answered => match catch_unwind(AssertUnwindSafe(|| parse_and_grade(pass, case, offered))) {
            Ok(graded) => answered(pass, graded),
            Err(panic) => failed(pass, None, FailureClass::InvalidGrader, panic_message(&*panic)),
        },
    }
}

fn parse_and_grade(pass: &PassRecord, case: &Case, offered: &[ToolDefinition]) -> Grade {
    if let (Some(scenario), Some(played)) = (&case.scenario, &pass.played) {
        return crate::rounds::grade(scenario, &case.tools, played);
    }
    let parsed = calls::parse(&ParseInput {
        text: &pass.text,
        thinking: &pass.thinking,
        structured: &pass.calls,
        tools: offered,
        declared: pass.declared_shape.as_deref(),
        finish: pass.finish.unwrap_or(FinishReason::Other),
    });
    grade(case, offered, &parsed)
}

fn answered(pass: &PassRecord, graded: Grade) -> OutcomeRecord {
    // A call in the text cannot act before the text has ended.
    let first_call_ms =
        if graded.calls.is_empty() { None } else { pass.timings.first_call_ms.or(pass.timings.text_end_ms) };
    OutcomeRecord {
        case: pass.case.clone(),
        configuration: pass.configuration.clone(),
        pass: pass.pass,
        attempt: pass.attempt,
        // The grader's own failure is no answer either.
        success: (!graded.class.is_some_and(FailureClass::is_invalid)).then_some(graded.pass),
        class: graded.class,
        classes: graded.classes,
        reasons: graded.reasons,
        recovered: graded.recovered,
        calls: graded.calls,
        first_call_ms,
    }
}

fn failed(pass: &PassRecord, success: Option<bool>, class: FailureClass, reason: String) -> OutcomeRecord {
    OutcomeRecord {
        case: pass.case.clone(),
        configuration: pass.configuration.clone(),
        pass: pass.pass,
        attempt: pass.attempt,
        success,
        class: Some(class),
        classes: vec![class],
        reasons: vec![reason],
        recovered: false,
        calls: Vec::new(),
        first_call_ms: None,
    }
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("the grader panicked: {}", text.unwrap_or("no message"))
}
