//! `tenpass serve --role embeddings`: the second computer.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use tenpass_serve::ServeError;
use tenpass_serve::programs::serve_embeddings;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::signals;
use crate::args::serve::Serve;
use crate::commands::speech::engines::local_embedder;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// The token's file in the agent's folder: it outlives a start, because the other computer keeps it.
const TOKEN: &str = "embeddings.token";

/// Serves until a signal.
pub(super) async fn run(context: &Context, serve: &Serve) -> Result<Exit, Failure> {
    let address = SocketAddr::new(serve.host, serve.port);
    if !serve.public && !address.ip().is_loopback() {
        return Err(ServeError::NotAsked { address }.into());
    }
    let embedder = Arc::new(local_embedder(context)?);
    let folder = context.agent_folder();
    std::fs::create_dir_all(&folder).map_err(|error| Failure::file(&folder, &error))?;
    let token = token(&folder.join(TOKEN))?;
    let listener = TcpListener::bind(address).await.map_err(|source| match source.kind() {
        std::io::ErrorKind::AddrInUse => ServeError::Busy { address },
        _ => ServeError::Bind { address, source },
    })?;
    let address = listener.local_addr().map_err(Failure::backend)?;
    let name = &context.resolved.settings.embeddings.model;
    context.printer.out(&format!("http://{address}"));
    context.printer.note(&format!(
        "embeds with {name}. On the other computer, in its settings: embeddings.address = \"http://{address}\", and in its \
         environment: TENPASS_EMBEDDINGS_KEY={token}"
    ));
    let stop = CancellationToken::new();
    let ended = tokio::spawn(signals(stop.clone()));
    serve_embeddings(listener, embedder, token, stop).await.map_err(Failure::backend)?;
    Ok(ended.await.unwrap_or(Exit::Yes))
}

/// The token that is there, or a new one that only this user can read.
fn token(path: &Path) -> Result<String, Failure> {
    let failed = |error: std::io::Error| Failure::file(path, &error);
    match std::fs::read_to_string(path) {
        Ok(text) if text.trim().len() >= 32 => return Ok(text.trim().to_owned()),
        Ok(_) => {
            return Err(
                Failure::mistake(format!("{} holds no token", path.display())).hint("delete it: a new one is made")
            );
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    let token = format!("{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple());
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path).map_err(failed)?;
    file.write_all(token.as_bytes()).map_err(failed)?;
    Ok(token)
}
