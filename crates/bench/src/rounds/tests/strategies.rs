//! The strategies of a configuration reach the loop: structure, selection, memory, sections, sampling.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tenpass_agent::prompt::Sections;
use tenpass_agent::testing::{Said, ScriptedModel};
use tenpass_agent::{Retrieval, Selection, Structure};
use tenpass_model::{ChatRequest, ThinkLevel};
use tenpass_trace::Role;
use tokio_util::sync::CancellationToken;

use super::{case, saying};
use crate::rounds::{Play, Stage, grade, play};
use crate::run::Configuration;

/// Plays a shipped scenario with a changed configuration.
async fn with(id: &str, model: &ScriptedModel, change: impl FnOnce(&mut Configuration)) -> Play {
    let mut configuration = Configuration::new(Arc::new(model.clone()));
    change(&mut configuration);
    let (case, stage) = (case(id), Stage::of(&configuration));
    let scenario = case.scenario.as_ref().unwrap();
    let limit = Duration::from_secs(30);
    let play = play(scenario, &case.tools, &stage, 3, limit, &CancellationToken::new()).await.unwrap();
    assert_eq!(play.error, None);
    let grade = grade(scenario, &case.tools, &play.played);
    assert!(grade.pass, "{:?}", grade.reasons);
    play
}

fn system(request: &ChatRequest) -> &str {
    request.messages.first().filter(|first| first.role == Role::System).map_or("", |first| first.content.as_str())
}

#[tokio::test]
async fn every_structure_offers_the_tools_in_its_own_place() {
    let id = "reading-is-not-asked";
    let call = json!({ "name": "read_file", "arguments": { "filename": "menu.txt", "reason": "asked" } });
    let answer = json!({ "name": "answer", "arguments": { "text": "Lentil soup." } });
    for (structure, answers) in [
        (Structure::Native, [Said::call("read_file", call["arguments"].clone()), Said::text("Lentil soup.")]),
        (Structure::Text, [Said::text(&format!("<tool_call>{call}</tool_call>")), Said::text("Lentil soup.")]),
        (Structure::Grammar, [Said::text(&call.to_string()), Said::text(&answer.to_string())]),
    ] {
        let model = saying(answers);
        let play = with(id, &model, |configuration| configuration.structure = structure).await;
        let first = &model.requests()[0];
        assert_eq!(first.tools.is_empty(), structure != Structure::Native, "{structure}");
        assert_eq!(first.format.is_some(), structure == Structure::Grammar, "{structure}");
        assert_eq!(system(first).contains("plan_cleanup"), structure != Structure::Native, "{structure}");
        for record in &play.requests {
            assert_eq!(record.offered.len(), 15, "{structure}: {:?}", record.offered);
        }
        assert_eq!(play.played.turns[0].text, "Lentil soup.", "{structure}");
    }
}

#[tokio::test]
async fn a_selection_offers_fewer_tools_and_says_so() {
    let answers = || {
        let read = json!({ "filename": "menu.txt", "reason": "asked" });
        [Said::call("read_file", read), Said::text("Lentil soup.")]
    };
    let offered = async |selection| {
        let model = saying(answers());
        let play = with("reading-is-not-asked", &model, |configuration| configuration.selection = selection).await;
        play.requests[0].offered.len()
    };
    assert_eq!(offered(Selection::All).await, 15);
    assert!(offered(Selection::Router).await < 15);
    assert!(offered(Selection::Relevance).await < 15);
}

#[tokio::test]
async fn memory_and_sections_are_switched() {
    let id = "a-question-is-no-order-to-remember";
    let mentions = |model: &ScriptedModel, text: &str| {
        model.requests()[0].messages.iter().any(|message| message.content.contains(text))
    };
    let entry = "repaint the boat in blue";
    for (retrieval, shown) in [(Retrieval::Recent, true), (Retrieval::Relevant, true), (Retrieval::Off, false)] {
        let model = saying([Said::text("Blue.")]);
        with(id, &model, |configuration| configuration.memory = retrieval).await;
        assert_eq!(mentions(&model, entry), shown, "{retrieval}");
    }
    let model = saying([Said::text("Blue.")]);
    with(id, &model, |configuration| configuration.sections = Sections::every(false)).await;
    let request = &model.requests()[0];
    assert_eq!((request.messages.len(), system(request)), (1, ""), "{:?}", request.messages);
}

#[tokio::test]
async fn sampling_thinking_and_streaming_are_the_configurations() {
    let id = "thoughts-stay-out-of-the-answer";
    let model = saying([Said { thinking: "17 times 6".to_owned(), ..Said::text("102") }]);
    let play = with(id, &model, |configuration| {
        configuration.options.temperature = 0.7;
        configuration.options.max_tokens = 99;
        configuration.stream = false;
        configuration.think = Some(ThinkLevel::Low);
    })
    .await;
    let request = &model.requests()[0];
    assert_eq!((request.options.temperature, request.options.max_tokens, request.stream), (0.7, 99, false));
    assert_eq!(request.think, Some(ThinkLevel::High), "the scenario's level");
    assert_eq!(play.played.turns[0].answers[0].thinking, "17 times 6");
    // A model that does not think is not asked to by a scenario.
    let mut info = tenpass_agent::testing::scripted_info();
    info.capabilities.thinking = false;
    let model = saying([Said::text("102")]).with_info(info);
    with(id, &model, |_| {}).await;
    assert_eq!(model.requests()[0].think, None);
}
