//! Scenarios played with models that are scripted, so that world, script, loop and grader are seen
//! together.

mod fairness;
mod grading;
mod obeying;
mod plays;
mod shipped;
mod stored;
mod strategies;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tenpass_agent::testing::{Said, ScriptedModel};
use tenpass_model::ChatRequest;
use tokio_util::sync::CancellationToken;

use super::{Play, Stage, definitions, grade, load_suite, parse_suite, play};
use crate::cases::{Case, Suite};
use crate::grade::Grade;
use crate::run::Configuration;

/// The scenarios that are shipped.
fn shipped() -> Suite {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases/rounds");
    load_suite(&folder, &definitions()).unwrap_or_else(|errors| {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        panic!("{}", errors.join("\n"))
    })
}

/// A shipped scenario.
fn case(id: &str) -> Case {
    shipped().cases.into_iter().find(|case| case.id == id).unwrap_or_else(|| panic!("no scenario {id}"))
}

/// A scenario written in a test, without its first lines.
fn written(text: &str) -> Case {
    let file = format!(
        "family = \"test\"\n[[scenario]]\nid = \"written\"\nlanguage = \"en\"\nholds = [\"K1\"]\nprovenance = \"a test\"\n{text}"
    );
    let suite = parse_suite(&[("test.toml".to_owned(), file)], &definitions());
    suite.unwrap_or_else(|errors| panic!("{errors:?}")).cases.remove(0)
}

fn stage(model: &ScriptedModel) -> Stage {
    Stage::of(&Configuration::new(Arc::new(model.clone())))
}

async fn played(case: &Case, model: &ScriptedModel) -> Play {
    let scenario = case.scenario.as_ref().unwrap();
    let cancel = CancellationToken::new();
    play(scenario, &case.tools, &stage(model), 7, Duration::from_secs(30), &cancel).await.unwrap()
}

async fn graded(case: &Case, model: &ScriptedModel) -> (Play, Grade) {
    let play = played(case, model).await;
    assert_eq!(play.error, None, "{}", case.id);
    let grade = grade(case.scenario.as_ref().unwrap(), &case.tools, &play.played);
    (play, grade)
}

/// A model that makes these answers one after the other, over all turns.
fn saying(answers: impl IntoIterator<Item = Said>) -> ScriptedModel {
    ScriptedModel::saying(answers.into_iter().collect())
}

/// The text of the last message with this role.
fn last_result(request: &ChatRequest) -> &str {
    request
        .messages
        .iter()
        .rfind(|message| message.role == tenpass_trace::Role::Tool)
        .map_or("", |message| message.content.as_str())
}
