//! `tenpass serve` from end to end: the real binary, its page's socket, a scripted model and the
//! embedded one.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as the tests do")]

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tenpass_tests::Tenpass;
use tenpass_tests::script::{ScriptServer, Scripted};
use tenpass_tests::serve::{Client, Served};

/// The text of the last message of a request.
fn last(body: &Value) -> (String, String) {
    let message = body["messages"].as_array().and_then(|messages| messages.last()).cloned().unwrap_or_default();
    let text = |key: &str| message[key].as_str().unwrap_or_default().to_owned();
    (text("role"), text("content"))
}

/// The last word of the last message that begins with `item`: what a person said stands in a frame.
fn item(body: &Value) -> String {
    let (_, content) = last(body);
    let mut words = content.split(|character: char| !character.is_alphanumeric());
    words.rfind(|word| word.starts_with("item")).unwrap_or("nothing").to_owned()
}

/// A model that writes the file `note.txt`, then says so.
fn writer() -> ScriptServer {
    ScriptServer::start(|body| {
        let (role, content) = last(body);
        if role == "tool" {
            let refused = content.contains("said no") || content.contains("refused");
            return Scripted::text(if refused { "Nothing was saved." } else { "I have saved the file." });
        }
        Scripted::call("write_file", json!({ "filename": "note.txt", "content": "hello", "reason": "asked" }))
    })
}

fn begin(served: &Served) -> String {
    let answer = served.write("POST", "/api/threads", &json!({}));
    answer.json()["id"].as_str().unwrap_or_else(|| panic!("{}", answer.body)).to_owned()
}

/// A client that follows a new thread.
fn talking(served: &Served) -> (Client, String) {
    let thread = begin(served);
    let mut client = served.client();
    client.open(Some(&thread));
    (client, thread)
}

fn text_of(messages: &[Value], turn: &Value) -> String {
    let mut text = String::new();
    for message in messages.iter().filter(|message| message["turn"] == *turn) {
        match message["type"].as_str() {
            Some("text") => text.push_str(message["text"].as_str().unwrap()),
            Some("discard") => text.clear(),
            _ => {}
        }
    }
    text
}

