//! One login, from the challenge to the tokens.

use std::sync::Arc;
use std::time::Duration;

use mcprove_model::oauth::{
    Challenge, ClientChoice, ExpectedCallback, LoginObstacle, LoginRecord, LoginStep, OauthGrant, OauthSettings,
    RegisteredClient, ServerMetadata, TokenReply, bearer_challenge, choose_client, choose_scopes, is_exposed,
    read_callback, union_of_scopes,
};
use mcprove_model::{escape_line, is_unreserved, percent_encoded};
use serde_json::json;
use tokio::time::Instant;

use super::discover::{Discovered, Wanted, discover};
use super::dpop::unix_seconds;
use super::exchanges::{Exchanges, LoginLog};
use super::grants::{TokenClient, exchange_id_token, register};
use super::host::LoginHost;
use super::jwt::JwtKey;
use super::random::{code_challenge, random_text};
use super::redirect::{RedirectPage, redirect_uri};
use crate::transport::HttpClient;

/// A login to make.
#[derive(Clone, Debug)]
pub struct LoginRequest<'l> {
    /// The URL of the server.
    pub server: &'l str,
    /// The login settings.
    pub settings: &'l OauthSettings,
    /// The challenge of the server; without it the server is asked.
    pub challenge: Option<Challenge>,
    /// The login before this one, whose scopes are kept.
    pub previous: Option<&'l LoginRecord>,
    /// The program around it.
    pub host: &'l Arc<dyn LoginHost>,
    /// The time that the person has.
    pub patience: Duration,
}

/// Makes a login. Nothing is kept; that is up to the caller.
pub async fn log_in(
    request: &LoginRequest<'_>,
    client: &HttpClient,
    log: &LoginLog,
) -> Result<LoginRecord, LoginObstacle> {
    let exchanges = Exchanges::new(client, log);
    let (challenge, opened) = match &request.challenge {
        Some(challenge) => (Some(challenge.clone()), None),
        None => probe(&exchanges, request.server).await?,
    };
    let LoginRequest { server, settings, .. } = request;
    let by_browser = !settings.is_unattended();
    let wanted = Wanted { server, challenge, opened, issuer: settings.issuer.as_deref(), by_browser };
    let found = discover(&exchanges, wanted).await?;
    let scopes = scopes_of(request, &found);
    let login = Login { exchanges: &exchanges, request, found: &found, scopes };
    let dpop = settings.dpop.then(JwtKey::generate);
    let (reply, client) = match &settings.grant {
        OauthGrant::AuthorizationCode => login.by_browser(dpop.as_ref()).await?,
        OauthGrant::ClientCredentials => {
            let grant = vec![("grant_type", "client_credentials".to_owned())];
            login.unattended(grant, dpop.as_ref()).await?
        }
        OauthGrant::JwtBearer { assertion } => login.unattended(jwt_bearer(assertion), dpop.as_ref()).await?,
        OauthGrant::CrossApp { token_endpoint, client_id, id_token } => {
            let provider = (token_endpoint.as_str(), client_id.as_str(), id_token.as_str());
            let grant = exchange_id_token(&exchanges, provider, (&found.issuer, &found.resource)).await?;
            login.unattended(jwt_bearer(&grant), dpop.as_ref()).await?
        }
    };
    let record = LoginRecord {
        server: (*server).to_owned(),
        resource: found.resource.clone(),
        issuer: found.issuer.clone(),
        token_endpoint: found.server.token_endpoint.clone().unwrap_or_default(),
        revocation_endpoint: found.server.revocation_endpoint.clone(),
        token_auth_methods: found.server.token_auth_methods.clone(),
        client,
        granted: login.scopes.clone(),
        asked: login.scopes,
        dpop_key: dpop.as_ref().map(JwtKey::to_base64),
        ..LoginRecord::default()
    };
    Ok(record.with_tokens(reply, unix_seconds()))
}

/// Renews the tokens of a login; refresh tokens may be replaced (OAuth 2.1 section 4.3.1).
pub(super) async fn refresh(
    record: &LoginRecord,
    settings: &OauthSettings,
    client: &HttpClient,
    log: &LoginLog,
) -> Result<LoginRecord, LoginObstacle> {
    let exchanges = Exchanges::new(client, log);
    let server = server_of(record);
    let dpop = record.dpop_key.as_deref().and_then(|key| JwtKey::from_base64(key).ok());
    let token_client = TokenClient {
        exchanges: &exchanges,
        server: &server,
        client: &record.client,
        key: settings.key.as_ref(),
        dpop: dpop.as_ref(),
    };
    let reply = token_client
        .ask(vec![
            ("grant_type", "refresh_token".to_owned()),
            ("refresh_token", record.refresh_token.clone().unwrap_or_default()),
            ("resource", record.resource.clone()),
        ])
        .await?;
    Ok(record.clone().with_tokens(reply, unix_seconds()))
}

