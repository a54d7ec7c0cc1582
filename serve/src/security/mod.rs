//! Who may ask, and from where.
//!
//! ```text
//! request ─► Host on the list? ─► Origin, if any, ours? ─► token or cookie? ─► writes: JSON, X-Tenpass
//!              403                   403                      401                 415, 403
//! ```
//! [`Keys`] holds the secrets of this start, [`Hosts`] the names this server answers to, [`gate`] is
//! the middleware that applies both, [`headers`] is on every answer, [`RateLimit`] counts.

mod gate;
mod headers;
mod hosts;
mod keys;
mod pages;
mod rate;

pub(crate) use gate::gate;
pub(crate) use headers::headers;
pub use hosts::Hosts;
pub use keys::Keys;
pub(crate) use keys::cookie_header;
pub(crate) use pages::page;
pub use rate::RateLimit;
