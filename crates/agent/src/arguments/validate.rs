//! Validation against the tool's JSON Schema (K17, K45), recursive, with the path of each fault.

use std::fmt::Write as _;

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::paths::{Location, LocationSegment};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tenpass_trace::{FailureClass, ToolDefinition};

use crate::schema;

/// One thing wrong with a call's arguments. Paths read `recipients[0].email`; the empty path is
/// the arguments as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case", tag = "fault")]
pub enum Fault {
    /// A required argument is absent.
    #[error("argument {path} is required and missing")]
    MissingRequired {
        /// The absent argument.
        path: String,
    },
    /// The JSON type is wrong.
    #[error("argument {} must be {expected}, not {found}", shown(path))]
    TypeMismatch {
        /// Where.
        path: String,
        /// The type or types the schema allows (`string`, `integer or null`).
        expected: String,
        /// The type that was given.
        found: String,
    },
    /// The schema does not know this argument.
    #[error("argument {path} does not exist")]
    UnexpectedParam {
        /// The unknown argument.
        path: String,
    },
    /// The type is right and the value is not: enum, const, pattern, range, length, format.
    #[error("argument {} is wrong: {reason}", shown(path))]
    WrongValue {
        /// Where.
        path: String,
        /// What the schema says.
        reason: String,
    },
    /// The tool's own schema does not compile: the tool is at fault, not the call.
    #[error("the tool's schema is invalid: {reason}")]
    InvalidSchema {
        /// What the schema compiler says.
        reason: String,
    },
}

fn shown(path: &str) -> &str {
    if path.is_empty() { "list" } else { path }
}

impl Fault {
    /// The failure class this fault is counted under.
    pub fn class(&self) -> FailureClass {
        match self {
            Self::MissingRequired { .. } => FailureClass::MissingRequired,
            Self::TypeMismatch { .. } => FailureClass::TypeMismatch,
            Self::UnexpectedParam { .. } => FailureClass::UnexpectedParam,
            Self::WrongValue { .. } => FailureClass::WrongValue,
            Self::InvalidSchema { .. } => FailureClass::InvalidGrader,
        }
    }

    /// Where it is; empty for the arguments as a whole.
    pub fn path(&self) -> &str {
        match self {
            Self::MissingRequired { path }
            | Self::TypeMismatch { path, .. }
            | Self::UnexpectedParam { path }
            | Self::WrongValue { path, .. } => path,
            Self::InvalidSchema { .. } => "",
        }
    }
}

/// A tool whose argument schema is not a valid JSON Schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("tool {tool:?}: invalid parameter schema: {reason}")]
pub struct SchemaError {
    /// The tool.
    pub tool: String,
    /// What the schema compiler says.
    pub reason: String,
}

impl SchemaError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        format!("correct `parameters` of {:?}: an object schema whose references are local", self.tool)
    }
}

/// A compiled argument schema, for validating many calls of one tool.
#[derive(Debug)]
pub struct Validator {
    compiled: jsonschema::Validator,
}

impl Validator {
    /// Compiles the tool's schema. `reason` (K17) loses its obligation, objects that list their
    /// properties are closed unless the schema says otherwise, and remote references are refused.
    pub fn new(tool: &ToolDefinition) -> Result<Self, SchemaError> {
        let mut parameters = schema::object_schema(&tool.parameters);
        if let Some(required) = parameters.get_mut("required").and_then(Value::as_array_mut) {
            required.retain(|name| name != "reason");
        }
        schema::close_objects(&mut parameters);
        let compiled = jsonschema::validator_for(&parameters)
            .map_err(|error| SchemaError { tool: tool.name.clone(), reason: error.to_string() })?;
        Ok(Self { compiled })
    }

    /// Every fault of these arguments, in the schema's order; empty when they are acceptable.
    pub fn validate(&self, arguments: &Map<String, Value>) -> Vec<Fault> {
        let instance = Value::Object(arguments.clone());
        let mut faults = Vec::new();
        let errors: Vec<_> = self.compiled.iter_errors(&instance).collect();
        for error in errors.iter().filter(|error| !is_echo(error, &errors)) {
            push_faults(error, &mut faults);
        }
        // Two branches of one schema may report the same fault.
        let mut distinct: Vec<Fault> = Vec::with_capacity(faults.len());
        for fault in faults {
            if !distinct.contains(&fault) {
                distinct.push(fault);
            }
        }
        distinct
    }
}

/// Every fault of these arguments; empty when they are acceptable. Compiles the schema each time:
/// keep a [`Validator`] where many calls of one tool are checked.
pub fn validate(tool: &ToolDefinition, arguments: &Map<String, Value>) -> Vec<Fault> {
    match Validator::new(tool) {
        Ok(validator) => validator.validate(arguments),
        Err(error) => vec![Fault::InvalidSchema { reason: error.reason }],
    }
}

