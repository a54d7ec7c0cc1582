//! The shipped commands, and what the dispatcher must never do.

use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::*;

fn corpora(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpora/commands").join(file)
}

fn shipped() -> Commands {
    Commands::load(&corpora("commands.toml")).unwrap()
}

fn id(dispatch: &Dispatch) -> &str {
    dispatch.id().unwrap_or("none")
}

#[test]
fn there_are_enough_commands_and_sentences() {
    let commands = shipped();
    assert!(commands.list().len() >= 60);
    for axis in [Axis::View, Axis::Line, Axis::Word] {
        assert!(commands.list().iter().filter(|command| command.axis == axis).count() >= 15);
    }
    assert!(commands.list().iter().all(|command| !command.en.is_empty() && !command.fr.is_empty()));
    let other = load_other(&corpora("other.toml")).unwrap();
    for language in Language::ALL {
        assert!(other.iter().filter(|sentence| sentence.language == language).count() >= 100);
    }
}

#[test]
fn every_phrasing_is_its_own_command_exactly() {
    let commands = shipped();
    for phrase in commands.phrases() {
        let found = commands.dispatch(&commands.spoken(&phrase), phrase.language.tag());
        let Dispatch::Command { id, slots, how, .. } = &found else { panic!("{phrase:?}: {found:?}") };
        assert_eq!((id, slots), (&phrase.id, &phrase.slots), "{phrase:?}");
        assert!(matches!(how, How::Exact | How::Folded), "{phrase:?}: {how:?}");
    }
}

#[test]
fn utterances_as_speech_to_text_writes_them() {
    let commands = shipped();
    for (text, language, expected) in [
        ("Kora, read number 3.", "en", "line-read"),
        ("Cora read three", "en", "line-read"),
        ("Hey Kora, calendar please!", "en", "view-calendar"),
        ("Korra, lis le 3e.", "fr", "line-read"),
        ("Kora, actualité", "fr", "view-news"),
        ("KORA : REGLAGES", "fr", "view-settings"),
        ("Kora, Wether forecast.", "en", "view-weather"),
        ("Kora, suprimme le numéro douze", "fr", "line-delete"),
        ("Kora, call Brunot.", "en", "line-call"),
        ("calendar", "en", "none"),
        ("Kora", "en", "none"),
        ("Kora, read", "en", "none"),
        ("Kora, what is the weather going to be like tomorrow?", "en", "none"),
        ("Kora, volume sideways", "en", "none"),
        ("Kora, lis", "fr", "none"),
        ("", "fr", "none"),
    ] {
        assert_eq!(id(&commands.dispatch(text, language)), expected, "{text}");
    }
    assert_eq!(id(&commands.dispatch_heard("calendar", "en")), "view-calendar");
    // Without a known language both are possible.
    assert_eq!(id(&commands.dispatch("Kora, agenda", "")), "view-calendar");
    assert_eq!(id(&commands.dispatch("Kora, calendar", "de")), "view-calendar");
}

#[test]
fn none_says_why_and_what_was_near() {
    let commands = shipped();
    let why = |text: &str| match commands.dispatch(text, "en") {
        Dispatch::None { why, nearest } => (why, nearest.len()),
        Dispatch::Command { id, .. } => panic!("{text} is {id}"),
    };
    assert_eq!(why("calendar").0, Why::NoWakeWord);
    assert_eq!(why("Kora!").0, Why::OnlyWakeWord);
    assert_eq!(why(" … ").0, Why::Empty);
    assert_eq!(why(&"a ".repeat(300)).0, Why::TooLong);
    assert_eq!(why("Kora, the quick brown fox"), (Why::Far, 3));
}

#[test]
fn two_near_commands_are_none_and_both_are_named() {
    let text = r#"
format = 1
[wake]
word = "Kora"
[matching]
short = 0.2
medium = 0.3
long = 0.3
margin = 0.1
[[command]]
id = "a"
axis = "word"
en = ["mellow"]
[[command]]
id = "b"
axis = "word"
en = ["yellow"]
"#;
    let commands = Commands::parse(Path::new("x.toml"), text).unwrap();
    let found = commands.dispatch("Kora, bellow", "en");
    let Dispatch::None { why: Why::Ambiguous { first, second }, nearest } = &found else { panic!("{found:?}") };
    assert_eq!((nearest.len(), [first.as_str(), second.as_str()].contains(&"yellow")), (2, true));
    assert_eq!(id(&commands.dispatch("Kora, yellow", "en")), "b");
}

#[test]
fn mistakes_in_a_file_are_named_with_their_line() {
    let good = std::fs::read_to_string(corpora("commands.toml")).unwrap();
    let error = |text: &str| Commands::parse(Path::new("c.toml"), text).unwrap_err().to_string();
    for (from, to, part) in [
        ("id = \"view-mail\"", "id = \"View\"", "\"View\" is no id"),
        ("id = \"view-mail\"", "id = \"stop\"", "stop is there twice"),
        ("id = \"view-mail\"", "id = \"none\"", "no command"),
        ("[\"mails\", \"mail\", \"my mails\", \"mailbox\"]", "[\"mails {number}\"]", "needs no slot"),
        ("[\"mails\", \"mail\", \"my mails\", \"mailbox\"]", "[\"the calendar\"]", "said like a phrasing of"),
        ("[\"mails\", \"mail\", \"my mails\", \"mailbox\"]", "[\"Kora mails\"]", "begins with the wake word"),
        ("short = 0", "short = 7", "matching.short"),
        ("axis = \"view\"", "axis = \"door\"", "door"),
    ] {
        let found = error(&good.replacen(from, to, 1));
        assert!(found.contains(part) && found.contains("c.toml, line "), "{from} → {to}: {found}");
    }
    assert!(error(&good.replacen("format = 1", "format = 9", 1)).contains("newer than 1"));
    assert!(error("").contains("missing field"));
    let missing = Commands::load(Path::new("/nowhere/c.toml")).unwrap_err();
    assert!(missing.to_string().contains("/nowhere/c.toml") && !missing.hint().is_empty());
}

