//! What answers a turn that is no command: a script, or a model.

use std::sync::Arc;

use futures_util::StreamExt;
use tenpass_model::{ChatEvent, ChatModel, ChatRequest, ModelSpec, SamplingOptions};
use tenpass_speech::drive::{Piece, Responder, ScriptedResponder};
use tenpass_speech::turn::Manner;
use tenpass_trace::Message;

use super::plan::Plan;
use crate::context::Context;
use crate::failure::Failure;

/// Tells a model that its answer will be heard.
const SYSTEM: &str = "You answer in one or two short sentences. Your answer is spoken aloud.";

/// Most tokens of an answer.
const MOST_TOKENS: u32 = 60;

/// The model that was named, or a scripted answer.
pub(super) fn responder(context: &Context, plan: &Plan) -> Result<Arc<dyn Responder>, Failure> {
    let Some(typed) = &plan.model else {
        let text = if plan.language.starts_with("fr") {
            "Je regarde cela tout de suite, et je vous dis ce que je trouve dans un instant."
        } else {
            "Let me have a look at that, and I will tell you what I find in a moment."
        };
        return Ok(Arc::new(ScriptedResponder {
            text: text.to_owned(),
            first_us: plan.answer_ms.saturating_mul(1000),
            word_us: 30_000,
            manner: Manner::Reading,
        }));
    };
    let spec: ModelSpec = typed.parse().map_err(Failure::mistake)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| Failure::bug(format!("cannot start the runtime: {error}")))?;
    let model = runtime.block_on(crate::backend::model(context, &spec, None))?;
    let responder = ModelResponder { model, runtime };
    // The prompt's beginning is evaluated once, as it is in a running agent.
    responder.respond("Hello.", &mut |_| true).map_err(Failure::backend)?;
    Ok(Arc::new(responder))
}

/// A model without tools.
struct ModelResponder {
    model: Arc<dyn ChatModel>,
    runtime: tokio::runtime::Runtime,
}

impl Responder for ModelResponder {
    fn respond(&self, text: &str, sink: &mut dyn FnMut(Piece<'_>) -> bool) -> Result<Manner, String> {
        let request = ChatRequest {
            messages: vec![Message::system(SYSTEM), Message::user(text)],
            options: SamplingOptions { max_tokens: MOST_TOKENS, temperature: 0.0, ..SamplingOptions::default() },
            ..ChatRequest::default()
        };
        self.runtime.block_on(async {
            let mut answer = self.model.start(request);
            while let Some(event) = answer.next().await {
                match event.map_err(|error| error.to_string())? {
                    ChatEvent::Text(text) => {
                        if !sink(Piece { text: &text, after_us: None }) {
                            break;
                        }
                    }
                    ChatEvent::Done(_) => break,
                    ChatEvent::Thinking(_) | ChatEvent::ToolCall(_) => {}
                }
            }
            Ok(Manner::Reading)
        })
    }
}
