//! Why a page was not read.

use std::net::IpAddr;

/// A page that was not read. Each message is one sentence for the model; none repeats text of the
/// server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// The address cannot be read, whatever is behind it.
    #[error("{0}")]
    Address(String),
    /// The name or address leads to a place that is not public.
    #[error("{address} is not a public address ({what}); nothing was fetched")]
    Refused {
        /// The address.
        address: IpAddr,
        /// What it is.
        what: &'static str,
    },
    /// The name does not resolve.
    #[error("there is no server named {host}")]
    Unknown {
        /// The name, in punycode.
        host: String,
    },
    /// No connection, or it broke.
    #[error("the connection to {host} failed: {reason}")]
    Connection {
        /// The host.
        host: String,
        /// The system's reason.
        reason: String,
    },
    /// Too slow.
    #[error("the page did not arrive within {seconds} s")]
    Slow {
        /// The limit.
        seconds: u64,
    },
    /// The server answered with an error status.
    #[error("the server answered HTTP {status}{}", meaning(*.status))]
    Status {
        /// The status.
        status: u16,
    },
    /// Too many redirects, or one without a target.
    #[error("{0}")]
    Redirect(String),
    /// It is nothing that can be read as text.
    #[error("this is not a page that can be read as text ({0})")]
    Type(String),
    /// It is larger than what can be read of its type.
    #[error("the document is larger than {limit} MB")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// It could not be decoded.
    #[error("the page could not be decoded: {0}")]
    Damaged(String),
    /// The turn was stopped.
    #[error("stopped before the page arrived")]
    Stopped,
}

fn meaning(status: u16) -> &'static str {
    match status {
        401 | 403 | 407 => ": it does not let this page be read",
        404 | 410 => ": there is no such page",
        429 => ": too many requests, try again later",
        500..=599 => ": it has a problem of its own",
        _ => "",
    }
}
