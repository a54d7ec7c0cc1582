//! `tenpass serve`: the assistant as a server, until Ctrl-C or SIGTERM.
//!
//! [`loopback`] speaks to servers of this machine, [`ollama`] asks once whether to use one that is
//! there. What the server does is in `tenpass-serve`.

mod loopback;
mod ollama;
mod programs;
mod second;

use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::Value;
use tenpass_serve::{Load, LoadFailure, ServeError, ServeOptions, Server};
use tenpass_tools::assistant::{AgentFolder, LiveStore};
use tokio_util::sync::CancellationToken;

use super::assistant_setup::{Choices, choices, shown};
use crate::args::serve::{Role, Serve};
use crate::backend;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

impl From<ServeError> for Failure {
    fn from(error: ServeError) -> Self {
        let hint = error.hint();
        match error {
            ServeError::Busy { .. } => Self::backend(error).hint(hint),
            _ => Self::mistake(error).hint(hint),
        }
    }
}

/// Carries out the command.
pub(crate) async fn run(context: Arc<Context>, mut serve: Serve) -> Result<Exit, Failure> {
    if serve.link {
        return link(&context);
    }
    if serve.role == Role::Embeddings {
        return second::run(&context, &serve).await;
    }
    if let Some(address) = serve.wyoming.filter(|address| !serve.public && !address.ip().is_loopback()) {
        return Err(ServeError::NotAsked { address }.into());
    }
    // Before the folder is taken and the model chosen: the question is one of the terminal.
    if serve.assistant.model.is_none() {
        serve.assistant.model = ollama::choice(&context).await;
    }
    let choices = Arc::new(choices(&context, &serve.assistant)?);
    let mut store = LiveStore::open(&choices.options().folder)?;
    for note in std::mem::take(&mut store.notes) {
        context.printer.note(&format!("note: {note}"));
    }
    let load = loader(&context, &choices, &store);
    let options = options(&context, &choices, &serve);
    let server = Server::bind(options, store, choices.spec.to_string(), load).await?;
    let entrance = server.application.entrance().map_err(Failure::bug)?;
    announce(&context, &choices, &serve, &entrance);
    let stop = CancellationToken::new();
    let ended = tokio::spawn(signals(stop.clone()));
    let more = programs::start(&context, &serve, &server, &stop).await?;
    server.run(more, stop).await;
    Ok(ended.await.unwrap_or(Exit::Yes))
}

fn options(context: &Context, choices: &Choices, serve: &Serve) -> ServeOptions {
    let settings = &context.resolved.settings;
    let assistant = choices.options();
    ServeOptions {
        address: SocketAddr::new(serve.host, serve.port),
        is_public: serve.public,
        names: serve.name.clone(),
        web_dir: serve.web_dir.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        folder: assistant.folder.clone(),
        caps: (settings.usd_micros_per_day, settings.web_credits_per_day),
        fail_open: settings.spend_fail_open,
        quiet_after: settings.quiet_after,
        profile: assistant.options.profile.to_string(),
        memory: assistant.memory.clone(),
    }
}

/// Loads the model and assembles the assistant, each time it is called; as `chat` does.
fn loader(context: &Arc<Context>, choices: &Arc<Choices>, store: &LiveStore) -> Load {
    let (context, choices, store) = (Arc::clone(context), Arc::clone(choices), store.clone());
    Box::new(move || {
        let (context, choices, store) = (Arc::clone(&context), Arc::clone(&choices), store.clone());
        Box::pin(async move {
            let loaded = async {
                let model = backend::model(&context, &choices.spec, choices.load_context()).await?;
                let (options, reason) = choices.for_model(&context, model.info());
                let structure = options.agent.structure.unwrap_or_default();
                let live = store.assemble(options, model)?;
                let spec = &live.assistant.agent().model.info().spec;
                context.printer.note(&format!("{spec} is ready · structure {structure} ({reason})"));
                live.notes.iter().for_each(|note| context.printer.note(&format!("note: {note}")));
                Ok::<_, Failure>(live)
            };
            loaded.await.map_err(|failure| LoadFailure {
                message: failure.message,
                hint: failure.hint.unwrap_or_else(|| "send a message to try again".to_owned()),
            })
        })
    })
}

fn announce(context: &Context, choices: &Choices, serve: &Serve, entrance: &str) {
    let printer = context.printer;
    printer.out(entrance);
    let options = choices.options();
    let files = options.files.clone().unwrap_or_else(|| options.folder.files());
    printer.note(&format!(
        "open this address; it works once. {} · profile {} · files in {}",
        choices.spec,
        options.options.profile,
        shown(&files)
    ));
    if serve.public {
        printer.note(
            "warning: other machines can reach this server, and what is said crosses the network unencrypted: only \
             in a network that you trust",
        );
    }
    printer.note("Ctrl-C ends it");
    if serve.open && !open(entrance) {
        printer.note("no browser could be started: open the address yourself");
    }
}

/// Hands the address to the desktop.
fn open(address: &str) -> bool {
    let (program, first): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else {
        ("xdg-open", &[])
    };
    let mut command = std::process::Command::new(program);
    command.args(first).arg(address);
    let null = std::process::Stdio::null;
    command.stdin(null()).stdout(null()).stderr(null()).spawn().is_ok()
}

/// Ends the server on Ctrl-C (130) or SIGTERM (0).
async fn signals(stop: CancellationToken) -> Exit {
    #[cfg(unix)]
    let terminated = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut signal) => {
                signal.recv().await;
            }
            Err(_) => std::future::pending().await,
        }
    };
    #[cfg(not(unix))]
    let terminated = std::future::pending::<()>();
    let exit = tokio::select! {
        _ = tokio::signal::ctrl_c() => Exit::Interrupted,
        () = terminated => Exit::Yes,
    };
    stop.cancel();
    exit
}

/// A new one-time address of the server that runs on this folder.
fn link(context: &Context) -> Result<Exit, Failure> {
    let file = AgentFolder::new(context.agent_folder()).path().join(tenpass_serve::state_file::RUNNING_FILE);
    let gone = || Failure::backend("no server runs on this folder").hint("start one: tenpass serve");
    let text = std::fs::read_to_string(&file).map_err(|_| gone())?;
    let running: Value = serde_json::from_str(&text).map_err(|_| gone())?;
    let text_of = |name: &str| running[name].as_str().unwrap_or_default().to_owned();
    let mut address: SocketAddr = text_of("address").parse().map_err(|_| gone())?;
    if address.ip().is_unspecified() {
        address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
    }
    let answer = loopback::request(address, "POST", "/api/links", Some(&text_of("token")), "{}").map_err(|_| gone())?;
    let url = answer.json()["url"].as_str().map(str::to_owned).ok_or_else(gone)?;
    context.printer.out(&url);
    Ok(Exit::Yes)
}
