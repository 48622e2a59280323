//! Reasons for which a client must not go on with a login.

use super::discovery::{is_loopback_url, split_url};
use super::metadata::{ResourceMatch, ResourceMetadata, ServerMetadata, match_resource};
use crate::{escape_line, shorten};

/// A step of a login, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LoginStep {
    /// The server asks for a token.
    Challenge,
    /// The metadata of the server.
    ResourceMetadata,
    /// The metadata of the authorization server.
    ServerMetadata,
    /// The client gets an id.
    Registration,
    /// A person signs in, and comes back with a code.
    Authorization,
    /// The code becomes a token.
    Token,
    /// The server takes the token.
    Access,
}

impl LoginStep {
    /// All of them, in order.
    pub const ALL: [Self; 7] = [
        Self::Challenge,
        Self::ResourceMetadata,
        Self::ServerMetadata,
        Self::Registration,
        Self::Authorization,
        Self::Token,
        Self::Access,
    ];

    /// Its name in output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Challenge => "challenge",
            Self::ResourceMetadata => "resource metadata",
            Self::ServerMetadata => "authorization server metadata",
            Self::Registration => "client registration",
            Self::Authorization => "authorization",
            Self::Token => "token",
            Self::Access => "access",
        }
    }
}

/// Why a login cannot go on, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginObstacle {
    /// The step that failed.
    pub step: LoginStep,
    /// The defect.
    pub what: String,
    /// The fix.
    pub help: String,
}

impl LoginObstacle {
    /// An obstacle at a step.
    pub fn new(step: LoginStep, what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { step, what: what.into(), help: help.into() }
    }

    /// The step and the reason in one line.
    pub fn message(&self) -> String {
        format!("the login failed at the step `{}`: {}", self.step.name(), self.what)
    }
}

/// The document must be about the server that is used (RFC 9728 section 3.3, RFC 8707).
pub fn check_resource(metadata: &ResourceMetadata, server: &str) -> Result<(), LoginObstacle> {
    let Some(resource) = &metadata.resource else {
        let help = format!("publish `\"resource\": \"{}\"`", shown(server));
        return Err(LoginObstacle::new(
            LoginStep::ResourceMetadata,
            "the metadata of the server has no `resource`",
            help,
        ));
    };
    match match_resource(resource, server) {
        ResourceMatch::Same | ResourceMatch::Parent => Ok(()),
        ResourceMatch::Other => Err(LoginObstacle::new(
            LoginStep::ResourceMetadata,
            format!("`resource` is `{}`, but you connect to `{}`", shown(resource), shown(server)),
            format!("publish `\"resource\": \"{}\"`, or connect to the URL that the server publishes", shown(server)),
        )),
    }
}

/// The document must be that of the issuer whose URL led to it (RFC 8414 section 3.3).
pub fn check_issuer(metadata: &ServerMetadata, issuer: &str) -> Result<(), LoginObstacle> {
    match metadata.issuer.as_deref() {
        Some(found) if found == issuer => Ok(()),
        Some(found) => Err(LoginObstacle::new(
            LoginStep::ServerMetadata,
            format!("`issuer` is `{}`, but the server names `{}`", shown(found), shown(issuer)),
            "make both identical, to the last slash: `authorization_servers` of the resource and `issuer` of its server",
        )),
        None => Err(LoginObstacle::new(
            LoginStep::ServerMetadata,
            "the metadata has no `issuer`",
            format!("publish `\"issuer\": \"{}\"`", shown(issuer)),
        )),
    }
}

/// A client must not go on without PKCE (2026-07-28, "Authorization Code Protection").
pub fn check_pkce(metadata: &ServerMetadata) -> Result<(), LoginObstacle> {
    let what = match &metadata.code_challenge_methods {
        Some(methods) if methods.iter().any(|method| method == "S256") => return Ok(()),
        Some(methods) => {
            format!("`code_challenge_methods_supported` is [{}], without `S256`", shown(&methods.join(", ")))
        }
        None => "`code_challenge_methods_supported` is missing, so PKCE is not supported".to_owned(),
    };
    let help = "support PKCE with S256 and publish `\"code_challenge_methods_supported\": [\"S256\"]`";
    Err(LoginObstacle::new(LoginStep::ServerMetadata, what, help))
}

