//! The accepted values of one argument: as a matcher, and as the values to replay.

use serde_json::{Map, Value};

use crate::cases::{Argument, Matcher};
use crate::grade::text::loose;

/// What is accepted for one argument or member.
pub(super) struct Accepted<'a> {
    /// The values; `""` says that it may be absent.
    pub(super) values: Vec<Value>,
    /// Its schema, when the tool has one for it.
    pub(super) schema: Option<&'a Value>,
    /// It cannot be absent, so that `""` is a value like any other.
    pub(super) required: bool,
}

impl<'a> Accepted<'a> {
    /// `values` may also be one bare value, as in some nested members.
    pub(super) fn new(values: &Value, schema: Option<&'a Value>, required: bool) -> Self {
        let values = match values {
            Value::Array(values) => values.clone(),
            one => vec![one.clone()],
        };
        Self { values, schema, required }
    }

    /// A member of an object, with what the schema says about it.
    fn member(&self, name: &str, values: &Value) -> Self {
        Self::new(
            values,
            self.schema.and_then(|schema| schema.get("properties")?.get(name)),
            is_required(self.schema, name),
        )
    }

    /// An element of a list.
    fn element(&self) -> Self {
        Self { values: Vec::new(), schema: self.schema.and_then(|schema| schema.get("items")), required: true }
    }

    /// True when leaving it out is right.
    pub(super) fn may_be_absent(&self) -> bool {
        !self.required && self.values.iter().any(is_empty)
    }

    /// The values that are given, without the mark for absence.
    fn given(&self) -> impl Iterator<Item = &Value> {
        let keep_empty = self.required && (self.is_text() || self.values.iter().all(is_empty));
        self.values.iter().filter(move |value| keep_empty || !is_empty(value))
    }

    /// A string that is not chosen from a list: an empty one says the same as none.
    fn is_text(&self) -> bool {
        self.schema.is_some_and(|schema| {
            schema.get("type").is_some_and(|kind| kind == "string") && schema.get("enum").is_none()
        })
    }

    /// The matcher that is satisfied by exactly these values.
    pub(super) fn matcher(&self) -> Argument {
        let absent_ok = self.may_be_absent();
        let mut options: Vec<Argument> = Vec::new();
        for value in self.given() {
            let option = self.value_matcher(value);
            if !options.contains(&option) {
                options.push(option);
            }
        }
        if absent_ok && self.is_text() {
            options.push(Argument::exact(Value::String(String::new())));
        }
        let matcher = match (options.pop(), options.is_empty()) {
            (None, _) => Matcher::Absent,
            (Some(only), true) => only.matcher,
            (Some(last), false) => {
                options.push(last);
                Matcher::AnyOf(options)
            }
        };
        Argument { matcher, absent_ok: absent_ok.then_some(true), off_schema: false }
    }

    fn value_matcher(&self, value: &Value) -> Argument {
        match value {
            Value::String(text) if !loose(text).is_empty() => Argument::new(Matcher::Loose(text.clone())),
            Value::Array(items) if items.iter().any(holds_text) => {
                let element = self.element();
                Argument::new(Matcher::Items(items.iter().map(|item| element.value_matcher(item)).collect()))
            }
            Value::Object(members) => {
                let members = members.iter().map(|(name, values)| (name.clone(), self.member(name, values).matcher()));
                Argument::new(Matcher::Object { members: members.collect(), only: true })
            }
            plain => Argument::exact(plain.clone()),
        }
    }

    /// The values to replay, most typical first; `None` leaves it out.
    pub(super) fn replays(&self) -> Vec<Option<Value>> {
        let given = self.given().flat_map(|value| self.literals(value)).map(Some);
        given.chain(self.may_be_absent().then_some(None)).collect()
    }

    /// The literal values that one accepted value stands for: each accepted member once.
    fn literals(&self, value: &Value) -> Vec<Value> {
        match value {
            Value::Object(members) => {
                let options: Vec<(&String, Vec<Option<Value>>)> =
                    members.iter().map(|(name, values)| (name, self.member(name, values).replays())).collect();
                let most = options.iter().map(|(_, values)| values.len()).max().unwrap_or(1).max(1);
                (0..most).map(|round| Value::Object(choose(&options, round))).collect()
            }
            Value::Array(items) if items.iter().any(Value::is_object) => {
                let element = self.element();
                let options: Vec<Vec<Value>> = items.iter().map(|item| element.literals(item)).collect();
                let most = options.iter().map(Vec::len).max().unwrap_or(1);
                let pick = |values: &Vec<Value>, round: usize| values.get(round).or(values.last()).cloned();
                (0..most).map(|round| options.iter().filter_map(|values| pick(values, round)).collect()).collect()
            }
            plain => vec![plain.clone()],
        }
    }
}

