use serde_json::json;
use tenpass_agent::testing::{Said, ScriptedPerson};
use tenpass_trace::{Role, ToolCategory};

use super::*;

fn refusing() -> ScriptedPerson {
    ScriptedPerson::refusing()
}

/// The calls that a candidate's lines name.
fn lines(draft: &Draft) -> Vec<String> {
    draft.candidates.iter().map(|candidate| candidate.lines.trim_end().to_owned()).collect()
}

#[tokio::test]
async fn a_turn_is_asked_again_as_the_model_got_it() {
    let model = ScriptedModel::saying(vec![Said::text("Bonjour."), Said::text("Voilà.")]);
    let mut home = Home::with(model.clone());
    home.say("Salut, que fais-tu ?").await;
    let turn = home.say("Ouvre le fichier budget.xlsx").await;
    home.judge(&turn, &Feedback::Bad);
    let life = home.life();
    let zone = TimeZone::get("Europe/Paris").unwrap();
    let options = DraftOptions { zone, ..home.options() };
    let draft = Draft::of(&life, life.find(&turn, None).unwrap(), &options, None).unwrap();
    let asked = model.requests().pop().unwrap();
    let mine = &draft.case.messages;
    // The same rules, the same window, the same words; without the time, which is that of the turn.
    assert_eq!(mine.len(), asked.messages.len());
    assert_eq!(mine[0].content.lines().next(), asked.messages[0].content.lines().next());
    assert_eq!(mine[1..mine.len() - 1], asked.messages[1..asked.messages.len() - 1]);
    assert!(mine.last().unwrap().content.ends_with("Ouvre le fichier budget.xlsx"));
    let time = &mine.last().unwrap().content;
    assert!(time.contains("(+0") && !time.contains("Paris"), "{time}");
    let names =
        |tools: &[tenpass_trace::ToolDefinition]| tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&draft.case.tools), names(&asked.tools));
    assert!(draft.case.tools.iter().all(|tool| tool.category != ToolCategory::PcAction));
    assert_eq!((draft.moment.round, draft.moment.signal), (1, Some(Signal::Rejected)));
    assert_eq!(draft.case.id, "ouvre-le-fichier-budget-xlsx");
    assert_eq!(draft.case.language, crate::cases::Language::French);
}

#[tokio::test]
async fn of_identical_wrong_calls_the_first_is_the_question_and_another_can_be_chosen() {
    let again = || call("list_directory", json!({ "path": "." }));
    let mut home = Home::new(vec![again(), again(), Said::text("Nothing.")]);
    let turn = home.say("What is in my notes?").await;
    home.judge(&turn, &Feedback::Bad);
    let life = home.life();
    let lived = life.find(&turn, None).unwrap();
    assert_eq!(lived.calls.iter().map(|call| call.round).collect::<Vec<_>>(), [1, 2]);
    let of = |request| Draft::of_request(&life, lived, &home.options(), None, request);
    let first = of(None).unwrap();
    assert_eq!((first.moment.round, first.moment.calls_before), (1, 0));
    assert_eq!(of(Some(2)).unwrap().moment.calls_before, 1);
    assert!(of(Some(9)).unwrap_err().to_string().contains("and not request 9"));
}

#[tokio::test]
async fn a_rejected_call_is_asked_for_with_what_came_before_it() {
    let mut home = Home::new(vec![
        call("list_directory", json!({ "path": "." })),
        call("read_file", json!({ "file_nam": "notes.md", "mode": 3 })),
        call("read_file", json!({ "filename": "notes.md" })),
        Said::text("Milk."),
    ]);
    home.file("notes.md", "milk");
    let turn = home.say("What is in my notes?").await;
    let life = home.life();
    let lived = life.find(&turn, None).unwrap();
    let outcomes: Vec<_> = lived.calls.iter().map(|call| (call.round, call.outcome.as_str())).collect();
    assert_eq!(outcomes.len(), 3, "{outcomes:?}");
    assert_eq!(outcomes[1], (2, "rejected"), "{outcomes:?}");
    let draft = home.draft(&turn);
    assert_eq!((draft.moment.round, draft.moment.calls_before), (2, 1));
    let roles: Vec<Role> = draft.case.messages.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::System, Role::User, Role::Assistant, Role::Tool]);
    assert_eq!(draft.case.messages[2].tool_calls[0].name, "list_directory");
    assert!(draft.case.messages[3].content.contains("notes.md"));
    // It was made right behind the names of files, which come from outside: a guess, for a person to judge.
    let repaired = draft.candidates.iter().find(|candidate| candidate.lines.contains(r"notes\\.md")).unwrap();
    assert!(repaired.lines.contains("read_file") && repaired.strength == 1 && repaired.why.contains("outside"));
    assert!(draft.notes[0].contains("request 2"), "{:?}", draft.notes);
    // Without the store, the trace's shorter words stand in.
    std::fs::remove_file(home.folder().database()).unwrap();
    let bare = home.draft(&turn);
    assert_eq!(bare.case.messages.len(), 4);
    assert!(bare.case.messages[3].content.contains("notes.md"));
}

#[tokio::test]
async fn a_refused_call_is_forbidden_and_the_next_turn_says_what_was_meant() {
    let mut home = Home::new(vec![
        call("write_file", json!({ "filename": "tea.md", "content": "tea" })),
        Said::text("You refused, so nothing was saved."),
        call("append_file", json!({ "filename": "notes.md", "content": "tea" })),
        Said::text("It is in."),
    ]);
    home.file("notes.md", "milk\n");
    let first = home.say_to("Save tea in my notes", &refusing()).await;
    home.say("No, save tea in my notes.md file").await;
    let draft = home.draft(&first);
    assert_eq!((draft.moment.round, draft.moment.signal), (1, Some(Signal::RefusedConfirmation)));
    let found = lines(&draft);
    assert!(found[0].contains("append_file") && found[0].contains("forbid = [\"write_file\"]"), "{found:?}");
    assert!(draft.candidates[0].why.contains("approved") && draft.candidates[0].strength == 3);
    assert!(found[1..].contains(&"forbid = [\"write_file\"]".to_owned()), "{found:?}");
}

