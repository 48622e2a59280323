//! The gate before the page: pages of other origins, other names for this machine and unknown keys are refused.

use std::cell::RefCell;
use std::io::Read as _;

use hyper::header::HeaderValue;
use hyper::{HeaderMap, Uri};
use mcprove_wire::{Authority, RequestSource};

/// The secrets of one run of the page.
pub(super) struct Guard {
    port: u16,
    /// The token of the URL; it works once.
    token: RefCell<Option<String>>,
    key: String,
}

impl Guard {
    /// A guard with new secrets.
    pub(super) fn new(port: u16) -> Self {
        Self { port, token: RefCell::new(Some(secret())), key: secret() }
    }

    /// The token for the URL, until it is used.
    pub(super) fn token(&self) -> Option<String> {
        self.token.borrow().clone()
    }

    /// True if `Host` is this server, and `Origin`, where there is one, this page. A foreign name that resolves to this
    /// machine (DNS rebinding) has another `Host`.
    pub(super) fn is_same_origin(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        let fields = |name: &str| headers.get_all(name).iter().map(HeaderValue::as_bytes).collect::<Vec<_>>();
        let (hosts, origins) = (fields("host"), fields("origin"));
        let target = uri.authority().map(hyper::http::uri::Authority::as_str);
        let Ok(source) = RequestSource::read(hosts.into_iter(), origins.into_iter(), target) else { return false };
        let is_own =
            |named: &Authority<'_>| named.port == Some(self.port) && ["127.0.0.1", "localhost"].contains(&named.host);
        is_own(&source.host) && source.origin.is_none_or(|(scheme, page)| scheme == "http" && is_own(&page))
    }

    /// Gives the key for the token; once.
    pub(super) fn login(&self, token: &str) -> Option<&str> {
        let is_right = self.token.borrow().as_deref().is_some_and(|right| same(right, token));
        if !is_right {
            return None;
        }
        self.token.replace(None);
        Some(&self.key)
    }

    /// True if a request carries the key.
    pub(super) fn has_key(&self, headers: &HeaderMap) -> bool {
        let value = headers.get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default();
        value.strip_prefix("Bearer ").is_some_and(|key| same(&self.key, key))
    }
}

/// Compares without telling by its time how much was right.
fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |sum, (x, y)| sum | (x ^ y)) == 0
}

/// 32 hexadecimal digits from the system's random source.
fn secret() -> String {
    use std::hash::{BuildHasher as _, RandomState};
    let mut bytes = [0_u8; 16];
    let from_system = std::fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    if from_system.is_err() {
        // Elsewhere the keys of hash maps are the only randomness of the standard library; they come from the system too.
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&RandomState::new().hash_one(chunk.as_ptr() as usize).to_le_bytes());
        }
    }
    let digits = |byte: &u8| [byte >> 4, byte & 15].map(|digit| char::from_digit(digit.into(), 16).unwrap_or('0'));
    bytes.iter().flat_map(digits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, value.parse().expect("a value"));
        }
        headers
    }

    #[test]
    fn other_hosts_and_origins_are_refused() {
        let guard = Guard::new(4000);
        for own in [
            &[("host", "127.0.0.1:4000")][..],
            &[("host", "localhost:4000"), ("origin", "http://localhost:4000")],
            &[("host", "127.0.0.1:4000"), ("origin", "http://127.0.0.1:4000")],
        ] {
            assert!(guard.is_same_origin(&Uri::from_static("/"), &headers(own)), "{own:?}");
        }
        for foreign in [
            &[][..],
            &[("host", "evil.example:4000")],
            &[("host", "127.0.0.1:4001")],
            &[("host", "127.0.0.1:4000"), ("origin", "http://evil.example")],
            &[("host", "127.0.0.1:4000"), ("origin", "http://127.0.0.1:3000")],
            &[("host", "127.0.0.1:4000"), ("origin", "null")],
            &[("host", "127.0.0.1:4000"), ("origin", "https://127.0.0.1:4000")],
            &[("host", "127.0.0.1:4000"), ("host", "evil.example")],
            &[("host", "127.0.0.1:4000"), ("origin", "http://127.0.0.1:4000"), ("origin", "http://evil.example")],
        ] {
            assert!(!guard.is_same_origin(&Uri::from_static("/"), &headers(foreign)), "{foreign:?}");
        }
        let own = headers(&[("host", "127.0.0.1:4000")]);
        assert!(guard.is_same_origin(&Uri::from_static("http://127.0.0.1:4000/"), &own));
        assert!(!guard.is_same_origin(&Uri::from_static("http://evil.example/"), &own));
    }

    #[test]
    fn the_token_works_once_and_the_key_always() {
        let guard = Guard::new(1);
        let token = guard.token().expect("a token");
        assert_eq!(guard.login("wrong"), None);
        let key = guard.login(&token).expect("the key").to_owned();
        assert_eq!(guard.login(&token), None);
        assert!(guard.has_key(&headers(&[("authorization", &format!("Bearer {key}"))])));
        assert!(!guard.has_key(&headers(&[("authorization", &format!("Bearer {token}"))])));
        assert!(!guard.has_key(&headers(&[])));
        assert_ne!(Guard::new(1).key, key);
    }
}
