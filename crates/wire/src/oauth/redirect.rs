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

    /// Waits for the browser until the deadline; `judge` reads the query. A browser with a code waits for the page, which shows how
    /// the login ended. A request that is not an answer to ours does not end the wait: any page may make one. It is the
    /// error if nothing better comes.
    pub(super) async fn wait<T>(
        &self,
        deadline: Instant,
        is_ours: impl Fn(&str) -> bool,
        judge: impl Fn(&str) -> Result<T, LoginObstacle>,
    ) -> Result<(T, WaitingBrowser), Option<LoginObstacle>> {
        // Browsers open connections before they need them, and some stay idle.
        let (mut reading, mut strange) = (JoinSet::new(), None);
        loop {
            let read = tokio::select! {
                () = sleep_until(deadline) => return Err(strange),
                accepted = self.listener.accept(), if reading.len() < CONNECTIONS => {
                    match accepted {
                        Ok(stream) => drop(reading.spawn(timeout(PATIENCE, read_target(stream)))),
                        // Most likely there are too many connections.
                        Err(_) => sleep(Duration::from_millis(50)).await,
                    }
                    continue;
                }
                Some(read) = reading.join_next() => read,
            };
            let Ok(Ok(Some((stream, target)))) = read else { continue };
            let browser = WaitingBrowser { stream };
            let (path, query) = target.split_once('?').unwrap_or((&target, ""));
            if path != PATH {
                browser.reply("404 Not Found", "nothing here").await;
                continue;
            }
            let judged = judge(query);
            if !is_ours(query) {
                browser.reply("400 Bad Request", "This is not the answer to the login that waits here.").await;
                strange = judged.err();
                continue;
            }
            return match judged {
                Ok(value) => Ok((value, browser)),
                Err(obstacle) => {
                    browser.show(&Err::<(), _>(obstacle.clone())).await;
                    Err(Some(obstacle))
                }
            };
        }
    }
}

/// A browser that waits for the last page of a login.
#[derive(Debug)]
pub(super) struct WaitingBrowser {
    stream: TcpStream,
}

impl WaitingBrowser {
    /// Shows the outcome of the login.
    pub(super) async fn show<T>(self, outcome: &Result<T, LoginObstacle>) {
        match outcome {
            Ok(_) => {
                let text = "You are logged in. You can close this window and go back to the terminal.";
                self.reply("200 OK", text).await;
            }
            Err(obstacle) => self.reply("400 Bad Request", &format!("The login failed: {}", obstacle.what)).await,
        }
    }

    async fn reply(mut self, status: &str, text: &str) {
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
        let _ = self.stream.write_all(format!("{head}{page}").as_bytes()).await;
        let _ = self.stream.shutdown().await;
    }
}

/// The target of a GET request, and its connection.
async fn read_target(mut stream: TcpStream) -> Option<(TcpStream, String)> {
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
    let target = words.next().filter(|_| method == "GET")?.to_owned();
    Some((stream, target))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn visit(port: u16, request: &str) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await.expect("a connection");
        stream.write_all(request.as_bytes()).await.expect("sent");
        stream
    }

    async fn answer(mut stream: TcpStream) -> String {
        let mut text = String::new();
        stream.read_to_string(&mut text).await.expect("text");
        text
    }

    #[tokio::test]
    async fn idle_connections_and_other_paths_do_not_hold_the_login_up() {
        let page = RedirectPage::open(None, false).await.expect("a page");
        let idle = visit(page.port(), "").await;
        let half = visit(page.port(), "GET /call").await;
        let icon = visit(page.port(), "GET /favicon.ico HTTP/1.1\r\n\r\n").await;
        let posted = visit(page.port(), "POST /callback?code=no HTTP/1.1\r\n\r\n").await;
        let back = visit(page.port(), "GET /callback?code=c HTTP/1.1\r\nhost: x\r\n\r\n").await;
        // Far less than the time that an idle connection has.
        let waited = page.wait(Instant::now() + PATIENCE / 2, |_| true, |query| Ok(query.to_owned())).await;
        let (query, browser) = waited.expect("nothing holds it up");
        assert_eq!(query, "code=c");
        let refused = LoginObstacle::new(mcprove_model::oauth::LoginStep::Token, "no <token>", "");
        browser.show(&Err::<(), _>(refused)).await;
        let text = answer(back).await;
        assert!(text.starts_with("HTTP/1.1 400") && text.contains("The login failed: no &lt;token&gt;"), "{text}");
        drop((idle, half, icon, posted));
    }

    fn judge(query: &str) -> Result<String, LoginObstacle> {
        let wrong =
            || LoginObstacle::new(mcprove_model::oauth::LoginStep::Authorization, "another state", "log in again");
        query.strip_prefix("right=").map(str::to_owned).ok_or_else(wrong)
    }

    async fn browse(port: u16, query: &str) -> String {
        answer(visit(port, &format!("GET {PATH}?{query} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")).await).await
    }

    #[tokio::test]
    async fn other_pages_and_idle_connections_do_not_end_a_login() {
        let page = RedirectPage::open(None, false).await.expect("a page");
        let port = page.port();
        let deadline = Instant::now() + Duration::from_mins(1);
        let waited = async {
            let waited = page.wait(deadline, |query| query.starts_with("right="), judge).await;
            let (code, browser) = waited.map_err(|_| "no code")?;
            browser.show(&Ok::<(), LoginObstacle>(())).await;
            Ok::<_, &str>(code)
        };
        let browsing = async {
            let mut idle = Vec::new();
            for _ in 0..20 {
                idle.push(TcpStream::connect(("127.0.0.1", port)).await.expect("connected"));
            }
            let guess = browse(port, "wrong=x").await;
            (guess, browse(port, "right=code").await, idle.len())
        };
        let (waited, (guess, right, _)) = tokio::join!(waited, browsing);
        assert_eq!(waited, Ok("code".to_owned()));
        assert!(guess.starts_with("HTTP/1.1 400") && right.starts_with("HTTP/1.1 200"), "{guess}\n{right}");
    }

    #[tokio::test]
    async fn an_answer_with_another_state_is_the_error_when_nothing_better_comes() {
        let page = RedirectPage::open(None, false).await.expect("a page");
        let port = page.port();
        let deadline = Instant::now() + Duration::from_millis(300);
        let waited = page.wait(deadline, |query| query.starts_with("right="), judge);
        let (waited, _) = tokio::join!(waited, browse(port, "wrong=x"));
        let obstacle = waited.map(|_| ()).expect_err("no login");
        assert_eq!(obstacle.map(|obstacle| obstacle.what), Some("another state".to_owned()));
    }
}
