//! `tenpass prompt show`: what a model really receives.

use serde_json::json;
use tenpass_agent::structure::choose;
use tenpass_agent::{Selection, Structure};
use tenpass_bench::run::{Configuration, prepare_case};
use tenpass_model::ModelSpec;

use super::cases::find;
use crate::args::tools::Prompt;
use crate::backend;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Carries out the command.
pub(crate) async fn run(context: &Context, command: &Prompt) -> Result<Exit, Failure> {
    let Prompt::Show { case, model, structure, tools, path, format } = command;
    let suite = context.suite(path.cases.as_deref())?;
    let case = find(&suite, case)?;
    let spec = match model {
        Some(spec) => spec.clone(),
        None => context.resolved.settings.model.parse::<ModelSpec>().map_err(Failure::mistake)?,
    };
    let model = backend::model(context, &spec, None).await?;
    let structure: Structure = structure.unwrap_or_else(|| choose(&model.info().capabilities).structure);
    let mut configuration = Configuration::new(model);
    configuration.structure = structure;
    configuration.selection = tools.unwrap_or(Selection::All);
    let info = configuration.model.info().clone();
    let prepared = prepare_case(case, &info, &configuration.record());
    let rendered = configuration.model.render(&prepared.request).await?;
    // A short real answer tells what the server itself counted.
    let counted = server_count(&configuration, &prepared.request).await;
    if format.json() {
        context.printer.json(&json!({
            "case": case.id, "model": info.spec, "structure": structure, "offered": prepared.offered.iter().map(|tool| &tool.name).collect::<Vec<_>>(),
            "text": rendered.text, "tokens": rendered.tokens, "server_tokens": counted.as_ref().ok(), "context": info.context,
            "server_error": counted.as_ref().err().map(ToString::to_string),
        }))?;
        return Ok(Exit::Yes);
    }
    let number = |count: Option<u64>| count.map_or_else(|| "unknown".to_owned(), |count| count.to_string());
    let text = rendered.text.unwrap_or_else(|| "(this backend does not show its rendered prompt)".to_owned());
    context.printer.out(&text);
    let server = match counted {
        Ok(count) => number(Some(count)),
        Err(error) => format!("not counted: {error}"),
    };
    let weight = match (rendered.tokens, info.context) {
        (Some(tokens), Some(length)) => {
            format!(" · {:.0} % of a context of {length}", 100.0 * f64::from(tokens) / f64::from(length))
        }
        _ => String::new(),
    };
    context.printer.note(&format!(
        "{} with structure {structure}: {} tokens rendered · {server} counted by the server{weight}",
        info.spec,
        number(rendered.tokens.map(u64::from)),
    ));
    Ok(Exit::Yes)
}

/// The prompt tokens that the backend reports for a one-token answer.
async fn server_count(configuration: &Configuration, request: &tenpass_model::ChatRequest) -> Result<u64, Failure> {
    let mut request = request.clone();
    request.options.max_tokens = 1;
    let collected = tenpass_model::collect(configuration.model.start(request), std::time::Instant::now()).await;
    if let Some(error) = collected.error {
        return Err(error.into());
    }
    let count = collected.completion.and_then(|completion| completion.usage.prompt_tokens);
    count.ok_or_else(|| Failure::mistake("the server reports no token counts"))
}

impl std::fmt::Display for Failure {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.message)
    }
}