#[test]
fn a_learned_phrase_is_understood_and_shadows_nothing() {
    let mut commands = shipped();
    let mut learned = Learned::default();
    let proposal = Learned::propose(&commands, "Kora, muse hick", "view-music", Language::En).unwrap();
    assert!(proposal.today.id().is_none());
    learned.confirm(proposal);
    learned.confirm(Learned::propose(&commands, "red tree", "read 3", Language::En).unwrap());
    commands = commands.with_learned(learned.clone());
    assert_eq!(id(&commands.dispatch("Kora, muse hick", "en")), "view-music");
    let Dispatch::Command { id: found, slots, how: How::Learned, .. } = commands.dispatch("Kora, Red tree.", "en")
    else {
        panic!("not learned");
    };
    assert_eq!((found.as_str(), slots["number"].as_str()), ("line-read", "3"));
    for (heard, meant, part) in [
        ("calendar", "view-music", "is what view-calendar is said like"),
        ("calender", "view-music", "is near"),
        ("muse hick", "view-budget", "already means view-music"),
        ("muse hick", "view-music", "learned already"),
        ("something odd", "nothing", "neither a command's id"),
        ("something odd", "line-read", "needs a number or a name"),
        ("ab", "view-music", "too few"),
        (&"very long phrase ".repeat(8), "view-music", "a sentence"),
    ] {
        let error = Learned::propose(&commands, heard, meant, Language::En).unwrap_err().to_string();
        assert!(error.contains(part), "{heard}: {error}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/learned.json");
    assert_eq!(Learned::load(&path).unwrap(), Learned::default());
    learned.save(&path).unwrap();
    assert_eq!(Learned::load(&path).unwrap(), learned);
    assert!(learned.forget(&commands, "Kora, MUSE hick") && !learned.forget(&commands, "muse hick"));
    assert_eq!(learned.phrases().len(), 1);
    std::fs::write(&path, "{\"format\": 7, \"phrases\": []}").unwrap();
    assert!(Learned::load(&path).unwrap_err().to_string().contains("newer"));
    std::fs::write(&path, "{\"format\": 1,\n \"phrases\": [{}]}").unwrap();
    assert!(Learned::load(&path).unwrap_err().to_string().contains("line 2"));
}

/// The numbers that `commands check` prints must hold for what is shipped.
#[test]
fn the_shipped_commands_are_safe_on_the_half_that_chose_nothing() {
    let commands = shipped();
    let other = load_other(&corpora("other.toml")).unwrap();
    let found = check(&commands, &other, 10, 1);
    assert!(found.across.is_empty() && found.unspoken.is_empty());
    assert!(found.closest.iter().all(|pair| pair.distance > 0.0) && found.closest.len() == 10);
    let sentences = found.rates.sentences();
    assert!(sentences.of >= 100 && sentences.hits == 0, "{sentences:?}: {:?}", found.false_commands);
    for count in [found.rates.deleted, found.rates.replaced, found.rates.lone, found.rates.confused] {
        assert!(count.of >= 200 && count.hits * 50 <= count.of, "{:?}: {:?}", found.rates, found.false_commands);
    }
    assert!(found.rates.misheard.hits * 2 > found.rates.misheard.of, "{:?}", found.rates);
    assert_eq!(found.chosen, found.in_force, "commands.toml should have what the development half chooses");
    assert_eq!(check(&commands, &other, 10, 1), found);
}

#[test]
fn fresh_sentences_are_counted_and_named() {
    let commands = shipped();
    let fresh = load_other(&corpora("fresh.toml")).unwrap();
    assert_eq!(fresh.len(), 60);
    let (count, told) = taken(&commands, &fresh);
    assert_eq!((count.of, count.hits as usize), (60, told.len()));
    // A command among them is found.
    let phrase = commands.phrases().remove(0);
    let (kind, text) = ("fresh".to_owned(), phrase.text.clone());
    let command = Sentence { language: phrase.language, kind, text, development: false };
    let (count, told) = taken(&commands, &[command]);
    assert_eq!((count.hits, told[0].id.as_str()), (1, phrase.id.as_str()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_text_is_answered(text in "\\PC{0,60}", language in "(en|fr|de|)") {
        let _ = shared().dispatch(&text, &language);
        let _ = shared().dispatch_heard(&text, &language);
    }

    #[test]
    fn random_words_are_no_command(words in prop::collection::vec("[bcdfglmnprstv][aeiou][bcdfglmnprstv]{1,2}[aeiou]?", 3..9)) {
        let text = format!("Kora, {}", words.join(" "));
        for language in Language::ALL {
            let found = shared().dispatch(&text, language.tag());
            prop_assert!(found.id().is_none(), "{}: {:?}", text, found);
        }
    }

    #[test]
    fn case_punctuation_and_politeness_change_nothing(index in 0_usize..300, shout in any::<bool>()) {
        let phrases = shared().phrases();
        let phrase = &phrases[index % phrases.len()];
        let text = shared().spoken(phrase);
        let text = if shout { format!("{}!", text.to_uppercase()) } else { format!("{text} …") };
        let found = shared().dispatch(&text, phrase.language.tag());
        prop_assert_eq!(found.id(), Some(phrase.id.as_str()), "{}", text);
    }
}

fn shared() -> &'static Commands {
    static SHIPPED: std::sync::OnceLock<Commands> = std::sync::OnceLock::new();
    SHIPPED.get_or_init(shipped)
}
