//! One payment for one call, within the cap, and what is kept.

use super::*;

#[tokio::test]
async fn an_empty_answer_is_none_and_costs_what_it_cost() {
    let server = Server::start(|_, _| events(answer(Provider::DeepSeek, " "))).await;
    let desk = Desk::new(&server, 1.0);
    let output = desk.delegate(Provider::DeepSeek, "x").await;
    assert!(!output.ok && output.text.contains("an empty answer"), "{output:?}");
    assert_eq!((desk.spent(), server.requests().len()), (COST, 1));
}

#[tokio::test]
async fn a_stand_in_is_counted_deduplicated_and_kept_like_a_provider() {
    let server = Server::start(|_, _| events("")).await;
    let mut desk = Desk::new(&server, 1.0);
    let usage = tenpass_model::Usage { prompt_tokens: Some(1000), cached_tokens: None, completion_tokens: Some(100) };
    let model = ScriptedModel::saying(vec![Said { usage, ..Said::text("Played.") }]);
    let price = Price { input: 3.0, output: 15.0 };
    desk.providers =
        desk.providers.with_stand_in(Provider::Claude, Arc::new(model.clone()), SamplingOptions::default(), price);
    for _ in 0..2 {
        assert!(desk.delegate(Provider::Claude, "x").await.text.ends_with("Played."));
    }
    assert_eq!((desk.spent(), model.requests().len(), server.requests().len()), (COST, 1, 0));
}

#[tokio::test]
async fn identical_calls_are_paid_once_in_flight_and_afterwards() {
    let server = Server::start(|_, number| events(answer(Provider::Claude, &format!("answer {number}")))).await;
    let desk = Desk::new(&server, 1.0);
    let calls = (0..8).map(|_| desk.delegate(Provider::Claude, "Same task."));
    let outputs = futures_util::future::join_all(calls).await;
    assert_eq!(server.requests().len(), 1);
    assert!(outputs.iter().all(|output| output.text.ends_with("answer 0")));
    let free = |output: &&ToolOutput| matches!(output.effects[..], [SideEffect::Delegated { deduplicated: true, cost_usd, .. }] if cost_usd == 0.0);
    assert_eq!(outputs.iter().filter(free).count(), 7);
    let again = desk.delegate(Provider::Claude, "Same task.").await;
    assert!(free(&&again) && again.text.contains("the same as before"), "{again:?}");
    assert_eq!((server.requests().len(), desk.spent()), (1, COST));
    // Another task, another provider or another conversation is another call.
    desk.delegate(Provider::Claude, "Other task.").await;
    let mut later = context();
    later.recent = vec![Message::user("And now?")];
    desk.delegate_in(&later, Provider::Claude, "Same task.").await;
    assert_eq!((server.requests().len(), desk.spent()), (3, 3 * COST));
}

#[tokio::test]
async fn when_the_first_of_two_identical_calls_fails_the_second_is_sent() {
    let server = Server::start(
        |_, number| {
            if number == 0 { refuse(400, &[]) } else { events(answer(Provider::Claude, "Fine.")) }
        },
    )
    .await;
    let desk = Desk::new(&server, 1.0);
    let (first, second) = tokio::join!(desk.delegate(Provider::Claude, "x"), desk.delegate(Provider::Claude, "x"));
    assert!(!first.ok && second.ok, "{first:?} {second:?}");
}

#[tokio::test]
async fn parallel_calls_never_pass_the_cap_and_the_model_hears_nothing_of_money() {
    let server = Server::start(|_, _| events(answer(Provider::DeepSeek, "Done."))).await;
    // A call's worst case is over $0.015 (1,000 tokens of answer); $0.05 holds three at a time.
    let desk = Desk::new(&server, 0.05);
    let tasks: Vec<String> = (0..12).map(|number| format!("task {number}")).collect();
    let outputs =
        futures_util::future::join_all(tasks.iter().map(|task| desk.delegate(Provider::DeepSeek, task))).await;
    let refused: Vec<&ToolOutput> = outputs.iter().filter(|output| !output.ok).collect();
    assert!(!refused.is_empty() && refused.len() < 12);
    for output in refused {
        assert!(output.text.contains("unavailable now"), "{output:?}");
        assert!(!["cap", "budget", "$", "USD", "cost"].iter().any(|word| output.text.contains(word)), "{output:?}");
    }
    assert_eq!(server.requests().len() as u64 * COST, desk.spent());
    assert!(desk.spent() <= 50_000);
}

#[tokio::test]
async fn an_unreadable_ledger_sends_nothing() {
    struct Broken;
    impl Ledger for Broken {
        fn reserve(&self, _: &crate::spend::Charge) -> Result<Option<Box<dyn crate::spend::Held>>, LedgerError> {
            Err(LedgerError::new("disk on fire"))
        }
    }
    let server = Server::start(|_, _| events(answer(Provider::Claude, "x"))).await;
    let budget = Budget::new(Arc::new(Broken), Caps::default());
    let settings =
        ProviderSettings { base_url: server.url(""), ..ProviderSettings::new(Provider::Claude, Some(KEY.into())) };
    let providers =
        Providers::new(budget, Arc::new(MemoryStore::default())).with_cloud(Provider::Claude, settings).unwrap();
    let tool = DelegateToProvider::new(providers);
    let output = tool.run(&arguments(json!({ "provider": "claude", "task": "x" })), &context()).await;
    assert!(!output.ok && output.text.contains("unavailable now") && !output.text.contains("fire"), "{output:?}");
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn answers_survive_in_the_database_and_are_not_paid_for_again() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|_, _| events(answer(Provider::Claude, "Kept."))).await;
    for round in 0..2 {
        let database = Arc::new(Database::open(&folder.path().join("tenpass.sqlite")).unwrap());
        let budget = Budget::new(Arc::new(DatabaseLedger::new(Arc::clone(&database))), Caps::default());
        let settings = ProviderSettings {
            base_url: server.url("/v1"),
            ..ProviderSettings::new(Provider::Claude, Some(KEY.into()))
        };
        let providers = Providers::new(budget, Arc::new(DatabaseStore::new(Arc::clone(&database))))
            .with_cloud(Provider::Claude, settings)
            .unwrap();
        let tool = DelegateToProvider::new(providers);
        let output = tool.run(&arguments(json!({ "provider": "claude", "task": "x" })), &context()).await;
        assert!(output.text.ends_with("Kept."), "{round}: {output:?}");
        let stored = database.latest_provider_answers("t", 5).unwrap();
        assert_eq!((stored.len(), stored[0].task.as_str(), stored[0].result.as_str()), (1, "x", "Kept."));
        // 1,000 tokens at $2 and 100 at $10 a million.
        assert_eq!(database.spent(SpendKind::Usd, "2026-03-01").unwrap().total_micros(), 3_000);
    }
    assert_eq!(server.requests().len(), 1);
    assert_eq!(server.requests()[0].path, "/v1/messages");
}