/// Endpoints must be there, and encrypted unless they are on this machine or the server itself is not.
pub fn check_endpoints(metadata: &ServerMetadata, server: &str, needed: &[&str]) -> Result<(), LoginObstacle> {
    let all = [
        ("issuer", &metadata.issuer),
        ("authorization_endpoint", &metadata.authorization_endpoint),
        ("token_endpoint", &metadata.token_endpoint),
        ("registration_endpoint", &metadata.registration_endpoint),
    ];
    for (name, endpoint) in all {
        let Some(endpoint) = endpoint else {
            if needed.contains(&name) {
                let help = format!("publish `{name}` in the metadata of the authorization server");
                return Err(LoginObstacle::new(LoginStep::ServerMetadata, format!("there is no `{name}`"), help));
            }
            continue;
        };
        if !is_web_url(endpoint) {
            let what = format!("`{name}` is `{}`, which is not an http or https URL", shown(endpoint));
            let help = format!("write the whole URL of `{name}`, as in `https://login.example.com/…`");
            return Err(LoginObstacle::new(LoginStep::ServerMetadata, what, help));
        }
        if is_exposed(endpoint, server) {
            let what = format!("`{name}` is `{}`, which is not encrypted", shown(endpoint));
            return Err(LoginObstacle::new(LoginStep::ServerMetadata, what, format!("serve `{name}` over https")));
        }
    }
    Ok(())
}

/// True if a URL leads over the network without encryption. Where the server itself is reached that way, nothing is gained.
pub fn is_exposed(url: &str, server: &str) -> bool {
    let is_plain = |url: &str| split_url(url).is_some_and(|(origin, _)| origin.starts_with("http://"));
    is_plain(url) && !is_loopback_url(url) && (!is_plain(server) || is_loopback_url(server))
}

/// True for a URL that a browser may be opened with: a program that opens others takes `file:`, `javascript:` and its own
/// options as well.
fn is_web_url(url: &str) -> bool {
    let is_plain =
        |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '\'' | '<' | '>' | '\\' | '`' | '|' | '^' | '{' | '}');
    (url.starts_with("https://") || url.starts_with("http://")) && url.chars().all(is_plain)
}

pub(super) fn shown(text: &str) -> String {
    shorten(&escape_line(text), 200).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_client_must_refuse_is_refused() {
        let resource = |url: &str| ResourceMetadata { resource: Some(url.to_owned()), ..ResourceMetadata::default() };
        assert!(check_resource(&resource("https://x"), "https://x/mcp").is_ok());
        let wrong = check_resource(&resource("https://y/mcp"), "https://x/mcp").expect_err("another host");
        assert_eq!(wrong.what, "`resource` is `https://y/mcp`, but you connect to `https://x/mcp`");
        assert!(check_resource(&ResourceMetadata::default(), "https://x/mcp").is_err());
        let mut server = ServerMetadata::fallback("https://as");
        assert!(check_issuer(&server, "https://as").is_ok() && check_pkce(&server).is_ok());
        assert!(check_issuer(&server, "https://as/").is_err());
        server.code_challenge_methods = Some(vec!["plain".to_owned()]);
        assert!(check_pkce(&server).is_err());
        server.code_challenge_methods = None;
        assert!(check_pkce(&server).is_err());
    }

    /// A browser is opened at the endpoint, and the program that opens it takes more than web pages.
    #[test]
    fn endpoints_are_web_pages() {
        let with = |endpoint: &str| ServerMetadata {
            authorization_endpoint: Some(endpoint.to_owned()),
            ..ServerMetadata::fallback("http://127.0.0.1:1")
        };
        let check = |endpoint: &str| check_endpoints(&with(endpoint), "http://127.0.0.1:1/mcp", &[]);
        for good in ["http://127.0.0.1:1/a", "http://localhost/a?b=c%20d", "https://login.example/authorize?x=1&y=[2]"]
        {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for bad in [
            "javascript:alert(1)",
            "file:///etc/passwd",
            "--new-window",
            "data:text/html,x",
            "smb://evil.example/x",
            "HTTPS://x",
            "https://a b",
            "https://a/\u{1b}[31m",
            "https://a/';touch x;'",
            "http://example.com/authorize",
            "http://127.evil.example/authorize",
            "http://127.0.0.1@evil.example/authorize",
        ] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn plain_endpoints_are_for_this_machine_and_for_plain_servers() {
        let plain = ServerMetadata::fallback("http://as.example");
        assert!(check_endpoints(&plain, "https://x/mcp", &[]).is_err());
        assert!(check_endpoints(&plain, "HTTPS://x/mcp", &[]).is_err());
        assert!(check_endpoints(&plain, "http://x.internal/mcp", &[]).is_ok());
        let local = ServerMetadata::fallback("http://127.0.0.1:9");
        assert!(check_endpoints(&local, "https://x/mcp", &["token_endpoint"]).is_ok());
        assert!(check_endpoints(&ServerMetadata::default(), "https://x", &["token_endpoint"]).is_err());
        for (url, server, exposed) in [
            ("http://as.example/x", "https://x", true),
            ("HTTP://as.example/x", "http://localhost:1", true),
            ("http://as.example/x", "http://x.internal", false),
            ("http://127.0.0.1/x", "https://x", false),
            ("https://as.example/x", "https://x", false),
        ] {
            assert_eq!(is_exposed(url, server), exposed, "{url} {server}");
        }
    }
}
