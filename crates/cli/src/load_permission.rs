//! Which hosts may be loaded: loopback and private addresses, and those that the user names.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use mcprove_model::{ServerSpec, Target, WaitFor};

use crate::failure::Failure;

/// Refuses load on a host that is neither local nor named.
pub(crate) fn may_load(server: &ServerSpec, named: &[String]) -> Result<(), Failure> {
    let url = match &server.target {
        Target::Remote { url, .. } => Some(url.as_str()),
        Target::Stdio { .. } | Target::Mock { .. } | Target::Cassette { .. } => None,
    };
    // Every session waits until its server is ready.
    let probe = server.ready.as_ref().and_then(|ready| ready.probe.as_ref()).map(|probe| match probe {
        WaitFor::Url(probe) | WaitFor::Tcp(probe) => probe.as_str(),
    });
    for host in url.into_iter().chain(probe).map(host_of) {
        if !is_local(host) && !named.iter().any(|named| is_same_host(host_of(named), host)) {
            return Err(Failure::new(
                format!("`{host}` is not a loopback or private address, and load on it may harm others"),
                format!("if it is yours, or its owner agrees, add `--i-may-load {host}`"),
            ));
        }
    }
    Ok(())
}

/// True if both name one host: an address may be written in several ways, and a name may end in a dot.
fn is_same_host(one: &str, other: &str) -> bool {
    match (one.parse::<IpAddr>(), other.parse::<IpAddr>()) {
        (Ok(one), Ok(other)) => one == other,
        _ => !one.is_empty() && one.trim_end_matches('.').eq_ignore_ascii_case(other.trim_end_matches('.')),
    }
}

/// The server without redirects to other hosts: those are not named on the command line.
pub(crate) fn stays_on_host(mut server: ServerSpec) -> ServerSpec {
    if let Some(http) = &mut server.http {
        http.leaves_host = false;
    }
    server
}

/// The host of a URL or of `HOST:PORT`, without brackets, port and user; an address by itself is a host.
fn host_of(url: &str) -> &str {
    if url.parse::<Ipv6Addr>().is_ok() {
        return url;
    }
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    match rest.strip_prefix('[') {
        Some(bracketed) => bracketed.split(']').next().unwrap_or_default(),
        None => rest.split(':').next().unwrap_or_default(),
    }
}

/// True for addresses that are on this machine or in a private network. A name may lead anywhere.
fn is_local(host: &str) -> bool {
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    if name == "localhost" || name.ends_with(".localhost") {
        return true;
    }
    match host.parse() {
        Ok(IpAddr::V4(address)) => is_local_v4(address),
        Ok(IpAddr::V6(address)) => is_local_v6(address),
        Err(_) => false,
    }
}

fn is_local_v4(address: Ipv4Addr) -> bool {
    address.is_loopback() || address.is_private() || address.is_link_local()
}

fn is_local_v6(address: Ipv6Addr) -> bool {
    address.is_loopback()
        || address.is_unique_local()
        || address.is_unicast_link_local()
        || address.to_ipv4_mapped().is_some_and(is_local_v4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_found_in_urls() {
        for (url, host) in [
            ("http://localhost:3000/mcp", "localhost"),
            ("https://user:pass@example.com/mcp?a=b@c", "example.com"),
            ("http://[::1]:80/", "::1"),
            ("http://127.0.0.1@evil.example/", "evil.example"),
            ("http://evil.example\\@127.0.0.1/", "evil.example"),
            ("example.com:3000", "example.com"),
            ("2606:4700::1", "2606:4700::1"),
            ("[2606:4700::1]", "2606:4700::1"),
        ] {
            assert_eq!(host_of(url), host, "{url}");
        }
    }

    #[test]
    fn a_host_is_named_in_any_of_its_ways() {
        for (named, host) in [
            ("example.com", "EXAMPLE.com."),
            ("https://example.com/mcp", "example.com"),
            ("[2606:4700:0::1]", "2606:4700::1"),
            ("2606:4700::0:1", "2606:4700::1"),
        ] {
            assert!(is_same_host(host_of(named), host), "{named}");
        }
        for (named, host) in
            [("example.com", "evil.example.com"), ("", "."), ("com", "example.com"), ("8.8.8.8", "8.8.4.4")]
        {
            assert!(!is_same_host(host_of(named), host), "{named}");
        }
    }

    #[test]
    fn only_local_addresses_need_no_permission() {
        for local in [
            "localhost",
            "mcp.localhost",
            "127.0.0.1",
            "127.9.9.9",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "::1",
            "fd00::1",
            "fe80::1",
            "::ffff:127.0.0.1",
        ] {
            assert!(is_local(local), "{local}");
        }
        for public in
            ["example.com", "8.8.8.8", "172.32.0.1", "2606:4700::1", "localhost.example.com", "0x7f.1", "0.0.0.0", ""]
        {
            assert!(!is_local(public), "{public}");
        }
    }
}
