//! Login settings of a suite or a command line.

/// The wishes for a login; what is left out is found out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OauthSettings {
    /// The way to a token.
    pub grant: OauthGrant,
    /// The id of a client that was registered by hand.
    pub client_id: Option<String>,
    /// Its secret.
    pub client_secret: Option<String>,
    /// Its key, for clients that authenticate with a signature.
    pub key: Option<OauthKey>,
    /// The authorization server that it is registered with.
    pub issuer: Option<String>,
    /// The URL of a document that describes the client.
    pub client_metadata_url: Option<String>,
    /// The scopes to ask for.
    pub scopes: Option<Vec<String>>,
    /// The port of the redirect; any that is free otherwise.
    pub redirect_port: Option<u16>,
    /// True if a browser may be opened in a run, where no user may watch.
    pub browser: bool,
    /// True if tokens are bound to a key (RFC 9449).
    pub dpop: bool,
}

/// The way to a token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum OauthGrant {
    /// A person signs in with a browser.
    #[default]
    AuthorizationCode,
    /// The client's own credentials.
    ClientCredentials,
    /// An assertion that was issued to the workload (RFC 7523).
    JwtBearer {
        /// The assertion.
        assertion: String,
    },
    /// The login at an identity provider is exchanged for a grant (enterprise-managed authorization).
    CrossApp {
        /// The token endpoint of the identity provider.
        token_endpoint: String,
        /// The client's id at the identity provider.
        client_id: String,
        /// The ID token of the person.
        id_token: String,
    },
}

/// A private key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OauthKey {
    /// PKCS #8 in PEM.
    pub pem: String,
    /// The id of the key, if the server wants one.
    pub id: Option<String>,
}

impl OauthSettings {
    /// True if no person is needed.
    pub fn is_unattended(&self) -> bool {
        match self.grant {
            OauthGrant::AuthorizationCode => false,
            OauthGrant::ClientCredentials | OauthGrant::JwtBearer { .. } | OauthGrant::CrossApp { .. } => true,
        }
    }
}
