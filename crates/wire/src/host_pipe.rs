//! Pipes of a server over a socket on this machine: a client starts the near end, the observer serves the far end.

use std::io;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use crate::Listener;

/// The longest key.
const LONGEST: u64 = 256;

/// Connects a pair of pipes with the observer at an address; the key is sent first.
pub async fn connect_pipe(
    address: &str,
    key: &str,
    mut input: impl AsyncRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (mut from, mut to) = stream.into_split();
    to.write_all(format!("{key}\n").as_bytes()).await?;
    let up = async {
        let copied = copy(&mut input, &mut to).await;
        let _ = to.shutdown().await;
        copied
    };
    let down = copy(&mut from, &mut output);
    tokio::pin!(up, down);
    // The server's end of the conversation is the end of the process; a client that leaves waits for it.
    tokio::select! {
        copied = &mut down => copied,
        copied = &mut up => {
            copied?;
            down.await
        }
    }
}

async fn copy(from: &mut (impl AsyncRead + Unpin), to: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
    let mut chunk = vec![0; 64 << 10];
    loop {
        let count = from.read(&mut chunk).await?;
        if count == 0 {
            return Ok(());
        }
        to.write_all(&chunk[..count]).await?;
        to.flush().await?;
    }
}

/// The next pipe whose near end knows the key; others are refused.
pub async fn accept_pipe(
    listener: &Listener,
    key: &str,
) -> io::Result<impl AsyncRead + AsyncWrite + Unpin + Send + 'static> {
    loop {
        let stream = listener.accept().await?;
        let mut stream = BufReader::new(stream);
        let mut line = Vec::new();
        let read = (&mut stream).take(LONGEST).read_until(b'\n', &mut line).await;
        if read.is_ok() && line.trim_ascii() == key.as_bytes() {
            return Ok(stream);
        }
    }
}
