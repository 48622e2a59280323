//! Settings of HTTP requests that a suite may give in addition to the URL.

use std::time::Duration;

/// The `http` block of a server. Paths are relative to the caller's folder, or absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpSettings {
    /// The time in which a request must be answered.
    pub timeout: Duration,
    /// The time in which a TCP connection must be made.
    pub connect_timeout: Duration,
    /// Maximum number of redirects that are followed.
    pub max_redirects: u8,
    /// True if redirects to another host are followed.
    pub leaves_host: bool,
    /// True if requests have a `User-Agent` header.
    pub sends_user_agent: bool,
    /// Certificates and versions.
    pub tls: TlsSettings,
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30),
            connect_timeout: Duration::from_secs(5),
            max_redirects: 5,
            leaves_host: true,
            sends_user_agent: true,
            tls: TlsSettings::default(),
        }
    }
}

/// Certificates and versions of TLS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsSettings {
    /// True if any certificate of the server is accepted.
    pub skips_verification: bool,
    /// A PEM file with the roots that are trusted in place of those of the platform.
    pub ca_bundle: Option<String>,
    /// True if TLS 1.2 is refused.
    pub requires_1_3: bool,
    /// Identity of the client.
    pub client: Option<ClientCertificate>,
}

/// A certificate of the client, and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificate {
    /// A PEM file with the certificate and those that vouch for it.
    pub certificate: String,
    /// A PEM file with the private key.
    pub key: String,
}