fn push_faults(error: &ValidationError<'_>, faults: &mut Vec<Fault>) {
    let path = dotted(error.instance_path());
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            faults.push(Fault::MissingRequired { path: joined(&path, property.as_str().unwrap_or_default()) });
        }
        ValidationErrorKind::Type { kind } => {
            faults.push(Fault::TypeMismatch { path, expected: type_names(kind), found: found(error.instance()) });
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            faults.extend(unexpected.iter().map(|name| Fault::UnexpectedParam { path: joined(&path, name) }));
        }
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            push_alternatives(error, path, context, faults);
        }
        _ => faults.push(Fault::WrongValue { path, reason: error.to_string() }),
    }
}

/// No alternative fits: report the types if only they are wrong, else the closest alternative.
fn push_alternatives(
    error: &ValidationError<'_>,
    path: String,
    context: &[Vec<ValidationError<'static>>],
    faults: &mut Vec<Fault>,
) {
    let here = error.instance_path();
    let wrong_type = |branch: &Vec<ValidationError<'static>>| {
        branch.iter().find_map(|inner| match inner.kind() {
            ValidationErrorKind::Type { kind } if inner.instance_path() == here => Some(type_names(kind)),
            _ => None,
        })
    };
    let types: Vec<String> = context.iter().filter_map(wrong_type).collect();
    if types.len() == context.len() && !types.is_empty() {
        let mut expected: Vec<&str> = Vec::new();
        for name in &types {
            if !expected.contains(&name.as_str()) {
                expected.push(name);
            }
        }
        faults.push(Fault::TypeMismatch { path, expected: expected.join(" or "), found: found(error.instance()) });
        return;
    }
    let closest = context.iter().filter(|branch| wrong_type(branch).is_none()).min_by_key(|branch| branch.len());
    match closest {
        Some(branch) if !branch.is_empty() => branch.iter().for_each(|inner| push_faults(inner, faults)),
        _ => faults.push(Fault::WrongValue { path, reason: error.to_string() }),
    }
}

/// A part of a composed schema that fails leaves all its properties unevaluated: that complaint is
/// an echo of the fault beside or below it.
fn is_echo(error: &ValidationError<'_>, all: &[ValidationError<'_>]) -> bool {
    let unevaluated = |kind: &ValidationErrorKind| matches!(kind, ValidationErrorKind::UnevaluatedProperties { .. });
    unevaluated(error.kind())
        && all.iter().any(|other| {
            !unevaluated(other.kind()) && other.instance_path().as_str().starts_with(error.instance_path().as_str())
        })
}

fn type_names(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => one.to_string(),
        TypeKind::Multiple(several) => several.iter().map(|one| one.to_string()).collect::<Vec<_>>().join(" or "),
    }
}

fn found(value: &Value) -> String {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() && number.as_f64().is_none_or(|value| value.fract() != 0.0) => {
            "number"
        }
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
    .to_owned()
}

