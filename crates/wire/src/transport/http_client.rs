//! HTTP as it is: no decompression, no cookies, no cache, no proxy, and no redirects unless a suite asks for them.

use std::error::Error;
use std::io;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::http::uri::Authority;
use hyper::{Method, Request, Response, Uri};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use mcprove_model::{HttpSettings, TlsSettings, escape_line, shorten, without_password};
use tokio::net::TcpStream;
use tower_service::Service as _;

use crate::oauth::LoginLog;

use super::aws_sigv4::AwsSigner;
use super::bearer::TokenSource;
use super::http_replay::Replay;
use super::sse::origin;
use super::tls;

/// Replacement for a secret in the frame log.
const HIDDEN: &str = "(hidden)";

type SecureClient = Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// A client with a pool of connections; clones share it.
#[derive(Clone, Debug)]
pub struct HttpClient {
    plain: Client<HttpConnector, Full<Bytes>>,
    /// Makes connections without TLS, for sessions that drive them themselves.
    connector: HttpConnector,
    /// Made when first needed: reading the platform's roots takes longer than most runs.
    secure: Arc<OnceLock<Result<SecureClient, String>>>,
    /// Source of the token of every request, if there is one.
    tokens: Option<Arc<TokenSource>>,
    /// Signs every request, when there is one.
    signer: Option<Arc<AwsSigner>>,
    /// Settings of requests from the suite.
    settings: Option<Arc<HttpSettings>>,
}

/// A request, before it is one of hyper's.
#[derive(Clone, Debug)]
pub(crate) struct HttpRequestParts<'a> {
    pub(crate) method: Method,
    pub(crate) url: &'a str,
    /// Headers set by mcprove.
    pub(crate) headers: Vec<(String, String)>,
    /// Header fields of the user's; they win over ours.
    pub(crate) wished: &'a [(String, String)],
    pub(crate) body: Bytes,
}

/// A request that can be sent: everything in it has been looked at.
#[derive(Debug)]
pub(crate) struct Prepared {
    request: Request<Full<Bytes>>,
}

impl Prepared {
    /// A request built by the caller.
    pub(crate) fn raw(request: Request<Full<Bytes>>) -> Self {
        Self { request }
    }

    pub(super) fn uri(&self) -> &Uri {
        self.request.uri()
    }

    pub(super) fn headers(&self) -> &HeaderMap {
        self.request.headers()
    }

    /// Its headers for the frame log, without secrets.
    pub(crate) fn shown_headers(&self) -> Vec<(String, String)> {
        let shown = |(name, value): (&HeaderName, &HeaderValue)| {
            let text = if is_secret(name.as_str()) { HIDDEN.to_owned() } else { text_of(value) };
            (name.as_str().to_owned(), text)
        };
        self.request.headers().iter().map(shown).collect()
    }
}

/// Reason for a missing response, and advice on what to do.
#[derive(Clone, Debug)]
pub(crate) struct NoResponse {
    pub(crate) what: String,
    pub(crate) help: String,
}

impl Default for HttpClient {
    fn default() -> Self {
        Self {
            plain: Client::builder(TokioExecutor::new()).build(connector()),
            connector: connector(),
            secure: Arc::default(),
            tokens: None,
            signer: None,
            settings: None,
        }
    }
}

impl HttpClient {
    /// A client with connections of its own, as a suite describes it. Files of TLS are read when first needed.
    pub fn with_settings(settings: HttpSettings) -> Self {
        let mut inner = connector();
        inner.set_connect_timeout(Some(settings.connect_timeout));
        let plain = Client::builder(TokioExecutor::new()).build(inner.clone());
        Self { plain, connector: inner, settings: Some(Arc::new(settings)), ..Self::default() }
    }

    /// The same connections, with every request signed.
    #[must_use]
    pub fn with_signer(&self, signer: Arc<AwsSigner>) -> Self {
        Self { signer: Some(signer), ..self.clone() }
    }

    /// Maximum number of redirects that are followed.
    pub(super) fn max_redirects(&self) -> u8 {
        self.settings.as_ref().map_or(0, |settings| settings.max_redirects)
    }

    /// True if a redirect from one URL to another is followed.
    pub(super) fn follows(&self, from: &str, to: &str) -> bool {
        let host = |url: &str| origin(url).map(|(_, host, _)| host);
        self.settings.as_ref().is_none_or(|settings| settings.leaves_host) || host(from) == host(to)
    }

    /// True if requests have a `User-Agent` header.
    pub(super) fn sends_user_agent(&self) -> bool {
        self.settings.as_ref().is_none_or(|settings| settings.sends_user_agent)
    }

    /// Signs a request, where that is asked for.
    pub(super) fn sign(&self, prepared: &mut Prepared, body: &[u8]) {
        if let Some(signer) = &self.signer {
            signer.sign(&mut prepared.request, body);
        }
    }

    /// The same connections, with a token in every request.
    #[must_use]
    pub fn with_tokens(&self, tokens: Arc<TokenSource>) -> Self {
        Self { tokens: Some(tokens), ..self.clone() }
    }

