//! Masking of JSON: keys tell what their values are.

use serde_json::{Map, Value};

use super::assignment::{is_password_name, rule_of_pair};
use super::rule::Rule;
use super::value::is_placeholder;

/// Deepest nesting that is looked into; what is deeper is replaced.
const MAX_DEPTH: usize = 128;
/// Keys under a telling key whose value is what that key tells of.
const INNER: [&str; 8] = ["value", "plain", "plaintext", "plain_text", "current", "old", "new", "confirm"];

/// Masks every string in `value`, names of keys too, and gives the names of the rules that matched,
/// each once.
///
/// A key gives context: `{"password": "hunter2"}` is masked, also as a number, in a list, and in
/// the form `{"name": "DB_PASSWORD", "value": "hunter2"}`. Applied twice it gives the same.
pub fn mask_value(value: &mut Value) -> Vec<&'static str> {
    let mut found = Vec::new();
    walk(value, None, 0, &mut found);
    found
}

fn add(found: &mut Vec<&'static str>, rules: &[&'static str]) {
    for rule in rules {
        if !found.contains(rule) {
            found.push(rule);
        }
    }
}

fn walk(value: &mut Value, key: Option<&str>, depth: usize, found: &mut Vec<&'static str>) {
    match value {
        _ if depth > MAX_DEPTH => *value = Value::String("[secret:too-deep]".to_owned()),
        Value::String(text) => mask_text(text, key, found),
        Value::Number(_) if key.is_some_and(is_password_name) => {
            add(found, &["password"]);
            *value = Value::String(Rule::replacement("password"));
        }
        Value::Array(items) => {
            for item in items {
                walk(item, key, depth + 1, found);
            }
        }
        Value::Object(map) => *map = mask_map(std::mem::take(map), key, depth, found),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn mask_text(text: &mut String, key: Option<&str>, found: &mut Vec<&'static str>) {
    let masked = super::mask(text);
    let told = key.and_then(|key| rule_of_pair(key, text)).filter(|_| !is_placeholder(text));
    add(found, &masked.found);
    *text = match told {
        // A rule that knows the secret by its form says more than its key does.
        Some(rule) => {
            let rule = masked.found.first().copied().unwrap_or(rule);
            add(found, &[rule]);
            Rule::replacement(rule)
        }
        None => masked.text,
    };
}

fn mask_map(
    map: Map<String, Value>,
    key: Option<&str>,
    depth: usize,
    found: &mut Vec<&'static str>,
) -> Map<String, Value> {
    let named = ["name", "key"].iter().find_map(|name| map.get(*name)?.as_str()).map(str::to_owned);
    let mut masked = Map::with_capacity(map.len());
    for (name, mut value) in map {
        let context = match (name.as_str(), &named) {
            ("value", Some(named)) if key.is_none() => Some(named.as_str()),
            (inner, _) if INNER.contains(&inner) => key.or(Some(inner)),
            (own, _) => Some(own),
        };
        walk(&mut value, context, depth + 1, found);
        let clean = super::mask(&name);
        add(found, &clean.found);
        masked.insert(unused(&masked, &clean.text), value);
    }
    masked
}

/// Two keys that were different stay so.
fn unused(map: &Map<String, Value>, name: &str) -> String {
    let mut free = name.to_owned();
    let mut number = 1;
    while map.contains_key(&free) {
        number += 1;
        free = format!("{name} {number}");
    }
    free
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn masked(mut value: Value) -> (Value, Vec<&'static str>) {
        let found = mask_value(&mut value);
        let once = value.clone();
        assert_eq!(mask_value(&mut value), Vec::<&str>::new(), "{once}");
        assert_eq!(value, once);
        (once, found)
    }

    #[test]
    fn keys_give_context() {
        let (value, found) = masked(json!({
            "user": "ada", "password": "hunter2", "pin_code": 1234, "nested": {"db_pwd": "two words"},
            "passwords": ["one", "two"], "mot_de_passe": "tulipe", "max_tokens": 4096, "token": null
        }));
        assert_eq!(
            value,
            json!({
                "user": "ada", "password": "[secret:password]", "pin_code": "[secret:password]",
                "nested": {"db_pwd": "[secret:password]"}, "passwords": ["[secret:password]", "[secret:password]"],
                "mot_de_passe": "[secret:password]", "max_tokens": 4096, "token": null
            })
        );
        assert_eq!(found, ["password"]);
    }

    #[test]
    fn pairs_and_inner_values_are_known() {
        let (value, _) = masked(json!([{"name": "DB_PASSWORD", "value": "hunter2"}, {"password": {"value": "x1"}}]));
        assert_eq!(
            value,
            json!([{"name": "DB_PASSWORD", "value": "[secret:password]"}, {"password": {"value": "[secret:password]"}}])
        );
    }

    #[test]
    fn forms_win_over_keys_and_keys_are_masked_too() {
        let token = format!("gh{}_{}", 'p', "aB3".repeat(12));
        let (value, found) = masked(json!({"token": token, token.clone(): 1, "note": format!("see {token}.")}));
        assert_eq!(
            value,
            json!({"token": "[secret:github-token]", "[secret:github-token]": 1, "note": "see [secret:github-token]."})
        );
        assert_eq!(found, ["github-token"]);
    }

    #[test]
    fn schemas_and_labels_stay() {
        let schema = json!({
            "properties": {"password": {"type": "string", "description": "The password"}, "token": {"type": "string"}},
            "required": ["password", "token"], "labels": {"password": "Mot de passe", "secret": "none"}
        });
        assert_eq!(masked(schema.clone()), (schema, vec![]));
    }

    #[test]
    fn depth_is_bounded() {
        let mut value = json!("x");
        for _ in 0..200 {
            value = json!([value]);
        }
        mask_value(&mut value);
        assert!(value.to_string().contains("too-deep"));
    }
}
