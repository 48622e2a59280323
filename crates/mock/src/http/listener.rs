//! The one socket that the mock listens on.

use std::io;

use mcprove_wire::Listener;
use tokio::io::{AsyncRead, AsyncWrite};

/// The path of the endpoint.
pub(super) const PATH: &str = "/mcp";

/// An open HTTP listener.
#[derive(Debug)]
pub struct HttpListener(Listener);

impl HttpListener {
    /// Listens at `HOST:PORT`, or at a port of this machine; port 0 takes any that is free.
    pub async fn open(address: &str) -> io::Result<Self> {
        let address = match address.strip_prefix(':').unwrap_or(address).parse::<u16>() {
            Ok(port) => format!("127.0.0.1:{port}"),
            Err(_) => address.to_owned(),
        };
        Ok(Self(Listener::bind(&address).await?))
    }

    /// The URL for clients.
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.0.address())
    }

    /// The URL without its path.
    pub fn origin(&self) -> String {
        format!("http://{}", self.0.address())
    }

    /// True if only this machine can come in.
    pub fn is_local(&self) -> bool {
        self.0.address().ip().is_loopback()
    }

    pub(super) async fn accept(&self) -> io::Result<impl AsyncRead + AsyncWrite + Unpin + Send + use<>> {
        self.0.accept().await
    }
}