#[tokio::test]
async fn a_correction_is_read_and_nothing_from_outside_is_believed() {
    let mut home = Home::new(vec![Said::text("Your budget is 12 euros."), Said::text("Hm.")]);
    let turn = home.say("What does budget.txt say?").await;
    home.judge(&turn, &Feedback::Correct("you should have read the file".to_owned()));
    let draft = home.draft(&turn);
    assert_eq!(draft.correction.as_deref(), Some("you should have read the file"));
    let best = &draft.candidates[0];
    assert!(best.lines.contains("read_file") && best.lines.contains("budget"), "{}", best.lines);
    assert_eq!(best.strength, 3);
    // The trace alone knows that it was corrected, and not how.
    std::fs::remove_file(home.folder().database()).unwrap();
    assert_eq!(home.draft(&turn).moment.signal, Some(Signal::Rejected));
}

#[tokio::test]
async fn an_announced_act_and_a_good_turn() {
    let mut home = Home::new(vec![
        Said::text("I will read the file notes.md now."),
        call("read_file", json!({ "filename": "notes.md" })),
        Said::text("Milk."),
        call("list_directory", json!({ "path": "." })),
        Said::text("One file."),
    ]);
    home.file("notes.md", "milk");
    let turn = home.say("Read notes.md").await;
    let narrated = home.draft(&turn);
    assert_eq!((narrated.moment.round, narrated.moment.signal), (1, Some(Signal::NarratedAction)));
    assert!(lines(&narrated)[0].contains("read_file"), "{:?}", lines(&narrated));
    let good = home.say("Which files are there?").await;
    let good = home.draft(&good);
    assert_eq!(good.moment.signal, None);
    assert!(lines(&good)[0].contains("list_directory") && good.candidates[0].why == "what the turn did");
    assert!(good.notes[0].contains("nothing in the trace"), "{:?}", good.notes);
}

#[tokio::test]
async fn turns_are_found_by_their_names_and_numbers() {
    let mut home = Home::new(vec![Said::text("a")]);
    let first = home.say("one").await;
    let second = home.say("two").await;
    home.session = SessionState::new("other-2");
    let third = home.say("three").await;
    let life = home.life();
    let found =
        |query: &str, number| life.find(query, number).map(|turn| turn.turn.clone()).map_err(|error| error.to_string());
    assert_eq!(found("latest", None), Ok(third.clone()));
    assert_eq!(found(&first[..12], None), Ok(first));
    assert_eq!(found("thread", Some(2)), Ok(second));
    assert_eq!(found("other", None), Ok(third), "a conversation of one turn");
    assert_eq!(found("thread", None).unwrap_err(), "thread-1 is a conversation of 2 turns");
    assert_eq!(found("thread", Some(3)).unwrap_err(), "the conversation thread-1 has 2 turns, not 3");
    assert_eq!(found("zzz", None).unwrap_err(), "no turn or conversation begins with \"zzz\"");
    assert!(matches!(life.find("", None), Err(LifeError::NoTurn { .. })));
    let empty = tempfile::tempdir().unwrap();
    let error = Life::open(&AgentFolder::new(empty.path())).unwrap_err();
    assert!(matches!(&error, LifeError::Nothing { .. }) && !empty.path().join("conversations.sqlite").exists());
}

#[tokio::test]
async fn what_was_taken_back_is_in_nobodys_history_and_an_emergency_is_no_case() {
    let mut home = Home::new(vec![Said::text("first answer"), Said::text("second answer")]);
    home.say("Tell me about Kilimanjaro").await;
    home.undo();
    let turn = home.say("Tell me about rivers").await;
    let draft = home.draft(&turn);
    let all: String = draft.case.messages.iter().map(|message| message.content.as_str()).collect();
    assert!(!all.contains("first answer"), "{all}");
    let emergency = home.say("stop").await;
    let life = home.life();
    let lived = life.find(&emergency, None);
    if let Ok(lived) = lived
        && lived.rounds == 0
    {
        let error = Draft::of(&life, lived, &home.options(), None).unwrap_err();
        assert!(matches!(&error, LifeError::Unfit { .. }), "{error}");
    }
}

#[tokio::test]
async fn an_expectation_that_was_typed_is_checked_where_it_stands() {
    let mut home = Home::new(vec![Said::text("Hm.")]);
    let turn = home.say("Lis le CV de Sophie").await;
    let life = home.life();
    let lived = life.find(&turn, None).unwrap();
    let lines = "calls = [{ tool = 'read_file', arguments = { filename = { contains = 'sophie' } } }]";
    let draft = Draft::of(&life, lived, &home.options(), Some(lines)).unwrap();
    let written = crate::cases::expect_lines(&draft.case.expect);
    assert!(!written.to_lowercase().contains("sophie") && written.contains("read_file"), "{written}");
    let name = draft.mapping().into_iter().find(|replaced| replaced.was == "Sophie").unwrap().is;
    assert!(draft.request.contains(&name) && written.contains(&name.to_lowercase()), "{written} {name}");
    let error = Draft::of(&life, lived, &home.options(), Some("\ncalls = [{ tool = 'raed_file' }]")).unwrap_err();
    let LifeError::Cases(errors) = error else { panic!("{error}") };
    assert_eq!(errors[0].to_string(), "--expect:2: unknown tool `raed_file`");
}
