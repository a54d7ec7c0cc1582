use std::sync::Mutex;

use serde_json::json;
use tenpass_agent::describe;
use tenpass_agent::interaction::{AgentEvent, Confirmation, Interaction, Reply};
use tenpass_agent::memo;
use tenpass_agent::policy::TIERS;
use tenpass_agent::session::SessionState;
use tenpass_agent::testing::{Said, ScriptedModel, ScriptedPerson};
use tenpass_agent::untrusted;
use tenpass_model::BoxFuture;
use tenpass_trace::{CallOutcome, TraceEvent, TraceRecord, TurnEnd};
use tokio_util::sync::CancellationToken;

use super::*;

fn options(place: &Path) -> LiveOptions {
    LiveOptions {
        folder: AgentFolder::new(place.join("agent")),
        files: None,
        read: Vec::new(),
        cleanup: Vec::new(),
        protected: Vec::new(),
        memory: None,
        offline: false,
        search: Search::Local(None),
        providers: vec![ProviderChoice {
            provider: Provider::Claude,
            address: "https://api.anthropic.com".to_owned(),
            model: "claude-sonnet-4-5".to_owned(),
            key: None,
        }],
        escalate: None,
        caps: Caps::default(),
        fail_open: false,
        agent: AgentSettings::default(),
        options: Options::default(),
    }
}

fn saying(answers: Vec<Said>) -> Arc<dyn ChatModel> {
    Arc::new(ScriptedModel::saying(answers))
}

#[test]
fn k18_k19_k40_k97_every_live_tool_is_described_noted_and_has_a_tier() {
    let place = tempfile::tempdir().unwrap();
    let live = live(options(place.path()), saying(Vec::new())).unwrap();
    assert_eq!(memo::faults(&live.tools), Vec::<String>::new());
    let names: Vec<&str> = live.tools.definitions().iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names.len(), 15, "{names:?}");
    for tool in live.tools.definitions() {
        assert!(describe::findings(tool).is_empty(), "{:?}", describe::findings(tool));
        assert!(TIERS.iter().any(|(name, _)| *name == tool.name), "{} has no tier", tool.name);
        let required = tool.parameters.pointer("/required").and_then(|list| list.as_array()).unwrap();
        let restated = describe::describe(tool).description;
        for name in required.iter().filter_map(|name| name.as_str()) {
            assert!(restated.contains(name), "K18: {} does not restate {name}", tool.name);
        }
        assert!(required.contains(&json!("reason")), "K17: {}", tool.name);
    }
}

#[tokio::test]
async fn a_turn_writes_a_file_after_a_yes_and_leaves_its_records() {
    let place = tempfile::tempdir().unwrap();
    let call = json!({ "filename": "notes.md", "content": "Tea.", "reason": "asked" });
    let live =
        live(options(place.path()), saying(vec![Said::call("write_file", call), Said::text("It is saved.")])).unwrap();
    let mut session = SessionState::new("thread");
    let person = ScriptedPerson::approving();
    let stop = CancellationToken::new();
    let report = live.assistant.say(&mut session, "Save tea", &person, stop).await.unwrap();
    assert_eq!((report.end, report.text.as_str()), (TurnEnd::Natural, "It is saved."));
    let folder = AgentFolder::new(place.path().join("agent"));
    assert_eq!(std::fs::read_to_string(folder.files().join("notes.md")).unwrap(), "Tea.");
    let records: Vec<TraceRecord> =
        tenpass_trace::journal::records(&folder.trace()).unwrap().map(|entry| entry.unwrap().record).collect();
    assert!(records.iter().any(|record| matches!(&record.event, TraceEvent::Final { end: TurnEnd::Natural, .. })));
    assert!(std::fs::read_to_string(folder.intentions()).unwrap().contains("write_file"));
    let key = JournalKey::load(&folder.journal_key()).unwrap();
    let heads = live.assistant.database().journal_heads().unwrap();
    assert!(tenpass_trace::journal::verify(folder.path(), &key, Some(&heads)).ok);
}

#[tokio::test]
async fn the_agents_own_files_are_out_of_reach_whatever_the_files_folder_is() {
    let place = tempfile::tempdir().unwrap();
    for files in [None, Some(place.path().to_owned())] {
        let prefix = if files.is_some() { "agent/" } else { "../" };
        let call =
            |name: &str| Said::call("read_file", json!({ "filename": format!("{prefix}{name}"), "reason": "x" }));
        let model = saying(vec![call("journal.key"), call("conversations.sqlite"), Said::text("Nothing.")]);
        let live = live(LiveOptions { files, ..options(place.path()) }, model).unwrap();
        let mut session = SessionState::new("thread");
        let person = ScriptedPerson::approving();
        let report = live.assistant.say(&mut session, "read", &person, CancellationToken::new()).await.unwrap();
        assert_eq!(report.ledger.len(), 2);
        assert!(report.ledger.iter().all(|call| call.outcome != CallOutcome::Ok), "{:?}", report.ledger);
    }
}

