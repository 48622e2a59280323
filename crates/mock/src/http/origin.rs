//! Check of the origin: pages of other origins are refused, whatever name they give this machine (DNS rebinding).

use hyper::{HeaderMap, Uri};
use mcprove_wire::RequestSource;

/// True if a request comes from where requests may come from.
pub(super) fn is_welcome(uri: &Uri, headers: &HeaderMap, local_only: bool) -> bool {
    let fields =
        |name: &str| headers.get_all(name).iter().map(hyper::header::HeaderValue::as_bytes).collect::<Vec<_>>();
    let (hosts, origins) = (fields("host"), fields("origin"));
    let target = uri.authority().map(hyper::http::uri::Authority::as_str);
    let Ok(source) = RequestSource::read(hosts.into_iter(), origins.into_iter(), target) else { return false };
    let is_own = source.origin.is_none_or(|(_, page)| page.is_local() || page.is_named(source.host.host));
    (!local_only || source.host.is_local()) && is_own
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
            ("[::1].evil.example", None),
            ("127.0.0.1/evil.example", None),
            ("127.0.0.1:80@evil.example", None),
            ("127.0.0.1:evil", None),
            ("127.0.0.1", Some("http://127.0.0.1:80@evil.example")),
            ("127.0.0.1", Some("http://[::1].evil.example")),
        ] {
            assert!(!welcome(host, origin, true), "{host} {origin:?}");
        }
        assert!(welcome("mock.example", Some("https://mock.example"), false));
        assert!(!welcome("mock.example", Some("https://evil.example"), false));
    }

    #[test]
    fn a_second_host_or_another_target_is_not_welcome() {
        let mut headers = HeaderMap::new();
        headers.append("host", "127.0.0.1".parse().expect("a value"));
        assert!(is_welcome(&Uri::from_static("http://127.0.0.1/mcp"), &headers, true));
        assert!(!is_welcome(&Uri::from_static("http://evil.example/mcp"), &headers, true));
        headers.append("host", "evil.example".parse().expect("a value"));
        assert!(!is_welcome(&Uri::from_static("/mcp"), &headers, true));
    }
}
