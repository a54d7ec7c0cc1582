//! The tool itself, the local writer and the safety net.

use super::*;

#[tokio::test]
async fn long_and_cut_answers_say_so() {
    let long = "é".repeat(9_000);
    let stream = answer(Provider::Claude, &long).replace("end_turn", "max_tokens");
    let server = Server::start(move |_, _| events(&stream)).await;
    let desk = Desk::new(&server, 1.0);
    let output = desk.delegate(Provider::Claude, "x").await;
    assert!(output.text.contains("its first 8000 of 9000 characters (recall_provider_answers finds the whole)"));
    assert!(output.text.contains("cut by its own length limit"));
    assert_eq!(output.text.chars().filter(|letter| *letter == 'é').count(), 8_000);
    let kept = desk.store.find(&signature(&desk, "x")).unwrap().unwrap();
    assert_eq!(kept.text, long, "the whole is stored");
}

fn signature(desk: &Desk, task: &str) -> String {
    let call = context();
    let exchange = message::build(&call.recent, &call.user_text, task, false);
    let model = ProviderSettings::new(Provider::Claude, None).model;
    assert!(desk.providers.offered().contains(&Provider::Claude));
    tenpass_trace::database::provider_signature("claude", &model, &exchange.identity())
}

#[tokio::test]
async fn settings_that_cannot_be_used_are_named() {
    let base = || {
        Providers::new(
            Budget::new(Arc::new(MemoryLedger::default()), Caps::default()),
            Arc::new(MemoryStore::default()),
        )
    };
    let settings = || ProviderSettings::new(Provider::ChatGpt, Some(KEY.into()));
    let error = |settings| base().with_cloud(Provider::ChatGpt, settings).unwrap_err().to_string();
    assert!(
        error(ProviderSettings { model: "mystery".into(), ..settings() })
            .contains("no price is known for the model \"mystery\"")
    );
    assert!(error(ProviderSettings { base_url: "ftp://x".into(), ..settings() }).contains("http"));
    assert!(
        error(ProviderSettings { base_url: "http://api.example/v1".into(), ..settings() }).contains("not encrypted")
    );
    let bad_key = ProviderSettings {
        base_url: "http://127.0.0.1:9".into(),
        ..ProviderSettings::new(Provider::Claude, Some("a\nb".into()))
    };
    let tool = DelegateToProvider::new(base().with_cloud(Provider::Claude, bad_key).unwrap());
    let output = tool.run(&arguments(json!({ "provider": "claude", "task": "x" })), &context()).await;
    assert!(output.text.contains("characters that a header cannot carry"), "{output:?}");
}

#[tokio::test]
async fn the_local_writer_costs_nothing_and_is_offered_only_when_there_is_one() {
    let server = Server::start(|_, _| events("")).await;
    let mut desk = Desk::new(&server, 1.0);
    let without = DelegateToProvider::new(desk.providers.clone());
    assert_eq!(
        without.definition().parameters["properties"]["provider"]["enum"],
        json!(["claude", "chatgpt", "deepseek"])
    );
    assert!(without.inspect(&arguments(json!({ "provider": "local", "task": "x" }))).reject.is_some());
    let model = ScriptedModel::saying(vec![Said::text("Once upon a time."), Said::default()]);
    desk.providers = desk.providers.with_local(Arc::new(model.clone()), SamplingOptions::default());
    let with = DelegateToProvider::new(desk.providers.clone());
    assert_eq!(with.definition().parameters["properties"]["provider"]["enum"][3], "local");
    let output = desk.delegate(Provider::Local, "A story.").await;
    assert!(output.ok && output.text.ends_with("Once upon a time."), "{output:?}");
    assert_eq!((desk.spent(), server.requests().len()), (0, 0));
    let asked = &model.requests()[0];
    assert!(asked.tools.is_empty() && asked.messages[0].content.contains("Write the whole text"));
    assert!(asked.messages[1].content.ends_with("The task:\n\nA story."));
    assert!(!desk.delegate(Provider::Local, "Nothing.").await.ok, "an empty answer is none");
}

