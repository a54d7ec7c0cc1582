//! What an address may look like before anything is resolved.

use std::net::{IpAddr, SocketAddr};

use url::{Host, Url};

use super::{PageError, address};

/// Ports of web servers. Others are refused, so that pages cannot make this machine speak HTTP to
/// mail servers and databases of others.
pub const PORTS: [u16; 4] = [80, 443, 8080, 8443];
/// Longest address, in bytes.
const MAX_URL_BYTES: usize = 2_048;
/// Names that never belong to a public server.
const LOCAL_SUFFIXES: [&str; 9] =
    ["localhost", "local", "internal", "intranet", "lan", "home.arpa", "onion", "test", "invalid"];

/// Reads an address as typed. Without a scheme it is `https`.
pub(super) fn parse(text: &str) -> Result<Url, PageError> {
    let text = text.trim();
    if text.len() > MAX_URL_BYTES {
        return Err(PageError::Address(format!("the address is longer than {MAX_URL_BYTES} characters")));
    }
    let parsed = match Url::parse(text) {
        Err(url::ParseError::RelativeUrlWithoutBase) if !text.is_empty() => Url::parse(&format!("https://{text}")),
        parsed => parsed,
    };
    parsed.map_err(|error| PageError::Address(format!("this is not a web address: {error}")))
}

/// Checks scheme, user information, port, and what can be said of the host without resolving it.
/// `hosts` are exempt from the port and address rules; see [`super::Fetcher::with_test_hosts`].
pub(super) fn check(url: &Url, hosts: &[SocketAddr]) -> Result<(), PageError> {
    if !matches!(url.scheme(), "http" | "https") {
        let scheme: String = url.scheme().chars().take(20).collect();
        return Err(PageError::Address(format!("only http and https addresses can be read, not {scheme}:")));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(PageError::Address("addresses with a user name or password are not read".to_owned()));
    }
    if url.as_str().len() > MAX_URL_BYTES {
        return Err(PageError::Address(format!("the address is longer than {MAX_URL_BYTES} characters")));
    }
    let port = url.port_or_known_default().unwrap_or(0);
    let is_listed = PORTS.contains(&port) || hosts.iter().any(|host| host.port() == port);
    if !is_listed {
        return Err(wrong_port(port));
    }
    match url.host() {
        None => Err(PageError::Address("the address has no host".to_owned())),
        Some(Host::Ipv4(ip)) => check_address(SocketAddr::new(IpAddr::V4(ip), port), hosts),
        Some(Host::Ipv6(ip)) => check_address(SocketAddr::new(IpAddr::V6(ip), port), hosts),
        Some(Host::Domain(name)) => check_name(name),
    }
}

/// Checks one address that a connection would go to.
pub(super) fn check_address(to: SocketAddr, hosts: &[SocketAddr]) -> Result<(), PageError> {
    if hosts.contains(&to) {
        return Ok(());
    }
    if let Some(what) = address::refused(to.ip()) {
        return Err(PageError::Refused { address: to.ip(), what });
    }
    if PORTS.contains(&to.port()) { Ok(()) } else { Err(wrong_port(to.port())) }
}

fn wrong_port(port: u16) -> PageError {
    PageError::Address(format!("port {port} is not a web server's (80, 443, 8080, 8443)"))
}

fn check_name(name: &str) -> Result<(), PageError> {
    let name = name.trim_end_matches('.');
    let is_local = LOCAL_SUFFIXES
        .iter()
        .any(|suffix| name.strip_suffix(suffix).is_some_and(|before| before.is_empty() || before.ends_with('.')));
    if is_local || !name.contains('.') {
        return Err(PageError::Address(format!("{name} is not the name of a public web server")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(text: &str) -> Result<String, String> {
        let url = parse(text).map_err(|error| error.to_string())?;
        check(&url, &[]).map_err(|error| error.to_string())?;
        Ok(url.to_string())
    }

    #[test]
    fn public_addresses_pass_and_are_completed() {
        assert_eq!(judge(" site.example/a b ").unwrap(), "https://site.example/a%20b");
        assert_eq!(judge("http://1.1.1.1:8080/").unwrap(), "http://1.1.1.1:8080/");
        assert_eq!(judge("https://[2606:4700::1111]:8443/x").unwrap(), "https://[2606:4700::1111]:8443/x");
        assert_eq!(judge("http://site.example./").unwrap(), "http://site.example./");
    }

    #[test]
    fn homographs_are_shown_in_punycode() {
        // A Cyrillic а.
        assert_eq!(judge("https://b\u{430}nk.example/").unwrap(), "https://xn--bnk-6cd.example/");
        // Full-width letters, digits and dots are what they look like.
        assert!(judge("http://１２７．０．０．１/").unwrap_err().contains("127.0.0.1"));
        assert!(judge("http://ⓛocalhost/").is_err());
    }

    #[test]
    fn every_writing_of_a_local_address_is_refused() {
        for text in [
            "http://127.0.0.1/",
            "http://127.0.0.1./",
            "http://2130706433/",
            "http://0177.0.0.1/",
            "http://0x7f.1/",
            "http://0x7f000001/",
            "http://127.1/",
            "http://017700000001/",
            "http://[::1]/",
            "http://[::ffff:7f00:1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::127.0.0.1]/",
            "http://[64:ff9b::7f00:1]/",
            "http://0/",
            "http://0.0.0.0:8080/",
            "http://169.254.169.254/latest/meta-data/",
            "http://0xa9fea9fe/",
            "http://2852039166/",
            "http://10.1.2.3/",
            "http://[fd00:ec2::254]/",
            "http://%31%32%37.0.0.1/",
            "http://localhost/",
            "http://LOCALHOST./",
            "http://a.localhost/",
            "http://printer.local/",
            "http://metadata.google.internal/",
            "http://router/",
            "http://wiki.lan/",
        ] {
            assert!(judge(text).is_err(), "{text}");
        }
    }

    #[test]
    fn schemes_ports_and_credentials() {
        for text in [
            "ftp://site.example/",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "data:text/html,x",
            "gopher://x.example",
            "view-source:http://x.example",
            "http://user@site.example/",
            "http://user:pass@site.example/",
            "http://site.example@127.0.0.1/",
            "http://:pass@site.example/",
            "http://site.example:22/",
            "http://site.example:6379/",
            "http://site.example:0/",
            "http://site.example:99999/",
            "http://",
            "",
            "http:///",
        ] {
            assert!(judge(text).is_err(), "{text}: {:?}", judge(text));
        }
        assert!(judge(&format!("http://site.example/{}", "a".repeat(2100))).is_err());
    }

    #[test]
    fn a_test_host_is_exempt_with_its_port_only() {
        let host: SocketAddr = "127.0.0.1:4567".parse().unwrap();
        assert!(check(&parse("http://127.0.0.1:4567/").unwrap(), &[host]).is_ok());
        for text in ["http://127.0.0.1/", "http://127.0.0.1:4568/", "http://127.0.0.2:4567/", "http://localhost:4567/"]
        {
            assert!(check(&parse(text).unwrap(), &[host]).is_err(), "{text}");
        }
        assert!(check_address("1.1.1.1:4567".parse().unwrap(), &[host]).is_err());
    }
}
