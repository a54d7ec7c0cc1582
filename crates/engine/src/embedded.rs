//! The embedded model as a [`ChatModel`].

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc;

use futures_util::stream;
use sha2::{Digest, Sha256};
use tenpass_model::{
    BoxFuture, Capabilities, ChatModel, ChatRequest, ChatStream, ModelError, ModelInfo, RenderedPrompt,
};
use tokio::sync::mpsc::unbounded_channel;

use crate::cache::PrefixCache;
use crate::config::NetworkConfig;
use crate::forward::Network;
use crate::gguf::Gguf;
use crate::grammar::GrammarFactory;
use crate::output::Sender;
use crate::scheduler::{EngineCounters, Job, Pass, Scheduler};
use crate::template::ChatTemplate;
use crate::tokenizer::{Detokenizer, Tokenizer};
use crate::weights::Weights;

/// Memory for keys and values of finished prompts.
const CACHE_BYTES: usize = 2 << 30;
/// Memory for keys and values of answers in the making, at `TAIL_TOKENS` each.
const TAILS_BYTES: usize = 4 << 30;
const TAIL_TOKENS: usize = 384;

/// What to load and how.
#[derive(Debug, Clone)]
pub struct LoadOptions {
    /// The GGUF file.
    pub path: PathBuf,
    /// The SPEC it was asked for by.
    pub spec: String,
    /// Its name in manifests.
    pub name: String,
    /// sha256 of the file when already known; computed otherwise.
    pub sha256: Option<String>,
    /// Context in tokens; `None` takes what the model was trained for, at most 32,768 (K9).
    pub context: Option<u32>,
    /// Threads; `None` takes the processor's.
    pub threads: Option<usize>,
}

/// A GGUF model running on a thread of this process.
pub struct EmbeddedModel {
    info: ModelInfo,
    template: Arc<ChatTemplate>,
    tokenizer: Arc<Tokenizer>,
    context: usize,
    jobs: mpsc::Sender<Job>,
    counters: Arc<EngineCounters>,
    batch_invariant: bool,
}

impl EmbeddedModel {
    /// Loads the file and starts the engine's thread. Blocks for the time of reading the weights.
    pub fn load(options: &LoadOptions) -> Result<Self, ModelError> {
        let gguf = Gguf::open(&options.path)?;
        let config = NetworkConfig::from_gguf(&gguf)?;
        let tokenizer = Arc::new(Tokenizer::from_gguf(&gguf)?);
        let template = Arc::new(ChatTemplate::from_gguf(&gguf, &tokenizer)?);
        let grammars = GrammarFactory::new(Arc::clone(&tokenizer));
        let weights = Weights::load(&gguf, &config)?;
        let context = context_length(&gguf, &config, options.context)?;
        let sha256 = match &options.sha256 {
            Some(known) => known.clone(),
            None => file_digest(&options.path)?,
        };
        let info = ModelInfo {
            spec: options.spec.clone(),
            backend: "embedded".to_owned(),
            name: options.name.clone(),
            digest: Some(format!("sha256:{sha256}")),
            template_digest: Some(template.digest()),
            quantization: Some(gguf.quantization()),
            context: Some(context as u32),
            capabilities: Capabilities {
                tools: template.renders_tools(),
                thinking: template.thinks(),
                structured_output: true,
                declared_shape: Some(template.declared_shape().to_owned()),
            },
            runtime: Some(concat!("tenpass-engine ", env!("CARGO_PKG_VERSION")).to_owned()),
        };
        let threads = options.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
        let stopped = |reason: String| ModelError::Stopped { model: options.name.clone(), reason };
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|index| format!("engine-{index}"))
            .build()
            .map_err(|error| stopped(error.to_string()))?;
        let counters = Arc::new(EngineCounters::default());
        let scheduler = Scheduler {
            cache: PrefixCache::new(CACHE_BYTES / config.kv_bytes()),
            most_groups: (TAILS_BYTES / (config.kv_bytes() * TAIL_TOKENS)).clamp(4, 256),
            network: Network { config, weights, name: options.name.clone() },
            tokenizer: Arc::clone(&tokenizer),
            grammars,
            context,
            counters: Arc::clone(&counters),
            pool,
        };
        let batch_invariant = scheduler.network.weights.embedding.is_batch_invariant();
        let (jobs, receiver) = mpsc::channel();
        std::thread::Builder::new()
            .name("engine".to_owned())
            .spawn(move || scheduler.run(&receiver))
            .map_err(|error| stopped(error.to_string()))?;
        Ok(Self { info, template, tokenizer, context, jobs, counters, batch_invariant })
    }

    /// What the engine did so far.
    pub fn counters(&self) -> &EngineCounters {
        &self.counters
    }

    /// Whether a pass gives the same answer to the last bit whatever else is in the batch. True
    /// where the processor has the 8-bit kernels; elsewhere products are rounded by batch size.
    pub fn is_batch_invariant(&self) -> bool {
        self.batch_invariant
    }

    /// The tokens of a request's prompt: for comparisons with other engines.
    pub fn prompt_tokens(&self, request: &ChatRequest) -> Result<Vec<u32>, ModelError> {
        self.template.tokens(&self.tokenizer, request)
    }

    /// The text of tokens, up to the first that ends a turn: for comparisons with other engines.
    pub fn text_of(&self, tokens: &[u32]) -> String {
        let mut detokenizer = Detokenizer::new(Arc::clone(&self.tokenizer));
        let mut text = String::new();
        for token in tokens.iter().take_while(|token| !self.tokenizer.is_end(**token)) {
            text.push_str(&detokenizer.push(*token));
        }
        text.push_str(&detokenizer.finish());
        text
    }

    /// Renders, tokenises and weighs a prompt.
    fn prompt(&self, request: &ChatRequest) -> Result<Arc<[u32]>, ModelError> {
        let tokens = self.template.tokens(&self.tokenizer, request)?;
        let context = request.options.context.map_or(self.context, |asked| self.context.min(asked as usize));
        if tokens.len() >= context {
            return Err(ModelError::Overflow { prompt_tokens: tokens.len() as u64, context: context as u64 });
        }
        Ok(tokens.into())
    }

    /// Queues passes that share a prompt; a failure goes to each of them.
    fn queue(&self, request: &ChatRequest, passes: Vec<Pass>) {
        let job = self.prompt(request).map(|prompt| (prompt, self.template.opens_thinking(request)));
        match job {
            Ok((prompt, thinking)) => {
                let job = Job { prompt, schema: request.format.clone(), thinking, passes };
                if let Err(mpsc::SendError(job)) = self.jobs.send(job) {
                    self.fail_all(&job.passes);
                }
            }
            Err(error) => passes.iter().for_each(|pass| pass.events.fail(error.clone())),
        }
    }

    fn fail_all(&self, passes: &[Pass]) {
        for pass in passes {
            pass.events.fail(stopped(&self.info.name));
        }
    }
}

