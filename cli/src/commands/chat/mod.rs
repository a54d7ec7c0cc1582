//! `tenpass chat`: the assistant in a terminal, on a pipe, or for one question.
//!
//! ```text
//! Terminal (a Console) ─ lines ─► Talk ─► Assistant::say ─ events ─► Person ─► Screen ─► Terminal
//! ```
//! [`console`] is what a terminal is to the conversation, so that a test can be one; [`screen`] and
//! [`confirmation`] say what things look like; [`talk`] and [`commands`] decide what a line does.

mod commands;
mod confirmation;
mod console;
mod editor;
mod person;
mod screen;
pub(in crate::commands) mod style;
mod talk;
mod terminal;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use tenpass_agent::session::ThinkSetting;
use tenpass_tools::assistant::{Live, LiveStore};

use console::Console;
use talk::{Load, Setup, Talk};
use terminal::Terminal;

use super::assistant_setup::{Choices, choices, shown};
use super::trace::short;
use crate::args::agent::Chat;
use crate::backend;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Carries out the command.
pub(crate) async fn run(context: Arc<Context>, chat: Chat) -> Result<Exit, Failure> {
    let choices = Arc::new(choices(&context, &chat.assistant)?);
    let mut store = LiveStore::open(&choices.options().folder)?;
    let mut session = commands::opened(&store.database, chat.thread.as_deref())?;
    if let Some(level) = chat.think {
        session.set_think(ThinkSetting::Level(level.into()));
    }
    let console = Arc::new(Terminal::new(context.printer, choices.options().folder.history(), &chat.say));
    for note in std::mem::take(&mut store.notes) {
        console.note(&format!("note: {note}"));
    }
    let load = loader(&context, &choices, &store);
    let loaded = tokio::select! {
        loaded = load() => loaded,
        () = console.interrupted() => return Ok(Exit::Interrupted),
    };
    let loaded = match loaded {
        Err(failure) if failure.exit == Exit::Mistake => return Err(failure),
        // Talking goes on without a model: what is typed is kept, and it is tried again.
        loaded => loaded,
    };
    let (spec, settings) = (&choices.spec, &context.resolved.settings);
    console.note(&header(&context, &choices, loaded.as_ref().ok(), session.thread(), spec));
    let setup = Setup {
        console,
        store,
        load,
        session,
        folder: context.agent_folder(),
        caps: (settings.usd_micros_per_day, settings.web_credits_per_day),
        quiet_after: settings.quiet_after,
        is_scripted: !chat.say.is_empty(),
    };
    Ok(Talk::new(setup, loaded).run().await)
}

/// Loads the model and assembles the assistant, each time it is called.
fn loader(context: &Arc<Context>, choices: &Arc<Choices>, store: &LiveStore) -> Load {
    let (context, choices, store) = (Arc::clone(context), Arc::clone(choices), store.clone());
    Box::new(move || {
        let (context, choices, store) = (Arc::clone(&context), Arc::clone(&choices), store.clone());
        Box::pin(async move {
            let model = backend::model(&context, &choices.spec, choices.load_context()).await?;
            let (options, _) = choices.for_model(&context, model.info());
            Ok(store.assemble(options, model)?)
        })
    })
}

/// What is said before the first line.
fn header(
    context: &Context,
    choices: &Choices,
    live: Option<&Live>,
    thread: &str,
    spec: &tenpass_model::ModelSpec,
) -> String {
    let mut lines = Vec::new();
    match live {
        Some(live) => {
            let info = live.assistant.agent().model.info();
            let (options, reason) = choices.for_model(context, info);
            let structure = options.agent.structure.unwrap_or_default();
            lines.push(format!("{} · structure {structure} ({reason})", info.spec));
            lines.extend(live.notes.iter().map(|note| format!("note: {note}")));
        }
        None => lines.push(format!("{spec} · not there; each message tries it again and is kept")),
    }
    let options = choices.options();
    let files = options.files.clone().unwrap_or_else(|| options.folder.files());
    let offline = if options.offline { " · offline" } else { "" };
    lines.push(format!(
        "profile {} · files in {} · thread {}{offline}",
        options.options.profile,
        shown(&files),
        short(thread)
    ));
    lines.push("/help lists what can be typed · Ctrl-C stops an answer · Ctrl-D leaves".to_owned());
    lines.join("\n")
}