fn dotted(location: &Location) -> String {
    let mut path = String::new();
    for segment in location.segments() {
        match segment {
            LocationSegment::Property(name) => path = joined(&path, &name),
            LocationSegment::Index(index) => {
                // Writing to a String cannot fail.
                let _ = write!(path, "[{index}]");
            }
        }
    }
    path
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn faults(parameters: Value, arguments: &Value) -> Vec<Fault> {
        let tool = ToolDefinition::new("t", "").with_parameters(parameters);
        validate(&tool, arguments.as_object().unwrap())
    }

    fn delegate() -> Value {
        json!({
            "type": "object",
            "properties": {
                "provider": {"enum": ["claude", "chatgpt"]},
                "task": {"type": "string", "minLength": 1},
                "count": {"type": "integer", "minimum": 1},
                "to": {
                    "type": "array",
                    "items": {"type": "object", "properties": {"email": {"type": "string"}}, "required": ["email"]}
                },
                "reason": {"type": "string"}
            },
            "required": ["provider", "task", "reason"]
        })
    }

    #[test]
    fn each_kind_of_fault_has_its_class_and_path() {
        let found = faults(
            delegate(),
            &json!({"provider": "gemini", "count": "5", "to": [{"email": "a@b.c"}, {"mail": 1}], "tone": "warm"}),
        );
        let seen: Vec<(&str, FailureClass)> = found.iter().map(|fault| (fault.path(), fault.class())).collect();
        for expected in [
            ("provider", FailureClass::WrongValue),
            ("task", FailureClass::MissingRequired),
            ("count", FailureClass::TypeMismatch),
            ("to[1].email", FailureClass::MissingRequired),
            ("to[1].mail", FailureClass::UnexpectedParam),
            ("tone", FailureClass::UnexpectedParam),
        ] {
            assert!(seen.contains(&expected), "{expected:?} not in {seen:?}");
        }
        assert_eq!(seen.len(), 6, "{found:?}");
    }

    #[test]
    fn reason_is_required_for_the_model_and_optional_for_the_check() {
        assert_eq!(faults(delegate(), &json!({"provider": "claude", "task": "x"})), []);
        assert_eq!(faults(delegate(), &json!({"provider": "claude", "task": "x", "reason": 3})).len(), 1);
    }

    #[test]
    fn five_point_zero_is_an_integer() {
        assert_eq!(faults(delegate(), &json!({"provider": "claude", "task": "x", "count": 5.0})), []);
        let half = faults(delegate(), &json!({"provider": "claude", "task": "x", "count": 5.5}));
        assert_eq!(
            half,
            [Fault::TypeMismatch { path: "count".into(), expected: "integer".into(), found: "number".into() }]
        );
    }

    #[test]
    fn alternatives_report_the_closest_one() {
        let nullable =
            json!({"type": "object", "properties": {"n": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}});
        assert_eq!(
            faults(nullable.clone(), &json!({"n": "x"})),
            [Fault::TypeMismatch { path: "n".into(), expected: "integer or null".into(), found: "string".into() }]
        );
        assert_eq!(faults(nullable, &json!({"n": null})), []);
        let shapes = json!({"type": "object", "properties": {"s": {"anyOf": [
            {"type": "object", "properties": {"radius": {"type": "number"}}, "required": ["radius"]},
            {"type": "string"}
        ]}}});
        assert_eq!(faults(shapes, &json!({"s": {}})), [Fault::MissingRequired { path: "s.radius".into() }]);
    }

    #[test]
    fn a_composed_schema_is_closed_without_breaking_its_parts() {
        let composed = json!({
            "type": "object",
            "allOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {"$ref": "#/$defs/n"}}}],
            "$defs": {"n": {"type": "integer"}}
        });
        assert_eq!(faults(composed.clone(), &json!({"a": "x", "b": 2})), []);
        assert_eq!(faults(composed, &json!({"a": "x", "c": 2})), [Fault::UnexpectedParam { path: "c".into() }]);
    }

    #[test]
    fn a_tool_without_parameters_takes_none_and_a_free_map_takes_any() {
        assert_eq!(faults(Value::Null, &json!({})), []);
        assert_eq!(faults(json!({}), &json!({"x": 1})), [Fault::UnexpectedParam { path: "x".into() }]);
        assert_eq!(faults(json!({"type": "object"}), &json!({"x": 1})), []);
    }

    #[test]
    fn a_broken_schema_is_reported_not_a_panic() {
        for broken in [
            json!({"type": "objekt"}),
            json!({"type": "object", "properties": {"a": {"pattern": "("}}}),
            json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/none"}}}),
            json!({"type": "object", "properties": {"a": {"$ref": "https://127.0.0.1:1/schema.json"}}}),
            json!({"type": "object", "properties": 3}),
            json!("no schema"),
        ] {
            let found = faults(broken.clone(), &json!({"a": 1}));
            assert!(matches!(found.as_slice(), [Fault::InvalidSchema { .. }]), "{broken}: {found:?}");
            assert_eq!(found[0].class(), FailureClass::InvalidGrader);
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "[a-z#/$]{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            let key = prop_oneof![
                Just("type".to_owned()),
                Just("properties".to_owned()),
                Just("required".to_owned()),
                Just("items".to_owned()),
                Just("anyOf".to_owned()),
                Just("$ref".to_owned()),
                Just("enum".to_owned()),
                "[a-c]".prop_map(|name| name),
            ];
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::vec((key, inner), 0..4)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_schema_and_no_arguments_panic(parameters in any_json(), arguments in any_json()) {
            let arguments = arguments.as_object().cloned().unwrap_or_default();
            let tool = ToolDefinition::new("t", "").with_parameters(parameters);
            for fault in validate(&tool, &arguments) {
                prop_assert!(!fault.to_string().is_empty());
            }
        }

        #[test]
        fn an_unknown_argument_is_always_found(name in "[a-z]{1,8}") {
            prop_assume!(!["provider", "task", "count", "to", "reason"].contains(&name.as_str()));
            let found = faults(delegate(), &json!({"provider": "claude", "task": "x", name.clone(): 1}));
            prop_assert_eq!(found, vec![Fault::UnexpectedParam { path: name }]);
        }
    }
}
