//! Check of the origin: pages of other origins are refused, whatever name they give this machine (DNS rebinding).

use hyper::{HeaderMap, Uri};

/// True if a request comes from where requests may come from. A whole URL in its first line counts like its `Host`.
pub(super) fn is_welcome(uri: &Uri, headers: &HeaderMap, local_only: bool) -> bool {
    let field = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let host = field("host").map(name_of);
    let is_named_local = host.is_some_and(is_local) && uri.host().is_none_or(is_local);
    if local_only && !is_named_local {
        return false;
    }
    match field("origin") {
        None => true,
        Some(origin) => {
            let name = origin.split_once("://").map(|(_, authority)| name_of(authority));
            name.is_some_and(|name| is_local(name) || Some(name) == host)
        }
    }
}

/// The name in `name:port` or `[address]:port`.
fn name_of(authority: &str) -> &str {
    let authority = authority.split('/').next().unwrap_or(authority);
    if authority.starts_with('[') {
        return authority.split_inclusive(']').next().unwrap_or(authority);
    }
    authority.split(':').next().unwrap_or(authority)
}

fn is_local(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name == "localhost" || name == "[::1]" || is_loopback(&name)
}

/// 127.0.0.0/8, in the four numbers it is usually written with.
fn is_loopback(name: &str) -> bool {
    let parts: Vec<_> = name.split('.').map(str::parse::<u8>).collect();
    parts.len() == 4 && parts.iter().all(Result::is_ok) && parts[0] == Ok(127)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_other_origins_are_not_welcome() {
        let welcome = |host: &'static str, origin: Option<&'static str>, local_only: bool| {
            let mut headers = HeaderMap::new();
            headers.insert("host", host.parse().expect("a value"));
            if let Some(origin) = origin {
                headers.insert("origin", origin.parse().expect("a value"));
            }
            is_welcome(&Uri::from_static("/mcp"), &headers, local_only)
        };
        for (host, origin) in [
            ("127.0.0.1:80", None),
            ("localhost:80", Some("http://localhost:3000")),
            ("[::1]:80", Some("http://[::1]:80")),
            ("LOCALHOST", Some("http://127.0.0.1")),
        ] {
            assert!(welcome(host, origin, true), "{host} {origin:?}");
        }
        for (host, origin) in [
            ("evil.example", None),
            ("127.0.0.1", Some("http://evil.example")),
            ("127.0.0.1", Some("null")),
            ("127.0.0.1.evil.example", None),
            ("localhost", Some("http://localhost.evil.example")),
        ] {
            assert!(!welcome(host, origin, true), "{host} {origin:?}");
        }
        assert!(welcome("mock.example", Some("https://mock.example"), false));
        assert!(!welcome("mock.example", Some("https://evil.example"), false));
    }
}
