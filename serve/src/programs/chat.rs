//! `POST /v1/chat/completions`.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Extension;
use axum::Json;
use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt as _;
use futures_util::future::join_all;
use serde_json::Value;
use tenpass_agent::structure::{choose, prepare};
use tenpass_model::{ChatEvent, ChatModel, ChatStream, Completion, collect};
use tenpass_tools::assistant::Live;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use super::Programs;
use super::body::{self, Wanted};
use super::fault::{Body, Fault};
use super::reply::{Piece, Reply, Sheet};
use crate::application::Application;

/// Pieces that wait for a client that reads slowly; the model waits with them.
const AHEAD: usize = 32;
/// A client that hears nothing for so long is told that the server lives.
const ALIVE_EVERY: Duration = Duration::from_secs(15);

/// Answers.
pub(super) async fn complete(
    State(application): State<Arc<Application>>,
    Extension(programs): Extension<Programs>,
    Body(body): Body,
) -> Result<Response, Fault> {
    let wanted = body::read(&body)?;
    let live = model(&application, &wanted.model)?;
    let Ok(place) = Arc::clone(&programs.places).acquire_owned().await else {
        return Err(Fault::unavailable("the server is shutting down"));
    };
    let model = Arc::clone(&live.assistant.agent().model);
    if wanted.stream { Ok(streamed(model, wanted, place)) } else { whole(&model, wanted, place).await }
}

/// The loaded model, when it is the one that is named.
pub(super) fn model(application: &Application, name: &str) -> Result<Arc<Live>, Fault> {
    let slot = &application.conversations.model;
    let Some(live) = slot.live() else {
        return Err(Fault::unavailable(format!("the model is {}: /api/session says more", slot.state().as_str())));
    };
    let info = live.assistant.agent().model.info();
    if [info.spec.as_str(), info.name.as_str(), "tenpass", "default"].contains(&name) {
        return Ok(live);
    }
    let name: String = name.chars().take(80).collect();
    Err(Fault::unknown(
        format!("there is no model {name:?}; this server answers with {}", info.spec),
        "model_not_found",
    ))
}

/// The request as this model takes it, and how its answer is read.
fn prepared(model: &Arc<dyn ChatModel>, wanted: Wanted) -> (tenpass_model::ChatRequest, Sheet) {
    let info = model.info();
    let tools = wanted.request.tools.clone();
    let prepared = prepare(choose(&info.capabilities).structure, info, wanted.request);
    let sheet = Sheet::new(&info.spec, tools, prepared.declared_shape);
    (prepared.request, sheet)
}

async fn whole(model: &Arc<dyn ChatModel>, wanted: Wanted, _place: OwnedSemaphorePermit) -> Result<Response, Fault> {
    let choices = wanted.choices;
    let (request, sheet) = prepared(model, wanted);
    let requests = (0..choices as u64).map(|choice| {
        let mut request = request.clone();
        request.options.seed = request.options.seed.wrapping_add(choice);
        request
    });
    let started = Instant::now();
    let streams = model.start_many(requests.collect());
    let answers = join_all(streams.into_iter().map(|stream| collect(stream, started))).await;
    let mut replies = Vec::with_capacity(choices);
    for answer in answers {
        if let Some(error) = answer.error {
            return Err(Fault::failed(format!("the model failed: {error}")));
        }
        replies.push(sheet.reply(&answer.text, &answer.thinking, &answer.calls, answer.completion.as_ref()));
    }
    Ok(Json(sheet.completion(&replies)).into_response())
}

fn streamed(model: Arc<dyn ChatModel>, wanted: Wanted, place: OwnedSemaphorePermit) -> Response {
    let counts = wanted.counts;
    let (request, sheet) = prepared(&model, wanted);
    let (sender, receiver) = mpsc::channel(AHEAD);
    let stream = model.start(request);
    tokio::spawn(async move {
        // The client went away: dropping the stream cancels the model.
        let _ = pump(stream, &sheet, counts, &sender).await;
        drop(place);
    });
    let pieces = futures_util::stream::unfold(receiver, |mut receiver| async move {
        let piece: Value = receiver.recv().await?;
        let data = piece.as_str().map_or_else(|| piece.to_string(), str::to_owned);
        Some((Ok::<_, Infallible>(Event::default().data(data)), receiver))
    });
    Sse::new(pieces).keep_alive(KeepAlive::new().interval(ALIVE_EVERY)).into_response()
}

/// Nobody listens any more.
struct Gone;

async fn pump(mut stream: ChatStream, sheet: &Sheet, counts: bool, to: &mpsc::Sender<Value>) -> Result<(), Gone> {
    let send = |piece: Value| async { to.send(piece).await.map_err(|_| Gone) };
    send(sheet.piece(&Piece::Begin)).await?;
    let (mut text, mut thinking, mut calls) = (String::new(), String::new(), Vec::new());
    let mut completion: Option<Completion> = None;
    loop {
        let event = tokio::select! {
            event = stream.next() => event,
            () = to.closed() => return Err(Gone),
        };
        match event {
            None => break,
            Some(Ok(ChatEvent::Text(piece))) => {
                // With tools a call may be hidden in the text: it is read when it is complete.
                if !sheet.has_tools() {
                    send(sheet.piece(&Piece::Text(&piece))).await?;
                }
                text.push_str(&piece);
            }
            Some(Ok(ChatEvent::Thinking(piece))) => {
                send(sheet.piece(&Piece::Thinking(&piece))).await?;
                thinking.push_str(&piece);
            }
            Some(Ok(ChatEvent::ToolCall(call))) => calls.push(call),
            Some(Ok(ChatEvent::Done(done))) => completion = Some(done),
            Some(Err(error)) => {
                send(Fault::failed(format!("the model failed: {error}")).body()).await?;
                return send(Value::from("[DONE]")).await;
            }
        }
    }
    let reply: Reply = sheet.reply(&text, &thinking, &calls, completion.as_ref());
    if sheet.has_tools() && !reply.text.is_empty() {
        send(sheet.piece(&Piece::Text(&reply.text))).await?;
    }
    for (place, call) in reply.calls.iter().enumerate() {
        send(sheet.piece(&Piece::Call(place, call))).await?;
    }
    send(sheet.piece(&Piece::End(reply.finish))).await?;
    if counts {
        send(sheet.usage_piece(&reply)).await?;
    }
    send(Value::from("[DONE]")).await
}
