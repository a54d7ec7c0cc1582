//! Names → addresses, behind a trait so that a test can answer differently each time.

use std::io;
use std::net::{IpAddr, SocketAddr};

use tenpass_model::BoxFuture;
use url::{Host, Url};

use super::{PageError, target};

/// Resolves names. Asked once for each connection; the connection goes to what it answered.
pub trait Resolve: Send + Sync {
    /// Every address of `host`, with `port`.
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>>;
}

/// The operating system's resolver.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>> {
        Box::pin(async move { Ok(tokio::net::lookup_host((host, port)).await?.collect()) })
    }
}

/// The addresses a connection for `url` may go to. One address that may not be reached refuses all:
/// a name that also points inside is not a public server's.
pub(super) async fn checked(
    url: &Url,
    resolver: &dyn Resolve,
    hosts: &[SocketAddr],
) -> Result<Vec<SocketAddr>, PageError> {
    target::check(url, hosts)?;
    let port = url.port_or_known_default().unwrap_or(0);
    let name = match url.host() {
        Some(Host::Ipv4(ip)) => return Ok(vec![SocketAddr::new(IpAddr::V4(ip), port)]),
        Some(Host::Ipv6(ip)) => return Ok(vec![SocketAddr::new(IpAddr::V6(ip), port)]),
        Some(Host::Domain(name)) => name,
        None => return Err(PageError::Address("the address has no host".to_owned())),
    };
    let found = resolver.resolve(name, port).await.map_err(|_| PageError::Unknown { host: name.to_owned() })?;
    if found.is_empty() {
        return Err(PageError::Unknown { host: name.to_owned() });
    }
    for address in &found {
        target::check_address(*address, hosts)?;
    }
    Ok(found)
}