/// True when a schema requires a name.
pub(super) fn is_required(schema: Option<&Value>, name: &str) -> bool {
    let names = schema.and_then(|schema| schema.get("required")?.as_array());
    names.is_some_and(|names| names.iter().any(|required| required == name))
}

/// Strings are compared loosely and objects by their accepted values, so neither can be one literal.
fn holds_text(value: &Value) -> bool {
    match value {
        Value::String(_) | Value::Object(_) => true,
        Value::Array(items) => items.iter().any(holds_text),
        _ => false,
    }
}

/// The option of this round for each member, or its last one.
fn choose(options: &[(&String, Vec<Option<Value>>)], round: usize) -> Map<String, Value> {
    let pick = |values: &Vec<Option<Value>>| values.get(round).or(values.last()).cloned().flatten();
    options.iter().filter_map(|(name, values)| Some(((*name).clone(), pick(values)?))).collect()
}

fn is_empty(value: &Value) -> bool {
    value.as_str() == Some("")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grade::compare::accepts;
    use serde_json::json;

    fn of(accepted: &Value) -> Argument {
        Accepted::new(accepted, None, false).matcher()
    }

    #[test]
    fn notation_of_the_accepted_values() {
        for (accepted, notation) in [
            (json!([5]), json!(5)),
            (json!(["units", ""]), json!({"loose": "units", "absent_ok": true})),
            (json!([""]), json!({"absent": true, "absent_ok": true})),
            (json!([[1, 2]]), json!([1, 2])),
            (json!([["a", "b"]]), json!({"items": [{"loose": "a"}, {"loose": "b"}]})),
            (json!(["*"]), json!("*")),
            (json!(["NY", "New York"]), json!({"any_of": [{"loose": "NY"}, {"loose": "New York"}]})),
            (
                json!([{"a": [1, 2], "b": ["x", ""]}]),
                json!({
                    "object": { "a": {"any_of": [1, 2]}, "b": {"loose": "x", "absent_ok": true} },
                    "only": true
                }),
            ),
        ] {
            let written = of(&accepted).to_notation();
            assert!(compare_notation(&written, &notation), "{written} is not {notation}");
        }
    }

    fn compare_notation(left: &Value, right: &Value) -> bool {
        let read = |value: &Value| serde_json::from_value::<Argument>(value.clone()).unwrap();
        read(left) == read(right)
    }

    #[test]
    fn an_empty_text_is_absence_a_value_or_neither() {
        let text = json!({"type": "string"});
        let choice = json!({"type": "string", "enum": ["a"]});
        let notation = |schema, required| Accepted::new(&json!(["a", ""]), Some(schema), required).matcher();
        let loose = |text: &str| Argument::new(Matcher::Loose(text.to_owned()));
        let either = Matcher::AnyOf(vec![loose("a"), Argument::exact(json!(""))]);
        assert_eq!(notation(&text, false), Argument { absent_ok: Some(true), ..Argument::new(either.clone()) });
        assert_eq!(notation(&text, true), Argument::new(either));
        assert_eq!(notation(&choice, false), Argument { absent_ok: Some(true), ..loose("a") });
        assert_eq!(notation(&choice, true), loose("a"));
        // The data says that the only right value of a required argument is the empty one.
        assert_eq!(Accepted::new(&json!([""]), Some(&choice), true).matcher(), Argument::exact(json!("")));
    }

    #[test]
    fn every_replay_is_accepted() {
        for accepted in [
            json!([5, 6]),
            json!(["NY", "New York", ""]),
            json!([[{"field": ["age"], "value": ["25", "26"]}]]),
            json!([{"a": [1, 2, ""], "b": ["x"]}]),
            json!([[[10, 20], [30, 40]]]),
            json!([null]),
        ] {
            let argument = of(&accepted);
            let values = Accepted::new(&accepted, None, false).replays();
            assert!(!values.is_empty());
            for value in values {
                match value {
                    Some(value) => assert!(accepts(&argument, &value), "{value} for {accepted}"),
                    None => assert_eq!(argument.absent_ok, Some(true), "{accepted}"),
                }
            }
        }
    }
}
