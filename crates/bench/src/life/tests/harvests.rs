use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use tenpass_agent::testing::{Said, ScriptedPerson};

use super::*;
use crate::cases::{Case, SuiteText, parse_suite};

fn reaped(home: &Home, known: &[Case]) -> Harvest {
    harvest(&home.life(), None, known, &home.options()).unwrap()
}

/// A home in which most things went wrong once.
async fn eventful() -> (Home, Vec<String>) {
    let mut home = Home::new(vec![
        call("write_file", json!({ "filename": "a.md", "content": "x" })),
        Said::text("You refused it."),
        Said::text("The budget is 3."),
        call("read_file", json!({ "nam": 1 })),
        Said::text("I could not."),
        Said::text("I have saved report.md."),
        Said::text("Sunny."),
        Said::text("Windy."),
        Said::text("All fine."),
    ]);
    let mut turns = Vec::new();
    turns.push(home.say_to("Write x into a.md", &ScriptedPerson::refusing()).await);
    turns.push(home.say("What does budget.txt hold?").await);
    home.judge(&turns[1], &Feedback::Correct("read_file".to_owned()));
    turns.push(home.say("Show me the poem").await);
    turns.push(home.say("Save the report").await);
    turns.push(home.say("How is the weather in the mountains tomorrow").await);
    turns.push(home.say("No, the weather in the mountains").await);
    turns.push(home.say("Thanks for everything").await);
    (home, turns)
}

#[tokio::test]
async fn what_went_wrong_is_proposed_and_nothing_else() {
    let (home, turns) = eventful().await;
    let harvest = reaped(&home, &[]);
    let of = |turn: &str| harvest.proposals.iter().find(|proposal| proposal.turn == turn);
    assert_eq!(of(&turns[0]).unwrap().signals, [Signal::RefusedConfirmation]);
    assert_eq!(of(&turns[1]).unwrap().signals[0], Signal::Corrected);
    assert_eq!(of(&turns[2]).unwrap().signals[0], Signal::RejectedCall);
    assert!(of(&turns[3]).unwrap().signals.contains(&Signal::ClaimMismatch), "{:?}", of(&turns[3]));
    assert_eq!(of(&turns[4]).unwrap().signals, [Signal::AskedAgain]);
    assert!(of(&turns[5]).is_none() && of(&turns[6]).is_none());
    assert_eq!(harvest.turns, 7);
    assert!(harvest.proposals.is_sorted_by(|a, b| a.strength >= b.strength));
    assert!(of(&turns[1]).unwrap().expect.as_ref().unwrap().contains("read_file"));
    assert_eq!(of(&turns[0]).unwrap().expect.as_deref(), Some("forbid = [\"write_file\"]\n"));
}

#[tokio::test]
async fn what_there_is_a_case_for_is_left_out() {
    let (home, turns) = eventful().await;
    let first = reaped(&home, &[]);
    let by_turn = first.proposals.iter().find(|proposal| proposal.turn == turns[0]).unwrap().case.clone();
    let mut by_words = first.proposals.iter().find(|proposal| proposal.turn == turns[1]).unwrap().case.clone();
    by_words.provenance = "seen elsewhere".to_owned();
    let other =
        Case { id: "other".to_owned(), messages: vec![tenpass_trace::Message::user("Sing a song")], ..by_turn.clone() };
    let unrelated = reaped(&home, &[Case { provenance: "x".to_owned(), ..other }]);
    assert_eq!(unrelated.proposals.len(), first.proposals.len());
    let second = reaped(&home, &[by_turn, by_words]);
    assert_eq!((second.known, second.proposals.len()), (2, first.proposals.len() - 2));
}

#[tokio::test]
async fn the_same_failure_twice_is_one_proposal() {
    let mut home = Home::new(vec![Said::text("Hm.")]);
    for text in ["Open the garden plan", "open the garden plan!", "Write a long letter to the bank"] {
        let turn = home.say(text).await;
        home.judge(&turn, &Feedback::Bad);
    }
    let harvest = reaped(&home, &[]);
    let counts: Vec<usize> = harvest.proposals.iter().map(|proposal| proposal.folded).collect();
    assert_eq!((harvest.proposals.len(), harvest.folded), (2, 1), "{counts:?}");
    assert_eq!(counts.iter().sum::<usize>(), 1);
}

#[tokio::test]
async fn the_window_and_interrupted_or_undone_turns() {
    let mut home = Home::new(vec![Said { hangs: true, ..Said::text("Once upon") }]);
    let stop = CancellationToken::new();
    let person = ScriptedPerson::approving();
    let interrupted = tokio::join!(
        home.live.assistant.say(&mut home.session, "Tell a story about ships", &person, stop.clone()),
        async {
            tokio::task::yield_now().await;
            stop.cancel();
        }
    );
    interrupted.0.unwrap();
    let harvest = reaped(&home, &[]);
    assert_eq!(harvest.proposals.len(), 0, "stopping is no judgement: {:?}", harvest.proposals);

    let mut home = Home::new(vec![Said::text("Hm."), Said::text("Ho.")]);
    home.say("Draw a map of the island").await;
    home.undo();
    let harvest = reaped(&home, &[]);
    assert_eq!(
        (harvest.proposals[0].signals.as_slice(), harvest.proposals[0].is_undone),
        (&[Signal::Undone][..], true)
    );
    let tomorrow = Timestamp::now() + SignedDuration::from_hours(24);
    let later = super::super::harvest(&home.life(), Some(tomorrow), &[], &home.options()).unwrap();
    assert_eq!((later.turns, later.proposals.len()), (0, 0));
}

#[tokio::test]
async fn drafts_are_a_valid_suite_that_says_what_is_only_suggested() {
    let (home, _) = eventful().await;
    let harvest = reaped(&home, &[]);
    let text = drafts_toml(&harvest.proposals).unwrap();
    let suite = SuiteText { files: vec![("life.toml".to_owned(), text.clone())], ..SuiteText::default() };
    let suite = parse_suite(&suite).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    let told = harvest.proposals.iter().filter(|proposal| proposal.expect.is_some()).count();
    assert!(told >= 3);
    assert_eq!((suite.cases.len(), text.matches("Suggested, for a person to judge").count()), (told, told));
    assert_eq!(drafts_toml(&[]), None);
    let json = serde_json::to_value(&harvest).unwrap();
    assert!(json["proposals"][0]["signals"][0].is_string() && json["proposals"][0].get("case").is_none(), "{json}");
}
