//! The client id of a login, and how the client authenticates (2026-07-28, "Client Registration").

use super::login_record::RegisteredClient;
use super::metadata::ServerMetadata;
use super::obstacle::{LoginObstacle, LoginStep};
use super::settings::OauthSettings;

/// Where the client id comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientChoice {
    /// A client that is known: registered by hand, or before.
    Known(RegisteredClient),
    /// A document that describes the client; its URL is the id.
    Document(String),
    /// The client registers itself at this endpoint.
    Register(String),
}

/// Authentication of a client at the token endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientAuth {
    /// Not at all: the id alone.
    None,
    /// Id and secret in the `Authorization` header.
    Basic,
    /// Id and secret in the form.
    Post,
    /// A signed assertion.
    PrivateKeyJwt,
}

impl ClientAuth {
    /// Its name in metadata.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Basic => "client_secret_basic",
            Self::Post => "client_secret_post",
            Self::PrivateKeyJwt => "private_key_jwt",
        }
    }

    /// The one with a name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::None, Self::Basic, Self::Post, Self::PrivateKeyJwt].into_iter().find(|one| one.name() == name)
    }
}

/// Chooses a client: one that was given, one that describes itself, one that registered before, one that registers now.
pub fn choose_client(
    settings: &OauthSettings,
    registered: Option<&RegisteredClient>,
    server: &ServerMetadata,
) -> Result<ClientChoice, LoginObstacle> {
    if let Some(id) = &settings.client_id {
        // Credentials are bound to the server that issued them.
        if let Some(issuer) = settings.issuer.as_ref().filter(|issuer| server.issuer.as_ref() != Some(issuer)) {
            let found = server.issuer.as_deref().unwrap_or("another");
            return Err(LoginObstacle::new(
                LoginStep::Registration,
                format!("`client_id` is for `{issuer}`, but the server names `{found}`"),
                "register the client with the new authorization server, and change `client_id` and `issuer`",
            ));
        }
        return Ok(ClientChoice::Known(RegisteredClient {
            id: id.clone(),
            secret: settings.client_secret.clone(),
            ..RegisteredClient::default()
        }));
    }
    if let Some(url) = settings.client_metadata_url.as_ref().filter(|_| server.takes_client_documents) {
        return Ok(ClientChoice::Document(url.clone()));
    }
    if let Some(registered) = registered {
        return Ok(ClientChoice::Known(registered.clone()));
    }
    match &server.registration_endpoint {
        Some(endpoint) => Ok(ClientChoice::Register(endpoint.clone())),
        None => Err(LoginObstacle::new(
            LoginStep::Registration,
            "the authorization server does not let clients register",
            "register a client there by hand and give its id: `--client-id ID`, or `client_id` in `oauth`",
        )),
    }
}

/// Authentication of a client: as it was registered, else as the server supports.
pub fn choose_client_auth(client: &RegisteredClient, has_key: bool, server: &ServerMetadata) -> ClientAuth {
    if has_key {
        return ClientAuth::PrivateKeyJwt;
    }
    if client.secret.is_none() {
        return ClientAuth::None;
    }
    let registered = client.auth_method.as_deref().and_then(ClientAuth::named);
    // A client that registered without authentication may get a secret anyway, and must not use it.
    if let Some(method) = registered.filter(|method| *method != ClientAuth::PrivateKeyJwt) {
        return method;
    }
    let supports = |method: ClientAuth| {
        let methods = server.token_auth_methods.as_ref();
        methods.is_some_and(|methods| methods.iter().any(|name| name == method.name()))
    };
    // RFC 8414: a server that lists none supports `client_secret_basic`.
    match (supports(ClientAuth::Basic), supports(ClientAuth::Post), supports(ClientAuth::None)) {
        (false, true, _) => ClientAuth::Post,
        (false, false, true) => ClientAuth::None,
        _ => ClientAuth::Basic,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn methods(names: &[&str]) -> ServerMetadata {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        ServerMetadata { token_auth_methods: Some(names), ..ServerMetadata::default() }
    }

    #[test]
    fn clients_are_chosen_in_the_specified_order() {
        let server = ServerMetadata { takes_client_documents: true, ..ServerMetadata::fallback("https://as") };
        let mut settings = OauthSettings::default();
        let before = RegisteredClient { id: "before".to_owned(), ..RegisteredClient::default() };
        let choose = |settings: &OauthSettings, before: Option<&RegisteredClient>, server: &ServerMetadata| {
            choose_client(settings, before, server).expect("a client")
        };
        assert_eq!(choose(&settings, None, &server), ClientChoice::Register("https://as/register".to_owned()));
        assert_eq!(choose(&settings, Some(&before), &server), ClientChoice::Known(before.clone()));
        settings.client_metadata_url = Some("https://me/client.json".to_owned());
        let document = ClientChoice::Document("https://me/client.json".to_owned());
        assert_eq!(choose(&settings, Some(&before), &server), document);
        let plain = ServerMetadata { takes_client_documents: false, ..server.clone() };
        assert_eq!(choose(&settings, None, &plain), ClientChoice::Register("https://as/register".to_owned()));
        settings.client_id = Some("mine".to_owned());
        assert!(matches!(choose(&settings, None, &server), ClientChoice::Known(client) if client.id == "mine"));
        // The port of a client that the user has is a setting: it does not make it one that registered itself.
        settings.redirect_port = Some(9);
        assert!(
            matches!(choose(&settings, None, &server), ClientChoice::Known(client) if client.redirect_port.is_none())
        );
        settings.issuer = Some("https://other".to_owned());
        assert!(choose_client(&settings, None, &server).is_err());
        assert!(choose_client(&OauthSettings::default(), None, &ServerMetadata::default()).is_err());
    }

    #[test]
    fn secrets_are_sent_as_the_server_wants_them() {
        let public = RegisteredClient { id: "a".to_owned(), ..RegisteredClient::default() };
        let secret = RegisteredClient { secret: Some("s".to_owned()), ..public.clone() };
        let posted = RegisteredClient { auth_method: Some("client_secret_post".to_owned()), ..secret.clone() };
        let none = RegisteredClient { auth_method: Some("none".to_owned()), ..secret.clone() };
        assert_eq!(choose_client_auth(&public, false, &methods(&["client_secret_post"])), ClientAuth::None);
        assert_eq!(choose_client_auth(&secret, false, &ServerMetadata::default()), ClientAuth::Basic);
        assert_eq!(choose_client_auth(&secret, false, &methods(&["client_secret_post", "none"])), ClientAuth::Post);
        assert_eq!(choose_client_auth(&none, false, &methods(&["none"])), ClientAuth::None);
        let unused = RegisteredClient { auth_method: Some("none".to_owned()), ..secret.clone() };
        let both = methods(&["client_secret_basic", "none"]);
        assert_eq!(choose_client_auth(&unused, false, &both), ClientAuth::None);
        assert_eq!(choose_client_auth(&posted, false, &methods(&["client_secret_basic"])), ClientAuth::Post);
        assert_eq!(choose_client_auth(&public, true, &methods(&[])), ClientAuth::PrivateKeyJwt);
    }
}
