//! The way to every provider: the same call is answered once, paid once, and kept.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use jiff::Zoned;
use tenpass_model::{ChatModel, SamplingOptions};
use tenpass_trace::database::provider_signature;

use super::answer::Finished;
use super::client::CloudClient;
use super::message::Exchange;
use super::writer::Writer;
use super::{Answered, Price, Provider, ProviderError, ProviderSettings, ProviderStore, StoredAnswer, Timing};
use crate::spend::{Budget, Reservation, SpendKind};

/// One call.
#[derive(Debug, Clone)]
pub struct Question<'a> {
    /// Everything that is sent. Secrets have been masked.
    pub exchange: &'a Exchange,
    /// The conversation, for the record.
    pub thread: &'a str,
    /// What is asked, for the record.
    pub task: &'a str,
    /// The injected clock's time: whose day is charged.
    pub now: &'a Zoned,
}

/// What stands behind a paid provider.
#[derive(Clone)]
enum Source {
    Cloud(Box<CloudClient>),
    /// A bench's model in the place of the network, with everything else as it is.
    StandIn(Writer, Price),
}

impl Source {
    fn model(&self) -> &str {
        match self {
            Self::Cloud(client) => &client.settings.model,
            Self::StandIn(writer, _) => &writer.model.info().spec,
        }
    }

    fn price(&self) -> Price {
        match self {
            Self::Cloud(client) => client.price,
            Self::StandIn(_, price) => *price,
        }
    }

    /// The most that one call can cost.
    fn ceiling(&self, exchange: &Exchange) -> u64 {
        let answer = match self {
            Self::Cloud(client) => client.settings.max_tokens,
            Self::StandIn(writer, _) => writer.options.max_tokens,
        };
        self.price().micros(exchange.token_ceiling(), u64::from(answer))
    }

    /// Says what is missing before anything is reserved.
    fn check(&self) -> Result<(), ProviderError> {
        match self {
            Self::Cloud(client) => client.check_key(),
            Self::StandIn(..) => Ok(()),
        }
    }

    async fn ask(
        &self,
        exchange: &Exchange,
        held: &mut Reservation,
        timing: &Timing,
    ) -> Result<Finished, ProviderError> {
        match self {
            Self::Cloud(client) => client.ask(exchange, held).await,
            Self::StandIn(writer, _) => {
                held.sent();
                writer.ask(exchange, timing).await
            }
        }
    }
}

/// Every provider that is set up. Cloning shares everything.
#[derive(Clone)]
pub struct Providers {
    paid: BTreeMap<Provider, Source>,
    writer: Option<Writer>,
    budget: Budget,
    store: Arc<dyn ProviderStore>,
    timing: Timing,
    /// One lock for each call that is under way, by signature.
    under_way: Arc<Mutex<HashMap<String, Weak<tokio::sync::Mutex<()>>>>>,
}

impl std::fmt::Debug for Providers {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Providers").field("offered", &self.offered()).finish_non_exhaustive()
    }
}

impl Providers {
    /// No provider yet; paid ones will draw on `budget`, answers go to `store`.
    pub fn new(budget: Budget, store: Arc<dyn ProviderStore>) -> Self {
        Self {
            paid: BTreeMap::new(),
            writer: None,
            budget,
            store,
            timing: Timing::default(),
            under_way: Arc::default(),
        }
    }

    /// Other limits; call it before providers are added.
    pub fn with_timing(mut self, timing: Timing) -> Self {
        self.timing = timing;
        self
    }

    /// Adds a cloud provider. Without a key it is offered and says what is missing. An error is
    /// about the settings: an address that does not parse, a model without a price.
    pub fn with_cloud(mut self, provider: Provider, settings: ProviderSettings) -> Result<Self, ProviderError> {
        if provider == Provider::Local {
            return Err(ProviderError::Settings { provider, reason: "the local writer is a model".to_owned() });
        }
        let client = CloudClient::new(provider, settings, self.timing)?;
        self.paid.insert(provider, Source::Cloud(Box::new(client)));
        Ok(self)
    }

