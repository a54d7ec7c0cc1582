//! From a SPEC to a model.

use std::path::PathBuf;
use std::sync::Arc;

use tenpass_engine::{EmbeddedModel, LoadOptions};
use tenpass_model::{ApiKey, ChatModel, HttpOptions, ModelSpec, OllamaModel, OpenAiModel, ReplayModel};

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
        ModelSpec::Ollama(name) => {
            Ok(Arc::new(OllamaModel::connect(&settings.ollama_address, name, None, &http).await?))
        }
        ModelSpec::OpenAi { base_url, model } => {
            if let Some(variable) = &settings.openai_key_variable {
                let key = std::env::var(variable).ok().filter(|key| !key.is_empty());
                http.api_key = key.map(ApiKey::from);
            }
            Ok(Arc::new(OpenAiModel::connect(base_url, model, &http).await?))
        }
        ModelSpec::Replay(path) => Ok(Arc::new(ReplayModel::open(path)?)),
    }
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