#[tokio::test]
async fn offline_nothing_that_needs_the_network_is_touched() {
    let place = tempfile::tempdir().unwrap();
    let model = saying(vec![
        Said::call("web_search", json!({ "query": "trains", "reason": "x" })),
        Said::call("read_url", json!({ "url": "https://example.org/", "reason": "x" })),
        Said::call("delegate_to_provider", json!({ "provider": "claude", "task": "write", "reason": "x" })),
        Said::text("Offline."),
    ]);
    let search = Search::Searxng("http://127.0.0.1:9".to_owned());
    let live = live(LiveOptions { offline: true, search, ..options(place.path()) }, model).unwrap();
    let mut session = SessionState::new("thread");
    let person = ScriptedPerson::approving();
    let report = live.assistant.say(&mut session, "look it up", &person, CancellationToken::new()).await.unwrap();
    assert_eq!(report.ledger.len(), 3);
    for call in &report.ledger {
        assert!(call.outcome == CallOutcome::Error && call.result.contains("offline"), "{call:?}");
    }
}

#[test]
fn a_second_one_is_told_that_the_folder_is_taken() {
    let place = tempfile::tempdir().unwrap();
    let first = live(options(place.path()), saying(Vec::new())).unwrap();
    let second = live(options(place.path()), saying(Vec::new())).err().unwrap();
    assert!(matches!(&second, LiveError::Journal(JournalError::Locked { .. })), "{second}");
    assert!(second.hint().contains("close it first"));
    drop(first);
    live(options(place.path()), saying(Vec::new())).unwrap();
}

#[test]
fn what_the_journals_lost_is_a_note() {
    let place = tempfile::tempdir().unwrap();
    let first = live(options(place.path()), saying(Vec::new())).unwrap();
    assert_eq!(first.notes, Vec::<String>::new());
    first
        .recorder
        .trace(&TraceRecord {
            thread: String::new(),
            turn: String::new(),
            event: TraceEvent::Cancellation { by: "stop".to_owned() },
        })
        .unwrap();
    let trace = AgentFolder::new(place.path().join("agent")).trace();
    let text = std::fs::read_to_string(&trace).unwrap();
    first
        .recorder
        .journals()
        .trace(&TraceRecord {
            thread: "t".to_owned(),
            turn: "u".to_owned(),
            event: TraceEvent::Request { text: "x".into(), model: "m".into(), profile: "panel".into(), think: None },
        })
        .unwrap();
    drop(first);
    std::fs::write(&trace, format!("{text}{{\"seq\":2,\"at")).unwrap();
    let notes = live(options(place.path()), saying(Vec::new())).unwrap().notes;
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(notes[0].contains("orchestrator-trace lost its end") && notes[1].contains("had been cut off"), "{notes:?}");
}

/// A person that stops whatever begins.
struct Stopper(CancellationToken, Mutex<Vec<AgentEvent>>);

impl Interaction for Stopper {
    fn event(&self, event: AgentEvent) {
        if matches!(event, AgentEvent::Text(_)) {
            self.0.cancel();
        }
        self.1.lock().unwrap().push(event);
    }

    fn confirm<'a>(&'a self, _confirmation: &'a Confirmation) -> BoxFuture<'a, Reply> {
        Box::pin(async { Reply::Refuse })
    }
}

#[tokio::test]
async fn k6_a_stopped_turn_keeps_its_words_and_is_no_example() {
    let place = tempfile::tempdir().unwrap();
    let endless = Said { hangs: true, ..Said::text("Once upon a time") };
    let live = live(options(place.path()), saying(vec![endless])).unwrap();
    let stop = CancellationToken::new();
    let person = Stopper(stop.clone(), Mutex::default());
    let mut session = SessionState::new("thread");
    let report = live.assistant.say(&mut session, "a story", &person, stop).await.unwrap();
    assert_eq!(report.end, TurnEnd::Stopped);
    assert!("Once upon a time".starts_with(report.text.trim_end()) && !report.text.is_empty());
    let stored = live.assistant.database().messages("thread").unwrap();
    assert_eq!((stored.len(), stored[1].interrupted), (2, true));
    assert!(live.assistant.database().exportable_exchanges().unwrap().is_empty());
    assert!(untrusted::visible(&report.text) == report.text);
}