fn stopped(name: &str) -> ModelError {
    ModelError::Stopped { model: name.to_owned(), reason: "the engine's thread ended".to_owned() }
}

/// The context to run with: what was asked, bounded by what the model knows.
fn context_length(gguf: &Gguf, config: &NetworkConfig, asked: Option<u32>) -> Result<usize, ModelError> {
    match asked {
        Some(asked) if asked as usize > config.context => {
            Err(gguf
                .error(format!("a context of {asked} was asked for, but the model was trained for {}", config.context)))
        }
        Some(asked) => Ok(asked as usize),
        None => Ok(config.context.min(32_768)),
    }
}

fn file_digest(path: &Path) -> Result<String, ModelError> {
    let failed =
        |error: std::io::Error| ModelError::Load { path: path.display().to_string(), reason: error.to_string() };
    let mut file = std::fs::File::open(path).map_err(failed)?;
    let mut hash = Sha256::new();
    std::io::copy(&mut file, &mut hash).map_err(failed)?;
    Ok(hash.finalize().iter().fold(String::with_capacity(64), |mut text, byte| {
        text.push_str(&format!("{byte:02x}"));
        text
    }))
}

/// True when two requests differ in nothing but the seed.
fn same_but_for_seed(a: &ChatRequest, b: &ChatRequest) -> bool {
    let mut options = b.options.clone();
    options.seed = a.options.seed;
    a.options == options && a.messages == b.messages && a.tools == b.tools && a.format == b.format && a.think == b.think
}

impl ChatModel for EmbeddedModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn start(&self, request: ChatRequest) -> ChatStream {
        self.start_many(vec![request]).swap_remove(0)
    }

    fn start_many(&self, requests: Vec<ChatRequest>) -> Vec<ChatStream> {
        let mut streams = Vec::with_capacity(requests.len());
        let mut queued: Vec<(ChatRequest, Vec<Pass>)> = Vec::new();
        for mut request in requests {
            request.options.stop.extend(self.template.stop_texts().iter().map(|text| (*text).to_owned()));
            let (sender, receiver) = unbounded_channel();
            let pass = Pass { options: request.options.clone(), events: Sender(sender) };
            match queued.iter_mut().find(|(first, _)| same_but_for_seed(first, &request)) {
                Some((_, passes)) => passes.push(pass),
                None => queued.push((request, vec![pass])),
            }
            let name = self.info.name.clone();
            let events: ChatStream = Box::pin(stream::unfold((receiver, false), move |(mut receiver, ended)| {
                let name = name.clone();
                async move {
                    if ended {
                        return None;
                    }
                    // A channel that closes before the end means that the engine's thread died.
                    let event = receiver.recv().await.unwrap_or_else(|| Err(stopped(&name)));
                    let ended = matches!(event, Err(_) | Ok(tenpass_model::ChatEvent::Done(_)));
                    Some((event, (receiver, ended)))
                }
            }));
            streams.push(events);
        }
        for (request, passes) in queued {
            self.queue(&request, passes);
        }
        streams
    }

    fn render<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<RenderedPrompt, ModelError>> {
        Box::pin(async move {
            let text = self.template.text(request)?;
            let tokens = self.template.tokens(&self.tokenizer, request)?;
            Ok(RenderedPrompt { text: Some(text), tokens: Some(tokens.len() as u32) })
        })
    }
}
