//! One enum of everything that can be wrong with an answer, shared by parser, graders and tables.

use serde::{Deserialize, Serialize};

/// The group a failure class belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The wrong decision about which tool to call, or whether.
    Choice,
    /// The call was meant, but did not arrive through the structured channel.
    Transport,
    /// The right tool with wrong arguments.
    Arguments,
    /// What the answer says does not match what was done.
    Talk,
    /// The turn did not end by itself.
    Progress,
    /// Infrastructure: not an answer at all. Re-run, counted apart, never scored 0.
    Invalid,
}

macro_rules! failure_classes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $kind:ident;)*) => {
        /// What is wrong with an answer. The stored names are the ones in `as_str`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum FailureClass {
            $($(#[$doc])* #[serde(rename = $name)] $variant,)*
        }

        impl FailureClass {
            /// Every class, in the order of the tables.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The stored and printed name.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The group of this class.
            pub fn kind(self) -> FailureKind {
                match self { $(Self::$variant => FailureKind::$kind,)* }
            }
        }
    };
}

failure_classes! {
    /// A call was required and none was made.
    NoCall = "no_call", Choice;
    /// Another known tool was called.
    WrongTool = "wrong_tool", Choice;
    /// A name that is not in this turn's list was called.
    UnknownTool = "unknown_tool", Choice;
    /// The required calls, plus one that has effects and was not asked for.
    ExtraCall = "extra_call", Choice;
    /// A call where none was right, or of a forbidden tool.
    CalledWhenForbidden = "called_when_forbidden", Choice;
    /// The same call twice.
    DuplicateCall = "duplicate_call", Choice;
    /// The call stands in the text instead of the structured channel.
    CallAsText = "call_as_text", Transport;
    /// The call stands in a code fence.
    CallInFence = "call_in_fence", Transport;
    /// The only call stands in the reasoning.
    CallInThinking = "call_in_thinking", Transport;
    /// Special tokens of the template leaked into the answer.
    TemplateMarkerLeak = "template_marker_leak", Transport;
    /// Streamed fragments of two calls ran together.
    StreamMerge = "stream_merge", Transport;
    /// The arguments are not JSON, nor repairable.
    ArgsUnparseable = "args_unparseable", Arguments;
    /// The arguments are a JSON string of JSON.
    ArgsDoubleEncoded = "args_double_encoded", Arguments;
    /// An argument has the wrong JSON type.
    TypeMismatch = "type_mismatch", Arguments;
    /// A required argument is absent.
    MissingRequired = "missing_required", Arguments;
    /// An argument that the schema does not know.
    UnexpectedParam = "unexpected_param", Arguments;
    /// Valid, but not the value the case asks for.
    WrongValue = "wrong_value", Arguments;
    /// The answer ended (length) inside a call; never executed.
    ArgsTruncated = "args_truncated", Arguments;
    /// The answer claims an action that was not done.
    ClaimedNotDone = "claimed_not_done", Talk;
    /// The answer denies an action that was done.
    DeniedButDone = "denied_but_done", Talk;
    /// The answer offers what no tool can do.
    InventedCapability = "invented_capability", Talk;
    /// An action that needed a confirmation went without one.
    SkippedConfirmation = "skipped_confirmation", Talk;
    /// The answer asks in prose for what the confirmation bubble would ask.
    AskedInText = "asked_in_text", Talk;
    /// The same call again and again.
    Loop = "loop", Progress;
    /// The model did not finish in its time.
    Timeout = "timeout", Progress;
    /// The connection or the protocol failed.
    InvalidTransport = "INVALID_transport", Invalid;
    /// The prompt did not fit the context.
    InvalidOverflow = "INVALID_overflow", Invalid;
    /// The server restarted or lost the model.
    InvalidRestart = "INVALID_restart", Invalid;
    /// The grader itself failed.
    InvalidGrader = "INVALID_grader", Invalid;
}

impl FailureClass {
    /// True for an infrastructure fault, which is never scored.
    pub fn is_invalid(self) -> bool {
        self.kind() == FailureKind::Invalid
    }
}

impl std::fmt::Display for FailureClass {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_is_stored_under_its_printed_name() {
        for class in FailureClass::ALL {
            let stored = serde_json::to_string(class).unwrap();
            assert_eq!(stored, format!("\"{class}\""));
            assert_eq!(serde_json::from_str::<FailureClass>(&stored).unwrap(), *class);
            assert_eq!(class.is_invalid(), class.as_str().starts_with("INVALID_"));
        }
    }
}
