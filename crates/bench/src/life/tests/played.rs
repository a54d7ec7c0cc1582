//! A filed case loads, is played and is graded; a case that is right today says so.

use serde_json::json;
use tenpass_agent::testing::{Said, ScriptedModel};

use super::*;
use crate::cases::load_suite;
use crate::run::{Configuration, RunEvent};
use crate::store::open_run;

fn plan(model: ScriptedModel, passes: u32) -> CheckPlan {
    let configuration = Configuration { jobs: 4, ..Configuration::new(Arc::new(model)) };
    CheckPlan { configuration, passes, seed: 7, timeout: std::time::Duration::from_secs(30) }
}

async fn checked(draft: &Draft, store: &std::path::Path, model: ScriptedModel) -> Checked {
    check(&draft.case, plan(model, 10), store, &|_: &RunEvent| {}, CancellationToken::new()).await.unwrap().0
}

/// Right for three seeds of ten or so.
fn sometimes() -> ScriptedModel {
    ScriptedModel::new(|request| {
        if request.options.seed % 3 == 0 {
            call("read_file", json!({ "filename": "budget.txt" }))
        } else {
            Said::text("It is 12.")
        }
    })
}

#[tokio::test]
async fn a_corrected_turn_becomes_a_case_that_fails_today() {
    let mut home = Home::new(vec![Said::text("It is 12.")]);
    let turn = home.say("What does budget.txt say?").await;
    home.judge(&turn, &Feedback::Correct("you should have read the file".to_owned()));
    let mut draft = home.draft(&turn);
    let best = draft.candidates[0].clone();
    draft.choose(&best);
    draft.say_provenance(None);
    let store = home.place.path().join("runs");
    let found = checked(&draft, &store, sometimes()).await;
    assert_eq!(found.fails_today(), FailsToday::Yes);
    assert!(found.answers == 10 && found.successes < 10, "{found:?}");
    assert!(found.low < found.successes as f64 / 10.0 && found.high > found.successes as f64 / 10.0);
    draft.say_provenance(Some(&found.provenance()));
    let filed = file_case(draft.case.clone(), &home.cases(), false, "").unwrap();
    let suite = load_suite(&home.cases()).unwrap();
    assert!(suite.cases[0].provenance.contains(&turn) && suite.cases[0].provenance.contains(&found.run));
    // The run is kept like any other, with the case as it was played.
    let run = open_run(&store, &found.run).unwrap();
    assert_eq!(run.cases().unwrap()[0].messages, suite.cases[0].messages);
    assert_eq!(run.manifest().bench, "tools");
    // The filed case is what is played from now on.
    let mut again = home.draft(&turn);
    again.case = filed.case;
    assert_eq!(checked(&again, &store, sometimes()).await.answers, 10);
}

#[tokio::test]
async fn a_case_that_is_right_says_so_and_one_that_cannot_be_asked_too() {
    let mut home = Home::new(vec![Said::text("Hello.")]);
    let turn = home.say("Good morning").await;
    let mut draft = home.draft(&turn);
    draft.expect("--expect", "no_call = true").unwrap();
    let store = home.place.path().join("runs");
    let right = checked(&draft, &store, ScriptedModel::saying(vec![Said::text("Good morning.")])).await;
    assert_eq!((right.fails_today(), right.successes), (FailsToday::No, 10));
    assert_eq!(right.words(), "right in 10 of 10 passes (95 %: 0.72 to 1.00)");
    let broken =
        ScriptedModel::saying(vec![Said::error(tenpass_model::ModelError::Overflow { prompt_tokens: 9, context: 8 })]);
    let nothing = checked(&draft, &store, broken).await;
    assert_eq!((nothing.fails_today(), nothing.answers), (FailsToday::Unknown, 0));
}