#[test]
fn a_message_is_answered_piece_by_piece_and_kept() {
    let (tenpass, model) = (Tenpass::new(), ScriptServer::start(|_| Scripted::text("Hello **there**, <b>friend</b>.")));
    let served = Served::start(&tenpass, &model.spec(), &[]);
    assert!(served.entrance.contains("/enter?token="), "{}", served.entrance);
    let (mut client, thread) = talking(&served);
    client.say(&thread, "Good morning", "c1");
    let finished = client.wait_for("finished");
    let turn = &finished["turn"];
    assert_eq!(finished["text"], "Hello **there**, <b>friend</b>.");
    assert_eq!(finished["html"], "<p>Hello <strong>there</strong>, &lt;b&gt;friend&lt;/b&gt;.</p>\n");
    assert_eq!((&finished["end"], finished["claims"].as_array().unwrap().len()), (&json!("natural"), 0));
    assert_eq!(text_of(&client.seen, turn), finished["text"].as_str().unwrap());
    let kinds: Vec<&str> = client.seen.iter().filter_map(|message| message["type"].as_str()).collect();
    let place =
        |kind: &str| kinds.iter().position(|other| *other == kind).unwrap_or_else(|| panic!("{kind}: {kinds:?}"));
    assert!(place("turn") < place("text") && place("text") < place("html") && kinds.contains(&"accepted"), "{kinds:?}");
    let begun = client.seen.iter().find(|message| message["type"] == "turn").unwrap();
    assert_eq!((&begun["client_id"], &begun["user"]), (&json!("c1"), &json!("Good morning")));
    let numbers: Vec<u64> = client
        .seen
        .iter()
        .filter(|message| message["thread"] == thread.as_str() && message["type"] != "thread")
        .filter_map(|message| message["seq"].as_u64())
        .collect();
    assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1), "{numbers:?}");

    // Another client, and the panel, see the same; the words are found again.
    let snapshot = served.client().open(None);
    assert_eq!((&snapshot["thread"], &snapshot["turn"]), (&json!(thread), &Value::Null));
    let said: Vec<(&str, &str)> = snapshot["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| (message["role"].as_str().unwrap(), message["text"].as_str().unwrap()))
        .collect();
    assert_eq!(said, [("user", "Good morning"), ("assistant", finished["text"].as_str().unwrap())]);
    assert_eq!(served.get("/api/threads")["threads"][0]["title"], "Good morning");
    let found = served.get("/api/threads?query=morning");
    assert_eq!(found["threads"][0]["match"], "Good \u{2068}morning\u{2069}", "{found}");
    assert_eq!(served.get("/api/threads?query=evening")["threads"], json!([]));

    // The panels answer, and the trace is intact.
    let journals = served.get("/api/journals?limit=3");
    assert_eq!((&journals["trace"]["intact"], &journals["entries"][0]["kind"]), (&json!(true), &json!("final")));
    assert_eq!(served.get("/api/spend")["usd"], 0.0);
    assert_eq!(served.get("/api/watchdog")["alerts"], json!([]));
    let tools = served.get("/api/capabilities");
    let write = tools["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "write_file").unwrap();
    assert_eq!(write["tier"], "irreversible");
    assert_eq!(served.get("/api/runtime")["rows"][0]["state"], "ready");
    let session = served.get("/api/session");
    assert_eq!((&session["model_state"], &session["profile"]), (&json!("ready"), &json!("panel")));
    let metrics = served.request("GET", "/metrics", &[("Authorization", &served.bearer())], "");
    assert!(metrics.body.contains("tenpass_turns_begun_total 1\n"), "{}", metrics.body);
    assert!(metrics.body.contains("tenpass_trace{what=\"requests\"} 1\n"), "{}", metrics.body);
}

#[test]
fn a_confirmation_counts_once_for_what_was_shown() {
    let (tenpass, model) = (Tenpass::new(), writer());
    let served = Served::start(&tenpass, &model.spec(), &[]);
    let file = tenpass.agent.path().join("files/note.txt");
    let (mut client, thread) = talking(&served);
    let mut other = served.client();
    other.open(Some(&thread));

    // A wrong digest is a refusal.
    client.say(&thread, "save it", "c1");
    let asked = client.wait_for("confirm");
    assert_eq!((&asked["tier"], &asked["tool"]), (&json!("irreversible"), &json!("write_file")));
    assert!(asked["shown"].as_array().unwrap().contains(&json!(["content", "hello"])), "{asked}");
    client.send(&json!({ "type": "confirm", "id": asked["id"], "digest": "00".repeat(32), "approve": true }));
    client.find("error", "digest is not the one");
    assert_eq!(client.find("finished", "")["text"], "Nothing was saved.");
    assert!(!file.exists());
    assert_eq!(other.wait_for("confirmed")["how"], "refused");

    // The right one, from another tab; a second answer is none.
    client.say(&thread, "save it", "c2");
    let asked = client.wait_for("confirm");
    assert_eq!(other.wait_for("confirm")["digest"], asked["digest"]);
    let yes = json!({ "type": "confirm", "id": asked["id"], "digest": asked["digest"], "approve": true });
    other.send(&yes);
    let confirmed = client.wait_for("confirmed");
    assert_eq!((&confirmed["how"], &confirmed["by"]), (&json!("approved"), &json!("click")));
    client.send(&json!({ "type": "confirm", "id": asked["id"], "digest": asked["digest"], "approve": false }));
    client.find("error", "does not stand open");
    client.find("finished", "I have saved the file.");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "hello");
    let snapshot = served.get(&format!("/api/threads/{thread}"));
    let calls = &snapshot["messages"].as_array().unwrap().last().unwrap()["calls"];
    assert_eq!((&calls[0]["outcome"], &calls[0]["tier"]), (&json!("ok"), &json!("irreversible")));
}