    /// Source of the token of every request, if there is one.
    pub fn tokens(&self) -> Option<&TokenSource> {
        self.tokens.as_deref()
    }

    /// The token of a server behind a login, for those who make requests themselves.
    pub async fn bearer_token(&self) -> Option<String> {
        let token = self.tokens()?.token(self, &LoginLog::default()).await.ok()??;
        Some(token.token().to_owned())
    }

    /// Sends a request; nothing is followed, decoded or tried again.
    pub(crate) async fn send(&self, prepared: Prepared) -> Result<Response<Incoming>, NoResponse> {
        let request = prepared.request;
        let host = request.uri().authority().cloned();
        let sent = if request.uri().scheme_str() == Some("https") {
            self.secure()?.request(request).await
        } else {
            self.plain.request(request).await
        };
        sent.map_err(|error| explain(&error, &without_password(host.as_ref().map_or("", Authority::as_str))))
    }

    /// The same connections, with nothing in a request that says who sent it.
    pub(crate) fn anonymous(&self) -> Self {
        Self { tokens: None, signer: None, ..self.clone() }
    }

    /// True if a request is a head and a body that can be made once: without tokens, signatures and redirects.
    pub(super) fn is_plain(&self) -> bool {
        self.tokens.as_ref().is_none_or(|tokens| !tokens.has_token())
            && self.signer.is_none()
            && self.max_redirects() == 0
    }

    /// A new connection without TLS; `None` where there is none to be had.
    pub(super) fn connect(&self, uri: Uri) -> impl Future<Output = Option<TcpStream>> + Send + 'static {
        let mut connector = self.connector.clone();
        async move { Some(connector.call(uri).await.ok()?.into_inner()) }
    }

    /// The response on a connection whose request is out.
    pub(super) async fn replay(&self, replay: Replay, uri: &str) -> Result<Response<Incoming>, NoResponse> {
        let answered = async {
            let (mut sender, connection) = http1::handshake(replay).await?;
            let request = Request::post("/").body(Full::<Bytes>::default()).unwrap_or_default();
            let response = sender.send_request(request);
            tokio::spawn(connection);
            response.await
        };
        let host = uri.parse::<Uri>().ok().and_then(|uri| uri.authority().cloned());
        let host = host.as_ref().map_or("", Authority::as_str);
        answered.await.map_err(|error| explain(&error, &without_password(host)))
    }

    /// The status that a URL answers a plain request with.
    pub(crate) async fn status(&self, method: Method, url: &str, body: Bytes) -> Result<u16, String> {
        let prepared = prepare(HttpRequestParts { method, url, headers: Vec::new(), wished: &[], body });
        let response = self.send(prepared.map_err(|error| error.what)?).await.map_err(|error| error.what)?;
        Ok(response.status().as_u16())
    }

    fn secure(&self) -> Result<&SecureClient, NoResponse> {
        let made = self.secure.get_or_init(|| {
            let connector = match &self.settings {
                Some(settings) => configured_connector(settings)?,
                None => secure_connector()?,
            };
            Ok(Client::builder(TokioExecutor::new()).build(connector))
        });
        let help = match &self.settings {
            Some(settings) if settings.tls != TlsSettings::default() => "fix `http.tls` of the server",
            Some(_) | None => "install the platform's root certificates, or point SSL_CERT_FILE at them",
        };
        made.as_ref()
            .map_err(|error| NoResponse { what: format!("TLS cannot be used: {error}"), help: help.to_owned() })
    }
}

/// Connects with TLS for an `https` URL, trusting the platform's roots.
pub(crate) fn secure_connector() -> Result<HttpsConnector<HttpConnector>, String> {
    let mut inner = connector();
    inner.enforce_http(false);
    let builder = hyper_rustls::HttpsConnectorBuilder::new().with_native_roots().map_err(|error| error.to_string())?;
    Ok(builder.https_or_http().enable_http1().wrap_connector(inner))
}

/// Connects with TLS as a suite describes it.
fn configured_connector(settings: &HttpSettings) -> Result<HttpsConnector<HttpConnector>, String> {
    let mut inner = connector();
    inner.set_connect_timeout(Some(settings.connect_timeout));
    inner.enforce_http(false);
    let builder = hyper_rustls::HttpsConnectorBuilder::new().with_tls_config(tls::client_config(&settings.tls)?);
    Ok(builder.https_or_http().enable_http1().wrap_connector(inner))
}

fn connector() -> HttpConnector {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    connector
}

