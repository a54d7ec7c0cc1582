//! The closed commands through the binary.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failure is a panic here")]

use tenpass_tests::Tenpass;

#[test]
fn texts_are_tested_and_phrases_learned_and_forgotten() {
    let tenpass = Tenpass::new();
    let found =
        tenpass.json(&["commands", "test", "Kora, lis le numéro douze", "--language", "fr", "--format", "json"]);
    assert_eq!((&found["id"], &found["slots"]["number"]), (&"line-read".into(), &"12".into()));
    let none = tenpass.run(&["commands", "test", "calendar"]);
    assert_eq!(none.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&none.stdout).contains("wake word"));
    tenpass.ok(&["commands", "test", "calendar", "--no-wake-word"]);
    tenpass.fails(2, &["commands", "learn", "muse hick", "view-music"]);
    tenpass.ok(&["commands", "learn", "muse hick", "view-music", "--yes"]);
    assert!(tenpass.ok(&["commands", "test", "Kora, muse hick"]).contains("view-music"));
    assert!(tenpass.ok(&["commands", "list", "--learned"]).contains("muse hick"));
    tenpass.ok(&["commands", "forget", "Muse hick"]);
    tenpass.fails(2, &["commands", "forget", "muse hick"]);
    assert!(tenpass.ok(&["commands", "list", "--language", "fr", "--axis", "view"]).contains("météo"));
}

#[test]
fn the_shipped_commands_pass_their_check() {
    let found = Tenpass::new().json(&["commands", "check", "--format", "json"]);
    assert!(found["commands"].as_u64().unwrap() >= 60);
    assert_eq!((&found["rates"]["sentences"]["hits"], &found["chosen_is_in_force"]), (&0.into(), &true.into()));
}
