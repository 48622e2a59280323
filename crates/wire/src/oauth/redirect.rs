//! The end of a login in the browser: a page on this machine that takes the code.

use std::io;
use std::time::Duration;

use mcprove_model::escape_text;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::Listener;

/// The path of the page.
const PATH: &str = "/callback";
/// Longest head of a request.
const LONGEST: usize = 32 << 10;
/// Time that a browser may take to send its request.
const PATIENCE: Duration = Duration::from_secs(5);

/// The URL that browsers come back to; loopback redirects are by number (RFC 8252 section 8.3).
pub(super) fn redirect_uri(port: u16) -> String {
    format!("http://127.0.0.1:{port}{PATH}")
}

/// A page that waits for the browser.
#[derive(Debug)]
pub(super) struct RedirectPage {
    listener: Listener,
}

impl RedirectPage {
    /// Listens on a port of this machine; any that is free if there is no wish, or the one that was wished for is taken.
    pub(super) async fn open(port: Option<u16>, is_required: bool) -> io::Result<Self> {
        let listener = match Listener::bind(&format!("127.0.0.1:{}", port.unwrap_or(0))).await {
            Err(_) if port.is_some() && !is_required => Listener::bind("127.0.0.1:0").await?,
            bound => bound?,
        };
        Ok(Self { listener })
    }

    pub(super) fn port(&self) -> u16 {
        self.listener.address().port()
    }

    /// Waits for the browser; `judge` reads the query and decides on the page that is shown.
    pub(super) async fn wait<T>(
        &self,
        judge: impl Fn(&str) -> Result<T, mcprove_model::oauth::LoginObstacle>,
    ) -> Result<T, mcprove_model::oauth::LoginObstacle> {
        loop {
            let Ok(mut stream) = self.listener.accept().await else { continue };
            let Ok(Some(target)) = timeout(PATIENCE, read_target(&mut stream)).await else { continue };
            let (path, query) = target.split_once('?').unwrap_or((&target, ""));
            if path != PATH {
                reply(&mut stream, "404 Not Found", "nothing here").await;
                continue;
            }
            let judged = judge(query);
            let text = match &judged {
                Ok(_) => "You are logged in. You can close this window and go back to the terminal.".to_owned(),
                Err(obstacle) => format!("The login failed: {}", obstacle.what),
            };
            reply(&mut stream, if judged.is_ok() { "200 OK" } else { "400 Bad Request" }, &text).await;
            return judged;
        }
    }
}

/// The target of a GET request.
async fn read_target(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut buffer = [0; 4096];
    while !head.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
        let read = stream.read(&mut buffer).await.ok()?;
        if read == 0 || head.len() + read > LONGEST {
            return None;
        }
        head.extend_from_slice(&buffer[..read]);
    }
    let line = String::from_utf8_lossy(&head).lines().next()?.to_owned();
    let mut words = line.split(' ');
    let method = words.next()?;
    words.next().filter(|_| method == "GET").map(str::to_owned)
}

async fn reply(stream: &mut TcpStream, status: &str, text: &str) {
    let text = escape_text(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>mcprove</title>\
         <body style=\"font-family: sans-serif; margin: 3em\"><main><h1>mcprove</h1><p id=\"outcome\">{text}</p></main></body></html>\n"
    );
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\ncache-control: no-store\r\n\
         content-security-policy: default-src 'none'; style-src 'unsafe-inline'\r\nreferrer-policy: no-referrer\r\n\
         connection: close\r\n\r\n",
        page.len()
    );
    // A browser that went away has seen enough.
    let _ = stream.write_all(format!("{head}{page}").as_bytes()).await;
    let _ = stream.shutdown().await;
}
