use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::cases::{expect_lines, parse_expect};

fn tools() -> Vec<ToolDefinition> {
    let schema = json!({ "type": "object", "properties": {
        "provider": { "type": "string", "enum": ["claude", "jules"] },
        "filename": { "type": "string" }, "task": { "type": "string" },
    } });
    vec![ToolDefinition::new("delegate", "Hands on.").with_parameters(schema)]
}

fn disguise() -> Disguise {
    Disguise::new(Placeholders::in_memory([5; 32]), &tools())
}

/// What a text becomes when nothing but itself is known.
fn alone(text: &str) -> String {
    let mut disguise = disguise();
    disguise.read(text, Whose::Persons);
    disguise.settle().unwrap();
    disguise.text(text)
}

#[test]
fn a_name_is_another_name_and_the_sentence_stays() {
    let made = alone("Écris à Anne Dupont d’Orsay: qu'Anne rappelle. ANNE, anne.");
    assert!(!fold(&made).contains("anne") && !fold(&made).contains("dupont"), "{made}");
    assert!(made.starts_with("Écris à ") && made.contains(" rappelle. "), "{made}");
    // A vowel stays a vowel, for the elision before it.
    let elided = made.split("qu'").nth(1).unwrap().chars().next().unwrap();
    assert!("AEIO".contains(elided), "{made}");
    let name: String = made.split("qu'").nth(1).unwrap().chars().take_while(|c| c.is_alphabetic()).collect();
    assert!(made.contains(&name.to_uppercase()) && made.contains(&name.to_lowercase()), "{made}");
}

#[test]
fn forms_keep_their_shape_and_amounts_stay() {
    let made = alone(
        "Virer 1 250,50 € le 2026-11-30 de FR76 3000 6000 0112 3456 7890 189, voir /home/mdupont/a.md et mdupont@acme.fr",
    );
    assert!(made.contains("1 250,50 €") && made.contains("2026-11-30"), "{made}");
    assert!(made.contains("@example.org") && !made.contains("dupont") && !made.contains("acme"), "{made}");
    assert!(made.contains("/a.md") && !made.contains("3000 6000"), "{made}");
}

#[test]
fn one_word_has_one_placeholder_in_all_cases() {
    let folder = tempfile::tempdir().unwrap();
    let mut seen = Vec::new();
    for text in ["Écris à Marie.", "Demain, Sophie et Marie viennent.", "Paul a vu Marie"] {
        let mut disguise = Disguise::new(Placeholders::open(folder.path()).unwrap(), &tools());
        disguise.read(text, Whose::Persons);
        disguise.settle().unwrap();
        disguise.text(text);
        seen.push(disguise.mapping().into_iter().find(|replaced| replaced.was == "Marie").unwrap().is);
    }
    assert!(seen.iter().all(|placeholder| *placeholder == seen[0]), "{seen:?}");
    // Nothing says that this is a name, but it was replaced before.
    let mut disguise = Disguise::new(Placeholders::open(folder.path()).unwrap(), &[]);
    disguise.hide("Trifouillis");
    disguise.read("Trifouillis est loin", Whose::Persons);
    disguise.settle().unwrap();
    let mut later = Disguise::new(Placeholders::open(folder.path()).unwrap(), &[]);
    later.read("Trifouillis est loin", Whose::Persons);
    later.settle().unwrap();
    assert_eq!(later.text("Trifouillis est loin"), disguise.text("Trifouillis est loin"));
    assert!(!later.text("Trifouillis").contains("Trifouillis"));
}

#[test]
fn what_tools_call_things_stays_and_what_is_named_goes() {
    assert_eq!(alone("Ask Jules and Claude"), "Ask Jules and Claude");
    let mut disguise = disguise();
    disguise.hide("projet zébulon, 4711");
    disguise.know("I work with Wolfgang at Acme.");
    let text = "the zebulon plan 4711 of wolfgang, ACME";
    disguise.read(text, Whose::Persons);
    disguise.settle().unwrap();
    let made = disguise.text(text);
    for word in ["zebulon", "4711", "wolfgang", "acme"] {
        assert!(!fold(&made).contains(word), "{made}");
    }
    assert!(made.starts_with("the ") && made.contains(" plan "), "{made}");
}

#[test]
fn joined_names_and_secrets_go_too() {
    let mut disguise = disguise();
    let secret = tenpass_agent::testing::seeded_secret();
    let text = format!("Marie Kowalski: mariekowalski.pdf, MarieKowalski2.txt, clé {secret}");
    disguise.read(&text, Whose::Persons);
    disguise.settle().unwrap();
    let made = disguise.text(&text);
    assert!(!fold(&made).contains("marie") && !fold(&made).contains("kowalski") && !made.contains(&secret), "{made}");
    assert!(made.contains("[secret:") && made.contains(".pdf") && made.contains("2.txt"), "{made}");
    assert_eq!(disguise.masked().len(), 1);
    assert!(disguise.mapping().iter().all(|replaced| !replaced.was.contains(&secret)));
}

