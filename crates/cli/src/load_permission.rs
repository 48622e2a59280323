//! Which hosts may be loaded: loopback and private addresses, and those that the user names.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use mcprove_model::{ServerSpec, Target};

use crate::failure::Failure;

/// Refuses load on a host that is neither local nor named.
pub(crate) fn may_load(server: &ServerSpec, named: &[String]) -> Result<(), Failure> {
    let Target::Remote { url, .. } = &server.target else { return Ok(()) };
    let host = host_of(url);
    if is_local(host) || named.iter().any(|named| named.eq_ignore_ascii_case(host)) {
        return Ok(());
    }
    Err(Failure::new(
        format!("`{host}` is not a loopback or private address, and load on it may harm others"),
        format!("if it is yours, or its owner agrees, add `--i-may-load {host}`"),
    ))
}

/// The server without redirects to other hosts: those are not named on the command line.
pub(crate) fn stays_on_host(mut server: ServerSpec) -> ServerSpec {
    if let Some(http) = &mut server.http {
        http.leaves_host = false;
    }
    server
}

/// The host of a URL, without brackets, port and user.
fn host_of(url: &str) -> &str {
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
        ] {
            assert_eq!(host_of(url), host, "{url}");
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
