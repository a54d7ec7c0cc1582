//! Binding, routes, connections with their caps, and the end.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{DefaultBodyLimit, Query, State};
use axum::http::header::{LOCATION, SET_COOKIE};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use axum::{Json, Router, middleware};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use serde::Deserialize;
use serde_json::{Value, json};
use tenpass_tools::assistant::LiveStore;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::application::{Application, MOST_SOCKETS, ServeOptions};
use crate::conversation::{Conversations, Quiet};
use crate::error::ApiError;
use crate::model::{Load, ModelSlot};
use crate::panels;
use crate::records::TraceIndex;
use crate::security::{Keys, cookie_header, gate, headers, page as refusal_page};
use crate::state_file::{RunningFile, write_state};
use crate::{metrics, page, socket};

/// Connections that may be open: every socket, and as many again for requests.
const MOST_CONNECTIONS: usize = MOST_SOCKETS + 128;
/// How long the head of a request may take.
const HEAD_PATIENCE: Duration = Duration::from_secs(10);
/// How long the end waits for running turns.
const END_PATIENCE: Duration = Duration::from_secs(5);
/// Body of a request.
const BODY: usize = 1 << 20;
/// How often `state.json` is looked at, and quiet conversations at most.
const LOOK_EVERY: Duration = Duration::from_mins(1);

/// A server that cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Something else listens there.
    #[error("port {} is in use", address.port())]
    Busy {
        /// The address.
        address: SocketAddr,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The address is not of this machine alone, and nobody asked for that.
    #[error("{address} can be reached from other machines")]
    NotAsked {
        /// The address.
        address: SocketAddr,
    },
    /// No secrets, or no place for them.
    #[error("cannot write the token file: {0}")]
    Keys(io::Error),
}

impl ServeError {
    /// What to do.
    pub fn hint(&self) -> String {
        match self {
            Self::Busy { address } => format!(
                "another tenpass serve? its address: tenpass serve --link; or choose another port: --port {}",
                address.port().wrapping_add(1).max(1024)
            ),
            Self::Bind { .. } => "choose an address of this machine (--host) and a free port (--port)".to_owned(),
            Self::NotAsked { .. } => "add --public if that is meant; everything said is readable on the way".to_owned(),
            Self::Keys(_) => "check the permissions of the agent's folder".to_owned(),
        }
    }
}

/// Routes of other modules, behind the same gate.
pub type MoreRoutes = Router<Arc<Application>>;

/// A server that listens.
pub struct Server {
    /// What its handlers share.
    pub application: Arc<Application>,
    listener: TcpListener,
    running: RunningFile,
}

impl Server {
    /// Binds the address and writes the token file. Nothing is answered before [`Self::run`].
    pub async fn bind(options: ServeOptions, store: LiveStore, spec: String, load: Load) -> Result<Self, ServeError> {
        let address = options.address;
        if !options.is_public && !address.ip().is_loopback() {
            return Err(ServeError::NotAsked { address });
        }
        let listener = TcpListener::bind(address).await.map_err(|source| match source.kind() {
            io::ErrorKind::AddrInUse => ServeError::Busy { address },
            _ => ServeError::Bind { address, source },
        })?;
        let address = listener.local_addr().map_err(|source| ServeError::Bind { address, source })?;
        let options = ServeOptions { address, ..options };
        let keys = Keys::new().map_err(ServeError::Keys)?;
        let running = RunningFile::write(&options.folder, address, keys.bearer()).map_err(ServeError::Keys)?;
        let index = Arc::new(TraceIndex::new(&options.folder));
        let model = ModelSlot::new(spec, load);
        let conversations = Conversations::new(store, model, index, options.caps);
        let application = Arc::new(Application::new(options, keys, conversations));
        Ok(Self { application, listener, running })
    }

    /// Answers until `stop`; then ends what runs and leaves nothing half-written. `more` are routes
    /// of other modules, behind the same gate.
    pub async fn run(self, more: MoreRoutes, stop: CancellationToken) {
        let Self { application, listener, running } = self;
        application.conversations.model.start();
        spawn_companions(&application, &stop);
        let routes = routes(&application, more);
        let permits = Arc::new(Semaphore::new(MOST_CONNECTIONS));
        loop {
            let permit = tokio::select! {
                () = stop.cancelled() => break,
                permit = Arc::clone(&permits).acquire_owned() => permit,
            };
            let accepted = tokio::select! {
                () = stop.cancelled() => break,
                accepted = listener.accept() => accepted,
            };
            let (Ok((stream, _)), Ok(permit)) = (accepted, permit) else {
                // Out of file handles: let some be closed.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            let (routes, stop) = (routes.clone(), stop.clone());
            tokio::spawn(async move {
                connection(stream, routes, stop).await;
                drop(permit);
            });
        }
        drop(listener);
        application.conversations.close(END_PATIENCE).await;
        write_state(&application);
        running.remove();
    }
}

async fn connection(stream: TcpStream, routes: Router, stop: CancellationToken) {
    // A token is a small frame and should not wait for the next one.
    let _ = stream.set_nodelay(true);
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_PATIENCE).max_buf_size(64 * 1024).max_headers(64);
    let stream = crate::socket::Stalling::new(stream);
    let serving = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(routes)).with_upgrades();
    tokio::pin!(serving);
    tokio::select! {
        _ = serving.as_mut() => {}
        () = stop.cancelled() => {
            serving.as_mut().graceful_shutdown();
            let _ = tokio::time::timeout(END_PATIENCE, serving).await;
        }
    }
}

