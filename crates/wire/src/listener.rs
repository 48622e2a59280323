//! A socket that clients connect to, for those who pretend to be a server.

use std::io;
use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpStream};

/// A listening socket.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
}

impl Listener {
    /// Listens at `HOST:PORT`; port 0 takes any that is free.
    pub async fn bind(address: &str) -> io::Result<Self> {
        let socket = TcpListener::bind(address).await?;
        let address = socket.local_addr()?;
        Ok(Self { socket, address })
    }

    /// The socket address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The next client.
    pub async fn accept(&self) -> io::Result<TcpStream> {
        let (stream, _) = self.socket.accept().await?;
        // Answers are small and awaited: send them at once.
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}
