//! The redirect that ends a login in the browser (RFC 6749 section 4.1.2, RFC 9207 section 2.4).

use super::obstacle::{LoginObstacle, LoginStep, shown};

/// Required values of the redirect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedCallback<'e> {
    /// The state that was sent.
    pub state: &'e str,
    /// The issuer of the validated metadata.
    pub issuer: &'e str,
    /// True if the metadata promises `iss`.
    pub sends_iss: bool,
}

impl ExpectedCallback<'_> {
    /// True if a redirect answers the request with this state; any page can make one that does not.
    pub fn is_answered_by(&self, query: &str) -> bool {
        query_pairs(query).iter().find(|(name, _)| name == "state").is_some_and(|(_, state)| state == self.state)
    }
}

/// The code in the query of a redirect. Nothing of it is shown unless it comes from the issuer.
pub fn read_callback(query: &str, expected: &ExpectedCallback<'_>) -> Result<String, LoginObstacle> {
    let pairs = query_pairs(query);
    let value = |name: &str| pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    let obstacle = |what: String, help: &str| Err(LoginObstacle::new(LoginStep::Authorization, what, help));
    if value("state") != Some(expected.state) {
        let what = "the redirect carries another `state` than the request".to_owned();
        return obstacle(what, "log in again; the authorization server must return `state` unchanged");
    }
    match value("iss") {
        // Compared as strings: a slash more is another issuer.
        Some(issuer) if issuer != expected.issuer => {
            let what = format!("the redirect is from `{}`, not from `{}`", shown(issuer), shown(expected.issuer));
            return obstacle(what, "send `iss` as in the metadata, to the last slash; if you did, someone interferes");
        }
        None if expected.sends_iss => {
            let what = "the redirect has no `iss`, which the metadata promises".to_owned();
            return obstacle(what, "send `iss`, or drop `authorization_response_iss_parameter_supported`");
        }
        Some(_) | None => {}
    }
    if let Some(error) = value("error") {
        let description = value("error_description").map(|text| format!(": {}", shown(text))).unwrap_or_default();
        let help = match error {
            "access_denied" => "log in again and approve, or ask for other scopes",
            "invalid_scope" => "ask for scopes that the authorization server knows: `--scope`, or `scopes` in `oauth`",
            _ => "look into the log of the authorization server",
        };
        return obstacle(format!("the authorization server refused: {}{description}", shown(error)), help);
    }
    match value("code").filter(|code| !code.is_empty()) {
        Some(code) => Ok(code.to_owned()),
        None => obstacle("the redirect has no `code`".to_owned(), "look into the log of the authorization server"),
    }
}

/// The pairs of a query or a form, decoded.
pub fn query_pairs(query: &str) -> Vec<(String, String)> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (decode(name), decode(value)))
        .collect()
}

fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digit = |offset: usize| bytes.get(at + offset).and_then(|byte| char::from(*byte).to_digit(16));
        match (bytes[at], digit(1), digit(2)) {
            (b'%', Some(high), Some(low)) => {
                decoded.push(u8::try_from(high * 16 + low).unwrap_or_default());
                at += 3;
                continue;
            }
            (b'+', _, _) => decoded.push(b' '),
            (byte, _, _) => decoded.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(query: &str, sends_iss: bool) -> Result<String, String> {
        let expected = ExpectedCallback { state: "s1", issuer: "https://as", sends_iss };
        read_callback(query, &expected).map_err(|obstacle| obstacle.what)
    }

    #[test]
    fn codes_are_taken_from_the_right_issuer_only() {
        assert_eq!(read("code=a%2Bb&state=s1", false), Ok("a+b".to_owned()));
        assert_eq!(read("code=c&state=s1&iss=https%3A%2F%2Fas", true), Ok("c".to_owned()));
        assert_eq!(read("code=c&state=s1&iss=https%3A%2F%2Fas", false), Ok("c".to_owned()));
        for (query, sends_iss, part) in [
            ("code=c&state=s2", false, "another `state`"),
            ("code=c", false, "another `state`"),
            ("code=c&state=s1", true, "no `iss`"),
            ("code=c&state=s1&iss=https%3A%2F%2Fas%2F", true, "from `https://as/`"),
            ("code=c&state=s1&iss=https%3A%2F%2Fevil", false, "from `https://evil`"),
            ("error=access_denied&error_description=no+way&state=s1", false, "access_denied: no way"),
            ("state=s1", false, "no `code`"),
        ] {
            let what = read(query, sends_iss).expect_err(query);
            assert!(what.contains(part), "{query}: {what}");
        }
        // What an attacker wrote is not shown.
        let what = read("error=evil_text&state=s1&iss=https%3A%2F%2Fevil", false).expect_err("another issuer");
        assert!(!what.contains("evil_text"), "{what}");
    }
}