#[test]
fn an_expectation_is_rewritten_with_its_request() {
    let mut disguise = disguise();
    disguise.read("Demande à Marie pour le 06 12 34 56 78 et marie@acme.fr", Whose::Persons);
    let lines = "calls = [{ tool = 'delegate', arguments = { provider = 'claude', filename = { regex = '(?i)\\b[Mm]arie\\.pdf$' }, task = { any_of = [{ contains = 'Marie' }, { loose = 'marie@acme.fr' }, { regex = '06 12 34 56 78|marie@acme\\.fr' }] } } }]";
    let expect = parse_expect("--expect", lines, &tools()).unwrap();
    disguise.read_expect(&expect);
    disguise.settle().unwrap();
    let made = expect_lines(&disguise.expect(&expect));
    assert!(!fold(&made).contains("marie") && !made.contains("acme") && !made.contains("06 12"), "{made}");
    assert!(made.contains("claude") && made.contains("pdf$") && made.contains("(?i)"), "{made}");
    assert!(parse_expect("made", &made, &tools()).is_ok(), "{made}");
    assert_eq!(disguise.leak(&made), None);
}

#[test]
fn what_would_stay_is_noticed() {
    let mut disguise = disguise();
    disguise.read("Écris à Zoé, 06 12 34 56 78", Whose::Persons);
    disguise.settle().unwrap();
    assert_eq!(disguise.leak("Nothing of it"), None);
    assert_eq!(disguise.leak("an Zoé"), Some("first name"));
    assert_eq!(disguise.leak("tel:06.12.34.56.78"), Some("telephone number"));
    let made = disguise.text("Écris à Zoé, 06 12 34 56 78");
    assert_eq!(disguise.leak(&made), None);
}

/// Personal words in sentences of both languages, in every place where a trace may hold them.
fn planted() -> impl Strategy<Value = (String, Vec<String>)> {
    let first = proptest::sample::select(vec!["Sophie", "Thierry", "Jennifer", "Kevin", "Noémie", "Stéphane"]);
    let last = proptest::sample::select(vec!["Kowalczyk", "Berthelot", "O'Sullivan", "Nakamura", "Lefèvre"]);
    let phone = (0_u32..100_000_000).prop_map(|number| {
        let digits = format!("{number:08}");
        format!("06 {} {} {} {}", &digits[..2], &digits[2..4], &digits[4..6], &digits[6..])
    });
    let frame = proptest::sample::select(vec![
        "Écris une lettre à {f} {l}, {p}, {m}.",
        "Call {f} {l} at {p} or write to {m}",
        "Peux-tu ouvrir /home/{u}/Documents/{u}-cv.pdf de {f} {l} ?",
        "notes: {f} {l}; {m}; {p}",
        "Remind {f} that M. {l} called ({p})",
    ]);
    (first, last, phone, frame).prop_map(|(first, last, phone, frame)| {
        let user = format!("{}{}", fold(first), fold(last).replace('\'', ""));
        let mail = format!("{}.{}@laposte.net", fold(first), fold(last).replace('\'', ""));
        let text = frame.replace("{f}", first).replace("{l}", last).replace("{p}", &phone);
        let text = text.replace("{m}", &mail).replace("{u}", &user);
        let words = [first.to_owned(), last.rsplit('\'').next().unwrap_or(last).to_owned(), phone, mail, user];
        (text.clone(), words.into_iter().filter(|word| text.contains(word.as_str())).collect())
    })
}

proptest! {
    #[test]
    fn no_planted_word_survives((text, planted) in planted(), noise in "\\PC{0,30}") {
        let whole = format!("{noise}\n{text}");
        let mut disguise = disguise();
        disguise.read(&whole, Whose::Persons);
        disguise.settle().unwrap();
        let made = disguise.text(&whole);
        for word in planted {
            prop_assert!(!fold(&made).contains(&fold(&word)), "{} in {}", word, made);
        }
        prop_assert_eq!(disguise.leak(&made), None);
    }

    #[test]
    fn any_text_is_rewritten_without_a_panic(text in any::<String>(), other in "(\\PC|[A-Z][a-z]{2,6} |[0-9 ]{1,3}){0,30}") {
        let mut disguise = disguise();
        disguise.read(&text, Whose::Persons);
        disguise.read_value(&json!({ "a": other, "n": 123_456_789_012_u64 }), Whose::Outside);
        disguise.settle().unwrap();
        disguise.text(&text);
        disguise.value(&json!({ "a": other, &*text: [123_456_789_012_u64] }));
    }
}
