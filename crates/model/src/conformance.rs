//! One suite that every backend passes, given how to reach it and what it can do.
//!
//! Nothing here panics or prints: [`run`] returns one [`Check`] a property, and a test asserts on
//! [`failures`]. A backend that lacks a capability says so in the [`Suite`]; what it claims is
//! checked.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::future::join_all;
use tenpass_trace::{Message, ToolCall};

use crate::{BoxFuture, ChatEvent, ChatModel, ChatRequest, ChatStream, Collected, ModelError, collect};

/// A backend under test.
pub trait Subject: Send + Sync {
    /// A model that works.
    fn model(&self) -> Arc<dyn ChatModel>;

    /// Reaches for a model that does not exist; the error may come here or from the answer.
    fn missing(&self) -> BoxFuture<'_, Result<Arc<dyn ChatModel>, ModelError>>;

    /// How many answers are being computed at this moment, by the backend's own account.
    fn active(&self) -> BoxFuture<'_, usize>;
}

/// A request and a text that its answer must contain.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The request.
    pub request: ChatRequest,
    /// The text.
    pub contains: String,
}

/// What the backend is asked, and what it claims to be able to do.
#[derive(Debug, Clone)]
pub struct Suite {
    /// A short question at temperature 0.
    pub question: ChatRequest,
    /// A request whose answer takes much longer than the time to cancel it.
    pub long: ChatRequest,
    /// A request that does not fit the context.
    pub overflow: ChatRequest,
    /// A request with tools that the model answers with a call; `None` when it cannot.
    pub tools: Option<ChatRequest>,
    /// A request with a format whose answer must contain the text; `None` when it cannot.
    pub format: Option<Asked>,
    /// Requests whose answers can be told apart, to be asked together.
    pub distinct: Vec<Asked>,
    /// How long the backend may take to stop after a cancellation.
    pub patience: Duration,
}

/// One property, and why it does not hold if it does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The property.
    pub name: &'static str,
    /// The reason.
    pub failure: Option<String>,
}

/// Checks every property, one after the other.
pub async fn run(subject: &dyn Subject, suite: &Suite) -> Vec<Check> {
    let model = subject.model();
    let mut checks = Vec::new();
    let mut check = |name, result: Result<(), String>| checks.push(Check { name, failure: result.err() });
    check("it streams and ends with exactly one Done", one_done(&*model, &suite.question).await);
    check("streaming and blocking give the same answer", same_both_ways(&*model, &suite.question).await);
    check("it reports token counts", usage(&*model, &suite.question).await);
    check("dropping the stream stops the work", cancel(subject, suite).await);
    check("a prompt that does not fit is an error with both numbers", overflow(&*model, &suite.overflow).await);
    check("a model that does not exist is NotFound", missing(subject, &suite.question).await);
    check("answers asked for together do not mix", together(&*model, &suite.distinct).await);
    if let Some(request) = &suite.tools {
        check("a tool is called and its result is read", round_trip(&*model, request).await);
    }
    if let Some(asked) = &suite.format {
        check("a format is respected", format(&*model, asked).await);
    }
    checks
}

/// The properties that do not hold, one a line; empty when all do.
pub fn failures(checks: &[Check]) -> String {
    let failed = checks.iter().filter_map(|check| Some(format!("{}: {}\n", check.name, check.failure.as_ref()?)));
    failed.collect()
}

async fn answer(model: &dyn ChatModel, request: &ChatRequest) -> Collected {
    collect(model.start(request.clone()), Instant::now()).await
}

async fn good_answer(model: &dyn ChatModel, request: &ChatRequest) -> Result<Collected, String> {
    let answer = answer(model, request).await;
    match &answer.error {
        Some(error) => Err(format!("failed: {error}")),
        None if answer.completion.is_none() => Err("ended without Done".to_owned()),
        None => Ok(answer),
    }
}

async fn one_done(model: &dyn ChatModel, request: &ChatRequest) -> Result<(), String> {
    let events: Vec<_> = model.start(ChatRequest { stream: true, ..request.clone() }).collect().await;
    let text_first = matches!(events.first(), Some(Ok(ChatEvent::Text(_) | ChatEvent::Thinking(_))));
    let done = events.iter().filter(|event| matches!(event, Ok(ChatEvent::Done(_)))).count();
    match events.last() {
        Some(Ok(ChatEvent::Done(_))) if done == 1 && text_first => Ok(()),
        _ => Err(format!("the events were {events:?}")),
    }
}

async fn same_both_ways(model: &dyn ChatModel, request: &ChatRequest) -> Result<(), String> {
    let streamed = good_answer(model, &ChatRequest { stream: true, ..request.clone() }).await?;
    let whole = good_answer(model, &ChatRequest { stream: false, ..request.clone() }).await?;
    let essence = |answer: &Collected| {
        (
            answer.text.clone(),
            answer.thinking.clone(),
            answer.calls.clone(),
            answer.completion.as_ref().map(|end| end.finish),
        )
    };
    let (streamed, whole) = (essence(&streamed), essence(&whole));
    if streamed == whole { Ok(()) } else { Err(format!("streamed {streamed:?}, blocking {whole:?}")) }
}

