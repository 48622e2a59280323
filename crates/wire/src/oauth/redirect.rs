//! The end of a login in the browser: a page on this machine that takes the code.

use std::io;
use std::time::Duration;

use mcprove_model::escape_text;
use mcprove_model::oauth::LoginObstacle;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::Listener;

/// The path of the page.
const PATH: &str = "/callback";
/// Longest head of a request.
const LONGEST: usize = 32 << 10;
/// Connections that are read at a time: a browser opens some that it does not use.
const CONNECTIONS: usize = 64;
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

    /// Waits for the browser until the deadline; `judge` reads the query and decides on the page that is shown. A request
    /// that is not an answer to ours does not end the wait: any page may make one. It is the error if nothing better comes.
    pub(super) async fn wait<T>(
        &self,
        deadline: Instant,
        is_ours: impl Fn(&str) -> bool,
        judge: impl Fn(&str) -> Result<T, LoginObstacle>,
    ) -> Result<T, Option<LoginObstacle>> {
        let (mut reading, mut strange) = (JoinSet::new(), None);
        loop {
            let read = tokio::select! {
                () = sleep_until(deadline) => return Err(strange),
                accepted = self.listener.accept(), if reading.len() < CONNECTIONS => {
                    let Ok(mut stream) = accepted else {
                        // Most likely there are too many connections.
                        sleep(Duration::from_millis(50)).await;
                        continue;
                    };
                    reading.spawn(async move {
                        let target = timeout(PATIENCE, read_target(&mut stream)).await.ok()??;
                        Some((stream, target))
                    });
                    continue;
                }
                Some(read) = reading.join_next() => read,
            };
            let Ok(Some((mut stream, target))) = read else { continue };
            let (path, query) = target.split_once('?').unwrap_or((&target, ""));
            if path != PATH {
                reply(&mut stream, "404 Not Found", "nothing here").await;
                continue;
            }
            let judged = judge(query);
            if !is_ours(query) {
                reply(&mut stream, "400 Bad Request", "This is not the answer to the login that waits here.").await;
                strange = judged.err();
                continue;
            }
            let text = match &judged {
                Ok(_) => "You are logged in. You can close this window and go back to the terminal.".to_owned(),
                Err(obstacle) => format!("The login failed: {}", obstacle.what),
            };
            reply(&mut stream, if judged.is_ok() { "200 OK" } else { "400 Bad Request" }, &text).await;
            return judged.map_err(Some);
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

#[cfg(test)]
mod tests {
    use super::*;
    use mcprove_model::oauth::LoginStep;

    fn judge(query: &str) -> Result<String, LoginObstacle> {
        let wrong = || LoginObstacle::new(LoginStep::Authorization, "another state", "log in again");
        query.strip_prefix("right=").map(str::to_owned).ok_or_else(wrong)
    }

    async fn visit(port: u16, query: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await.expect("connected");
        let head = format!("GET {PATH}?{query} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n");
        stream.write_all(head.as_bytes()).await.expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("an answer");
        answer
    }

    #[tokio::test]
    async fn other_pages_and_idle_connections_do_not_end_a_login() {
        let page = RedirectPage::open(None, false).await.expect("a page");
        let port = page.port();
        let deadline = Instant::now() + Duration::from_secs(60);
        let waited = page.wait(deadline, |query| query.starts_with("right="), judge);
        let browsing = async {
            let mut idle = Vec::new();
            for _ in 0..20 {
                idle.push(TcpStream::connect(("127.0.0.1", port)).await.expect("connected"));
            }
            let guess = visit(port, "wrong=x").await;
            (guess, visit(port, "right=code").await, idle.len())
        };
        let (waited, (guess, right, _)) = tokio::join!(waited, browsing);
        assert_eq!(waited.ok(), Some("code".to_owned()));
        assert!(guess.starts_with("HTTP/1.1 400") && right.starts_with("HTTP/1.1 200"), "{guess}\n{right}");
    }

    #[tokio::test]
    async fn an_answer_with_another_state_is_the_error_when_nothing_better_comes() {
        let page = RedirectPage::open(None, false).await.expect("a page");
        let port = page.port();
        let deadline = Instant::now() + Duration::from_millis(300);
        let waited = page.wait(deadline, |query| query.starts_with("right="), judge);
        let (waited, _) = tokio::join!(waited, visit(port, "wrong=x"));
        assert_eq!(waited.expect_err("no login").map(|obstacle| obstacle.what), Some("another state".to_owned()));
    }
}
