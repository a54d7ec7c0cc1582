//! Every backend of this crate passes the one suite.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tenpass_model::conformance::{Asked, Subject, Suite, failures, run};
use tenpass_model::{
    BoxFuture, ChatModel, ChatRequest, HttpOptions, ModelError, OllamaModel, OpenAiModel, ReplayModel, SamplingOptions,
};
use tenpass_trace::{Message, ToolDefinition};

use super::fake;
use super::stub::Stub;

pub(crate) fn asking(text: &str) -> ChatRequest {
    ChatRequest {
        messages: vec![Message::system("Be short."), Message::user(text)],
        options: SamplingOptions { temperature: 0.0, ..SamplingOptions::default() },
        ..ChatRequest::default()
    }
}

pub(crate) fn suite() -> Suite {
    let formatted = json!({"type": "object", "properties": {"word": {"const": "attic"}}, "required": ["word"]});
    Suite {
        question: asking("hello there"),
        long: asking("tell me a long story"),
        overflow: asking(&"word ".repeat(100)),
        tools: Some(ChatRequest { tools: vec![ToolDefinition::new("lamp", "Switches a lamp.")], ..asking("light") }),
        format: Some(Asked {
            request: ChatRequest { format: Some(formatted), ..asking("where") },
            contains: "attic".into(),
        }),
        distinct: ["alpha", "beta", "gamma"].map(|word| Asked { request: asking(word), contains: word.into() }).into(),
        patience: Duration::from_secs(10),
    }
}

struct Served<M> {
    stub: Stub,
    model: M,
}

impl Subject for Served<OllamaModel> {
    fn model(&self) -> Arc<dyn ChatModel> {
        Arc::new(self.model.clone())
    }

    fn missing(&self) -> BoxFuture<'_, Result<Arc<dyn ChatModel>, ModelError>> {
        Box::pin(async {
            let model = OllamaModel::connect(&self.stub.url(), "absent", None, &HttpOptions::default()).await?;
            Ok(Arc::new(model) as Arc<dyn ChatModel>)
        })
    }

    fn active(&self) -> BoxFuture<'_, usize> {
        Box::pin(async { self.stub.active() })
    }
}

impl Subject for Served<OpenAiModel> {
    fn model(&self) -> Arc<dyn ChatModel> {
        Arc::new(self.model.clone())
    }

    fn missing(&self) -> BoxFuture<'_, Result<Arc<dyn ChatModel>, ModelError>> {
        Box::pin(async {
            let model =
                OpenAiModel::connect(&format!("{}/v1", self.stub.url()), "absent", &HttpOptions::default()).await?;
            Ok(Arc::new(model) as Arc<dyn ChatModel>)
        })
    }

    fn active(&self) -> BoxFuture<'_, usize> {
        Box::pin(async { self.stub.active() })
    }
}

#[tokio::test]
async fn ollama_conforms() {
    let stub = Stub::start(fake::ollama).await;
    let model = OllamaModel::connect(&stub.url(), "tiny", None, &HttpOptions::default()).await.unwrap();
    assert_eq!(model.info().digest.as_deref(), Some("sha256:ab12"));
    let checks = run(&Served { stub, model }, &suite()).await;
    assert_eq!(failures(&checks), "");
    assert_eq!(checks.len(), 9);
}

#[tokio::test]
async fn openai_conforms() {
    let stub = Stub::start(fake::openai).await;
    // Without a name, and with an address that lacks `/v1`.
    let model = OpenAiModel::connect(&stub.url(), "", &HttpOptions::default()).await.unwrap();
    assert_eq!(model.info().spec, format!("openai:{}/v1#tiny", stub.url()));
    let checks = run(&Served { stub, model }, &suite()).await;
    assert_eq!(failures(&checks), "");
    assert_eq!(checks.len(), 9);
}

struct Replayed(ReplayModel);

impl Subject for Replayed {
    fn model(&self) -> Arc<dyn ChatModel> {
        Arc::new(self.0.clone())
    }

    fn missing(&self) -> BoxFuture<'_, Result<Arc<dyn ChatModel>, ModelError>> {
        Box::pin(async { Ok(Arc::new(ReplayModel::open("absent.jsonl".as_ref())?) as Arc<dyn ChatModel>) })
    }

    fn active(&self) -> BoxFuture<'_, usize> {
        Box::pin(async { self.0.active() })
    }
}

#[tokio::test]
async fn replay_conforms() {
    let answer = |contains: &str, mut answer: serde_json::Value| {
        answer["match"] = json!({ "contains": contains });
        answer["completion_tokens"] = 3.into();
        answer["prompt_tokens"] = answer.get("prompt_tokens").cloned().unwrap_or_else(|| 5.into());
        format!("{answer}\n")
    };
    let lines = [
        answer("hello", json!({"text": "Hello to you.", "chunks": 3})),
        answer("long", json!({"text": "Once upon a time", "chunks": 4, "delay_ms": 50})),
        answer("word", json!({"text": "no", "prompt_tokens": 104})),
        answer("light", json!({"calls": [{"name": "lamp", "arguments": {"on": true}}]})),
        answer("where", json!({"text": "{\"word\": \"attic\"}"})),
        answer("alpha", json!({"text": "alpha"})),
        answer("beta", json!({"text": "beta"})),
        answer("gamma", json!({"text": "gamma"})),
    ];
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(lines.concat().as_bytes()).unwrap();
    let mut suite = suite();
    suite.overflow.options.context = Some(64);
    let checks = run(&Replayed(ReplayModel::open(file.path()).unwrap()), &suite).await;
    assert_eq!(failures(&checks), "");
    assert_eq!(checks.len(), 9);
}
