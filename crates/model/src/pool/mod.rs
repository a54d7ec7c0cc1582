//! One model on several servers.
//!
//! A [`Pool`] spreads requests over endpoints that serve the same model: the one with the fewest
//! answers in flight gets the next. An endpoint that fails is rested, longer with every further
//! failure, and its request goes to another one as long as the caller has seen nothing of the
//! answer; only when every endpoint has failed does the caller get the fault. Before an endpoint
//! is used again it is asked once more what it serves: a server that came back with another model
//! is left out for good.
//!
//! A request that fails in the middle of its answer ends with its fault: what was seen cannot be
//! taken back. So does one that met silence, since its time is used up. A bench repeats both as
//! attempts of their own, and by then the endpoint rests.

mod agree;
mod member;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use async_stream::try_stream;
use futures_util::StreamExt;
use futures_util::future::join_all;

use crate::{
    BoxFuture, ChatEvent, ChatModel, ChatRequest, ChatStream, Completion, HttpOptions, ModelError, ModelInfo,
    OllamaModel, OpenAiModel, RenderedPrompt, http,
};
use agree::{differences, known};
use member::{Lease, Member};

/// Reaches for an endpoint's model; called again whenever the endpoint has failed.
type Connect = Box<dyn Fn() -> BoxFuture<'static, Result<Arc<dyn ChatModel>, ModelError>> + Send + Sync>;

/// One of several places that serve a model.
pub struct PoolEndpoint {
    name: String,
    connect: Connect,
}

impl fmt::Debug for PoolEndpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PoolEndpoint").field("name", &self.name).finish_non_exhaustive()
    }
}

impl PoolEndpoint {
    /// A place called `name` in records, reached with `connect`.
    pub fn new(
        name: impl Into<String>,
        connect: impl Fn() -> BoxFuture<'static, Result<Arc<dyn ChatModel>, ModelError>> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), connect: Box::new(connect) }
    }

    /// An OpenAI-compatible server; see [`OpenAiModel::connect`].
    pub fn openai(base_url: &str, model: &str, options: &HttpOptions) -> Self {
        let (address, model, options) = (base_url.to_owned(), model.to_owned(), options.clone());
        Self::new(shown(base_url), move || {
            let (address, model, options) = (address.clone(), model.clone(), options.clone());
            Box::pin(async move {
                let model = OpenAiModel::connect(&address, &model, &options).await?;
                Ok(Arc::new(model) as Arc<dyn ChatModel>)
            })
        })
    }

    /// An Ollama server; see [`OllamaModel::connect`].
    pub fn ollama(base_url: &str, model: &str, options: &HttpOptions) -> Self {
        let (address, model, options) = (base_url.to_owned(), model.to_owned(), options.clone());
        Self::new(shown(base_url), move || {
            let (address, model, options) = (address.clone(), model.clone(), options.clone());
            Box::pin(async move {
                let model = OllamaModel::connect(&address, &model, None, &options).await?;
                Ok(Arc::new(model) as Arc<dyn ChatModel>)
            })
        })
    }
}

/// The address without credentials.
fn shown(address: &str) -> String {
    match http::parse_url(address) {
        Ok(url) => http::shown(&url),
        // Connecting will say what is wrong with it; a password must not show until then.
        Err(_) => address.rsplit_once('@').map_or(address, |(_, host)| host).to_owned(),
    }
}

/// Endpoints that do not make a pool.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PoolError {
    /// Two endpoints serve different models.
    #[error("{first} and {other} do not serve the same model: {}", differences.join("; "))]
    Differs {
        /// An endpoint.
        first: String,
        /// Another one.
        other: String,
        /// Each difference: `what: A there, B here`.
        differences: Vec<String>,
    },
    /// The same endpoint twice.
    #[error("the endpoint {0} is named twice")]
    Twice(String),
    /// No endpoint answers, or one refuses for good.
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl PoolError {
    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Differs { .. } => {
                "give every endpoint the same model, template and context, or measure them as models of their own"
            }
            Self::Twice(_) => "name each endpoint once; --jobs raises what one endpoint gets at a time",
            Self::Model(error) => error.hint(),
        }
    }
}

/// How an endpoint is doing.
#[derive(Debug, Clone, PartialEq)]
pub struct EndpointState {
    /// Its address without credentials.
    pub name: String,
    /// Answers that it is giving at this moment.
    pub in_flight: usize,
    /// Answers that it has completed.
    pub completed: u64,
    /// The failure it rests from, if it does.
    pub fault: Option<ModelError>,
}

