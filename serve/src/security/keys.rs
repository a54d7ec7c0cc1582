//! The secrets of one start: one-time tokens for the address, the cookie's, and the bearer token.

use std::sync::{Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq as _;

/// Addresses with a one-time token that may be open at the same time.
const MOST_LINKS: usize = 16;

/// The secrets. Every comparison takes the same time whatever is wrong.
pub struct Keys {
    bearer: String,
    cookie: String,
    links: Mutex<Vec<String>>,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Keys").finish_non_exhaustive()
    }
}

impl Keys {
    /// New secrets, 256 bits each, from the system.
    pub fn new() -> std::io::Result<Self> {
        Ok(Self { bearer: secret()?, cookie: secret()?, links: Mutex::default() })
    }

    /// The token of `Authorization: Bearer`.
    pub fn bearer(&self) -> &str {
        &self.bearer
    }

    /// The value of the cookie.
    pub fn cookie(&self) -> &str {
        &self.cookie
    }

    /// A new token for an address, good once. The oldest unused one goes when there are too many.
    pub fn new_link(&self) -> std::io::Result<String> {
        let token = secret()?;
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        if links.len() >= MOST_LINKS {
            links.remove(0);
        }
        links.push(token.clone());
        Ok(token)
    }

    /// Uses a token up; false when there is none like it.
    pub fn enter(&self, token: &str) -> bool {
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = None;
        // Every one is looked at, so that the time says nothing.
        for (place, link) in links.iter().enumerate() {
            if is_equal(link, token) {
                found = Some(place);
            }
        }
        found.map(|place| links.remove(place)).is_some()
    }

    /// Whether this is the bearer token.
    pub fn is_bearer(&self, token: &str) -> bool {
        is_equal(&self.bearer, token)
    }

    /// Whether this is the cookie's value.
    pub fn is_cookie(&self, value: &str) -> bool {
        is_equal(&self.cookie, value)
    }
}

fn is_equal(secret: &str, given: &str) -> bool {
    secret.as_bytes().ct_eq(given.as_bytes()).into()
}

fn secret() -> std::io::Result<String> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// The cookie's name. Cookies are shared by all ports of a host, so the port is in it.
pub(crate) fn cookie_name(port: u16) -> String {
    format!("tenpass_{port}")
}

/// The `Set-Cookie` of an entrance.
pub(crate) fn cookie_header(port: u16, value: &str) -> String {
    format!("{}={value}; HttpOnly; SameSite=Strict; Path=/", cookie_name(port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_works_once_and_others_never() {
        let keys = Keys::new().unwrap();
        let link = keys.new_link().unwrap();
        assert!(!keys.enter("") && !keys.enter(&link[1..]) && !keys.enter(keys.bearer()));
        assert!(keys.enter(&link) && !keys.enter(&link));
        assert!(keys.is_bearer(keys.bearer()) && !keys.is_bearer(keys.cookie()) && !keys.is_cookie(""));
        assert_eq!(keys.bearer().len(), 43);
        assert!(!format!("{keys:?}").contains(keys.bearer()));
    }

    #[test]
    fn the_oldest_of_too_many_links_goes() {
        let keys = Keys::new().unwrap();
        let first = keys.new_link().unwrap();
        let others: Vec<String> = (0..MOST_LINKS).map(|_| keys.new_link().unwrap()).collect();
        assert!(!keys.enter(&first));
        assert!(others.iter().all(|link| keys.enter(link)));
    }
}
