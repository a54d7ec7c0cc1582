//! Connections.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::BufReader;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::connection::Connection;
use crate::services::Services;

/// Connections at the same time; further ones are closed at once.
pub const MOST_CONNECTIONS: usize = 32;
/// Wait after a failed accept, such as one for want of file handles.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves until `stop`; ends when every connection has ended.
pub async fn serve(listener: TcpListener, services: Arc<Services>, stop: CancellationToken) {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        while connections.try_join_next().is_some() {}
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else { continue };
        let (services, stop) = (Arc::clone(&services), stop.clone());
        connections.spawn(async move {
            let _place = place;
            let _ = stream.set_nodelay(true);
            let (reader, writer) = stream.into_split();
            let connection = Connection::new(services, writer);
            tokio::select! {
                () = stop.cancelled() => {}
                () = connection.run(BufReader::new(reader)) => {}
            }
        });
    }
    while connections.join_next().await.is_some() {}
}