/// What a client shows of the running turn: the snapshot's text, and every piece after it.
fn followed(snapshot: &Value, later: &[Value]) -> String {
    let mut text = snapshot["turn"]["text"].as_str().unwrap().to_owned();
    let turn = &snapshot["turn"]["turn"];
    let first = snapshot["seq"].as_u64().unwrap();
    let new: Vec<Value> =
        later.iter().filter(|message| message["seq"].as_u64().is_some_and(|seq| seq > first)).cloned().collect();
    text.push_str(&text_of(&new, turn));
    text
}

#[test]
fn a_reload_in_the_middle_of_a_turn_loses_nothing() {
    let words: String = (0..60).map(|number| format!("word{number} ")).collect();
    let answer = words.clone();
    let model =
        ScriptServer::start(move |_| Scripted { pause: Duration::from_millis(5), ..Scripted::text(answer.clone()) });
    let tenpass = Tenpass::new();
    let served = Served::start(&tenpass, &model.spec(), &[]);
    let (mut first, thread) = talking(&served);
    first.say(&thread, "count", "c1");
    for _ in 0..10 {
        first.wait_for("text");
    }
    let mut second = served.client();
    let snapshot = second.open(Some(&thread));
    assert_eq!(snapshot["turn"]["user"], "count");
    assert!(words.starts_with(snapshot["turn"]["text"].as_str().unwrap()), "{snapshot}");
    assert!(!snapshot["turn"]["text"].as_str().unwrap().is_empty());
    let finished = second.wait_for("finished");
    assert_eq!(followed(&snapshot, &second.seen).trim(), words.trim());
    assert_eq!(first.wait_for("finished")["text"], finished["text"]);
    assert!(second.seen.len() > 10);
    let (one, two) = (served.client().open(Some(&thread)), served.get(&format!("/api/threads/{thread}")));
    assert_eq!(one, two, "the socket and the panel agree");
}

#[test]
fn what_is_said_twice_counts_once_and_what_waits_is_answered_in_order() {
    let model = ScriptServer::start(|body| Scripted {
        pause: Duration::from_millis(5),
        ..Scripted::text(format!("You said: {}", item(body)))
    });
    let tenpass = Tenpass::new();
    let served = Served::start(&tenpass, &model.spec(), &[]);
    let (mut client, thread) = talking(&served);
    for (text, id) in [("item1", "a"), ("item1", "a"), ("item2", "b"), ("item3", "c"), ("item2", "b")] {
        client.say(&thread, text, id);
    }
    let mut answers = Vec::new();
    while answers.len() < 3 {
        answers.push(client.wait_for("finished")["text"].as_str().unwrap().to_owned());
    }
    assert_eq!(answers, ["You said: item1", "You said: item2", "You said: item3"]);
    let accepted = client.seen.iter().filter(|message| message["type"] == "accepted").count();
    assert_eq!((accepted, model.requests().iter().filter(|(path, _)| path.ends_with("completions")).count()), (5, 3));
}

#[test]
fn a_turn_is_stopped_and_the_emergency_word_stops_every_thread() {
    let model = ScriptServer::start(|body| {
        let (_, content) = last(body);
        let pause = if content.contains("story") { Duration::from_millis(50) } else { Duration::ZERO };
        Scripted { pause, ..Scripted::text("Once upon a time, ".repeat(200)) }
    });
    let tenpass = Tenpass::new();
    let served = Served::start(&tenpass, &model.spec(), &[]);
    let (mut client, thread) = talking(&served);
    client.say(&thread, "a story", "1");
    client.wait_for("text");
    client.send(&json!({ "type": "stop", "thread": thread }));
    let finished = client.wait_for("finished");
    assert_eq!(finished["end"], "stopped");
    assert!(finished["text"].as_str().unwrap().starts_with("Once"));
    let (mut second, other) = talking(&served);
    client.say(&thread, "a story", "2");
    client.wait_for("text");
    second.say(&other, "stop everything", "3");
    assert_eq!(client.wait_for("finished")["end"], "stopped");
    let finished = second.wait_for("finished");
    assert_eq!((&finished["end"], &finished["text"]), (&json!("emergency"), &json!("Everything is stopped.")));
}

