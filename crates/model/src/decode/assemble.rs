//! Fragments of streamed tool calls → whole calls.
//!
//! The protocol keys fragments by `index`, with id and name on the first one. Servers deviate:
//! the index is missing or always 0, the id comes late, on every fragment, or never, fragments of
//! several calls interleave, arguments are an object, or several calls run into one. What can
//! only mean one thing is put right, and the call says so in `repaired`.

use serde_json::{Map, Value};

use crate::StructuredCall;

const INDEX_MISSING: &str = "index missing";
const INDEX_REUSED: &str = "index reused for another call";
const ID_CHANGED: &str = "id changed within a call";
const ARGUMENTS_REPEATED: &str = "arguments sent more than once";
const EMPTY_FIRST: &str = "empty arguments before the real ones";
const ARGUMENTS_MERGED: &str = "several argument objects in one call";

/// One fragment as it came.
#[derive(Debug, Default, Clone)]
pub(crate) struct Fragment {
    pub(crate) index: Option<u64>,
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) arguments: Option<Value>,
}

impl Fragment {
    /// Reads a fragment, or a whole call, of the OpenAI protocol.
    pub(crate) fn read(call: &Value) -> Self {
        let function = call.get("function").unwrap_or(call);
        let text =
            |value: Option<&Value>| value.and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
        Self {
            index: call.get("index").and_then(Value::as_u64),
            id: text(call.get("id")),
            name: text(function.get("name")),
            arguments: function.get("arguments").filter(|arguments| !arguments.is_null()).cloned(),
        }
    }
}

/// A call that may still grow.
#[derive(Debug, Default)]
struct Open {
    index: Option<u64>,
    id: Option<String>,
    name: String,
    text: String,
    object: Option<Value>,
    repaired: Option<&'static str>,
}

impl Open {
    fn is_complete(&self) -> bool {
        self.object.is_some() || matches!(serde_json::from_str(&self.text), Ok(Value::Object(_)))
    }

    fn take(&mut self, fragment: Fragment) {
        if self.id.is_none() {
            self.id = fragment.id;
        }
        if self.name.is_empty() {
            self.name = fragment.name.unwrap_or_default();
        }
        match fragment.arguments {
            None => {}
            Some(Value::String(piece)) => self.text.push_str(&piece),
            Some(object @ Value::Object(_)) => {
                if self.object.as_ref().is_some_and(|known| *known != object) {
                    self.repaired.get_or_insert(ARGUMENTS_REPEATED);
                }
                self.object = Some(object);
            }
            Some(other) => self.text.push_str(&other.to_string()),
        }
    }
}

/// Where a fragment belongs.
enum Place {
    At(usize, Option<&'static str>),
    New(Option<&'static str>),
}

/// Collects the fragments of one answer.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    open: Vec<Open>,
}

impl Assembler {
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    pub(crate) fn push(&mut self, fragment: Fragment) {
        let (position, repair) = match self.place(&fragment) {
            Place::At(position, repair) => (position, repair),
            Place::New(repair) => {
                self.open.push(Open { index: fragment.index, ..Open::default() });
                (self.open.len() - 1, repair)
            }
        };
        let open = &mut self.open[position];
        if let Some(repair) = repair {
            open.repaired.get_or_insert(repair);
        }
        open.take(fragment);
    }

    fn place(&self, fragment: &Fragment) -> Place {
        let same_id =
            fragment.id.as_ref().and_then(|id| self.open.iter().rposition(|open| open.id.as_ref() == Some(id)));
        if let Some(position) = same_id {
            let known = self.open[position].index;
            // One id for every call, told apart by the index alone, exists too.
            if known.is_none() || fragment.index.is_none() || known == fragment.index {
                return Place::At(position, None);
            }
        }
        match fragment.index {
            Some(index) => match self.open.iter().rposition(|open| open.index == Some(index)) {
                Some(position) => self.place_at_index(position, fragment),
                None => Place::New(None),
            },
            None => self.place_without_index(fragment),
        }
    }

    fn place_at_index(&self, position: usize, fragment: &Fragment) -> Place {
        let open = &self.open[position];
        let names_another = fragment
            .name
            .as_ref()
            .is_some_and(|name| open.is_complete() || (!open.name.is_empty() && open.name != *name));
        match (&fragment.id, &open.id) {
            (Some(_), Some(known)) if fragment.id.as_ref() != Some(known) => {
                if fragment.name.is_some() {
                    Place::New(Some(INDEX_REUSED))
                } else {
                    Place::At(position, Some(ID_CHANGED))
                }
            }
            _ if names_another => Place::New(Some(INDEX_REUSED)),
            _ => Place::At(position, None),
        }
    }

