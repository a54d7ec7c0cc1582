//! The agent through the real binary: a conversation with tools and confirmations, journals that
//! survive a kill, money that cannot be overspent.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as the tests do")]

use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::{Value, json};
use tenpass_tests::Tenpass;
use tenpass_tests::script::{ScriptServer, Scripted};

/// The text of the last message.
fn last(body: &Value) -> (String, String) {
    let message = body["messages"].as_array().and_then(|messages| messages.last()).cloned().unwrap_or_default();
    let text = |key: &str| message[key].as_str().unwrap_or_default().to_owned();
    (text("role"), text("content"))
}

/// Chats with these lines on standard input.
fn chat(tenpass: &Tenpass, words: &[&str], lines: &[&str]) -> Output {
    let mut all = vec!["chat"];
    all.extend(words);
    let mut child =
        tenpass.command(&all).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    for line in lines {
        writeln!(input, "{line}").unwrap();
    }
    drop(input);
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn lines(path: &Path) -> Vec<Value> {
    let content = std::fs::read_to_string(path).unwrap_or_default();
    content.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// The text file that a message names.
fn named_file(content: &str) -> String {
    let is_text = |word: &&str| Path::new(word).extension().is_some_and(|extension| extension == "txt");
    content.split_whitespace().find(is_text).unwrap_or("note.txt").to_owned()
}

/// A model that writes the file it is asked for, then says so.
fn writer() -> ScriptServer {
    ScriptServer::start(|body| {
        let (role, content) = last(body);
        if role == "tool" {
            return Scripted::text(if content.contains("said no") {
                "You refused, so nothing was saved."
            } else {
                "I have saved the file."
            });
        }
        let name = named_file(&content);
        Scripted::call("write_file", json!({ "filename": name, "content": "hello", "reason": "asked" }))
    })
}

#[test]
fn a_confirmed_write_is_done_and_a_refused_one_is_not() {
    let (tenpass, server) = (Tenpass::new(), writer());
    let output =
        chat(&tenpass, &["--model", &server.spec()], &["save as yes.txt", "y", "save as no.txt", "n", "/quit"]);
    let shown = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let files = tenpass.agent.path().join("files");
    assert_eq!(std::fs::read_to_string(files.join("yes.txt")).unwrap(), "hello");
    assert!(!files.join("no.txt").exists());
    assert!(shown.contains("IRREVERSIBLE"), "{shown}");
    assert!(shown.contains("I have saved the file.") && shown.contains("nothing was saved"), "{shown}");

    // Both intentions are there, the refused one too, and both journals verify.
    let intentions = lines(&tenpass.agent.path().join("intentions.jsonl"));
    let names: Vec<&str> =
        intentions.iter().filter_map(|line| line["record"]["arguments"]["filename"].as_str()).collect();
    assert_eq!(names, ["yes.txt", "no.txt"]);
    let verified = tenpass.json(&["journal", "verify", "--format", "json"]);
    assert_eq!(verified["ok"], true, "{verified}");

    // The request on the wire carried the tools, and the result came back as a tool message (K7, K1).
    let requests = server.requests();
    let (path, body) = &requests[0];
    assert!(path.ends_with("/chat/completions"));
    assert_eq!(
        (&body["stream"], body["temperature"].as_f64().map(|value| (value * 10.0).round())),
        (&json!(true), Some(3.0))
    );
    let tools: Vec<&str> =
        body["tools"].as_array().unwrap().iter().filter_map(|tool| tool["function"]["name"].as_str()).collect();
    assert!(tools.contains(&"write_file") && tools.contains(&"read_url"), "{tools:?}");
    assert_eq!(last(&requests[1].1).0, "tool");

    let listed = tenpass.json(&["trace", "list", "--format", "json"]);
    assert_eq!(listed.as_array().unwrap().len(), 2, "{listed}");
    let turn = tenpass.ok(&["trace", "show", "latest"]);
    assert!(turn.contains("no.txt") && turn.contains("refused"), "{turn}");
    assert!(tenpass.ok(&["trace", "stats"]).contains("refused"));
}

#[test]
fn an_edited_removed_or_cut_line_of_a_journal_is_found() {
    let (tenpass, server) = (Tenpass::new(), writer());
    chat(&tenpass, &["--model", &server.spec()], &["save as a.txt", "y", "save as b.txt", "n"]);
    tenpass.ok(&["trace", "verify"]);
    for name in ["orchestrator-trace.jsonl", "intentions.jsonl"] {
        let path = tenpass.agent.path().join(name);
        let whole = std::fs::read_to_string(&path).unwrap();
        let kept: Vec<&str> = whole.lines().collect();
        let mut changed: Vec<(&str, String)> = vec![
            ("edited", whole.replacen("a.txt", "z.txt", 1)),
            ("removed", [&kept[..1], &kept[2..]].concat().join("\n") + "\n"),
            ("cut", kept[..kept.len() - 1].join("\n") + "\n"),
        ];
        let mut turned = kept.clone();
        turned.swap(1, 2);
        changed.push(("reordered", turned.join("\n") + "\n"));
        for (what, content) in changed {
            std::fs::write(&path, content).unwrap();
            let output = tenpass.run(&["trace", "verify"]);
            assert_eq!(output.status.code(), Some(1), "{name} {what}: {}", text(&output.stdout));
            assert!(text(&output.stdout).contains(name), "{what}: {}", text(&output.stdout));
        }
        std::fs::write(&path, &whole).unwrap();
        // A torn last line is recovered, not blamed.
        std::fs::write(&path, &whole[..whole.len() - 9]).unwrap();
        let output = tenpass.run(&["trace", "verify"]);
        assert!(text(&output.stdout).to_lowercase().contains("torn"), "{}", text(&output.stdout));
        std::fs::write(&path, &whole).unwrap();
    }
    tenpass.ok(&["trace", "verify"]);
}

#[test]
fn the_emergency_word_stops_at_a_question_too() {
    let (tenpass, server) = (Tenpass::new(), writer());
    let output = chat(&tenpass, &["--model", &server.spec()], &["save as a.txt", "stop everything", "/quit"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(!tenpass.agent.path().join("files/a.txt").exists());
    let turn = tenpass.ok(&["trace", "show", "latest"]);
    assert!(turn.contains("stop"), "{turn}");
    assert_eq!(server.requests().len(), 1, "nothing more is asked of the model");
}

#[test]
fn a_lost_journal_key_is_not_replaced_by_another() {
    let (tenpass, server) = (Tenpass::new(), writer());
    chat(&tenpass, &["--model", &server.spec()], &["save as a.txt", "y"]);
    let key = tenpass.agent.path().join("journal.key");
    std::fs::remove_file(&key).unwrap();
    let output = chat(&tenpass, &["--model", &server.spec()], &["save as b.txt", "y"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(!key.exists() && !tenpass.agent.path().join("files/b.txt").exists());
}

#[test]
fn a_search_in_documents_leaves_the_agents_own_files_out() {
    let (tenpass, home) = (Tenpass::new(), tempfile::tempdir().unwrap());
    let agent = home.path().join("agent");
    std::fs::create_dir(&agent).unwrap();
    std::fs::write(home.path().join("plan.md"), "The wedding of Quentin: bring flowers.").unwrap();
    let server = ScriptServer::start(|body| {
        let (role, content) = last(body);
        if role == "tool" {
            return Scripted::text(format!("Found: {content}"));
        }
        Scripted::call("web_search", json!({ "query": "Quentin wedding", "reason": "asked" }))
    });
    let home_word = home.path().display().to_string();
    let run = |words: &[&str]| {
        let output = tenpass.command(words).env("TENPASS_AGENT_DIR", &agent).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    run(&["memory", "add", "decisions", "The wedding of Quentin is on Friday."]);
    let shown = run(&["chat", "--model", &server.spec(), "--files", &home_word, "--say", "when is it?"]);
    assert!(shown.contains("bring flowers") && !shown.contains("on Friday"), "{shown}");
}

#[test]
fn feedback_undo_and_memory_work_in_a_conversation() {
    let tenpass = Tenpass::new();
    let server = ScriptServer::start(|body| {
        let (role, content) = last(body);
        match (role.as_str(), content.contains("Remember")) {
            ("tool", _) => Scripted::text("Noted."),
            (_, true) => Scripted::call(
                "write_memory",
                json!({ "section": "decisions", "entry": "I decided to sell the car in March.", "reason": "asked" }),
            ),
            _ => Scripted::text("Hello there."),
        }
    });
    let output = chat(
        &tenpass,
        &["--model", &server.spec()],
        &[
            "hello",
            "/good",
            "hello again",
            "corrige : Bonjour",
            "Remember that I decided to sell the car in March.",
            "/memory",
            "/undo",
            "y",
            "/memory",
            "/nonsense",
            "/quit",
        ],
    );
    let shown = text(&output.stdout) + &text(&output.stderr);
    assert!(output.status.success(), "{shown}");
    assert!(shown.contains("remembered"), "{shown}");
    assert!(shown.contains("sell the car in March"), "{shown}");
    assert!(!tenpass.ok(&["memory", "show"]).contains("sell the car"), "the undo took the entry back");

    let database = tenpass_trace::database::Database::open(&database_of(&tenpass)).unwrap();
    let exchanges = database.exchanges(None, true).unwrap();
    let verdicts: Vec<&str> = exchanges
        .iter()
        .filter_map(|judged| judged.verdict.as_ref().map(tenpass_trace::database::Verdict::as_str))
        .collect();
    assert!(verdicts.contains(&"accepted") && verdicts.contains(&"corrected"), "{verdicts:?}");
}

fn database_of(tenpass: &Tenpass) -> std::path::PathBuf {
    let entries = std::fs::read_dir(tenpass.agent.path()).unwrap();
    entries.map(|entry| entry.unwrap().path()).find(|path| path.ends_with("conversations.sqlite")).unwrap()
}

#[test]
fn the_memory_commands_keep_the_file_in_order() {
    let tenpass = Tenpass::new();
    tenpass.ok(&["memory", "add", "decisions", "The report goes out on Fridays."]);
    tenpass.ok(&["memory", "add", "open_threads", "Ask Lena about the lease."]);
    let shown = tenpass.ok(&["memory", "show"]);
    assert!(shown.contains("Fridays") && shown.contains("lease"), "{shown}");
    let path = tenpass.ok(&["memory", "path"]);
    let file = std::fs::read_to_string(path.trim()).unwrap();
    assert!(file.contains("<!-- tenpass:memory -->") && file.contains("<!-- id:"), "{file}");
    assert!(tenpass.fails(2, &["memory", "add", "decisions", "The report goes out on Fridays."]).contains("already"));
    tenpass.fails(2, &["memory", "add", "decisions", &"x".repeat(300)]);
    tenpass.fails(2, &["memory", "forget", "no such entry"]);
    tenpass.ok(&["memory", "forget", "Ask Lena about the lease."]);
    assert!(!tenpass.ok(&["memory", "show"]).contains("lease"));
}

#[test]
fn claims_are_held_against_the_ledger() {
    let (tenpass, folder) = (Tenpass::new(), tempfile::tempdir().unwrap());
    let ledger = folder.path().join("ledger.json");
    let check = |content: &Value, answer: &str| {
        std::fs::write(&ledger, content.to_string()).unwrap();
        let words = ["claims", "check", answer, "--ledger", &ledger.display().to_string(), "--format", "json"];
        let output = tenpass.run(&words);
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        let is_clean = found["findings"].as_array().unwrap().is_empty();
        assert_eq!(output.status.code(), Some(i32::from(!is_clean)), "the exit code says whether a claim holds");
        found
    };
    let saved = json!([{ "tool": "write_file", "arguments": { "filename": "a.md" }, "outcome": "ok" }]);
    let refused = json!([{ "tool": "write_file", "arguments": { "filename": "a.md" }, "outcome": "refused" }]);
    assert_eq!(check(&saved, "I have saved a.md."), json!({ "findings": [] }));
    let found = check(&refused, "Sure! I have saved a.md. Anything else?");
    assert_eq!(found["findings"][0]["class"], "claimed_not_done", "{found}");
    assert!("Sure! I have saved a.md. Anything else?".contains(found["findings"][0]["span"].as_str().unwrap()));
    assert_eq!(check(&refused, "I did not save a.md, since you refused."), json!({ "findings": [] }));
    assert_eq!(check(&saved, "Je n'ai pas pu enregistrer a.md.")["findings"][0]["class"], "denied_but_done");

    std::fs::write(&ledger, "[{\"tool\": 3}]").unwrap();
    let error = tenpass.fails(2, &["claims", "check", "Done.", "--ledger", &ledger.display().to_string()]);
    assert!(error.contains("ledger.json"), "{error}");
    let bench = tenpass.ok(&["claims", "bench"]);
    assert!(bench.contains("precision") && bench.contains("recall"), "{bench}");
}

/// A user file that points the provider `claude` at this server, with a cap.
fn provider_settings(folder: &Path, server: &ScriptServer, usd_per_day: f64) -> std::path::PathBuf {
    let path = folder.join("config.toml");
    let settings = format!(
        "[providers]\nclaude = \"{}\"\nclaude_key_env = \"TEST_CLAUDE_KEY\"\n[spend]\nusd_per_day = {usd_per_day}\n",
        server.address()
    );
    std::fs::write(&path, settings).unwrap();
    path
}

#[cfg(unix)]
#[test]
fn a_kill_at_any_moment_loses_no_intention_and_overspends_nothing() {
    use std::io::{BufRead, BufReader};
    use std::time::Duration;

    const KILLS: u64 = 16;
    // Room for a dozen calls at their worst: what a kill leaves reserved stays spent.
    const CAP: f64 = 0.5;
    let (tenpass, folder) = (Tenpass::new(), tempfile::tempdir().unwrap());
    let provider = ScriptServer::start(|_| Scripted {
        pause: Duration::from_millis(2),
        ..Scripted::text("A long enough answer of the provider, in several pieces.")
    });
    let settings = provider_settings(folder.path(), &provider, CAP);
    let model = ScriptServer::start(|body| {
        let (role, content) = last(body);
        if role == "tool" {
            return Scripted::text("Done as asked.");
        }
        let name = named_file(&content);
        let task = format!("write about {name}");
        Scripted {
            calls: vec![
                ("delegate_to_provider".to_owned(), json!({ "provider": "claude", "task": task, "reason": "asked" })),
                ("write_file".to_owned(), json!({ "filename": name, "content": "x", "reason": "asked" })),
            ],
            pause: Duration::from_millis(3),
            ..Scripted::default()
        }
    });
    let mut shown_in_all = 0;
    for round in 0..KILLS {
        let mut child = tenpass
            .command(&["chat", "--model", &model.spec()])
            .env("TENPASS_CONFIG", &settings)
            .env("TEST_CLAUDE_KEY", "test")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        for number in 0..12 {
            writeln!(input, "save round{round}-{number}.txt\ny").unwrap();
        }
        let out = child.stdout.take().unwrap();
        let reader = std::thread::spawn(move || {
            let mut shown = Vec::new();
            for line in BufReader::new(out).split(b'\n') {
                match line {
                    Ok(line) => shown.push(String::from_utf8_lossy(&line).into_owned()),
                    Err(_) => break,
                }
            }
            shown
        });
        // Spread over the life of the process: from before the first question to the last turns.
        std::thread::sleep(Duration::from_millis(60 + round * 80));
        child.kill().unwrap();
        child.wait().unwrap();
        drop(input);
        let shown = reader.join().unwrap().join("\n");

        let intentions: Vec<String> = lines(&tenpass.agent.path().join("intentions.jsonl"))
            .iter()
            .filter_map(|line| line["record"]["arguments"]["filename"].as_str().map(str::to_owned))
            .collect();
        for number in 0..12 {
            let name = format!("round{round}-{number}.txt");
            if shown.contains(&name) {
                shown_in_all += 1;
                assert!(intentions.contains(&name), "{name} was shown and is not on disk");
            }
            // And what exists was intended.
            if tenpass.agent.path().join("files").join(&name).exists() {
                assert!(intentions.contains(&name), "{name} was written and is not on disk");
            }
        }
        let verified = tenpass.run(&["trace", "verify"]);
        assert!(verified.status.success(), "round {round}: {}", text(&verified.stdout));
    }
    assert!(shown_in_all >= 10, "only {shown_in_all} questions were shown: the kills came too early");

    // What was reserved counts as spent: never above the cap, whatever was killed when.
    let database = tenpass_trace::database::Database::open(&database_of(&tenpass)).unwrap();
    let usage = database.exchanges(None, false).unwrap();
    assert!(!usage.is_empty());
    let today = tenpass_trace::database::SpendKind::Usd;
    let mut days: Vec<String> = usage.iter().map(|judged| judged.exchange.at.to_string()[..10].to_owned()).collect();
    days.sort();
    days.dedup();
    for day in days {
        let spent = database.spent(today, &day).unwrap().total_micros();
        assert!(spent <= (CAP * 1e6) as u64, "{spent} micro-dollars were spent on {day}");
    }
    let paid = provider.requests().len();
    assert!(paid > 0, "no provider was asked");
}
