//! The ways in which a login can be broken, one row each.

/// A way to break a login.
#[derive(Debug)]
pub struct IssuerFault {
    /// Its name.
    pub name: &'static str,
    /// Description of the misbehaviour.
    pub what: &'static str,
    /// True if it is one of the protected endpoint, false if it is one of the authorization server.
    pub of_endpoint: bool,
}

const fn issuer(name: &'static str, what: &'static str) -> IssuerFault {
    IssuerFault { name, what, of_endpoint: false }
}

const fn endpoint(name: &'static str, what: &'static str) -> IssuerFault {
    IssuerFault { name, what, of_endpoint: true }
}

/// Every fault.
pub static ISSUER_FAULTS: &[IssuerFault] = &[
    issuer("wrong-issuer", "publishes the metadata of another issuer"),
    issuer("slash-issuer", "publishes its name with one slash more than the server does"),
    issuer("no-metadata", "publishes no metadata"),
    issuer("no-pkce", "does not publish that it supports PKCE"),
    issuer("plain-pkce", "supports PKCE without S256"),
    issuer("no-token-endpoint", "publishes no token endpoint"),
    issuer("http-endpoints", "publishes endpoints without encryption on another host"),
    issuer("no-registration", "does not let clients register"),
    issuer("registration-refused", "refuses to register clients"),
    issuer("denied", "denies every authorization"),
    issuer("wrong-state", "redirects with another state"),
    issuer("wrong-iss", "redirects in the name of another issuer"),
    issuer("missing-iss", "redirects without the issuer that it promises"),
    issuer("token-refused", "refuses every client at the token endpoint"),
    issuer("slow-token", "takes 30 seconds to issue a token"),
    issuer("no-code-response", "publishes response types without `code`"),
    issuer("no-keys", "publishes no keys"),
    issuer("old-keys", "publishes a key that it does not sign with"),
    issuer("wrong-audience", "issues tokens for another server"),
    issuer("expired-tokens", "issues tokens that have expired"),
    issuer("no-refresh", "issues no refresh tokens"),
    issuer("no-scope", "grants no scopes"),
    endpoint("forbidden", "answers requests without a token with 403"),
    endpoint("login-page", "redirects requests without a token to a page"),
    endpoint("no-challenge", "answers with 401 and no challenge"),
    endpoint("basic-challenge", "asks for a password in its challenge"),
    endpoint("unquoted-challenge", "does not quote the URL in its challenge"),
    endpoint("relative-challenge", "names its metadata by a path in its challenge"),
    endpoint("no-resource-metadata", "publishes no metadata"),
    endpoint("appended-metadata", "publishes its metadata below its own path"),
    endpoint("html-metadata", "publishes a page in the place of its metadata"),
    endpoint("guarded-metadata", "asks for a token for its metadata"),
    endpoint("wrong-resource", "publishes the metadata of another server"),
    endpoint("parent-resource", "publishes its host as the resource"),
    endpoint("no-authorization-servers", "names no authorization server"),
    endpoint("query-tokens", "takes tokens in the query"),
    endpoint("accepts-query", "takes tokens in the query, without saying so"),
    endpoint("accepts-other-audience", "takes tokens for other servers"),
    endpoint("accepts-expired", "takes tokens that have expired"),
    endpoint("accepts-tampered", "does not check signatures"),
    endpoint("accepts-revoked", "takes tokens that were revoked"),
    endpoint("ignores-scope", "takes tokens without the scope it asks for"),
    endpoint("shares-sessions", "lets a user use the session of another"),
    endpoint("hides-scope", "refuses a token without naming the scope it lacks"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = ISSUER_FAULTS.iter().map(|fault| fault.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ISSUER_FAULTS.len());
    }
}
