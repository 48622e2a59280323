//! Requests to token and registration endpoints.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcprove_model::oauth::{
    ClientAuth, Document, LoginObstacle, LoginStep, OauthKey, RegisteredClient, ServerMetadata, TokenReply,
    choose_client_auth, read_token_reply, union_of_scopes,
};
use mcprove_model::{escape_line, is_unreserved, percent_encoded, shorten, without_password};
use serde_json::{Value, json};

use super::dpop::{Proof, unix_seconds};
use super::exchanges::Exchanges;
use super::jwt::JwtKey;
use super::random::random_text;

/// Lifetime of an assertion, in seconds.
const ASSERTION: u64 = 300;

/// A client at a token endpoint.
#[derive(Debug)]
pub(super) struct TokenClient<'t> {
    pub(super) exchanges: &'t Exchanges<'t>,
    pub(super) server: &'t ServerMetadata,
    pub(super) client: &'t RegisteredClient,
    /// The key of a client that authenticates with a signature.
    pub(super) key: Option<&'t OauthKey>,
    /// The key that tokens are bound to.
    pub(super) dpop: Option<&'t JwtKey>,
}

impl TokenClient<'_> {
    /// Asks for tokens with a grant.
    pub(super) async fn ask(&self, grant: Vec<(&str, String)>) -> Result<TokenReply, LoginObstacle> {
        let endpoint = self.server.token_endpoint.as_deref().unwrap_or_default();
        let (credentials, headers) = self.credentials()?;
        let form: Vec<(&str, String)> = grant.into_iter().chain(credentials).collect();
        let mut document = self.send(endpoint, &form, headers.clone(), None).await;
        let nonce = document.header("dpop-nonce").next().map(str::to_owned);
        let wants_nonce = document.json.as_ref().is_some_and(|body| body["error"] == "use_dpop_nonce");
        if let Some(nonce) = nonce.filter(|_| wants_nonce && self.dpop.is_some()) {
            document = self.send(endpoint, &form, headers, Some(&nonce)).await;
        }
        let reply = self.exchanges.read_tokens(&document)?;
        check_type(&reply, self.dpop.is_some())?;
        Ok(reply)
    }

    async fn send(
        &self,
        endpoint: &str,
        form: &[(&str, String)],
        mut headers: Vec<(String, String)>,
        nonce: Option<&str>,
    ) -> Document {
        if let Some(key) = self.dpop {
            let proof = Proof { method: "POST", url: endpoint, token: None, nonce };
            headers.push(("dpop".to_owned(), proof.signed(key)));
        }
        self.exchanges.post_form(endpoint, form, headers).await
    }

    /// Form fields and headers that say who the client is.
    #[expect(clippy::type_complexity, reason = "fields and headers, each a list of pairs")]
    pub(super) fn credentials(&self) -> Result<(Vec<(&'static str, String)>, Vec<(String, String)>), LoginObstacle> {
        let RegisteredClient { id, secret, .. } = self.client;
        let secret = secret.clone().unwrap_or_default();
        Ok(match choose_client_auth(self.client, self.key.is_some(), self.server) {
            ClientAuth::None => (vec![("client_id", id.clone())], Vec::new()),
            ClientAuth::Post => (vec![("client_id", id.clone()), ("client_secret", secret)], Vec::new()),
            ClientAuth::Basic => {
                let encode = |text: &str| percent_encoded(text, is_unreserved);
                let pair = STANDARD.encode(format!("{}:{}", encode(id), encode(&secret)));
                // Servers on the Python SDK look for the id in the form in any case.
                (vec![("client_id", id.clone())], vec![("authorization".to_owned(), format!("Basic {pair}"))])
            }
            ClientAuth::PrivateKeyJwt => {
                let kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer".to_owned();
                let assertion = self.assertion()?;
                (
                    vec![("client_id", id.clone()), ("client_assertion_type", kind), ("client_assertion", assertion)],
                    Vec::new(),
                )
            }
        })
    }

    /// A signed statement of who the client is (RFC 7523), for the issuer alone.
    fn assertion(&self) -> Result<String, LoginObstacle> {
        let pem = self.key.map(|key| key.pem.as_str()).unwrap_or_default();
        let key = JwtKey::from_pem(pem)
            .map_err(|error| LoginObstacle::new(LoginStep::Token, error, "give a private key in PEM: PKCS #8"))?;
        let mut header = json!({"typ": "JWT"});
        if let Some(id) = self.key.and_then(|key| key.id.as_ref()) {
            header["kid"] = id.as_str().into();
        }
        let (id, now) = (&self.client.id, unix_seconds());
        let claims = json!({
            "iss": id, "sub": id, "aud": self.server.issuer, "jti": random_text(), "iat": now, "exp": now + ASSERTION,
        });
        Ok(key.sign(header, &claims))
    }
}

/// Exchanges the login at an identity provider for a grant at another authorization server (RFC 8693, ID-JAG).
pub(super) async fn exchange_id_token(
    exchanges: &Exchanges<'_>,
    (endpoint, client_id, id_token): (&str, &str, &str),
    (audience, resource): (&str, &str),
) -> Result<String, LoginObstacle> {
    let kind = |name: &str| format!("urn:ietf:params:oauth:token-type:{name}");
    let form = [
        ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange".to_owned()),
        ("requested_token_type", kind("id-jag")),
        ("audience", audience.to_owned()),
        ("resource", resource.to_owned()),
        ("subject_token", id_token.to_owned()),
        ("subject_token_type", kind("id_token")),
        ("client_id", client_id.to_owned()),
    ];
    let document = exchanges.post_form(endpoint, &form, Vec::new()).await;
    exchanges.read_tokens(&document).map(|reply| reply.access_token)
}