/// Gives tokens back (RFC 7009); servers without such an endpoint forget them when they expire.
pub async fn revoke(record: &LoginRecord, client: &HttpClient) -> Result<bool, String> {
    let Some(endpoint) = &record.revocation_endpoint else { return Ok(false) };
    if is_exposed(endpoint, &record.server) {
        return Err(format!("`{}` is not encrypted", escape_line(endpoint)));
    }
    let log = LoginLog::default();
    let exchanges = Exchanges::new(client, &log);
    let server = server_of(record);
    let client = TokenClient { exchanges: &exchanges, server: &server, client: &record.client, key: None, dpop: None };
    let refresh = record.refresh_token.iter().map(|token| (token, "refresh_token"));
    // Some servers let the access token live on when the refresh token is revoked.
    for (token, hint) in refresh.chain([(&record.access_token, "access_token")]) {
        let (credentials, headers) = client.credentials().map_err(|obstacle| obstacle.what)?;
        let mut form = vec![("token", token.clone()), ("token_type_hint", hint.to_owned())];
        form.extend(credentials);
        let document = exchanges.post_form(endpoint, &form, headers).await;
        let unsupported = document.json.as_ref().is_some_and(|body| body["error"] == "unsupported_token_type");
        match (document.status, document.error) {
            (Some(200..300), _) => {}
            // Access tokens that are not stored there cannot be revoked (RFC 7009 section 2.2.1).
            (Some(_), _) if unsupported && hint == "access_token" && record.refresh_token.is_some() => {}
            (Some(status), _) => return Err(format!("`{endpoint}` answered with HTTP {status}")),
            (None, error) => return Err(format!("`{endpoint}`: {}", error.unwrap_or_default())),
        }
    }
    Ok(true)
}

/// Facts about the authorization server of a login.
fn server_of(record: &LoginRecord) -> ServerMetadata {
    ServerMetadata {
        issuer: Some(record.issuer.clone()),
        token_endpoint: Some(record.token_endpoint.clone()),
        token_auth_methods: record.token_auth_methods.clone(),
        ..ServerMetadata::default()
    }
}

/// Asks a server for its challenge, as a client without a token; also the status of one that serves the request.
async fn probe(exchanges: &Exchanges<'_>, server: &str) -> Result<(Option<Challenge>, Option<u16>), LoginObstacle> {
    let document = super::survey::first_request(exchanges, server).await;
    match (document.status, &document.error) {
        (Some(401), _) => {
            let challenge = bearer_challenge(document.header("www-authenticate"));
            Ok((Some(challenge.unwrap_or_default()), None))
        }
        (Some(404), _) => Err(LoginObstacle::new(
            LoginStep::Challenge,
            "nothing is at this URL (HTTP 404)",
            "fix the path; it often ends in `/mcp`",
        )),
        // It may want a login for some requests only; its metadata shows that.
        (Some(status), _) => {
            let has_result = document.json.as_ref().is_some_and(|json| json.get("result").is_some());
            let mut kinds = document.header("content-type");
            let is_served = status == 200 && (has_result || kinds.any(|kind| kind.starts_with("text/event-stream")));
            Ok((None, Some(status).filter(|_| is_served)))
        }
        (None, error) => Err(LoginObstacle::new(
            LoginStep::Challenge,
            format!("the server was not reached: {}", error.clone().unwrap_or_default()),
            match &document.error {
                Some(error) if error.starts_with("TLS ") => {
                    "check the certificate and whether the port speaks TLS; SSL_CERT_FILE adds roots"
                }
                _ => "start the server, or fix the URL",
            },
        )),
    }
}

fn scopes_of(request: &LoginRequest<'_>, found: &Discovered) -> Vec<String> {
    let chosen =
        choose_scopes(request.settings.scopes.as_deref(), found.challenge.as_ref(), &found.metadata, &found.server);
    match request.previous {
        Some(previous) => {
            // A step-up keeps what was asked for before, and a wish of the user does not replace the challenge.
            let challenged = found.challenge.as_ref().and_then(|challenge| challenge.parameter("scope"));
            let challenged = challenged.map(mcprove_model::oauth::split_scopes).unwrap_or_default();
            union_of_scopes(&union_of_scopes(&previous.asked, &chosen), &challenged)
        }
        None => chosen,
    }
}

fn jwt_bearer(assertion: &str) -> Vec<(&'static str, String)> {
    vec![("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer".to_owned()), ("assertion", assertion.to_owned())]
}

/// A login under way.
struct Login<'l> {
    exchanges: &'l Exchanges<'l>,
    request: &'l LoginRequest<'l>,
    found: &'l Discovered,
    scopes: Vec<String>,
}

