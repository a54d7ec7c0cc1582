use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::tokenizer::testing::{sentencepiece, smollm2};

/// xorshift64*: a reproducible source for choosing uniformly.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % limit
    }
}

#[allow(clippy::needless_pass_by_value)] // reads as a literal
fn tool(name: &str, arguments: Value) -> Value {
    json!({
        "type": "object", "properties": { "name": { "const": name }, "arguments": arguments },
        "required": ["name", "arguments"], "additionalProperties": false
    })
}

#[allow(clippy::needless_pass_by_value)] // reads as a literal
fn object(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn schemas() -> Vec<(&'static str, Value)> {
    let lamp = json!({ "room": { "enum": ["attic", "hall"] }, "on": { "type": "boolean" }, "level": { "type": "integer", "minimum": 0, "maximum": 10 } });
    let mail = json!({
        "to": { "type": "string", "maxLength": 12, "pattern": "^[a-z]+$" },
        "cc": { "type": "array", "items": { "type": "string", "maxLength": 3 }, "maxItems": 3 },
    });
    let inner = object(json!({ "x": { "type": "number" }, "n": { "type": ["integer", "null"] } }), &["x", "n"]);
    let nested = object(
        json!({ "a": inner, "list": { "type": "array", "items": { "type": "integer" }, "minItems": 1, "maxItems": 4 } }),
        &["a", "list"],
    );
    vec![
        (
            "tools",
            json!({ "anyOf": [
            tool("set_lamp", object(lamp, &["room", "on"])),
            tool("send_mail", object(mail, &["to"])),
            tool("answer", object(json!({ "text": { "type": "string" } }), &["text"])),
        ] }),
        ),
        ("nested", object(json!({ "outer": nested, "last": { "type": "boolean" } }), &["outer", "last"])),
        (
            "unicode",
            object(
                json!({ "été": { "enum": ["Orléans", "東京"] }, "c": { "const": "l'œuvre 😀\n\"" }, "s": { "type": "string", "maxLength": 4 } }),
                &["été", "c", "s"],
            ),
        ),
        (
            "numbers",
            object(
                json!({ "f": { "type": "number" }, "i": { "type": "integer" }, "p": { "type": "number", "exclusiveMinimum": 0 } }),
                &["f", "i", "p"],
            ),
        ),
        (
            "loose",
            json!({ "type": "object", "properties": { "any": {}, "list": { "type": "array", "maxItems": 2 } }, "required": ["any", "list"], "maxProperties": 2 }),
        ),
    ]
}

/// Chooses uniformly among allowed tokens until the answer is complete.
fn generate(tokenizer: &Tokenizer, mut constraint: Constraint, random: &mut Random) -> Vec<u32> {
    let mut ids = Vec::new();
    let mut forced: VecDeque<u32> = constraint.forced().into();
    while !constraint.is_done() {
        assert!(ids.len() < 100_000, "does not end");
        let id = forced.pop_front().unwrap_or_else(|| {
            let allowed = constraint.mask().unwrap().to_list();
            allowed[random.below(allowed.len())]
        });
        if tokenizer.is_end(id) {
            break;
        }
        constraint.commit(id).unwrap();
        ids.push(id);
        if forced.is_empty() {
            forced = constraint.forced().into();
        }
    }
    ids
}

fn text(tokenizer: &Tokenizer, ids: &[u32]) -> String {
    String::from_utf8(ids.iter().flat_map(|id| tokenizer.token_bytes(*id)).copied().collect()).unwrap()
}

#[test]
fn random_answers_always_satisfy_their_schema() {
    let tokenizer = smollm2();
    let factory = GrammarFactory::new(Arc::clone(&tokenizer));
    let mut random = Random(42);
    for (name, schema) in schemas() {
        let validator = jsonschema::validator_for(&schema).unwrap();
        let mut different = std::collections::HashSet::new();
        for _ in 0..200 {
            let ids = generate(&tokenizer, factory.constraint(&schema).unwrap(), &mut random);
            assert!(ids.iter().all(|id| !tokenizer.is_marker(*id)));
            let text = text(&tokenizer, &ids);
            let value: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}: {text}"));
            assert!(validator.is_valid(&value), "{name}: {text}");
            different.insert(text);
        }
        assert!(different.len() > 1, "{name} leaves a choice");
    }
}

#[test]
fn sentencepiece_answers_satisfy_their_schema_too() {
    let tokenizer = Arc::new(sentencepiece(&["{\"", "\":", "true", "▁", "a", "\"", "}", "{", ":"], vec![]));
    let factory = GrammarFactory::new(Arc::clone(&tokenizer));
    let schema = object(json!({ "a": { "type": "boolean" }, "s": { "type": "string", "maxLength": 3 } }), &["a", "s"]);
    let validator = jsonschema::validator_for(&schema).unwrap();
    let mut random = Random(7);
    for _ in 0..100 {
        let ids = generate(&tokenizer, factory.constraint(&schema).unwrap(), &mut random);
        let value: Value = serde_json::from_str(&text(&tokenizer, &ids)).unwrap();
        assert!(validator.is_valid(&value), "{value}");
    }
}

