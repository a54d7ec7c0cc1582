//! The binary itself: `cargo test` builds it for this file, and with it for the end-to-end tests.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::process::Command;

#[test]
fn help_is_a_yes_and_a_mistake_is_not() {
    for (words, code) in [
        (vec!["--version"], 0),
        (vec!["--help"], 0),
        (vec!["bench", "tools", "--help"], 0),
        (vec!["no-such-command"], 2),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_tenpass")).args(&words).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{words:?}");
        assert_eq!(output.stderr.is_empty(), code == 0, "{words:?}");
    }
}
