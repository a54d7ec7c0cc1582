//! The names this server answers to. A page of another name that resolves to this machine (DNS
//! rebinding) is a stranger, and so is a page of another origin.

use std::net::{IpAddr, SocketAddr};

/// The allow-list of `Host` and `Origin`.
#[derive(Debug, Clone)]
pub struct Hosts {
    address: SocketAddr,
    is_public: bool,
    /// Further names, in lower case, without a port.
    names: Vec<String>,
}

impl Hosts {
    /// The names of a server at `address`: the loopback ones, and for a public one every numeric
    /// address (nothing can be rebound to that) and the names that were given.
    pub fn new(address: SocketAddr, is_public: bool, names: &[String]) -> Self {
        let names = names.iter().map(|name| name.to_ascii_lowercase()).collect();
        Self { address, is_public, names }
    }

    /// Whether a `Host` header is on the list.
    pub fn allows_host(&self, host: &str) -> bool {
        let Some((name, port)) = split(host) else { return false };
        if port.unwrap_or(80) != self.address.port() {
            return false;
        }
        let name = name.to_ascii_lowercase();
        if name == "localhost" || self.names.contains(&name) {
            return true;
        }
        let bare = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(&name);
        match bare.parse::<IpAddr>() {
            Ok(address) if self.is_public => !address.is_multicast(),
            Ok(address) => address.is_loopback() || address == self.address.ip(),
            Err(_) => false,
        }
    }

    /// Whether an `Origin` header is this server as the `Host` header names it. `null` is nobody.
    pub fn allows_origin(&self, origin: &str, host: &str) -> bool {
        let Some(authority) = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://")) else {
            return false;
        };
        // Behind a proxy that ends TLS the scheme differs; the name and port may not.
        authority.eq_ignore_ascii_case(host) && self.allows_host(host)
    }
}

/// Name and port of an authority; `None` for what is none.
fn split(host: &str) -> Option<(&str, Option<u16>)> {
    if host.is_empty() || host.len() > 255 || !host.is_ascii() || host.contains(['/', '@', '?', '#', ' ', '\\', '%']) {
        return None;
    }
    let end = if host.starts_with('[') { host.find(']')? + 1 } else { host.find(':').unwrap_or(host.len()) };
    let (name, rest) = host.split_at(end);
    if name.is_empty() {
        return None;
    }
    match rest.strip_prefix(':') {
        Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => Some((name, Some(port.parse().ok()?))),
        None if rest.is_empty() => Some((name, None)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local() -> Hosts {
        Hosts::new("127.0.0.1:8440".parse().unwrap(), false, &[])
    }

    #[test]
    fn only_loopback_names_on_our_port_are_ours() {
        let hosts = local();
        for host in ["127.0.0.1:8440", "localhost:8440", "LOCALHOST:8440", "[::1]:8440", "127.0.0.2:8440"] {
            assert!(hosts.allows_host(host), "{host}");
        }
        for host in [
            "",
            "127.0.0.1",
            "127.0.0.1:80",
            "evil.example:8440",
            "localhost.evil.example:8440",
            "127.0.0.1.nip.io:8440",
            "192.168.1.5:8440",
            "0.0.0.0:8440",
            "[::ffff:10.0.0.1]:8440",
            "127.0.0.1:8440@evil.example",
            "localhost:8440/",
            "user@localhost:8440",
            "localhost:+8440",
            "localhost:08440x",
            "[::1:8440",
            "127.1:8440x",
            "ｌocalhost:8440",
        ] {
            assert!(!hosts.allows_host(host), "{host}");
        }
    }

    #[test]
    fn an_origin_is_the_host_that_was_asked() {
        let hosts = local();
        assert!(hosts.allows_origin("http://localhost:8440", "localhost:8440"));
        for origin in [
            "null",
            "",
            "http://evil.example",
            "http://evil.example:8440",
            "http://localhost:8441",
            "http://localhost",
            "http://127.0.0.1:8440",
            "file://",
            "http://localhost:8440.evil.example",
            "chrome-extension://abc",
        ] {
            assert!(!hosts.allows_origin(origin, "localhost:8440"), "{origin}");
        }
        assert!(!hosts.allows_origin("http://evil.example:8440", "evil.example:8440"));
    }

    #[test]
    fn a_public_server_answers_to_numbers_and_to_given_names() {
        let hosts = Hosts::new("0.0.0.0:8440".parse().unwrap(), true, &["Desk.local".to_owned()]);
        assert!(hosts.allows_host("192.168.1.5:8440") && hosts.allows_host("desk.LOCAL:8440"));
        assert!(!hosts.allows_host("evil.example:8440") && !hosts.allows_host("192.168.1.5:80"));
    }
}