#[tokio::test]
async fn a_stop_frees_the_local_writer() {
    let server = Server::start(|_, _| events("")).await;
    let mut desk = Desk::new(&server, 1.0);
    let model = ScriptedModel::saying(vec![Said { hangs: true, ..Said::text("Once") }]);
    desk.providers = desk.providers.with_local(Arc::new(model.clone()), SamplingOptions::default());
    let stopped = context();
    let (output, ()) = tokio::join!(desk.delegate_in(&stopped, Provider::Local, "x"), async {
        while model.active() == 0 {
            tokio::task::yield_now().await;
        }
        stopped.cancel.cancel();
    });
    assert!(!output.ok && output.text.contains("stopped"), "{output:?}");
    assert_eq!(model.active(), 0);
}

#[test]
fn bad_calls_are_rejected_before_anything_runs() {
    let budget = Budget::new(Arc::new(MemoryLedger::default()), Caps::default());
    let tool = DelegateToProvider::new(Providers::new(budget, Arc::new(MemoryStore::default())));
    let reject = |call: Value| tool.inspect(&arguments(call)).reject;
    assert_eq!(reject(json!({ "provider": "claude", "task": "x" })), None);
    assert!(
        reject(json!({ "provider": "gemini", "task": "x" }))
            .is_some_and(|why| why.contains("claude, chatgpt, deepseek"))
    );
    assert!(reject(json!({ "provider": "claude", "task": " " })).is_some_and(|why| why.contains("empty")));
    assert_eq!(tool.definition().parameters["required"], json!(["provider", "task", "reason"]));
    assert_eq!(
        tool.definition().description,
        "Hands a piece of work to a cloud model. claude: default, long writing. chatgpt: second opinions. \
         deepseek: code. The application attaches the conversation."
    );
}

#[tokio::test]
async fn the_safety_net_answers_with_the_conversation_and_the_same_budget() {
    let server = Server::start(|_, _| events(answer(Provider::Claude, "Here it is."))).await;
    let desk = Desk::new(&server, 1.0);
    let net = CloudEscalation::new(desk.providers.clone(), Provider::Claude);
    let messages = [Message::system("Rules."), Message::user("What is there?"), Message::tool("read_url", "A page.")];
    let escalated = net.escalate(&messages, &context()).await.unwrap();
    assert_eq!((escalated.text.as_str(), escalated.provider.as_str()), ("Here it is.", "claude"));
    let body = server.requests()[0].json();
    assert_eq!(body["system"], "Rules.");
    assert!(body["messages"][0]["content"].as_str().unwrap().contains("(result of read_url)\nA page."));
    assert_eq!(desk.spent(), COST);
    let poor = CloudEscalation::new(Desk::new(&server, 0.0).providers, Provider::Claude);
    assert!(poor.escalate(&messages, &context()).await.unwrap_err().contains("unavailable now"));
}

#[tokio::test]
async fn secrets_do_not_leave_the_machine() {
    let server = Server::start(|_, _| events(answer(Provider::Claude, "Done."))).await;
    let desk = Desk::new(&server, 1.0);
    let secret = ["ghp", "_", &"a1B2c3D4e5F6g7H8i9J0".repeat(2)[..36]].concat();
    let mut call = context();
    call.user_text = format!("My token is {secret}.");
    call.recent = vec![Message::user(format!("Use {secret} please"))];
    assert!(desk.delegate_in(&call, Provider::Claude, &format!("Explain {secret}.")).await.ok);
    let sent = String::from_utf8(server.requests()[0].body.clone()).unwrap();
    assert!(!sent.contains(&secret) && sent.matches("[secret:").count() == 3, "{sent}");
    let net = CloudEscalation::new(desk.providers.clone(), Provider::Claude);
    net.escalate(&[Message::user(format!("Use {secret} please"))], &call).await.unwrap();
    assert!(!String::from_utf8(server.requests()[1].body.clone()).unwrap().contains(&secret));
}