#[test]
fn judgements_commands_undo_and_retry_do_what_chat_does() {
    let model = ScriptServer::start(|body| {
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
    let tenpass = Tenpass::new();
    let served = Served::start(&tenpass, &model.spec(), &[]);
    let (mut client, thread) = talking(&served);
    client.say(&thread, "Remember: I decided to sell the car in March.", "1");
    let written = client.wait_for("memory");
    assert_eq!(written["section"], "decisions");
    let turn = client.wait_for("finished")["turn"].as_str().unwrap().to_owned();
    let id = written["id"].as_str().unwrap();
    assert_eq!(served.get("/api/memory")["sections"][0]["entries"][0]["id"], id);

    client.say(&thread, "corrige : en avril", "2");
    let judged = client.wait_for("verdict");
    assert_eq!((&judged["verdict"], &judged["correction"]), (&json!("corrected"), &json!("en avril")));
    let path = format!("/api/turns/{turn}/verdict");
    assert_eq!(served.write("POST", &path, &json!({ "verdict": "good" })).json(), json!({ "ok": true }));
    assert_eq!(client.wait_for("verdict")["verdict"], "good");
    assert_eq!(served.write("POST", &path, &json!({ "verdict": "great" })).status, 400);
    assert_eq!(served.write("POST", "/api/turns/nothing/verdict", &json!({ "verdict": "good" })).status, 404);

    for (number, (command, part)) in [
        ("/help", "/undo"),
        ("/think high", "thinking: high"),
        ("/memory", "sell the car"),
        ("/threads", "this one"),
        ("/tools", "write_file"),
        ("/trace", "request: "),
        ("/model", "scripted"),
        ("/spend", "today: $0.0000 of $1.00"),
        ("/memroy", "did you mean /memory?"),
    ]
    .iter()
    .enumerate()
    {
        let id = format!("command{number}");
        client.say(&thread, command, &id);
        let note = client.wait(|message| message["type"] == "note" && message["client_id"] == id.as_str());
        assert!(note["text"].as_str().unwrap().contains(part), "{command}: {note}");
        assert!(note["html"].as_str().unwrap().starts_with('<'), "{note}");
    }

    let undone = served.write("POST", &format!("/api/turns/{turn}/undo"), &json!({})).json();
    assert_eq!(undone["memory"][0]["id"], id, "{undone}");
    assert_eq!(client.wait_for("undone")["turn"], turn.as_str());
    assert_eq!(
        served.request("DELETE", &format!("/api/memory/{id}"), &[("Authorization", &served.bearer())], "").status,
        200
    );
    assert_eq!(
        served.request("DELETE", &format!("/api/memory/{id}"), &[("Authorization", &served.bearer())], "").status,
        404
    );
    assert_eq!(served.get("/api/memory")["sections"][0]["total"], 0);

    client.say(&thread, "hi", "3");
    client.wait_for("finished");
    client.send(&json!({ "type": "retry", "thread": thread }));
    client.wait_for("undone");
    assert_eq!(client.wait_for("finished")["text"], "Hello there.");
    client.say(&thread, "/new", "4");
    let moved = client.wait(|message| message["type"] == "thread" && message["thread"] != thread.as_str());
    assert_eq!(moved["messages"], json!([]));
}

/// A trace without what is new each time: ids, times, the address of the model.
fn redacted(tenpass: &Tenpass) -> Vec<Value> {
    let text = std::fs::read_to_string(tenpass.agent.path().join("orchestrator-trace.jsonl")).unwrap();
    let records = text.lines().filter_map(|line| Some(serde_json::from_str::<Value>(line).ok()?["record"].clone()));
    records
        .filter(|record| record.is_object() && record.get("event").is_some())
        .map(|mut record| {
            for key in ["thread", "turn", "ms", "first_token_ms", "author", "model"] {
                record.as_object_mut().unwrap().remove(key);
            }
            record
        })
        .collect()
}

/// The requests a model got, without the time of day and the model's name.
fn asked(model: &ScriptServer) -> Vec<Value> {
    let chats = model.requests().into_iter().filter(|(path, _)| path.ends_with("completions"));
    chats
        .map(|(_, mut body)| {
            for message in body["messages"].as_array_mut().unwrap() {
                let content = message["content"].as_str().unwrap_or_default();
                let kept: Vec<&str> = content.lines().filter(|line| !line.contains("202")).collect();
                message["content"] = json!(kept.join("\n"));
            }
            body["model"] = Value::Null;
            body
        })
        .collect()
}

#[test]
fn same_loop() {
    let script = || {
        ScriptServer::start(|body| match last(body).0.as_str() {
            "tool" => Scripted::text("There is nothing in the folder."),
            _ => Scripted::call("list_directory", json!({ "path": ".", "reason": "asked" })),
        })
    };
    let (on_socket, in_chat) = (script(), script());
    let (first, second) = (Tenpass::new(), Tenpass::new());
    let question = "What files are there?";
    let served = Served::start(&first, &on_socket.spec(), &["--seed", "7"]);
    let (mut client, thread) = talking(&served);
    client.say(&thread, question, "1");
    client.wait_for("finished");
    drop(served);
    second.ok(&["chat", "--model", &in_chat.spec(), "--seed", "7", "--say", question]);
    let (socket, chat) = (redacted(&first), redacted(&second));
    assert!(socket.iter().any(|record| record["event"] == "call") && socket.len() > 5, "{socket:#?}");
    assert_eq!(socket, chat);
    assert_eq!(asked(&on_socket), asked(&in_chat));
}

#[test]
fn a_crash_in_the_middle_of_a_question_executes_nothing_and_loses_nothing() {
    let (tenpass, model) = (Tenpass::new(), writer());
    let mut served = Served::start(&tenpass, &model.spec(), &[]);
    let (mut client, thread) = talking(&served);
    client.say(&thread, "save it", "1");
    let asked = client.wait_for("confirm");
    served.kill();
    assert!(tenpass.agent.path().join("serve.json").exists(), "a crash cleans nothing up");

    let served = Served::start(&tenpass, &model.spec(), &[]);
    let mut client = served.client();
    let snapshot = client.open(None);
    assert_eq!((&snapshot["thread"], &snapshot["turn"]), (&json!(thread), &Value::Null));
    let messages = snapshot["messages"].as_array().unwrap();
    assert_eq!((&messages[0]["text"], &messages[1]["end"]), (&json!("save it"), &json!("stopped")));
    let call = &messages[1]["calls"][0];
    assert_eq!((&call["tool"], &call["outcome"]), (&json!("write_file"), &json!("interrupted")));
    assert!(messages[2]["text"].as_str().unwrap().contains("has expired"), "{}", messages[2]);
    client.send(&json!({ "type": "confirm", "id": asked["id"], "digest": asked["digest"], "approve": true }));
    assert!(client.wait_for("error")["message"].as_str().unwrap().contains("does not stand open"));
    assert!(!tenpass.agent.path().join("files/note.txt").exists());
    assert_eq!(served.get("/api/spend")["usd"], 0.0);
    let journals = served.get("/api/journals");
    assert_eq!((&journals["trace"]["intact"], &journals["intentions"]["intact"]), (&json!(true), &json!(true)));

    // The conversation goes on.
    client.say(&thread, "save it", "2");
    let asked = client.wait_for("confirm");
    client.send(&json!({ "type": "confirm", "id": asked["id"], "digest": asked["digest"], "approve": true }));
    assert_eq!(client.wait_for("finished")["text"], "I have saved the file.");
}

#[test]
fn fifty_threads_are_answered_at_once() {
    let model = ScriptServer::start(|body| Scripted {
        pause: Duration::from_millis(2),
        ..Scripted::text(format!("Answer to {}", item(body)))
    });
    let tenpass = Tenpass::new();
    let served = Served::start(&tenpass, &model.spec(), &[]);
    served.ready();
    let mut clients: Vec<(Client, String)> = (0..50)
        .map(|_| {
            let thread = uuid_like(&served);
            let mut client = served.client();
            client.open(Some(&thread));
            (client, thread)
        })
        .collect();
    for (number, (client, thread)) in clients.iter_mut().enumerate() {
        client.say(thread, &format!("question item{number}"), "1");
    }
    for (number, (client, _)) in clients.iter_mut().enumerate() {
        assert_eq!(client.wait_for("finished")["text"], format!("Answer to item{number}"));
    }
    assert_eq!(served.get("/api/threads?limit=100")["threads"].as_array().unwrap().len(), 50);
    assert_eq!(served.get("/api/journals")["trace"]["intact"], true);
}

/// A new thread's id, by way of `open` on an id of a client's own making.
fn uuid_like(served: &Served) -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(1);
    format!("00000000-0000-4000-8000-{:012}", NEXT.fetch_add(1, Ordering::Relaxed) + served.pid())
}

#[test]
fn two_hundred_clients_that_do_not_read_cost_little_and_block_nobody() {
    let answer = "A long answer with many small pieces. ".repeat(600);
    let expected = answer.clone();
    let model = ScriptServer::start(move |_| Scripted::text(answer.clone()));
    let tenpass = Tenpass::new();
    let served = Served::start(&tenpass, &model.spec(), &[]);
    served.ready();
    let (mut reader, thread) = talking(&served);
    // The first long answers fill caches of the loop, one a thread: up to 400 MiB that no client costs.
    reader.say(&thread, "speak", "0");
    reader.wait_for("finished");
    let mut idle: Vec<Client> = (0..200).map(|_| served.client()).collect();
    for client in &mut idle {
        client.open(Some(&thread));
    }
    let memory = || served.get("/api/runtime")["process"]["rss_bytes"].as_u64().unwrap();
    let before = memory();
    reader.say(&thread, "speak", "1");
    let finished = reader.wait_for("finished");
    assert_eq!(finished["text"].as_str().unwrap().trim(), expected.trim());
    let after = memory();
    // Far below what the bounds of 200 clients would allow (8 MiB each).
    assert!(after < before + (512 << 20), "{} MiB more", after.saturating_sub(before) >> 20);
    // Beyond the cap a socket is refused, and those that leave make room.
    let more: Vec<_> = (0..40).map(|_| served.client_with(&[("Authorization", &served.bearer())]).map(drop)).collect();
    assert!(more.iter().all(Result::is_ok), "sockets that were closed at once are no load");
    let held: Vec<_> = (0..60).map(|_| served.client_with(&[("Authorization", &served.bearer())])).collect();
    assert!(held.iter().any(|client| matches!(client, Err(503))));
}

#[test]
fn the_embedded_default_answers_without_any_configuration() {
    let tenpass = Tenpass::new();
    let served = Served::start(&tenpass, "", &["--max-tokens", "24", "--temperature", "0", "--structure", "text"]);
    let page = served.request("GET", "/", &[("Authorization", &served.bearer())], "");
    assert_eq!(page.status, 200, "the page opens while the model loads");
    let (mut client, thread) = talking(&served);
    client.say(&thread, "Say hello.", "1");
    let finished = client.wait_for("finished");
    assert_ne!(finished["end"], "failed", "{finished}");
    assert!(!finished["text"].as_str().unwrap().is_empty());
    assert_eq!(text_of(&client.seen, &finished["turn"]).trim(), finished["text"].as_str().unwrap().trim());
    assert_eq!(served.get("/api/session")["model"]["spec"], "embedded:smollm2-135m");
}

#[test]
fn a_model_that_is_not_there_is_said_and_the_message_is_kept() {
    let tenpass = Tenpass::new();
    let served = Served::start(&tenpass, "embedded:/nowhere/none.gguf", &[]);
    let (mut client, thread) = talking(&served);
    client.say(&thread, "hello", "1");
    let finished = client.wait_for("finished");
    assert_eq!(finished["end"], "failed");
    let notes: Vec<&Value> = client.seen.iter().filter(|message| message["type"] == "note").collect();
    assert!(notes.iter().any(|note| note["text"].as_str().unwrap().contains("is kept")), "{notes:?}");
    assert_eq!(served.get("/api/session")["model_state"], "failed");
    assert_eq!(served.get(&format!("/api/threads/{thread}"))["messages"][0]["text"], "hello");
}

#[test]
fn a_dropped_file_lands_beside_the_others() {
    let (tenpass, model) = (Tenpass::new(), ScriptServer::start(|_| Scripted::text("Fine.")));
    let served = Served::start(&tenpass, &model.spec(), &[]);
    served.ready();
    let drop_file = |name: &str, content: &str| {
        let body = format!(
            "--xx\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n{content}\r\n--xx--\r\n"
        );
        let kind = "multipart/form-data; boundary=xx";
        served.request("POST", "/api/files", &[("Authorization", &served.bearer()), ("Content-Type", kind)], &body)
    };
    let first = drop_file("plan.md", "one");
    assert_eq!((first.status, &first.json()["path"]), (200, &json!("plan.md")), "{}", first.body);
    assert_eq!(drop_file("../plan.md", "two").json()["path"], "plan (2).md");
    let files = tenpass.agent.path().join("files");
    let read = |name: &str| std::fs::read_to_string(files.join(name)).unwrap();
    assert_eq!((read("plan.md").as_str(), read("plan (2).md").as_str()), ("one", "two"));
    assert_eq!(drop_file("CON", "x").status, 400);
}

#[cfg(unix)]
#[test]
fn signals_end_it_and_a_second_one_is_told() {
    let (tenpass, model) = (
        Tenpass::new(),
        ScriptServer::start(|_| Scripted {
            pause: Duration::from_millis(50),
            ..Scripted::text("Once upon a time, ".repeat(200))
        }),
    );
    let mut served = Served::start(&tenpass, &model.spec(), &[]);
    // The same folder, and the same port.
    let error = tenpass.fails(2, &["serve", "--port", "0", "--model", &model.spec()]);
    assert!(error.contains("close it first") || error.contains("is open"), "{error}");
    let other = Tenpass::new();
    let port = served.address.port().to_string();
    let error = other.fails(3, &["serve", "--port", &port, "--model", &model.spec()]);
    assert!(error.contains(&format!("port {port} is in use")), "{error}");
    let error = other.fails(2, &["serve", "--port", "0", "--host", "0.0.0.0"]);
    assert!(error.contains("--public"), "{error}");

    // A new address for a second device.
    let link = tenpass.ok(&["serve", "--link"]);
    let path = link.trim().strip_prefix(&format!("http://{}", served.address)).unwrap();
    assert_eq!(served.request("GET", path, &[], "").status, 303);
    assert_eq!(served.request("GET", path, &[], "").status, 403);

    let (mut client, thread) = talking(&served);
    client.say(&thread, "a story", "1");
    client.wait_for("text");
    served.signal("TERM");
    assert_eq!(served.wait().code(), Some(0));
    let place = |name: &str| tenpass.agent.path().join(name);
    assert!(!place("serve.json").exists());
    let counts: Value = serde_json::from_str(&std::fs::read_to_string(place("state.json")).unwrap()).unwrap();
    assert_eq!((&counts["requests"], &counts["turns"]), (&json!(1), &json!(1)), "{counts}");
    assert!(counts.as_object().unwrap().values().all(Value::is_u64), "counts only");

    let mut served = Served::start(&tenpass, &model.spec(), &[]);
    let messages = served.get(&format!("/api/threads/{thread}"))["messages"].clone();
    assert_eq!(messages[1]["end"], "stopped");
    assert!(messages[1]["text"].as_str().unwrap().starts_with("Once"), "what was said is kept: {messages}");
    served.signal("INT");
    assert_eq!(served.wait().code(), Some(130));
    assert!(Path::new(&place("conversations.sqlite")).is_file());
}