/// One model on several servers. Cloning shares them.
#[derive(Clone)]
pub struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    info: ModelInfo,
    members: Vec<Arc<Member>>,
}

impl Pool {
    /// Asks every endpoint what it serves. An endpoint that cannot be reached for now joins when
    /// it can, as long as another one answers; one that serves something else is an error.
    pub async fn connect(endpoints: Vec<PoolEndpoint>) -> Result<Self, PoolError> {
        for (position, endpoint) in endpoints.iter().enumerate() {
            if endpoints[..position].iter().any(|other| other.name == endpoint.name) {
                return Err(PoolError::Twice(endpoint.name.clone()));
            }
        }
        let members: Vec<Member> = endpoints
            .into_iter()
            .enumerate()
            .map(|(index, endpoint)| Member::new(index, endpoint.name, endpoint.connect))
            .collect();
        let answers = join_all(members.iter().map(|member| (member.connect)())).await;
        let mut reference: Option<(&str, ModelInfo)> = None;
        let mut fault = None;
        for (member, answer) in members.iter().zip(answers) {
            let model = match answer {
                Ok(model) => model,
                Err(error) if error.is_transient() => {
                    member.absent(&error);
                    fault.get_or_insert(error);
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            reference = Some(match reference {
                None => (&member.name, model.info().clone()),
                Some((first, info)) => {
                    let differences = differences(&info, model.info());
                    if !differences.is_empty() {
                        let (first, other) = (first.to_owned(), member.name.clone());
                        return Err(PoolError::Differs { first, other, differences });
                    }
                    (first, known(info, model.info()))
                }
            });
            member.connected(model);
        }
        let Some((_, info)) = reference else {
            let none = || ModelError::NotFound { model: String::new(), reason: "no endpoint is named".to_owned() };
            return Err(fault.unwrap_or_else(none).into());
        };
        let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
        let info = ModelInfo { spec: format!("{}:{}#{}", info.backend, names.join(","), info.name), ..info };
        let members = members.into_iter().map(Arc::new).collect();
        Ok(Self { shared: Arc::new(Shared { info, members }) })
    }

    /// How each endpoint is doing, in the order in which they were named.
    pub fn endpoints(&self) -> Vec<EndpointState> {
        self.shared.members.iter().map(|member| member.report()).collect()
    }
}

impl Shared {
    /// A place at the endpoint that suits best, of those that are not in `tried`.
    fn lease(&self, tried: &[usize]) -> Option<Lease> {
        let untried = self.members.iter().filter(|member| !tried.contains(&member.index));
        let best = untried.filter_map(|member| Some((member.rank()?, member))).min_by_key(|(rank, _)| *rank);
        best.map(|(_, member)| Lease::take(member))
    }

    /// The leased endpoint's model, asked again what it serves after a failure.
    async fn model(&self, lease: &Lease) -> Result<Arc<dyn ChatModel>, ModelError> {
        let member = lease.member();
        let _one_at_a_time = member.connecting.lock().await;
        if let Some(model) = member.model() {
            return Ok(model);
        }
        let model = (member.connect)().await?;
        let differences = differences(&self.info, model.info());
        if !differences.is_empty() {
            let reason = format!("{} serves another model now: {}", member.name, differences.join("; "));
            let error = ModelError::Stopped { model: self.info.name.clone(), reason };
            member.leave_out(&error);
            return Err(error);
        }
        member.connected(Arc::clone(&model));
        Ok(model)
    }

    /// Why nobody is left to ask.
    fn nobody(&self) -> ModelError {
        let faults = self.members.iter().filter_map(|member| member.report().fault);
        let reason = faults.map(|fault| fault.to_string()).collect::<Vec<_>>().join("; ");
        ModelError::Stopped { model: self.info.name.clone(), reason }
    }

    /// The answer to `request`, begun at the leased endpoint and, should that fail, elsewhere.
    fn answer(self: &Arc<Self>, request: ChatRequest, lease: Option<Lease>, begun: Option<ChatStream>) -> ChatStream {
        let shared = Arc::clone(self);
        let mut next = lease.map(|lease| (lease, begun));
        Box::pin(try_stream! {
            let mut tried = Vec::new();
            let mut fault: Option<ModelError> = None;
            loop {
                let Some((lease, begun)) = next.take().or_else(|| shared.lease(&tried).map(|lease| (lease, None)))
                else {
                    Err(fault.unwrap_or_else(|| shared.nobody()))?;
                    return;
                };
                tried.push(lease.member().index);
                let opened = match begun {
                    Some(stream) => Ok(stream),
                    None => shared.model(&lease).await.map(|model| model.start(request.clone())),
                };
                let error = match opened {
                    Err(error) => error,
                    Ok(mut stream) => {
                        let mut is_first = true;
                        let error = loop {
                            match stream.next().await {
                                Some(Ok(ChatEvent::Done(completion))) => {
                                    lease.completed();
                                    let endpoint = Some(lease.member().name.clone());
                                    yield ChatEvent::Done(Completion { endpoint, ..completion });
                                    return;
                                }
                                Some(Ok(event)) => {
                                    is_first = false;
                                    yield event;
                                }
                                Some(Err(error)) => break error,
                                None => break ModelError::Truncated { url: lease.member().name.clone() },
                            }
                        };
                        if !is_first || !may_go_elsewhere(&error) {
                            lease.failed(&error);
                            Err(error)?;
                            return;
                        }
                        error
                    }
                };
                lease.failed(&error);
                // Of several faults the one that may pass: the request is worth another attempt.
                if fault.as_ref().is_none_or(|fault| !fault.is_transient()) {
                    fault = Some(error);
                }
            }
        })
    }
}

/// Whether the endpoint is to blame and not the request.
fn is_endpoints_fault(error: &ModelError) -> bool {
    match error {
        ModelError::Overflow { .. }
        | ModelError::Unsupported { .. }
        | ModelError::Template { .. }
        | ModelError::Schema { .. }
        | ModelError::Deadline { .. } => false,
        ModelError::Http { status, .. } => matches!(status, 401 | 403 | 404 | 408 | 425 | 429 | 500..),
        _ => true,
    }
}

/// Whether another endpoint may still answer in time. After a silence there is none left.
fn may_go_elsewhere(error: &ModelError) -> bool {
    is_endpoints_fault(error) && !matches!(error, ModelError::Silent { .. })
}

impl ChatModel for Pool {
    fn info(&self) -> &ModelInfo {
        &self.shared.info
    }

    fn start(&self, request: ChatRequest) -> ChatStream {
        let lease = self.shared.lease(&[]);
        let model = lease.as_ref().and_then(|lease| lease.member().model());
        let begun = model.map(|model| model.start(request.clone()));
        self.shared.answer(request, lease, begun)
    }

    /// Each endpoint gets its share in one call, so that it can decode it in one batch.
    fn start_many(&self, requests: Vec<ChatRequest>) -> Vec<ChatStream> {
        let leases: Vec<Option<Lease>> = requests.iter().map(|_| self.shared.lease(&[])).collect();
        let mut begun: Vec<Option<ChatStream>> = requests.iter().map(|_| None).collect();
        for member in &self.shared.members {
            let Some(model) = member.model() else { continue };
            let is_here =
                |lease: &Option<Lease>| lease.as_ref().is_some_and(|lease| lease.member().index == member.index);
            let share: Vec<usize> = (0..requests.len()).filter(|at| is_here(&leases[*at])).collect();
            let streams = model.start_many(share.iter().map(|at| requests[*at].clone()).collect());
            for (at, stream) in share.into_iter().zip(streams) {
                begun[at] = Some(stream);
            }
        }
        let all = requests.into_iter().zip(leases).zip(begun);
        all.map(|((request, lease), begun)| self.shared.answer(request, lease, begun)).collect()
    }

    fn render<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<RenderedPrompt, ModelError>> {
        Box::pin(async move {
            let mut tried = Vec::new();
            let mut fault = None;
            while let Some(lease) = self.shared.lease(&tried) {
                tried.push(lease.member().index);
                let rendered = match self.shared.model(&lease).await {
                    Ok(model) => model.render(request).await,
                    Err(error) => Err(error),
                };
                match rendered {
                    Err(error) if is_endpoints_fault(&error) => {
                        lease.failed(&error);
                        fault = Some(error);
                    }
                    other => return other,
                }
            }
            Err(fault.unwrap_or_else(|| self.shared.nobody()))
        })
    }
}
