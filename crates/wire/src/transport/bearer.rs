//! Tokens that a client asks for with its own credentials (OAuth 2, RFC 6749 section 4.4), each kept until it expires.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use hyper::{Method, Response, StatusCode, body::Incoming};
use mcprove_model::oauth::OauthSettings;
use mcprove_model::{
    ClientCredentials, bounded_json, escape_line, is_unreserved, percent_encoded, shorten, without_password,
};
use serde_json::Value;
use tokio::time::{Instant, timeout};

use crate::oauth::{LoginHost, LoginLog, LoginSource, Presented, Remedies, TokenRefusal};

use super::http_client::{HttpClient, HttpRequestParts, NoResponse, header, prepare, read_body};

/// Time limit for a token endpoint.
const PATIENCE: Duration = Duration::from_secs(10);
/// Maximum size of its response.
const LIMIT: usize = 64 << 10;
/// Longest time before its expiry at which a token is no longer used: it must still be valid when it arrives.
const MARGIN: Duration = Duration::from_secs(30);

/// The tokens of a process. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Tokens {
    sources: Arc<Mutex<Vec<Arc<TokenSource>>>>,
    given: Arc<Mutex<Vec<String>>>,
    /// Keeps logins; without one, there are no logins.
    host: Option<Arc<dyn LoginHost>>,
}

impl Tokens {
    /// No tokens yet; logins are kept by the host.
    pub fn with_host(host: Arc<dyn LoginHost>) -> Self {
        Self { host: Some(host), ..Self::default() }
    }

    /// The program that keeps logins.
    pub fn host(&self) -> Option<&Arc<dyn LoginHost>> {
        self.host.as_ref()
    }

    /// The source of tokens for these credentials; shared by all users of the same credentials.
    pub fn source(&self, auth: &ClientCredentials) -> Arc<TokenSource> {
        let is_known = |source: &TokenSource| matches!(source, TokenSource::Credentials(known) if known.auth == *auth);
        self.found_or_made(is_known, || {
            let (auth, kept) = (auth.clone(), tokio::sync::Mutex::default());
            TokenSource::Credentials(CredentialsSource { auth, kept, given: self.given.clone() })
        })
    }

    /// The login at a server, if there is a host that keeps it; shared by all users of the same login.
    pub fn login(&self, server: &str, settings: &OauthSettings) -> Option<Arc<TokenSource>> {
        let host = self.host.as_ref()?;
        let is_known =
            |source: &TokenSource| matches!(source, TokenSource::Login(known) if known.is_for(server, settings));
        Some(self.found_or_made(is_known, || {
            let source = LoginSource::new(server, settings, Arc::clone(host), self.given.clone());
            source.load();
            TokenSource::Login(Box::new(source))
        }))
    }

    fn found_or_made(
        &self,
        is_known: impl Fn(&TokenSource) -> bool,
        make: impl FnOnce() -> TokenSource,
    ) -> Arc<TokenSource> {
        let mut sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = sources.iter().find(|source| is_known(source)) {
            return Arc::clone(known);
        }
        let source = Arc::new(make());
        sources.push(Arc::clone(&source));
        source
    }

    /// Adds a secret that must not be shown.
    pub fn hide(&self, secret: &str) {
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        if !given.iter().any(|known| known == secret) {
            given.push(secret.to_owned());
        }
    }