    /// FOR TESTS AND BENCHES ONLY: `model` plays a cloud provider; budget, deduplication and store
    /// are the real ones. Nothing is sent anywhere.
    pub fn with_stand_in(
        mut self,
        provider: Provider,
        model: Arc<dyn ChatModel>,
        options: SamplingOptions,
        price: Price,
    ) -> Self {
        self.paid.insert(provider, Source::StandIn(Writer { provider, model, options }, price));
        self
    }

    /// Adds the local writer.
    pub fn with_local(mut self, model: Arc<dyn ChatModel>, options: SamplingOptions) -> Self {
        self.writer = Some(Writer { provider: Provider::Local, model, options });
        self
    }

    /// The providers of the tool's enum: the three cloud ones, and the local writer when there is
    /// one.
    pub fn offered(&self) -> Vec<Provider> {
        let has = |provider: &Provider| *provider != Provider::Local || self.writer.is_some();
        Provider::ALL.into_iter().filter(has).collect()
    }

    /// Asks `provider`. A call that was answered before is answered again, for nothing. Dropping
    /// the future closes the connection; what was reserved then stays spent.
    pub async fn ask(&self, provider: Provider, question: &Question<'_>) -> Result<Answered, ProviderError> {
        if provider == Provider::Local {
            return self.ask_writer(question).await;
        }
        let source = self.paid.get(&provider).ok_or_else(|| ProviderError::NotSetUp {
            provider,
            variable: provider.key_variable().unwrap_or_default(),
        })?;
        let signature = provider_signature(provider.as_str(), source.model(), &question.exchange.identity());
        // The second of two identical calls waits here and finds the first one's answer below. When
        // the first failed or was stopped, the second is sent.
        let lock = self.lock(&signature);
        let _turn = lock.lock().await;
        // A store that cannot be read costs a second payment at worst, within the cap.
        if let Ok(Some(known)) = self.store.find(&signature) {
            return Ok(Answered {
                provider,
                text: known.text,
                is_cut: false,
                cost_micros: 0,
                deduplicated: true,
                not_stored: None,
            });
        }
        source.check()?;
        let ceiling = source.ceiling(question.exchange);
        let mut held = self
            .budget
            .reserve(SpendKind::Usd, ceiling, question.now)
            .map_err(|spend| ProviderError::Spend { provider, spend })?;
        let finished = source.ask(question.exchange, &mut held, &self.timing).await?;
        // A server that does not count is taken at its worst.
        let cost_micros = finished.usage.map_or(ceiling, |usage| source.price().micros(usage.input, usage.output));
        // A settlement that fails leaves the worst case counted.
        let _ = held.settle(cost_micros);
        self.keep(provider, question, signature, &finished, cost_micros)
    }

    async fn ask_writer(&self, question: &Question<'_>) -> Result<Answered, ProviderError> {
        let provider = Provider::Local;
        let missing = || ProviderError::Settings { provider, reason: "no model was chosen for it".to_owned() };
        let writer = self.writer.as_ref().ok_or_else(missing)?;
        let finished = writer.ask(question.exchange, &self.timing).await?;
        let model = &writer.model.info().spec;
        let signature = provider_signature(provider.as_str(), model, &question.exchange.identity());
        self.keep(provider, question, signature, &finished, 0)
    }

    /// Stores an answer (K72). One without words is none; what it cost has been settled.
    fn keep(
        &self,
        provider: Provider,
        question: &Question<'_>,
        signature: String,
        finished: &Finished,
        cost_micros: u64,
    ) -> Result<Answered, ProviderError> {
        let text = finished.text.trim().to_owned();
        if text.is_empty() {
            return Err(ProviderError::Empty { provider });
        }
        let stored = self.store.store(&StoredAnswer {
            thread: question.thread.to_owned(),
            provider,
            task: question.task.to_owned(),
            signature,
            text: text.clone(),
            cost_micros,
        });
        let not_stored = stored.err();
        Ok(Answered { provider, text, is_cut: finished.is_cut, cost_micros, deduplicated: false, not_stored })
    }

    fn lock(&self, signature: &str) -> Arc<tokio::sync::Mutex<()>> {
        let mut all = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, lock| lock.strong_count() > 0);
        if let Some(lock) = all.get(signature).and_then(Weak::upgrade) {
            return lock;
        }
        let lock = Arc::new(tokio::sync::Mutex::new(()));
        all.insert(signature.to_owned(), Arc::downgrade(&lock));
        lock
    }
}