async fn usage(model: &dyn ChatModel, request: &ChatRequest) -> Result<(), String> {
    for stream in [true, false] {
        let answer = good_answer(model, &ChatRequest { stream, ..request.clone() }).await?;
        let usage = answer.completion.map(|completion| completion.usage).unwrap_or_default();
        if usage.prompt_tokens.is_none_or(|count| count == 0) || usage.completion_tokens.is_none_or(|count| count == 0)
        {
            return Err(format!("with stream: {stream} it reported {usage:?}"));
        }
    }
    Ok(())
}

async fn cancel(subject: &dyn Subject, suite: &Suite) -> Result<(), String> {
    let model = subject.model();
    let mut stream = model.start(suite.long.clone());
    match stream.next().await {
        Some(Ok(ChatEvent::Done(_))) | None => return Err("the long answer was over at once".to_owned()),
        Some(Err(error)) => return Err(format!("failed: {error}")),
        Some(Ok(_)) => {}
    }
    if subject.active().await == 0 {
        return Err("the probe saw no work while the answer ran".to_owned());
    }
    drop(stream);
    stopped(subject, suite.patience).await?;
    // And before anything has come.
    let mut stream: ChatStream = model.start(ChatRequest { stream: false, ..suite.long.clone() });
    let early = tokio::time::timeout(Duration::from_millis(20), stream.next()).await;
    drop(stream);
    if let Ok(Some(Err(error))) = early {
        return Err(format!("failed: {error}"));
    }
    stopped(subject, suite.patience).await
}

async fn stopped(subject: &dyn Subject, patience: Duration) -> Result<(), String> {
    let started = Instant::now();
    loop {
        let active = subject.active().await;
        if active == 0 {
            return Ok(());
        }
        if started.elapsed() > patience {
            return Err(format!("{active} answers still ran {patience:?} after they were dropped"));
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn overflow(model: &dyn ChatModel, request: &ChatRequest) -> Result<(), String> {
    for stream in [true, false] {
        match answer(model, &ChatRequest { stream, ..request.clone() }).await.error {
            Some(ModelError::Overflow { prompt_tokens, context }) if prompt_tokens > context && context > 0 => {}
            other => return Err(format!("with stream: {stream} it gave {other:?}")),
        }
    }
    Ok(())
}

async fn missing(subject: &dyn Subject, request: &ChatRequest) -> Result<(), String> {
    let error = match subject.missing().await {
        Err(error) => Some(error),
        Ok(model) => answer(&*model, request).await.error,
    };
    match error {
        Some(ModelError::NotFound { .. }) => Ok(()),
        other => Err(format!("it gave {other:?}")),
    }
}

async fn together(model: &dyn ChatModel, distinct: &[Asked]) -> Result<(), String> {
    let asked: Vec<&Asked> = distinct.iter().cycle().take(distinct.len() * 2).collect();
    let answers = join_all(asked.iter().map(|asked| answer(model, &asked.request))).await;
    for (asked, answer) in asked.iter().zip(answers) {
        if let Some(error) = answer.error {
            return Err(format!("failed: {error}"));
        }
        if !answer.text.contains(&asked.contains) {
            return Err(format!("`{}` is not in `{}`", asked.contains, answer.text));
        }
    }
    Ok(())
}

async fn round_trip(model: &dyn ChatModel, request: &ChatRequest) -> Result<(), String> {
    for stream in [true, false] {
        let mut request = ChatRequest { stream, ..request.clone() };
        let asked = good_answer(model, &request).await?;
        let Some(call) = asked.calls.first() else {
            return Err(format!("with stream: {stream} it called nothing and said `{}`", asked.text));
        };
        if !request.tools.iter().any(|tool| tool.name == call.name) {
            return Err(format!("it called `{}`, which it was not offered", call.name));
        }
        let Some(arguments) = call.arguments.as_object() else {
            return Err(format!("the arguments are {}", call.arguments));
        };
        let mut assistant = Message::assistant(asked.text.clone());
        assistant.tool_calls.push(ToolCall {
            id: call.id.clone(),
            name: call.name.clone(),
            arguments: arguments.clone(),
        });
        let mut result = Message::tool(&call.name, "done");
        result.tool_call_id.clone_from(&call.id);
        request.messages.extend([assistant, result]);
        good_answer(model, &request).await?;
    }
    Ok(())
}

async fn format(model: &dyn ChatModel, asked: &Asked) -> Result<(), String> {
    for stream in [true, false] {
        let answer = good_answer(model, &ChatRequest { stream, ..asked.request.clone() }).await?;
        if serde_json::from_str::<serde_json::Value>(&answer.text).is_err() || !answer.text.contains(&asked.contains) {
            return Err(format!("with stream: {stream} it said `{}`", answer.text));
        }
    }
    Ok(())
}
