//! Bad input gets one clear line and the right exit code; nothing measured is lost.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as the tests do")]

use std::io::{Read, Write};
use std::net::TcpListener;

use tenpass_tests::{Tenpass, asset};

/// A server that answers every request with these bytes and closes; it ends with the test's process.
fn canned(answer: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { break };
            let mut buffer = vec![0; 65_536];
            let _ = stream.read(&mut buffer);
            let _ = stream.write_all(answer);
        }
    });
    format!("openai:http://{address}/v1#any")
}

#[test]
fn mistakes_on_the_command_line_end_with_2() {
    let tenpass = Tenpass::new();
    tenpass.fails(2, &["bench", "tools", "--model", "nonsense:x"]);
    tenpass.fails(2, &["bench", "tools", "--passes", "0"]);
    tenpass.fails(2, &["bench", "tools", "--structure", "magic"]);
    tenpass.fails(2, &["bench", "tools", "--family", "no-such-family"]);
    tenpass.fails(2, &["bench", "tools", "--resume", "latest"]);
    tenpass.fails(2, &["bench", "tools", "--partition", "3/2"]);
    tenpass.fails(2, &["cases", "show", "no-such-case"]);
    tenpass.fails(2, &["runs", "show", "no-such-run"]);
    tenpass.fails(2, &["models", "pull", "no-such-model"]);
    let error = tenpass.fails(2, &["models", "path", "smollm2-135"]);
    assert!(error.contains("did you mean `smollm2-135m`?"), "{error}");
}

#[test]
fn cases_of_another_bench_are_a_mistake_with_the_right_command() {
    let tenpass = Tenpass::new();
    let replay = ["--model", "replay:none.jsonl", "--passes", "1", "--cases"];
    for (bench, cases, other) in [
        ("tools", "cases/rounds", "tenpass bench rounds --cases cases/rounds"),
        ("tools", "cases/rounds/spending.toml", "tenpass bench rounds --cases cases/rounds/spending.toml"),
        ("rounds", "cases/tools", "tenpass bench tools --cases cases/tools"),
        ("rounds", "cases/tools/dates.toml", "tenpass bench tools --cases cases/tools/dates.toml"),
    ] {
        let words: Vec<&str> = ["bench", bench].into_iter().chain(replay).chain([cases]).collect();
        let error = tenpass.fails(2, &words);
        assert!(error.contains(&format!("hint: {other}")), "{cases}: {error}");
    }
    assert!(!tenpass.runs.path().join("index.sqlite").exists(), "nothing was measured");
}

#[test]
fn numbers_below_0_are_out_of_range_and_no_flags() {
    let tenpass = Tenpass::new();
    for flag in ["--temperature", "--top-p", "--min-p"] {
        let error = tenpass.fails(2, &["bench", "tools", flag, "-1"]);
        assert!(error.contains("write a number from 0 to"), "{error}");
    }
}

#[test]
fn nonsense_is_told_in_a_few_lines() {
    let (tenpass, folder) = (Tenpass::new(), tempfile::tempdir().unwrap());
    let mut text = "family = \"lamps\"\n".to_owned();
    (0..200).for_each(|_| text.push_str("[[case]]\nprompt = 3\n"));
    let path = folder.path().join("lamps.toml");
    std::fs::write(&path, text).unwrap();
    let error = tenpass.fails(2, &["cases", "check", "--cases", &path.display().to_string()]);
    assert!(error.lines().count() <= 25 && error.contains("more mistakes"), "{error}");
    let error = tenpass.fails(3, &["bench", "tools", "--model", &format!("replay:{}", path.display())]);
    assert!(error.contains("one recorded answer a line"), "{error}");
}

#[test]
fn servers_that_are_down_or_talk_nonsense_end_with_3() {
    let tenpass = Tenpass::new();
    let one = ["--filter", "talk-thanks", "--passes", "1", "--timeout", "5s"];
    let html =
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 14\r\nConnection: close\r\n\r\n<html>hi</html";
    let half = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\nConnection: close\r\n\r\n{\"object\"";
    let error = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 32\r\nConnection: close\r\n\r\n{\"error\":{\"message\":\"no memory\"}}";
    let specs = ["openai:http://127.0.0.1:9/v1#any".to_owned(), canned(html), canned(half), canned(error)];
    for spec in &specs {
        let mut words = vec!["bench", "tools", "--model", spec];
        words.extend_from_slice(&one);
        let message = tenpass.fails(3, &words);
        assert!(message.contains("hint: "), "{spec}: {message}");
    }
}

#[test]
fn damaged_models_are_named() {
    let tenpass = Tenpass::new();
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read(asset("smollm2-135m")).unwrap();
    let mut garbage = whole[..4096].to_vec();
    garbage[0] = b'X';
    for (name, bytes) in [
        ("truncated.gguf", &whole[..whole.len() / 2]),
        ("header.gguf", &whole[..40]),
        ("garbage.gguf", &garbage[..]),
        ("empty.gguf", &[][..]),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let spec = format!("embedded:{}", path.display());
        let error = tenpass.fails(3, &["bench", "tools", "--model", &spec, "--filter", "talk-thanks"]);
        assert!(error.contains(name), "{error}");
    }
    let error = tenpass.fails(3, &["bench", "tools", "--model", "embedded:gone.gguf"]);
    assert!(error.contains("gone.gguf"), "{error}");
}

#[test]
fn a_typing_mistake_in_a_case_file_is_named_with_its_line() {
    let tenpass = Tenpass::new();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("tools.toml"), "[[tool]]\nname = \"lamp\"\ndescription = \"Switches a lamp.\"\n")
        .unwrap();
    std::fs::write(folder.path().join("prompt.md"), "Be brief.\n").unwrap();
    let text = "family = \"lamps\"\n\n[[case]]\nid = \"one\"\nprovenence = \"a mistake\"\nprompt = \"Light!\"\n[case.expect]\ncalls = [{ tool = \"lapm\" }]\n";
    std::fs::write(folder.path().join("lamps.toml"), text).unwrap();
    let path = folder.path().display().to_string();
    let error = tenpass.fails(2, &["cases", "check", "--cases", &path]);
    assert!(error.contains("lamps.toml:5"), "{error}");
    assert!(error.contains("provenance"), "{error}");
}

#[test]
fn a_full_disk_loses_nothing_that_was_measured() {
    if !std::path::Path::new("/dev/full").exists() {
        // Only Linux has a device that is always full; elsewhere the run store's own tests cover it.
        return;
    }
    let tenpass = Tenpass::new();
    let output =
        tenpass.command(&["cases", "list"]).stdout(std::fs::File::create("/dev/full").unwrap()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!error.contains("panicked"), "{error}");
}