impl Login<'_> {
    /// Tokens for a client with credentials of its own.
    async fn unattended(
        &self,
        mut grant: Vec<(&str, String)>,
        dpop: Option<&JwtKey>,
    ) -> Result<(TokenReply, RegisteredClient), LoginObstacle> {
        let settings = self.request.settings;
        let ClientChoice::Known(client) = choose_client(settings, None, &self.found.server)? else {
            let what = "this grant needs a client that is registered";
            return Err(LoginObstacle::new(LoginStep::Registration, what, "give `client_id` in `oauth`"));
        };
        if !self.scopes.is_empty() {
            grant.push(("scope", self.scopes.join(" ")));
        }
        grant.push(("resource", self.found.resource.clone()));
        Ok((self.token_client(&client, dpop).ask(grant).await?, client))
    }

    /// Tokens for a person who signs in with a browser.
    async fn by_browser(&self, dpop: Option<&JwtKey>) -> Result<(TokenReply, RegisteredClient), LoginObstacle> {
        let LoginRequest { settings, host, patience, .. } = self.request;
        let registered = match &settings.client_id {
            None => host.take_registered(&self.found.issuer).filter(|client| !client.has_expired(unix_seconds())),
            Some(_) => None,
        };
        let choice = choose_client(settings, registered.as_ref(), &self.found.server)?;
        let known = match &choice {
            ClientChoice::Known(client) => client.redirect_port,
            ClientChoice::Document(_) | ClientChoice::Register(_) => None,
        };
        let wish = settings.redirect_port.or(known);
        let page = RedirectPage::open(wish, settings.redirect_port.is_some()).await.map_err(|error| {
            let port = wish.map(|port| format!(":{port}")).unwrap_or_default();
            let what = format!("no page can be opened on 127.0.0.1{port} for the redirect: {error}");
            LoginObstacle::new(LoginStep::Authorization, what, "free the port, or give another one")
        })?;
        let client = match choice {
            ClientChoice::Known(client) if settings.client_id.is_some() => client,
            ClientChoice::Known(client) if known == Some(page.port()) && client.may_ask_for(&self.scopes) => client,
            ClientChoice::Document(url) => RegisteredClient { id: url, ..RegisteredClient::default() },
            ClientChoice::Register(endpoint) => self.register(&endpoint, page.port()).await?,
            // The port that it was registered with is taken, or it may not ask for these scopes.
            ClientChoice::Known(known) => match &self.found.server.registration_endpoint {
                Some(endpoint) => self.register(endpoint, page.port()).await?,
                None => known,
            },
        };
        let (state, verifier) = (random_text(), random_text());
        host.show(&self.authorization_url(&client, page.port(), &state, &code_challenge(&verifier)));
        let expected =
            ExpectedCallback { state: &state, issuer: &self.found.issuer, sends_iss: self.found.server.sends_iss };
        let deadline = Instant::now() + *patience;
        let waited =
            page.wait(deadline, |query| expected.is_answered_by(query), |query| read_callback(query, &expected));
        let (code, browser) = waited.await.map_err(|obstacle| {
            obstacle.unwrap_or_else(|| {
                let what = format!("no user signed in within {} s", patience.as_secs());
                LoginObstacle::new(LoginStep::Authorization, what, "log in again: `mcprove login URL`")
            })
        })?;
        let mut grant = vec![
            ("grant_type", "authorization_code".to_owned()),
            ("code", code),
            ("redirect_uri", redirect_uri(page.port())),
            ("code_verifier", verifier),
        ];
        grant.push(("resource", self.found.resource.clone()));
        let reply = self.token_client(&client, dpop).ask(grant).await;
        browser.show(&reply).await;
        Ok((reply?, client))
    }

    async fn register(&self, endpoint: &str, port: u16) -> Result<RegisteredClient, LoginObstacle> {
        register(self.exchanges, endpoint, &self.found.server, &self.scopes, port).await
    }

    fn token_client<'t>(&'t self, client: &'t RegisteredClient, dpop: Option<&'t JwtKey>) -> TokenClient<'t> {
        let key = self.request.settings.key.as_ref();
        TokenClient { exchanges: self.exchanges, server: &self.found.server, client, key, dpop }
    }

    fn authorization_url(&self, client: &RegisteredClient, port: u16, state: &str, challenge: &str) -> String {
        let endpoint = self.found.server.authorization_endpoint.as_deref().unwrap_or_default();
        let mut fields = vec![
            ("response_type", "code".to_owned()),
            ("client_id", client.id.clone()),
            ("redirect_uri", redirect_uri(port)),
            ("code_challenge", challenge.to_owned()),
            ("code_challenge_method", "S256".to_owned()),
            ("state", state.to_owned()),
            ("resource", self.found.resource.clone()),
        ];
        if !self.scopes.is_empty() {
            fields.push(("scope", self.scopes.join(" ")));
        }
        if self.scopes.iter().any(|scope| scope == "offline_access") {
            // OpenID Connect Core, section 11: otherwise the scope is ignored.
            fields.push(("prompt", "consent".to_owned()));
        }
        let query = fields.iter().map(|(name, value)| format!("{name}={}", percent_encoded(value, is_unreserved)));
        // What follows a `#` would not reach the server.
        let (place, fragment) = endpoint.split_at(endpoint.find('#').unwrap_or(endpoint.len()));
        let separator = if place.contains('?') { '&' } else { '?' };
        format!("{place}{separator}{}{fragment}", query.collect::<Vec<_>>().join("&"))
    }
}

/// The first message of a client, for those who only want to see how a server refuses it.
pub(super) fn first_message() -> serde_json::Value {
    let info = json!({"name": "mcprove", "version": env!("CARGO_PKG_VERSION")});
    json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info},
    })
}
