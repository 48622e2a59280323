//! The answer of a token endpoint (RFC 6749 section 5).

use std::time::Duration;

use serde_json::Value;

use super::obstacle::shown;
use super::scopes::split_scopes;

/// Tokens that were issued.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenReply {
    /// The access token.
    pub access_token: String,
    /// Its type.
    pub token_type: String,
    /// The refresh token.
    pub refresh_token: Option<String>,
    /// Lifetime in seconds.
    pub expires_in: Option<u64>,
    /// The granted scopes, if they are named.
    pub scopes: Option<Vec<String>>,
}

/// Reads the answer of a token endpoint; the error is what it says, or what is wrong with it.
pub fn read_token_reply(status: u16, body: &Value) -> Result<TokenReply, String> {
    let text = |name: &str| body.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    // Some endpoints refuse with 200.
    let is_refused = !(200..300).contains(&status) || text("error").is_some() && text("access_token").is_none();
    if is_refused {
        let mut what = format!("refused (HTTP {status})");
        for part in [text("error"), text("error_description")].into_iter().flatten() {
            what.push_str(": ");
            what.push_str(&shown(part));
        }
        return Err(what);
    }
    let Some(access_token) = text("access_token") else { return Err("answered without an `access_token`".to_owned()) };
    let expires_in = body.get("expires_in").and_then(|given| {
        // Some endpoints write the number as a string, or with a fraction.
        let seconds = given.as_f64().or_else(|| given.as_str()?.trim().parse().ok())?;
        Duration::try_from_secs_f64(seconds).ok().map(|lifetime| lifetime.as_secs())
    });
    Ok(TokenReply {
        access_token: access_token.to_owned(),
        token_type: text("token_type").unwrap_or("Bearer").to_owned(),
        refresh_token: text("refresh_token").map(str::to_owned),
        expires_in,
        // None at all are granted, if it is there and empty.
        scopes: body.get("scope").and_then(scopes_in),
    })
}

/// Scopes are a string; some endpoints send a list.
fn scopes_in(given: &Value) -> Option<Vec<String>> {
    match given {
        Value::String(text) => Some(split_scopes(text)),
        Value::Array(all) => Some(all.iter().filter_map(Value::as_str).flat_map(split_scopes).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn replies_are_read_leniently() {
        let reply = json!({"access_token": "a", "expires_in": "60", "scope": "x y", "refresh_token": ""});
        let read = read_token_reply(200, &reply).expect("tokens");
        assert_eq!((read.token_type.as_str(), read.expires_in, read.refresh_token), ("Bearer", Some(60), None));
        assert_eq!(read.scopes, Some(vec!["x".to_owned(), "y".to_owned()]));
        let refused = json!({"error": "invalid_grant", "error_description": "the code was used"});
        assert_eq!(
            read_token_reply(400, &refused),
            Err("refused (HTTP 400): invalid_grant: the code was used".to_owned())
        );
        let none = read_token_reply(200, &json!({"access_token": "a", "scope": ""})).expect("tokens");
        assert_eq!(none.scopes, Some(Vec::new()));
        assert!(read_token_reply(200, &json!({})).is_err());
    }

    #[test]
    fn lifetimes_and_scopes_are_read_in_every_form_that_endpoints_send() {
        let read = |more: Value| {
            let mut body = json!({"access_token": "a"});
            body.as_object_mut().expect("a map").extend(more.as_object().cloned().expect("a map"));
            let reply = read_token_reply(200, &body).expect("tokens");
            (reply.expires_in, reply.scopes)
        };
        for (given, wanted) in [
            (json!(3600), Some(3600)),
            (json!(3600.0), Some(3600)),
            (json!("3599.9"), Some(3599)),
            (json!(0), Some(0)),
            (json!(-1), None),
            (json!("soon"), None),
            (json!(null), None),
        ] {
            assert_eq!(read(json!({"expires_in": given})).0, wanted, "{given}");
        }
        let two = Some(vec!["a".to_owned(), "b".to_owned()]);
        assert_eq!(read(json!({"scope": ["a", "b"]})).1, two);
        assert_eq!(read(json!({"scope": "a b"})).1, two);
        assert_eq!(read(json!({"scope": 1})).1, None);
    }

    #[test]
    fn an_error_with_200_is_a_refusal() {
        let refused = json!({"error": "bad_verification_code"});
        assert_eq!(read_token_reply(200, &refused), Err("refused (HTTP 200): bad_verification_code".to_owned()));
    }
}
