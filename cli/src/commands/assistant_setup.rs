//! From settings and arguments to what an assistant is made of: shared by its front ends, `chat` and
//! `serve`.

use std::path::{Path, PathBuf};

use tenpass_agent::run::AgentSettings;
use tenpass_agent::turn::Limits;
use tenpass_agent::{Selection, Structure};
use tenpass_model::{ApiKey, ModelInfo, ModelSpec, SamplingOptions};
use tenpass_tools::assistant::{AgentFolder, LiveOptions, Options, ProviderChoice, Search};
use tenpass_tools::providers::Provider;
use tenpass_tools::spend::Caps;

use crate::args::agent::{AssistantFlags, AutoStructure};
use crate::commands::{bench, probe};
use crate::context::Context;
use crate::failure::Failure;

/// Most tokens of one answer, unless told.
const MAX_TOKENS: u32 = 512;

/// The choices that need no model: mistakes in them are found before one is loaded.
#[derive(Debug, Clone)]
pub(super) struct Choices {
    pub(super) spec: ModelSpec,
    /// Without structure, sampling context and tools of the model.
    options: LiveOptions,
    structure: AutoStructure,
    context: u32,
    has_typed_context: bool,
}

/// Reads settings and arguments.
pub(super) fn choices(context: &Context, flags: &AssistantFlags) -> Result<Choices, Failure> {
    let settings = &context.resolved.settings;
    let spec = match &flags.model {
        Some(spec) => spec.clone(),
        None => settings.model.parse::<ModelSpec>().map_err(Failure::mistake)?,
    };
    let profile = settings.confirm.parse().map_err(Failure::mistake)?;
    let limits = Limits {
        rounds_per_loop: settings.rounds,
        rounds_per_turn: settings.turn_rounds,
        turn_timeout: settings.turn_timeout,
        ..Limits::for_profile(profile)
    };
    let selection: Selection = match flags.tools {
        Some(selection) => selection,
        None => settings.tool_selection.parse().map_err(Failure::mistake)?,
    };
    let retrieval = match flags.memory {
        Some(retrieval) => retrieval,
        None => settings.memory_retrieval.parse().map_err(Failure::mistake)?,
    };
    let structure = match (flags.structure, settings.structure.as_str()) {
        (Some(structure), _) => structure,
        (None, "auto") => AutoStructure::Auto,
        (None, name) => AutoStructure::Fixed(name.parse::<Structure>().map_err(Failure::mistake)?),
    };
    let sampling = SamplingOptions {
        temperature: flags.temperature.unwrap_or(SamplingOptions::default().temperature),
        max_tokens: flags.max_tokens.unwrap_or(MAX_TOKENS),
        seed: flags.seed.unwrap_or_else(bench::drawn_seed),
        ..SamplingOptions::default()
    };
    let options = LiveOptions {
        folder: AgentFolder::new(context.agent_folder()),
        files: flags.files.clone().or_else(|| settings.files_dir.clone()),
        read: settings.read_dirs.clone(),
        cleanup: settings.cleanup_dirs.clone(),
        protected: own_places(context),
        memory: settings.memory_file.clone(),
        offline: settings.offline,
        search: search(context),
        providers: providers(context),
        escalate: settings.escalate.as_deref().and_then(Provider::parse),
        caps: Caps {
            usd_micros: settings.usd_micros_per_day,
            web_credit_micros: settings.web_credits_per_day.saturating_mul(1_000_000),
        },
        fail_open: settings.spend_fail_open,
        agent: AgentSettings { selection, structure: None, options: sampling, limits: Some(limits) },
        options: Options { profile, retrieval, history: settings.history, ..Options::default() },
    };
    let has_typed_context = flags.ctx.is_some();
    Ok(Choices { spec, options, structure, context: flags.ctx.unwrap_or(settings.context), has_typed_context })
}

impl Choices {
    /// The options before there is a model.
    pub(super) fn options(&self) -> &LiveOptions {
        &self.options
    }

    /// The context to load a model with; its own, unless told.
    pub(super) fn load_context(&self) -> Option<u32> {
        self.has_typed_context.then_some(self.context)
    }

    /// The options for this model, and why it gets its structure.
    pub(super) fn for_model(&self, context: &Context, info: &ModelInfo) -> (LiveOptions, String) {
        let (structure, reason) = match self.structure {
            AutoStructure::Auto => probe::structure_for(context, info),
            AutoStructure::Fixed(structure) => (structure, "as set".to_owned()),
        };
        let mut options = self.options.clone();
        options.agent.structure = Some(structure);
        // The embedded engine has the model's own length already; a server is asked (K9).
        options.agent.options.context = (info.backend != "embedded").then_some(self.context);
        (options, reason)
    }
}

/// What belongs to the application: no tool may reach it.
fn own_places(context: &Context) -> Vec<PathBuf> {
    let home = &context.home;
    let mut places =
        vec![home.config.clone(), home.user_file.clone(), home.models.clone(), home.cache.clone(), context.runs()];
    places.extend(home.project_file());
    places
}

fn key(variable: Option<&String>) -> Option<ApiKey> {
    let key = std::env::var(variable?).ok()?;
    (!key.trim().is_empty()).then(|| ApiKey::from(key))
}

fn search(context: &Context) -> Search {
    let web = &context.resolved.settings.web;
    match web.search.as_str() {
        "searxng" => Search::Searxng(web.searxng.clone()),
        "brave" => Search::Brave(web.brave.clone(), key(web.brave_key_variable.as_ref())),
        "tavily" => Search::Tavily(web.tavily.clone(), key(web.tavily_key_variable.as_ref())),
        "off" => Search::Off,
        _ => Search::Local(web.documents.clone()),
    }
}

fn providers(context: &Context) -> Vec<ProviderChoice> {
    let settings = context.resolved.settings.providers.iter();
    settings
        .filter_map(|provider| {
            Some(ProviderChoice {
                provider: Provider::parse(provider.name)?,
                address: provider.address.clone(),
                model: provider.model.clone(),
                key: key(provider.key_variable.as_ref()),
            })
        })
        .collect()
}

/// A path that begins with the home folder as people write it.
pub(super) fn shown(path: &Path) -> String {
    let home = std::env::home_dir().filter(|home| home.as_os_str().len() > 1);
    match home.and_then(|home| path.strip_prefix(home).ok().map(Path::to_owned)) {
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}