    /// Number of tokens issued so far.
    pub fn count(&self) -> usize {
        self.given.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Every token that was given out so far: none of them is to be shown.
    pub fn given(&self) -> Vec<String> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Source of the tokens of requests.
#[derive(Debug)]
pub enum TokenSource {
    /// A token endpoint that a suite names.
    Credentials(CredentialsSource),
    /// A login as hosts make it.
    Login(Box<LoginSource>),
}

impl TokenSource {
    /// True if requests carry a token, as far as is known.
    pub(super) fn has_token(&self) -> bool {
        match self {
            Self::Credentials(_) => true,
            Self::Login(login) => login.has_token(),
        }
    }

    /// The token of the next request, if there is one.
    pub(super) async fn token(&self, client: &HttpClient, log: &LoginLog) -> Result<Option<Presented>, NoResponse> {
        match self {
            Self::Credentials(source) => source.token(client).await.map(|token| Some(Presented::bearer(token))),
            Self::Login(login) => login.token(client, log).await,
        }
    }

    /// Another token in the place of one that the server refused; `None` if there is nothing to try.
    pub(super) async fn instead_of(
        &self,
        refused: Option<&Presented>,
        refusal: &TokenRefusal,
        remedies: &mut Remedies,
        client: &HttpClient,
        log: &LoginLog,
    ) -> Result<Option<Presented>, NoResponse> {
        match self {
            Self::Credentials(source) => {
                if !remedies.is_first_renewal() || !refusal.is_unauthorized() {
                    return Ok(None);
                }
                let refused = refused.map(Presented::token).unwrap_or_default();
                source.instead_of(refused, client).await.map(|token| Some(Presented::bearer(token)))
            }
            Self::Login(login) => Box::pin(login.instead_of(refused, refusal, remedies, client, log)).await,
        }
    }
}

/// Source of tokens for one set of credentials.
#[derive(Debug)]
pub struct CredentialsSource {
    auth: ClientCredentials,
    /// Held while a token is requested, so that concurrent cases request it once.
    kept: tokio::sync::Mutex<Option<Token>>,
    given: Arc<Mutex<Vec<String>>>,
}

#[derive(Debug)]
struct Token {
    value: String,
    until: Option<Instant>,
}

impl CredentialsSource {
    /// A token that is good as far as we know.
    pub(super) async fn token(&self, client: &HttpClient) -> Result<String, NoResponse> {
        let mut kept = self.kept.lock().await;
        let fresh = kept.as_ref().filter(|token| token.until.is_none_or(|until| Instant::now() < until));
        match fresh {
            Some(token) => Ok(token.value.clone()),
            None => self.fetch(client, &mut kept).await,
        }
    }

    /// A token in the place of one that a server refused; another request may have got it already.
    pub(super) async fn instead_of(&self, refused: &str, client: &HttpClient) -> Result<String, NoResponse> {
        let mut kept = self.kept.lock().await;
        match kept.as_ref() {
            Some(token) if token.value != refused => Ok(token.value.clone()),
            Some(_) | None => self.fetch(client, &mut kept).await,
        }
    }

    async fn fetch(&self, client: &HttpClient, kept: &mut Option<Token>) -> Result<String, NoResponse> {
        *kept = None;
        let token = match timeout(PATIENCE, self.ask(client)).await {
            Ok(asked) => asked?,
            Err(_) => {
                return Err(self.no_token(
                    &format!("did not answer within {} s", PATIENCE.as_secs()),
                    "check that it is up, and `token_endpoint`",
                ));
            }
        };
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        if !given.contains(&token.value) {
            given.push(token.value.clone());
        }
        drop(given);
        let value = token.value.clone();
        *kept = Some(token);
        Ok(value)
    }

    async fn ask(&self, client: &HttpClient) -> Result<Token, NoResponse> {
        let ClientCredentials { token_endpoint, .. } = &self.auth;
        let headers = [
            ("content-type", "application/x-www-form-urlencoded"),
            ("accept", "application/json"),
            ("user-agent", concat!("mcprove/", env!("CARGO_PKG_VERSION"))),
        ];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let body = Bytes::from(self.form());
        let ask = HttpRequestParts { method: Method::POST, url: token_endpoint, headers, wished: &[], body };
        let unreached = |none: NoResponse| NoResponse { what: format!("no token was given: {}", none.what), ..none };
        let response = client.send(prepare(ask).map_err(unreached)?).await.map_err(unreached)?;
        self.read(response).await
    }

    /// The request as a form, with the credentials in it.
    fn form(&self) -> String {
        let ClientCredentials { client_id, client_secret, scope, .. } = &self.auth;
        let fields =
            [("client_id", Some(client_id)), ("client_secret", Some(client_secret)), ("scope", scope.as_ref())];
        let mut form = "grant_type=client_credentials".to_owned();
        for (name, value) in fields.iter().filter_map(|(name, value)| Some((name, (*value)?))) {
            let _ = write!(form, "&{name}={}", percent_encoded(value, is_unreserved));
        }
        form
    }

    async fn read(&self, response: Response<Incoming>) -> Result<Token, NoResponse> {
        let status = response.status();
        let location = header(&response, "location");
        let body = match read_body(response.into_body(), LIMIT).await {
            Ok(body) => body,
            Err((_, how)) => return Err(self.no_token(&format!("sent an answer that {how}"), "look into its log")),
        };
        let answer: Value = bounded_json::parse(&body).unwrap_or_default();
        if !status.is_success() {
            return Err(self.refused(status, location.as_deref(), &answer));
        }
        let Some(value) = answer.get("access_token").and_then(Value::as_str).filter(|value| !value.is_empty()) else {
            return Err(self.no_token("answered without an `access_token`", "check `token_endpoint`"));
        };
        let kind = answer.get("token_type").and_then(Value::as_str).unwrap_or("Bearer");
        if !kind.eq_ignore_ascii_case("bearer") {
            let what = format!("gives tokens of the type `{}`, and not of the type `Bearer`", shown(kind));
            return Err(self.no_token(&what, "put the token into `headers:` in the way the server wants it"));
        }
        Ok(Token {
            value: value.to_owned(),
            until: lifetime(&answer).and_then(|time| Instant::now().checked_add(time)),
        })
    }

    fn refused(&self, status: StatusCode, location: Option<&str>, answer: &Value) -> NoResponse {
        let text = |key: &str| answer.get(key).and_then(Value::as_str).map(shown);
        let mut what = format!("refused (HTTP {})", status.as_u16());
        for part in [text("error"), text("error_description")].into_iter().flatten() {
            let _ = write!(what, ": {part}");
        }
        match location.filter(|_| status.is_redirection()) {
            Some(location) => {
                self.no_token(&what, &format!("it redirects to {}: write that as `token_endpoint`", shown(location)))
            }
            None => self.no_token(&what, "check `client_id`, `scope`, and the variable that `client_secret_env` names"),
        }
    }

    fn no_token(&self, what: &str, help: &str) -> NoResponse {
        let ClientCredentials { token_endpoint, .. } = &self.auth;
        let what = format!("no token was given: `{}` {what}", shown(&without_password(token_endpoint)));
        NoResponse { what, help: help.to_owned() }
    }
}

/// Lifetime of a token, if the endpoint states it.
fn lifetime(answer: &Value) -> Option<Duration> {
    let given = answer.get("expires_in")?;
    // Some endpoints write the number as a text.
    let seconds = given.as_f64().or_else(|| given.as_str()?.parse().ok())?;
    let whole = Duration::try_from_secs_f64(seconds).ok()?;
    Some(whole.saturating_sub(MARGIN.min(whole / 10)))
}

fn shown(text: &str) -> String {
    shorten(&escape_line(text), 200).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn credentials_are_written_as_a_form() {
        let auth = ClientCredentials {
            token_endpoint: "http://x/token".to_owned(),
            client_id: "me & you".to_owned(),
            client_secret: "ü=1".to_owned(),
            scope: Some("a b".to_owned()),
        };
        let tokens = Tokens::default();
        let expected = "grant_type=client_credentials&client_id=me%20%26%20you&client_secret=%C3%BC%3D1&scope=a%20b";
        let source = tokens.source(&auth);
        assert!(matches!(&*source, TokenSource::Credentials(source) if source.form() == expected));
        assert!(Arc::ptr_eq(&tokens.source(&auth), &tokens.source(&auth)));
    }

    #[test]
    fn a_token_is_given_up_before_it_expires() {
        assert_eq!(lifetime(&json!({"expires_in": 3600})), Some(Duration::from_secs(3570)));
        assert_eq!(lifetime(&json!({"expires_in": "10"})), Some(Duration::from_secs(9)));
        assert_eq!(lifetime(&json!({"expires_in": -1})), None);
        assert_eq!(lifetime(&json!({})), None);
    }
}
