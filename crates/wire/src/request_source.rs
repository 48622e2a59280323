//! Where a request to a listener comes from: `Host`, `Origin` and an absolute target, read in one strict way. A browser may give
//! this machine any name (DNS rebinding), and other clients may send anything.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A host with an optional port, and nothing else: `name`, `127.0.0.1:80`, `[::1]:80`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Authority<'a> {
    /// The name or address, without brackets.
    pub host: &'a str,
    /// The port, if there is one.
    pub port: Option<u16>,
    address: Option<IpAddr>,
}

impl<'a> Authority<'a> {
    /// Reads an authority; user information, a path, or anything behind a bracket or a port makes it none.
    pub fn parse(text: &'a str) -> Option<Self> {
        let (host, rest, address) = if let Some(inner) = text.strip_prefix('[') {
            let (host, rest) = inner.split_once(']')?;
            (host, rest, Some(IpAddr::V6(host.parse::<Ipv6Addr>().ok()?)))
        } else {
            let (host, rest) = text.split_at(text.find(':').unwrap_or(text.len()));
            (host, rest, host.parse::<Ipv4Addr>().ok().map(IpAddr::V4))
        };
        let is_plain =
            |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_') || c == ':' && address.is_some();
        if host.is_empty() || !host.chars().all(is_plain) {
            return None;
        }
        let port = match rest.strip_prefix(':') {
            None if rest.is_empty() => None,
            Some(digits) if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) => {
                Some(digits.parse().ok()?)
            }
            None | Some(_) => return None,
        };
        Some(Self { host, port, address })
    }

    /// True for an IP address.
    pub fn is_address(&self) -> bool {
        self.address.is_some()
    }

    /// True for `localhost`, and for an address of the loopback interface.
    pub fn is_local(&self) -> bool {
        self.is_named("localhost") || self.address.is_some_and(|address| address.is_loopback())
    }

    /// True if it has this name, in any case.
    pub fn is_named(&self, name: &str) -> bool {
        self.host.eq_ignore_ascii_case(name)
    }

    /// True if both have the same host and port.
    fn is_same(&self, other: &Authority<'_>) -> bool {
        self.is_named(other.host) && self.port == other.port && self.is_address() == other.is_address()
    }
}

/// Where a request comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestSource<'a> {
    /// The name that the client has for the listener.
    pub host: Authority<'a>,
    /// Scheme and authority of the page that sends it, if one does.
    pub origin: Option<(&'a str, Authority<'a>)>,
}

impl<'a> RequestSource<'a> {
    /// Reads the fields of a request: exactly one `Host`, and at most one `Origin`. `target` is the authority of a target in
    /// absolute form, which must be that of `Host`. The error is the reason why they cannot be read.
    pub fn read(
        mut hosts: impl Iterator<Item = &'a [u8]>,
        mut origins: impl Iterator<Item = &'a [u8]>,
        target: Option<&str>,
    ) -> Result<Self, &'static str> {
        let text = |bytes: &'a [u8]| std::str::from_utf8(bytes).ok();
        let (Some(host), None) = (hosts.next(), hosts.next()) else { return Err("a request has one `Host`") };
        let host = text(host).and_then(Authority::parse).ok_or("the `Host` is not a name or an address with a port")?;
        if target.is_some_and(|target| !Authority::parse(target).is_some_and(|target| target.is_same(&host))) {
            return Err("the target is not that of the `Host`");
        }
        let (origin, None) = (origins.next(), origins.next()) else { return Err("a request has at most one `Origin`") };
        let origin = match origin {
            None => None,
            Some(origin) => Some(text(origin).and_then(parse_origin).ok_or("the `Origin` is not that of a page")?),
        };
        Ok(Self { host, origin })
    }
}

/// Reads `scheme://authority`, and nothing behind it.
fn parse_origin(text: &str) -> Option<(&str, Authority<'_>)> {
    let (scheme, authority) = text.split_once("://")?;
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    (!scheme.is_empty() && scheme.chars().all(is_scheme)).then_some(())?;
    Some((scheme, Authority::parse(authority)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_authority_is_a_name_or_an_address_with_a_port_and_nothing_else() {
        for (text, host, port, is_local) in [
            ("127.0.0.1", "127.0.0.1", None, true),
            ("127.0.0.1:80", "127.0.0.1", Some(80), true),
            ("LOCALHOST:8080", "LOCALHOST", Some(8080), true),
            ("[::1]:9", "::1", Some(9), true),
            ("[::1]", "::1", None, true),
            ("10.0.0.1:1", "10.0.0.1", Some(1), false),
            ("tester.lan", "tester.lan", None, false),
            ("localhost.evil.example", "localhost.evil.example", None, false),
        ] {
            let read = Authority::parse(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((read.host, read.port, read.is_local()), (host, port, is_local), "{text}");
        }
        for odd in [
            "",
            ":80",
            "127.0.0.1:",
            "127.0.0.1:evil",
            "127.0.0.1:99999",
            "127.0.0.1:+1",
            "127.0.0.1:80:90",
            "127.0.0.1/evil.example",
            "127.0.0.1:80@evil.example",
            "a@127.0.0.1",
            "[::1].evil.example",
            "[::1]x:80",
            "[::1",
            "[127.0.0.1]",
            "[localhost]",
            "[]",
            "[::1%25lo]",
            "::1",
            "127.0.0.1 ",
            "127.0.0.1\t",
            "a,b",
            "a?b",
            "a#b",
            "löcal",
            "127.0.0.1\\evil",
        ] {
            assert_eq!(Authority::parse(odd), None, "{odd}");
        }
    }

    #[test]
    fn there_is_one_host_at_most_one_origin_and_no_other_target() {
        fn read<'a>(hosts: &'a [&'a str], origins: &'a [&'a str], target: Option<&str>) -> bool {
            let bytes = |texts: &'a [&'a str]| texts.iter().map(|text| text.as_bytes());
            RequestSource::read(bytes(hosts), bytes(origins), target).is_ok()
        }
        assert!(read(&["127.0.0.1:80"], &[], None));
        assert!(read(&["127.0.0.1:80"], &["http://localhost:3000"], Some("127.0.0.1:80")));
        assert!(!read(&[], &[], None));
        assert!(!read(&["127.0.0.1", "127.0.0.1"], &[], None));
        assert!(!read(&["127.0.0.1"], &["http://127.0.0.1", "http://127.0.0.1"], None));
        assert!(!read(&["127.0.0.1"], &[], Some("evil.example")));
        assert!(!read(&["127.0.0.1:80"], &[], Some("127.0.0.1:81")));
        for origin in [
            "null",
            "http://",
            "127.0.0.1",
            "http://127.0.0.1/",
            "http://127.0.0.1:80@evil.example",
            "http://[::1].evil.example",
            "http://127.0.0.1 http://127.0.0.1",
            "://127.0.0.1",
        ] {
            assert!(!read(&["127.0.0.1"], &[origin], None), "{origin}");
        }
    }
}