    fn place_without_index(&self, fragment: &Fragment) -> Place {
        let Some(last) = self.open.last() else {
            return Place::New(Some(INDEX_MISSING));
        };
        let at_last = |repair| Place::At(self.open.len() - 1, Some(repair));
        let names_another = fragment.name.as_ref().is_some_and(|name| last.is_complete() || last.name != *name);
        match (&fragment.id, &last.id) {
            (Some(_), Some(_)) if fragment.name.is_some() => Place::New(Some(INDEX_MISSING)),
            (Some(_), Some(_)) => at_last(ID_CHANGED),
            _ if names_another => Place::New(Some(INDEX_MISSING)),
            _ => at_last(INDEX_MISSING),
        }
    }

    /// The whole calls, in the order in which they began.
    pub(crate) fn finish(&mut self) -> Vec<StructuredCall> {
        std::mem::take(&mut self.open).into_iter().flat_map(close).collect()
    }
}

fn close(open: Open) -> Vec<StructuredCall> {
    let Open { id, name, text, object, repaired, .. } = open;
    let call = |arguments: Value, repair: Option<&str>| StructuredCall {
        id: id.clone(),
        name: name.clone(),
        arguments,
        repaired: repaired.or(repair).map(str::to_owned),
    };
    if let Some(object) = object {
        return vec![call(object, None)];
    }
    let mut objects = several_objects(&text);
    if objects.len() > 1 && objects[0].is_empty() {
        objects.remove(0);
        if objects.len() == 1 {
            return vec![call(Value::Object(objects.remove(0)), Some(EMPTY_FIRST))];
        }
    }
    if objects.len() > 1 {
        return objects.into_iter().map(|object| call(Value::Object(object), Some(ARGUMENTS_MERGED))).collect();
    }
    vec![call(decoded(Value::String(text)), None)]
}

/// The objects of a text that is nothing but JSON objects; empty when it is anything else.
fn several_objects(text: &str) -> Vec<Map<String, Value>> {
    serde_json::Deserializer::from_str(text).into_iter().collect::<Result<_, _>>().unwrap_or_default()
}

/// Arguments as [`StructuredCall`] wants them: nothing at all is no arguments; a string that
/// decodes to an object is that object; everything else stays as it came.
pub(crate) fn decoded(arguments: Value) -> Value {
    match arguments {
        Value::Null => Value::Object(Map::new()),
        Value::String(text) if text.trim().is_empty() => Value::Object(Map::new()),
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(object @ Value::Object(_)) => object,
            _ => Value::String(text),
        },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn assemble(fragments: &Value) -> Vec<StructuredCall> {
        let mut assembler = Assembler::default();
        for fragment in fragments.as_array().unwrap() {
            assembler.push(Fragment::read(fragment));
        }
        assembler.finish()
    }

    /// What the calls are, without ids: name, arguments, repair.
    fn brief(calls: &[StructuredCall]) -> Vec<(&str, &Value, Option<&str>)> {
        calls.iter().map(|call| (call.name.as_str(), &call.arguments, call.repaired.as_deref())).collect()
    }

    fn fragment(
        index: impl Into<Value>,
        id: impl Into<Value>,
        name: impl Into<Value>,
        arguments: impl Into<Value>,
    ) -> Value {
        json!({ "index": index.into(), "id": id.into(), "function": { "name": name.into(), "arguments": arguments.into() } })
    }

    const N: Value = Value::Null;

    #[test]
    fn the_protocol_as_written_needs_no_repair() {
        let calls = assemble(&json!([
            fragment(json!(0), json!("a"), json!("lamp"), json!("")),
            fragment(json!(0), N, N, json!("{\"on\"")),
            fragment(json!(0), N, N, json!(":true}")),
            fragment(json!(1), json!("b"), json!("door"), json!("{}")),
        ]));
        assert_eq!(brief(&calls), [("lamp", &json!({"on": true}), None), ("door", &json!({}), None)]);
        assert_eq!(calls[1].id.as_deref(), Some("b"));
    }

    #[test]
    fn interleaved_fragments_stay_apart() {
        let calls = assemble(&json!([
            fragment(json!(0), json!("a"), json!("lamp"), json!("{\"n\"")),
            fragment(json!(1), json!("b"), json!("lamp"), json!("{\"n\"")),
            fragment(json!(0), N, N, json!(":1}")),
            fragment(json!(1), N, N, json!(":2}")),
        ]));
        assert_eq!(brief(&calls), [("lamp", &json!({"n": 1}), None), ("lamp", &json!({"n": 2}), None)]);
    }

    #[test]
    fn an_index_that_is_always_zero_is_repaired_by_the_id() {
        let calls = assemble(&json!([
            fragment(json!(0), json!("a"), json!("lamp"), json!("{\"n\":")),
            fragment(json!(0), N, N, json!("1}")),
            fragment(json!(0), json!("b"), json!("lamp"), json!("{\"n\":")),
            fragment(json!(0), N, N, json!("2}")),
        ]));
        assert_eq!(brief(&calls), [("lamp", &json!({"n": 1}), None), ("lamp", &json!({"n": 2}), Some(INDEX_REUSED))]);
        assert_eq!((calls[0].id.as_deref(), calls[1].id.as_deref()), (Some("a"), Some("b")));
    }

    #[test]
    fn an_index_that_is_always_zero_without_ids_is_repaired_by_the_name() {
        let calls = assemble(&json!([
            fragment(json!(0), N, json!("lamp"), json!("{\"n\":1}")),
            fragment(json!(0), N, json!("lamp"), json!("{\"n\":2}")),
        ]));
        assert_eq!(brief(&calls)[1], ("lamp", &json!({"n": 2}), Some(INDEX_REUSED)));
    }

    #[test]
    fn a_missing_index_is_repaired_by_order() {
        let calls = assemble(&json!([
            fragment(N, json!("a"), json!("lamp"), json!("{\"n\":")),
            fragment(N, N, N, json!("1}")),
            fragment(N, json!("b"), json!("door"), json!("")),
            fragment(N, json!("b"), N, json!("{\"n\":2}")),
        ]));
        assert_eq!(
            brief(&calls),
            [("lamp", &json!({"n": 1}), Some(INDEX_MISSING)), ("door", &json!({"n": 2}), Some(INDEX_MISSING))]
        );
    }

    #[test]
    fn ids_and_names_on_every_fragment_do_not_make_new_calls() {
        let calls = assemble(&json!([
            fragment(json!(0), json!("a"), json!("lamp"), json!("{\"n\":")),
            fragment(json!(0), json!("a"), json!("lamp"), json!("1}")),
        ]));
        assert_eq!(brief(&calls), [("lamp", &json!({"n": 1}), None)]);
        let without_id = assemble(&json!([
            fragment(N, N, json!("lamp"), json!("{\"n\":")),
            fragment(N, N, json!("lamp"), json!("1}")),
        ]));
        assert_eq!(brief(&without_id), [("lamp", &json!({"n": 1}), Some(INDEX_MISSING))]);
    }

    #[test]
    fn one_id_for_all_calls_is_told_apart_by_the_index() {
        let calls = assemble(&json!([
            fragment(json!(0), json!("x"), json!("lamp"), json!("{}")),
            fragment(json!(1), json!("x"), json!("door"), json!("{}")),
        ]));
        assert_eq!(brief(&calls), [("lamp", &json!({}), None), ("door", &json!({}), None)]);
    }

    #[test]
    fn an_id_that_changes_within_a_call_or_comes_late_is_one_call() {
        let calls = assemble(&json!([
            fragment(json!(0), json!("a"), json!("lamp"), json!("{\"n\":")),
            fragment(json!(0), json!("b"), N, json!("1}")),
        ]));
        assert_eq!(brief(&calls), [("lamp", &json!({"n": 1}), Some(ID_CHANGED))]);
        let late = assemble(&json!([
            fragment(json!(0), N, json!("lamp"), json!("{\"n\":")),
            fragment(json!(0), json!("a"), N, json!("1}")),
        ]));
        assert_eq!((brief(&late), late[0].id.as_deref()), (vec![("lamp", &json!({"n": 1}), None)], Some("a")));
    }

    #[test]
    fn arguments_may_be_objects_nothing_or_run_together() {
        let object = assemble(&json!([fragment(json!(0), N, json!("lamp"), json!({"on": true}))]));
        assert_eq!(brief(&object), [("lamp", &json!({"on": true}), None)]);
        let nothing = assemble(&json!([fragment(json!(0), N, json!("time"), N)]));
        assert_eq!(brief(&nothing), [("time", &json!({}), None)]);
        let empty_first = assemble(&json!([fragment(json!(0), N, json!("lamp"), json!("{}{\"on\":true}"))]));
        assert_eq!(brief(&empty_first), [("lamp", &json!({"on": true}), Some(EMPTY_FIRST))]);
        let merged = assemble(&json!([fragment(json!(0), N, json!("lamp"), json!("{\"n\":1}{\"n\":2}"))]));
        assert_eq!(
            brief(&merged),
            [("lamp", &json!({"n": 1}), Some(ARGUMENTS_MERGED)), ("lamp", &json!({"n": 2}), Some(ARGUMENTS_MERGED))]
        );
    }

    #[test]
    fn what_does_not_decode_stays_as_it_came() {
        for text in ["{\"on\":", "\"{\\\"on\\\":true}\"", "[1]", "{\"a\":1} trailing"] {
            let calls = assemble(&json!([fragment(json!(0), N, json!("lamp"), json!(text))]));
            assert_eq!(calls[0].arguments, json!(text));
        }
    }
}
