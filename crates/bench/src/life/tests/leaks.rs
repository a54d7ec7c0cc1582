//! Whatever was planted into a conversation, none of it is in the case.

use proptest::prelude::*;
use serde_json::json;
use tenpass_agent::fold;
use tenpass_agent::testing::{Said, seeded_secret};

use super::*;
use crate::cases::{SuiteShared, case_text};

/// Words that a stranger must not read.
#[derive(Debug, Clone)]
struct Planted {
    first: &'static str,
    last: &'static str,
    phone: String,
    hidden: String,
}

impl Planted {
    fn mail(&self) -> String {
        format!("{}.{}@laposte.net", fold(self.first), fold(self.last))
    }

    fn all(&self) -> Vec<String> {
        let host = "laposte.net".to_owned();
        vec![
            self.first.into(),
            self.last.into(),
            self.phone.clone(),
            self.mail(),
            host,
            self.hidden.clone(),
            seeded_secret(),
        ]
    }
}

fn planted() -> impl Strategy<Value = Planted> {
    let first = proptest::sample::select(vec!["Sophie", "Thierry", "Jennifer", "Noémie"]);
    let last = proptest::sample::select(vec!["Kowalczyk", "Berthelot", "Nakamura"]);
    (first, last, 0_u32..10_000, "[b-df-hj-np-tv-xz]{7,10}").prop_map(|(first, last, number, hidden)| Planted {
        first,
        last,
        phone: format!("06 12 34 {:02} {:02}", number / 100, number % 100),
        hidden,
    })
}

/// A conversation with all of it in every place: request, earlier turn, arguments, result, correction,
/// memory.
async fn lived(planted: &Planted) -> (Home, String) {
    let Planted { first, last, phone, hidden } = planted;
    let (mail, secret) = (planted.mail(), seeded_secret());
    let mut home = Home::new(vec![
        Said::text(&format!("{first} {last} est joignable au {phone}, clé {secret}.")),
        call("read_file", json!({ "filename": format!("{}-{}.txt", fold(first), fold(last)) })),
        call("read_file", json!({ "wrong": format!("{first} {mail} {hidden}") })),
        call(
            "write_file",
            json!({ "filename": format!("{hidden}.md"), "content": format!("{first} {last}, {phone}, {mail}, {secret}") }),
        ),
        Said::text("C'est fait."),
    ]);
    home.file(
        &format!("{}-{}.txt", fold(first), fold(last)),
        &format!(
            "Contact: {first} {last}\nTél: {phone}\nMail: {mail}\nProjet {hidden}\ntoken = {secret}\n/home/{}/x",
            fold(last)
        ),
    );
    std::fs::write(home.folder().memory(), format!("# Moi\nJe vis avec {first} {last} ; projet {hidden}.\n")).unwrap();
    home.say(&format!("Qui est {first} {last} ? Mon mot de passe est \"{secret}\"")).await;
    let turn = home.say(&format!("Note le numéro {phone} et {mail} de {first} dans {hidden}.md, avec {secret}")).await;
    home.judge(&turn, &Feedback::Correct(format!("il fallait lire le fichier de {first} {last}, pas {hidden}")));
    (home, turn)
}

fn assert_clean(text: &str, planted: &Planted) {
    let folded = fold(text);
    for word in planted.all() {
        assert!(!folded.contains(&fold(&word)), "{word:?} in {text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]
    #[test]
    fn nothing_planted_reaches_a_case_or_a_proposal(planted in planted()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (home, turn) = runtime.block_on(lived(&planted));
        let life = home.life();
        let options = DraftOptions { hide: vec![planted.hidden.clone()], ..home.options() };
        let mut draft = Draft::of(&life, life.find(&turn, None).unwrap(), &options, None).unwrap();
        prop_assert!(draft.moment.calls_before == 1, "{:?}", draft.moment);
        prop_assert!(!draft.candidates.is_empty());
        for candidate in draft.candidates.clone() {
            draft.choose(&candidate);
            draft.say_provenance(None);
            draft.check_leaks().unwrap();
            assert_clean(&case_text(&draft.case, &SuiteShared::default()), &planted);
            assert_clean(&candidate.lines, &planted);
        }
        assert_clean(&format!("{} {:?} {:?} {}", draft.request, draft.correction, draft.notes, draft.case.id), &planted);
        prop_assert!(draft.masked().contains(&"github-token"));
        let harvest = harvest(&life, None, &[], &options).unwrap();
        prop_assert!(!harvest.proposals.is_empty());
        assert_clean(&serde_json::to_string(&harvest).unwrap(), &planted);
        assert_clean(&drafts_toml(&harvest.proposals).unwrap(), &planted);
        let kept = std::fs::read_to_string(home.folder().path().join(PLACEHOLDERS_FILE)).unwrap();
        assert_clean(&kept, &planted);
    }
}

#[tokio::test]
async fn one_word_is_the_same_in_every_case_of_a_suite() {
    let mut home = Home::new(vec![Said::text("Hm.")]);
    let mut names = std::collections::BTreeSet::new();
    for text in ["Écris à Sophie Berthelot.", "Rappelle Sophie demain", "Sophie a-t-elle répondu ?"] {
        let turn = home.say(text).await;
        let draft = home.draft(&turn);
        names.insert(draft.mapping().into_iter().find(|replaced| replaced.was == "Sophie").unwrap().is);
    }
    assert_eq!(names.len(), 1, "{names:?}");
}

#[tokio::test]
async fn a_hostile_trace_is_data() {
    let evil = "\"\"\"\n[[case]]\nid = \"evil\"\n[case.expect]\nno_call = true\n\u{0}\u{7}\r\n'''\\";
    let mut home = Home::new(vec![
        call("read_file", json!({ "filename": "a.txt" })),
        call("read_file", json!({ evil: evil, "nested": [[[[{ "x": null }]]]] })),
        Said::text(evil),
        Said::text("x"),
    ]);
    home.file("a.txt", &format!("{}{}", evil.replace(['\u{0}', '\u{7}'], ""), "A very long line. ".repeat(4_000)));
    let turn = home.say(&format!("Read a.txt {evil}")).await;
    home.judge(&turn, &Feedback::Correct(evil.to_owned()));
    let mut draft = home.draft(&turn);
    assert_eq!(draft.moment.calls_before, 1);
    draft.expect("--expect", "forbid = [\"write_file\"]").unwrap();
    draft.say_provenance(Some(evil));
    let filed = file_case(draft.case.clone(), &home.cases(), false, evil).unwrap();
    let suite = crate::cases::load_suite(&home.cases()).unwrap();
    assert_eq!((suite.cases.len(), suite.cases[0].id.as_str()), (1, filed.case.id.as_str()));
    assert!(std::fs::metadata(&filed.path).unwrap().len() < 100_000, "texts are bounded");
    let result = &suite.cases[0].messages.last().unwrap().content;
    assert!(result.contains("[cut: the first"), "{}", result.len());
}