/// Registers a client that is a program on this machine (RFC 7591).
pub(super) async fn register(
    exchanges: &Exchanges<'_>,
    endpoint: &str,
    server: &ServerMetadata,
    scopes: &[String],
    redirect_port: u16,
) -> Result<RegisteredClient, LoginObstacle> {
    let methods = server.token_auth_methods.as_deref().unwrap_or_default();
    let wanted = [ClientAuth::None, ClientAuth::Basic, ClientAuth::Post];
    let method = wanted.into_iter().find(|method| methods.iter().any(|name| name == method.name()));
    let mut metadata = json!({
        "client_name": "mcprove",
        "application_type": "native",
        "redirect_uris": [super::redirect::redirect_uri(redirect_port)],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": method.unwrap_or(ClientAuth::None).name(),
    });
    // Some servers hold a client to these for ever: a step-up needs the others, too.
    let scopes = match scopes {
        [] => Vec::new(),
        chosen => union_of_scopes(chosen, server.scopes_supported.as_deref().unwrap_or_default()),
    };
    if !scopes.is_empty() {
        metadata["scope"] = scopes.join(" ").into();
    }
    let document = exchanges.post_json(endpoint, &metadata, Vec::new()).await;
    let client = read_registration(&document, redirect_port)?;
    Ok(RegisteredClient { scopes, ..client })
}

fn read_registration(document: &Document, redirect_port: u16) -> Result<RegisteredClient, LoginObstacle> {
    let place = shown(&without_password(&document.url));
    let obstacle = |what: String| {
        let help = "allow the registration of clients, or register one by hand and give its id with `--client-id`";
        Err(LoginObstacle::new(LoginStep::Registration, what, help))
    };
    let Some(status) = document.status else {
        return obstacle(format!("`{place}`: {}", document.error.clone().unwrap_or_default()));
    };
    let body = document.json.clone().unwrap_or_default();
    let text = |name: &str| body.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
    if !(200..300).contains(&status) {
        let why = [text("error"), text("error_description")].into_iter().flatten();
        let why = why.fold(String::new(), |why, part| format!("{why}: {}", shown(&part)));
        return obstacle(format!("`{place}` refused to register a client (HTTP {status}){why}"));
    }
    let Some(id) = text("client_id") else {
        return obstacle(format!("`{place}` registered a client without a `client_id`"));
    };
    Ok(RegisteredClient {
        id,
        secret: text("client_secret"),
        auth_method: text("token_endpoint_auth_method"),
        redirect_port: Some(redirect_port),
        scopes: Vec::new(),
        // Zero is for ever.
        secret_expires_at: body.get("client_secret_expires_at").and_then(Value::as_u64).filter(|at| *at > 0),
    })
}

impl Exchanges<'_> {
    /// The tokens in the answer of a token endpoint.
    fn read_tokens(&self, document: &Document) -> Result<TokenReply, LoginObstacle> {
        read(document).map_err(|obstacle| LoginObstacle { what: self.masked(&obstacle.what), ..obstacle })
    }
}

fn check_type(reply: &TokenReply, is_bound: bool) -> Result<(), LoginObstacle> {
    let is_known =
        reply.token_type.eq_ignore_ascii_case("bearer") || is_bound && reply.token_type.eq_ignore_ascii_case("dpop");
    if is_known {
        return Ok(());
    }
    let what = format!("the token is of the type `{}`", shown(&reply.token_type));
    Err(LoginObstacle::new(LoginStep::Token, what, "issue tokens of the type `Bearer`"))
}

fn read(document: &Document) -> Result<TokenReply, LoginObstacle> {
    let place = shown(&without_password(&document.url));
    let obstacle = |what: String, help: &str| Err(LoginObstacle::new(LoginStep::Token, what, help));
    let status = match (document.status, &document.json) {
        (None, _) => {
            let what = format!("`{place}`: {}", document.error.clone().unwrap_or_default());
            return obstacle(what, "check that the token endpoint is up and answers");
        }
        (Some(300..400), _) => {
            let help = "publish the URL that it redirects to as `token_endpoint`: clients do not send a code elsewhere";
            return obstacle(format!("`{place}` redirects: {}", document.answer()), help);
        }
        (Some(200..300), None) => {
            let help = "answer with JSON, as in `{\"access_token\": \"…\", \"token_type\": \"Bearer\"}`";
            return obstacle(format!("`{place}` answered with {}", document.answer()), help);
        }
        (Some(status), _) => status,
    };
    let body = document.json.clone().unwrap_or_default();
    read_token_reply(status, &body).map_err(|what| {
        let help = match body.get("error").and_then(Value::as_str) {
            Some("invalid_client") => {
                "check the client's id, its secret and how it authenticates; `mcprove login URL` registers a new client"
            }
            Some("invalid_scope") => "ask for scopes that the authorization server knows",
            Some("invalid_target") => {
                "let the authorization server know the URL of the server as a resource (RFC 8707)"
            }
            Some("invalid_grant") => "log in again; a code or a refresh token works once, and not for long",
            Some("unsupported_grant_type" | "unauthorized_client") => "allow this grant for the client",
            _ => "look into the log of the authorization server",
        };
        LoginObstacle::new(LoginStep::Token, format!("`{place}` {what}"), help)
    })
}

fn shown(text: &str) -> String {
    shorten(&escape_line(text), 200).into_owned()
}
