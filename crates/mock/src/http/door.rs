//! Where clients come in: the one socket the mock listens on.

use std::io;
use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpStream};

/// The path of the endpoint.
pub(super) const PATH: &str = "/mcp";

/// An open door.
#[derive(Debug)]
pub struct Door {
    listener: TcpListener,
    address: SocketAddr,
}

impl Door {
    /// Opens a door at `HOST:PORT`, or at a port of this machine; port 0 takes any that is free.
    pub async fn open(address: &str) -> io::Result<Self> {
        let address = match address.strip_prefix(':').unwrap_or(address).parse::<u16>() {
            Ok(port) => format!("127.0.0.1:{port}"),
            Err(_) => address.to_owned(),
        };
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// The address clients use.
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Whether only this machine can come in.
    pub(super) fn is_local(&self) -> bool {
        self.address.ip().is_loopback()
    }

    pub(super) async fn accept(&self) -> io::Result<TcpStream> {
        let (stream, _) = self.listener.accept().await?;
        // Answers are small and awaited: send them at once.
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}
