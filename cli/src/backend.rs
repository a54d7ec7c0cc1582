//! From a SPEC to a model.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tenpass_engine::{EmbeddedModel, LoadOptions};
use tenpass_model::{
    ApiKey, ChatModel, HttpOptions, ModelError, ModelSpec, OllamaModel, OpenAiModel, Pool, PoolEndpoint, ReplayModel,
};

use crate::context::Context;
use crate::failure::Failure;

/// Share of the time for one answer after which a silent server is a fault of the server (INVALID)
/// rather than a slow answer of the model.
const SILENCE: f64 = 0.9;

/// Connects to, or loads, the model that `spec` names. `context` is the length asked for.
pub(crate) async fn model(
    context: &Context,
    spec: &ModelSpec,
    length: Option<u32>,
) -> Result<Arc<dyn ChatModel>, Failure> {
    let settings = &context.resolved.settings;
    let mut http = HttpOptions { idle: Some(settings.timeout.mul_f64(SILENCE)), ..HttpOptions::default() };
    match spec {
        ModelSpec::Embedded(name) => embedded(context, spec, name, length).await,
        ModelSpec::Ollama { hosts, model } => match hosts.as_slice() {
            [] => Ok(Arc::new(OllamaModel::connect(&settings.ollama_address, model, None, &http).await?)),
            [host] => Ok(Arc::new(OllamaModel::connect(host, model, None, &http).await?)),
            hosts => {
                http.connect = patience(settings.timeout, http.connect);
                pool(context, hosts.iter().map(|host| PoolEndpoint::ollama(host, model, &http)).collect()).await
            }
        },
        ModelSpec::OpenAi { base_urls, model } => {
            if let Some(variable) = &settings.openai_key_variable {
                let key = std::env::var(variable).ok().filter(|key| !key.is_empty());
                http.api_key = key.map(ApiKey::from);
            }
            match base_urls.as_slice() {
                [base_url] => Ok(Arc::new(OpenAiModel::connect(base_url, model, &http).await?)),
                base_urls => {
                    http.connect = patience(settings.timeout, http.connect);
                    let endpoints = base_urls.iter().map(|url| PoolEndpoint::openai(url, model, &http)).collect();
                    pool(context, endpoints).await
                }
            }
        }
        ModelSpec::Replay(path) => Ok(Arc::new(ReplayModel::open(path).map_err(replay)?)),
    }
}

/// A file of recorded answers is no model: what helps with those does not help here.
fn replay(error: ModelError) -> Failure {
    let hint = match &error {
        ModelError::NotFound { .. } => "check the path behind `replay:`",
        _ => "a replay file has one recorded answer a line, such as {\"text\": \"Hello.\"}",
    };
    Failure::from(error).hint(hint)
}

/// Longest wait for a connection where another endpoint may still answer in time.
fn patience(timeout: Duration, usual: Duration) -> Duration {
    usual.min(timeout / 4)
}

/// One model on several servers; those that do not answer are named, the others begin without them.
async fn pool(context: &Context, endpoints: Vec<PoolEndpoint>) -> Result<Arc<dyn ChatModel>, Failure> {
    let pool = Pool::connect(endpoints).await?;
    for endpoint in pool.endpoints() {
        if let Some(fault) = endpoint.fault {
            context.printer.note(&format!("{} does not answer and joins when it does: {fault}", endpoint.name));
        }
    }
    Ok(Arc::new(pool))
}

async fn embedded(
    context: &Context,
    spec: &ModelSpec,
    name: &str,
    length: Option<u32>,
) -> Result<Arc<dyn ChatModel>, Failure> {
    let (path, sha256) = if name.contains(['/', '\\']) || name.to_ascii_lowercase().ends_with(".gguf") {
        (PathBuf::from(name), None)
    } else {
        let store = context.store()?;
        let asset = store.catalog().entry(name)?;
        if asset.kind != tenpass_catalog::Kind::LanguageModel {
            return Err(Failure::mistake(format!("{name} is a {}, not a language model", asset.kind))
                .hint("`tenpass models list` shows the kinds"));
        }
        let Some(path) = store.path(name) else {
            return Err(Failure {
                exit: crate::exit::Exit::Backend,
                message: format!("the model {name} is not on this machine"),
                hint: Some(format!("tenpass models pull {name}")),
            });
        };
        (path, Some(asset.sha256.clone()))
    };
    let shown = path.file_stem().map_or_else(|| name.to_owned(), |stem| stem.to_string_lossy().into_owned());
    let options = LoadOptions {
        name: if sha256.is_some() { name.to_owned() } else { shown },
        path,
        spec: spec.to_string(),
        sha256,
        context: length,
        threads: None,
    };
    let loaded = tokio::task::spawn_blocking(move || EmbeddedModel::load(&options)).await.map_err(Failure::bug)?;
    Ok(Arc::new(loaded?))
}