/// Makes a request ready, or says why it cannot be sent. A line break in a header is rejected here.
pub(crate) fn prepare(ask: HttpRequestParts<'_>) -> Result<Prepared, NoResponse> {
    let shown = || shorten(&escape_line(&without_password(ask.url)), 200).into_owned();
    let uri: Uri = ask.url.parse().map_err(|error| NoResponse {
        what: format!("`{}` is not an address: {error}", shown()),
        help: "write `http://host:port/path`".to_owned(),
    })?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) || uri.authority().is_none() {
        return Err(NoResponse {
            what: format!("`{}` is not an http or https URL", shown()),
            help: "write `http://…` or `https://…`".to_owned(),
        });
    }
    let mut request = Request::new(Full::new(ask.body));
    *request.method_mut() = ask.method;
    *request.uri_mut() = uri;
    let ours = ask.headers.iter().map(|field| (field, "the server chose it: it must be visible ASCII"));
    let wished = ask.wished.iter().map(|field| (field, "fix `headers:` of the server"));
    for ((name, value), help) in ours.chain(wished) {
        let bad = |what: &str| NoResponse {
            what: format!("the header field `{}` has {what} that cannot be sent", escape_line(name)),
            help: help.to_owned(),
        };
        let header = HeaderName::try_from(name.as_str()).map_err(|_| bad("a name"))?;
        let value = HeaderValue::try_from(value.as_str()).map_err(|_| bad("a value"))?;
        request.headers_mut().insert(header, value);
    }
    Ok(Prepared { request })
}

/// True if a header carries a secret that must not appear in a report.
pub(crate) fn is_secret(name: &str) -> bool {
    // Those of every request are not looked through for words.
    let is_plain = matches!(name, "accept" | "content-type" | "host" | "user-agent");
    matches!(name, "authorization" | "proxy-authorization" | "cookie" | "dpop")
        || (!is_plain
            && !name.starts_with("mcp-")
            && ["token", "secret", "api-key", "apikey"].iter().any(|word| name.contains(word)))
}

/// Says in one line why a connection failed.
fn explain(error: &(dyn Error + 'static), host: &str) -> NoResponse {
    let mut deepest: &(dyn Error + 'static) = error;
    let mut chain = Some(error);
    while let Some(link) = chain {
        deepest = link;
        if let Some(io) = link.downcast_ref::<io::Error>() {
            match io.kind() {
                io::ErrorKind::ConnectionRefused => {
                    return NoResponse {
                        what: format!("the connection to {host} was refused"),
                        help: "start the server, or fix the URL".to_owned(),
                    };
                }
                io::ErrorKind::ConnectionReset => {
                    return NoResponse {
                        what: format!("{host} reset the connection"),
                        help: "look into the server's log".to_owned(),
                    };
                }
                _ => {}
            }
        }
        if link.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_incomplete_message) {
            return NoResponse {
                what: format!("{host} closed the connection without an answer"),
                help: "look into the server's log: it may have crashed".to_owned(),
            };
        }
        if link.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_parse) {
            return NoResponse {
                what: format!("what {host} answered is not HTTP: {link}"),
                help: "check the port; if it speaks TLS, write `https://…`".to_owned(),
            };
        }
        chain = link.source();
    }
    let text = deepest.to_string();
    let lower = text.to_lowercase();
    if lower.contains("lookup") || lower.contains("name or service") || lower.contains("resolve") {
        return NoResponse {
            what: format!("the host of {host} could not be found: {text}"),
            help: "fix the URL".to_owned(),
        };
    }
    if lower.contains("certificate")
        || lower.contains("tls")
        || lower.contains("handshake")
        || lower.contains("corrupt")
    {
        return NoResponse {
            what: format!("TLS with {host} failed: {text}"),
            help: "check the certificate and whether the port speaks TLS; SSL_CERT_FILE adds roots".to_owned(),
        };
    }
    NoResponse {
        what: format!("the exchange with {host} failed: {text}"),
        help: "look into the server's log".to_owned(),
    }
}

/// The body of a response, up to a limit; `Err` holds what was read when the limit or an error came first.
pub(crate) async fn read_body(mut body: Incoming, limit: usize) -> Result<Bytes, (Bytes, String)> {
    let mut read = bytes::BytesMut::new();
    while let Some(frame) = body.frame().await {
        match frame {
            Ok(frame) => {
                if let Ok(data) = frame.into_data() {
                    if read.len() + data.len() > limit {
                        read.extend_from_slice(&data[..limit - read.len()]);
                        return Err((read.freeze(), format!("is longer than {}", size(limit))));
                    }
                    read.extend_from_slice(&data);
                }
            }
            Err(error) => return Err((read.freeze(), format!("breaks off: {}", deepest(&error)))),
        }
    }
    Ok(read.freeze())
}

/// A bound as people say it.
pub(super) fn size(bytes: usize) -> String {
    if bytes >= 1 << 20 { format!("{} MiB", bytes >> 20) } else { format!("{bytes} bytes") }
}

pub(super) fn deepest(error: &(dyn Error + 'static)) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

/// Header fields for the frame log.
pub(super) fn shown_headers(headers: &HeaderMap) -> Vec<(String, String)> {
    let shown = |(name, value): (&HeaderName, &HeaderValue)| {
        let text = if name == "set-cookie" { HIDDEN.to_owned() } else { text_of(value) };
        (name.as_str().to_owned(), text)
    };
    headers.iter().map(shown).collect()
}

/// One header of a response.
pub(crate) fn header(response: &Response<Incoming>, name: &str) -> Option<String> {
    response.headers().get(name).map(text_of)
}

fn text_of(value: &HeaderValue) -> String {
    value.to_str().map_or_else(|_| String::from_utf8_lossy(value.as_bytes()).into_owned(), str::to_owned)
}