/// Every route, inside the gate, with the headers on every answer.
fn routes(application: &Arc<Application>, more: MoreRoutes) -> Router {
    Router::new()
        .merge(page::routes())
        .route("/enter", get(enter))
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/metrics", get(metrics::metrics))
        .route("/api/socket", any(socket::upgrade))
        .route("/api/session", get(session))
        .route("/api/links", post(links))
        .merge(panels::routes())
        .merge(more)
        .fallback(nothing)
        .layer(DefaultBodyLimit::max(BODY))
        .layer(middleware::from_fn_with_state(Arc::clone(application), gate))
        .layer(middleware::from_fn(headers))
        .with_state(Arc::clone(application))
}

/// What works beside the requests: the model's news, quiet conversations, `state.json`.
fn spawn_companions(application: &Arc<Application>, stop: &CancellationToken) {
    let (conversations, ended) = (Arc::clone(&application.conversations), stop.clone());
    tokio::spawn(async move {
        let mut states = conversations.model.watch();
        loop {
            tokio::select! {
                () = ended.cancelled() => return,
                changed = states.changed() => if changed.is_err() { return },
            }
            conversations.broadcast(&conversations.model.message());
        }
    });
    let after = application.options.quiet_after;
    let quiet = Quiet { after, every: (after / 4).clamp(Duration::from_secs(1), LOOK_EVERY) };
    tokio::spawn(Arc::clone(&application.conversations).reread_while_idle(quiet, stop.clone()));
    let (application, ended) = (Arc::clone(application), stop.clone());
    tokio::spawn(async move {
        loop {
            write_state(&application);
            tokio::select! {
                () = ended.cancelled() => return,
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
        }
    });
}

#[derive(Deserialize)]
struct Entrance {
    #[serde(default)]
    token: String,
}

/// `GET /enter?token=…`: the one-time token becomes the cookie.
async fn enter(State(application): State<Arc<Application>>, Query(entrance): Query<Entrance>) -> Response {
    if !application.keys.enter(&entrance.token) {
        return refusal_page(
            StatusCode::FORBIDDEN,
            "This address does not open",
            "An address of tenpass serve works once, and only while that server runs. Get a new one in a terminal of \
             the same machine: tenpass serve --link",
        );
    }
    let cookie = cookie_header(application.port(), application.keys.cookie());
    (StatusCode::SEE_OTHER, [(LOCATION, "/".to_owned()), (SET_COOKIE, cookie)]).into_response()
}

/// `POST /api/links`: a new address with a one-time token, for a second device or browser.
async fn links(State(application): State<Arc<Application>>) -> Result<Json<Value>, ApiError> {
    let url = application.entrance().map_err(|error| ApiError::internal(error, "try again"))?;
    Ok(Json(json!({ "url": url })))
}

/// `GET /api/session`.
async fn session(State(application): State<Arc<Application>>) -> Json<Value> {
    let slot = &application.conversations.model;
    let model = slot.live().map(|live| {
        let info = live.assistant.agent().model.info();
        json!({
            "spec": info.spec, "name": info.name, "digest": info.digest, "context": info.context,
            "thinks": info.capabilities.thinking, "tools": info.capabilities.tools,
            "quantization": info.quantization, "runtime": info.runtime,
        })
    });
    let state = slot.message();
    let voice = application.voice().map_or_else(
        || json!({ "available": false, "why": "this server was started without a voice", "hands_free": false }),
        |voice| voice.status(),
    );
    let settings = application.settings.get();
    let mut session = json!({
        "version": application.options.version,
        "model": model,
        "model_state": state["state"],
        "model_spec": state["spec"],
        "profile": application.options.profile,
        "language": settings.language,
        "settings": settings,
        "voice": voice,
        "csrf": "X-Tenpass",
    });
    if let Some(error) = state.get("error") {
        session["model_error"] = error.clone();
        session["model_hint"] = state["hint"].clone();
    }
    Json(session)
}

async fn nothing(uri: Uri) -> ApiError {
    let path: String = uri.path().chars().take(100).collect();
    ApiError::not_found(format!("there is nothing at {path}"), "the routes are in serve/PROTOCOL.md")
}
