//! What was said and answered before a play: earlier conversations, the beginning of this one,
//! answers of providers.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp, Zoned};
use tenpass_agent::session::{Exchange, SessionState};
use tenpass_trace::database::{self, Database, DatabaseError, DatabaseOptions, NewProviderAnswer};
use tenpass_trace::{Message, TurnEnd};

use super::scenario::Scenario;
use super::world::{WorldError, at, stable_id};

/// Numbers of the stable ids of conversations; memory entries count from 0.
const THIS_CONVERSATION: usize = 1_000;
const EARLIER_CONVERSATIONS: usize = 1_001;
const ANSWERS_CONVERSATION: usize = 2_000;
const TURNS: usize = 3_000;
/// When a provider answered that is remembered.
const ANSWERED_DAYS_AGO: i64 = 2;

/// The database of a world at the beginning, and the session in it. Its clock stands at the
/// scenario's time.
pub(super) fn build(scenario: &Scenario, clock: &Zoned) -> Result<(Arc<Database>, SessionState), WorldError> {
    let time = Arc::new(Mutex::new(clock.timestamp()));
    let shown = Arc::clone(&time);
    let options = DatabaseOptions {
        clock: Arc::new(move || *shown.lock().unwrap_or_else(PoisonError::into_inner)),
        ..DatabaseOptions::default()
    };
    let database = Database::in_memory_with(options).map_err(at("the database"))?;
    let set = |now: Timestamp| *time.lock().unwrap_or_else(PoisonError::into_inner) = now;
    let days_ago = |days: i64| clock.timestamp() - SignedDuration::from_hours(24 * days);
    for (number, past) in scenario.world.conversations.iter().enumerate() {
        set(days_ago(i64::from(past.days_ago)));
        let thread = stable_id(&scenario.id, EARLIER_CONVERSATIONS + number).to_string();
        let turn = stable_id(&scenario.id, TURNS + EARLIER_CONVERSATIONS + number).to_string();
        keep(&database, &thread, &turn, &past.user, &past.assistant).map_err(at("an earlier conversation"))?;
    }
    let thread = stable_id(&scenario.id, THIS_CONVERSATION).to_string();
    set(days_ago(ANSWERED_DAYS_AGO));
    answers(scenario, &database, &thread).map_err(at("an answer of a provider"))?;
    set(clock.timestamp());
    let mut exchanges = Vec::new();
    for (number, said) in scenario.world.history.iter().enumerate() {
        let turn = stable_id(&scenario.id, TURNS + number).to_string();
        keep(&database, &thread, &turn, &said.user, &said.assistant).map_err(at("the conversation"))?;
        exchanges.push(Exchange {
            turn,
            user: said.user.clone(),
            assistant: said.assistant.clone(),
            end: TurnEnd::Natural,
            memory: Vec::new(),
            undone: false,
        });
    }
    Ok((Arc::new(database), SessionState::resume(thread, exchanges)))
}

/// Stores one exchange.
fn keep(database: &Database, thread: &str, turn: &str, user: &str, assistant: &str) -> Result<(), DatabaseError> {
    let title: String = user.chars().take(60).collect();
    database.ensure_thread(thread, &title)?;
    database.append_message(thread, turn, &Message::user(user), false)?;
    database.append_message(thread, turn, &Message::assistant(assistant), false)?;
    Ok(())
}

/// Stores answers of providers: in this conversation when it has begun, which shows them again
/// (K72), else in an earlier one, where only the recall finds them.
fn answers(scenario: &Scenario, database: &Database, thread: &str) -> Result<(), DatabaseError> {
    let earlier = stable_id(&scenario.id, ANSWERS_CONVERSATION).to_string();
    let thread = if scenario.world.history.is_empty() { &earlier } else { thread };
    for answer in &scenario.world.provider_answers {
        database.ensure_thread(thread, &answer.task)?;
        let signature = database::provider_signature(&answer.provider, "", &answer.task);
        database.store_provider_answer(&NewProviderAnswer {
            thread,
            provider: &answer.provider,
            task: &answer.task,
            signature: &signature,
            result: &answer.result,
            cost_micros: 0,
        })?;
    }
    Ok(())
}
