//! What other programs use: routes in OpenAI's shapes, and the Wyoming server.

use std::sync::{Arc, OnceLock};

use tenpass_serve::programs::{EngineSlot, Outsider, routes};
use tenpass_serve::server::MoreRoutes;
use tenpass_serve::{ServeError, Server};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::args::serve::Serve;
use crate::commands::speech::engines::{embedder, engines, wake_service};
use crate::context::Context;
use crate::failure::Failure;

/// Loads the engines in the background, and starts the Wyoming server behind them when it is asked for. A second
/// computer that cannot be one is refused before anything is answered.
pub(super) async fn start(
    context: &Arc<Context>,
    serve: &Serve,
    server: &Server,
    stop: &CancellationToken,
) -> Result<MoreRoutes, Failure> {
    let listener = match serve.wyoming {
        None => None,
        Some(address) => Some(TcpListener::bind(address).await.map_err(|source| match source.kind() {
            std::io::ErrorKind::AddrInUse => ServeError::Busy { address },
            _ => ServeError::Bind { address, source },
        })?),
    };
    let embedder = match embedder(context).await {
        Ok(embedder) => embedder,
        Err(failure) if failure.exit == crate::exit::Exit::Mistake => return Err(failure),
        // The other computer may be off tonight; the assistant works without it.
        Err(failure) => {
            context.printer.note(&format!("without embeddings: {}", failure.message));
            None
        }
    };
    let slot: EngineSlot = Arc::new(OnceLock::new());
    let (context, filled, stop) = (Arc::clone(context), Arc::clone(&slot), stop.clone());
    let conversations = Arc::clone(&server.application.conversations);
    tokio::spawn(async move {
        let loader = Arc::clone(&context);
        let Ok(engines) = tokio::task::spawn_blocking(move || engines(&loader, embedder)).await else { return };
        let engines = filled.get_or_init(|| engines).clone();
        let Some(listener) = listener else { return };
        let wake = wake_service(&context)
            .map_err(|failure| context.printer.note(&format!("without a wake word: {}", failure.message)))
            .ok();
        let services = engines.wyoming(wake, Outsider::new(conversations));
        tenpass_wyoming::serve(listener, Arc::new(services), stop).await;
    });
    Ok(routes(slot))
}