#[test]
fn forced_tokens_are_the_tokenizers_own() {
    let tokenizer = smollm2();
    let factory = GrammarFactory::new(Arc::clone(&tokenizer));
    let answer = r#"{"name":"set_lamp","arguments":{"room":"attic","on":true,"level":4}}"#;
    let canonical = tokenizer.encode_continuation(answer);
    let (_, schema) = schemas().remove(0);
    let mut constraint = factory.constraint(&schema).unwrap();
    let mut forced_count = 0;
    let mut position = 0;
    while position < canonical.len() {
        let forced = constraint.forced();
        forced_count += forced.len();
        assert!(canonical[position..].starts_with(&forced), "{:?}", text(&tokenizer, &forced));
        let next = if forced.is_empty() { &canonical[position..=position] } else { &forced[..] };
        for id in next {
            assert!(constraint.mask().unwrap().is_allowed(*id), "{}", text(&tokenizer, &[*id]));
            constraint.commit(*id).unwrap();
        }
        position += next.len();
    }
    assert!(constraint.is_done());
    assert!(forced_count >= 5, "{forced_count}");
}

#[test]
fn forks_go_their_own_ways() {
    let tokenizer = smollm2();
    let factory = GrammarFactory::new(Arc::clone(&tokenizer));
    let schema = json!({ "enum": ["ab", "cd"] });
    let byte = |byte: &str| tokenizer.encode_continuation(byte)[0];
    let mut first = factory.constraint(&schema).unwrap();
    first.commit(byte("\"")).unwrap();
    let mut second = first.fork();
    first.commit(byte("a")).unwrap();
    assert!(second.mask().unwrap().is_allowed(byte("c")));
    assert!(!first.mask().unwrap().is_allowed(byte("c")));
    second.commit(byte("c")).unwrap();
    for (constraint, rest) in [(&mut first, "b"), (&mut second, "d")] {
        constraint.commit(byte(rest)).unwrap();
        constraint.commit(byte("\"")).unwrap();
        assert!(constraint.is_done() && constraint.forced().is_empty());
        let after = constraint.mask().unwrap();
        assert!(after.to_list().iter().all(|id| tokenizer.is_end(*id)));
    }
}

#[test]
fn a_wrong_token_is_an_error_that_stays_with_its_answer() {
    let tokenizer = smollm2();
    let factory = GrammarFactory::new(Arc::clone(&tokenizer));
    let schema = json!({ "type": "boolean" });
    let mut wrong = factory.constraint(&schema).unwrap();
    let letter = tokenizer.encode_continuation("z")[0];
    assert!(matches!(wrong.commit(letter), Err(ModelError::Schema { .. })));
    assert!(wrong.mask().is_err());
    let right = factory.constraint(&schema).unwrap();
    let answer = text(&tokenizer, &generate(&tokenizer, right, &mut Random(1)));
    assert!(matches!(answer.as_str(), "true" | "false"));
}

#[test]
fn schemas_that_no_answer_satisfies_are_refused() {
    let factory = GrammarFactory::new(smollm2());
    for schema in [
        json!("text"),
        json!(true),
        json!({ "type": "nonsense" }),
        json!({ "$ref": "#/$defs/absent" }),
        json!({ "type": "integer", "minimum": 5, "maximum": 3 }),
        json!({ "type": "string", "pattern": "(" }),
    ] {
        match factory.constraint(&schema) {
            Err(ModelError::Schema { reason }) => assert!(!reason.is_empty() && !reason.contains('\n'), "{reason}"),
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("accepted {schema}"),
        }
    }
}

#[test]
fn bounds_are_added_only_where_a_schema_has_none() {
    let prepare = |schema: Value| schema::prepare(schema.as_object().unwrap());
    let number = prepare(json!({ "type": "number", "minimum": 3 }));
    assert_eq!((&number["minimum"], &number["maximum"]), (&json!(3), &json!(999_999_999_999_999_i64)));
    let beyond = prepare(json!({ "type": "integer", "minimum": 1e18 }));
    assert!(beyond.get("maximum").is_none());
    // Values and names that look like schemas are left alone.
    let literal = prepare(json!({ "const": { "type": "number" }, "default": { "type": "number" } }));
    assert_eq!(literal["const"], json!({ "type": "number" }));
    let named = prepare(object(json!({ "type": { "type": "string" }, "items": { "type": "string" } }), &[]));
    assert_eq!(named["properties"], json!({ "type": { "type": "string" }, "items": { "type": "string" } }));
}
