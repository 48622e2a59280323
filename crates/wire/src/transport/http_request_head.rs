//! The request side of an exchange: its headers, its token, and its form in the log.

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::{Method, Response};
use mcprove_model::{Direction, WirePart, without_password};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::oauth::{LoginLog, LoginPart, Presented, Remedies, TokenRefusal};

use super::http_client::{HttpRequestParts, NoResponse, header, is_secret, prepare, shown_headers};
use super::http_direct_head::DirectHead;
use super::http_exchange::HttpExchange;
use super::http_replay::Replay;
use super::sse::{origin, resolve};

/// Maximum number of refusals of one request after which another token is tried.
const REFUSALS: usize = 4;

impl HttpExchange {
    pub(super) async fn post(&self, body: Bytes) -> Result<Response<Incoming>, NoResponse> {
        self.ask(Method::POST, post_headers(), body).await
    }

    /// The head of direct requests; `None` where a header cannot be sent.
    pub(super) fn direct_head(&self) -> Option<DirectHead> {
        let headers = self.headers.iter().cloned().chain(post_headers()).collect();
        let (method, url, wished, body) = (Method::POST, self.url.as_str(), &self.wished[..], Bytes::new());
        let prepared = prepare(HttpRequestParts { method, url, headers, wished, body }).ok()?;
        Some(DirectHead::new(&prepared, url))
    }

    /// The response to a direct request, from its connection.
    pub(super) async fn replayed(&self, replay: Replay, body: Bytes) -> Result<Response<Incoming>, NoResponse> {
        let response = self.client.replay(replay, &self.url).await?;
        self.log_response(&response).await;
        // A server may begin to want a login at any time.
        Box::pin(self.ask_again(response, None, Method::POST, post_headers(), body)).await
    }

    async fn log_response(&self, response: &Response<Incoming>) {
        let (status, headers) = (response.status().as_u16(), shown_headers(response.headers()).into());
        let part = WirePart::HttpResponse { exchange: self.number, status, headers };
        self.log(Direction::Received, part, Bytes::new()).await;
    }

    pub(super) async fn get(&self, last_id: Option<&str>) -> Result<Response<Incoming>, NoResponse> {
        let mut headers = vec![("accept".to_owned(), "text/event-stream".to_owned())];
        headers.extend(last_id.map(|id| ("last-event-id".to_owned(), id.to_owned())));
        self.ask(Method::GET, headers, Bytes::new()).await
    }

    /// Asks, with a token where there are such; one that the server refuses is replaced, as far as that is possible.
    pub(super) async fn ask(
        &self,
        method: Method,
        more: Vec<(String, String)>,
        body: Bytes,
    ) -> Result<Response<Incoming>, NoResponse> {
        let Some(tokens) = self.client.tokens() else { return self.ask_once(method, more, body).await };
        let (log, parts) = LoginLog::new(self.number);
        let token = self.while_logging(tokens.token(&self.client, &log), parts).await?;
        let headers = with_token(&more, token.as_ref(), &method, &self.url);
        let response = self.ask_once(method.clone(), headers, body.clone()).await?;
        self.ask_again(response, token, method, more, body).await
    }

    /// Asks again for as long as there is another token in the place of one that was refused.
    async fn ask_again(
        &self,
        mut response: Response<Incoming>,
        mut token: Option<Presented>,
        method: Method,
        more: Vec<(String, String)>,
        body: Bytes,
    ) -> Result<Response<Incoming>, NoResponse> {
        let Some(tokens) = self.client.tokens() else { return Ok(response) };
        let mut remedies = Remedies::default();
        for _ in 0..REFUSALS {
            let Some(refusal) = TokenRefusal::of(&response) else { break };
            let (log, parts) = LoginLog::new(self.number);
            let asked = tokens.instead_of(token.as_ref(), &refusal, &mut remedies, &self.client, &log);
            let Some(next) = self.while_logging(asked, parts).await? else { break };
            let headers = with_token(&more, Some(&next), &method, &self.url);
            response = self.ask_once(method.clone(), headers, body.clone()).await?;
            token = Some(next);
        }
        Ok(response)
    }

    /// Waits for a login, and logs its exchanges as they come.
    async fn while_logging<T>(&self, login: impl Future<Output = T>, mut parts: UnboundedReceiver<LoginPart>) -> T {
        tokio::pin!(login);
        let done = loop {
            tokio::select! {
                biased;
                Some(LoginPart { direction, part, body }) = parts.recv() => self.log(direction, part, body).await,
                done = &mut login => break done,
            }
        };
        while let Ok(LoginPart { direction, part, body }) = parts.try_recv() {
            self.log(direction, part, body).await;
        }
        done
    }

    async fn ask_once(
        &self,
        method: Method,
        more: Vec<(String, String)>,
        body: Bytes,
    ) -> Result<Response<Incoming>, NoResponse> {
        let headers: Vec<_> = self.headers.iter().cloned().chain(more).collect();
        let mut url = self.url.clone();
        for followed in 0.. {
            let is_home = origin(&url) == origin(&self.url);
            // Credentials are for the host that the suite names, and for no other.
            let is_kept = |(name, _): &(String, String)| is_home || !is_secret(name) && name != "mcp-session-id";
            let headers = headers.iter().filter(|header| is_kept(header)).cloned().collect();
            let wished = if is_home { &self.wished[..] } else { &[] };
            let ask = HttpRequestParts { method: method.clone(), url: &url, headers, wished, body: body.clone() };
            let mut prepared = prepare(ask)?;
            if is_home {
                self.client.sign(&mut prepared, &body);
            }
            let headers = prepared.shown_headers();
            let shown = without_password(&url).into_owned();
            let part = WirePart::HttpRequest {
                exchange: self.number,
                method: method.as_str().to_owned(),
                url: shown,
                headers: headers.into(),
            };
            self.log(Direction::Sent, part, Bytes::new()).await;
            let response = self.client.send(prepared).await?;
            self.log_response(&response).await;
            let next = redirect(&response).map(|location| resolve(&url, &location));
            match next.filter(|next| followed < self.client.max_redirects() && self.client.follows(&self.url, next)) {
                Some(next) => url = next,
                None => return Ok(response),
            }
        }
        unreachable!("the number of redirects is bounded")
    }
}

fn with_token(
    more: &[(String, String)],
    token: Option<&Presented>,
    method: &Method,
    url: &str,
) -> Vec<(String, String)> {
    let fields = token.map(|token| token.headers(method.as_str(), url)).unwrap_or_default();
    more.iter().cloned().chain(fields).collect()
}

fn post_headers() -> Vec<(String, String)> {
    vec![
        ("content-type".to_owned(), "application/json".to_owned()),
        ("accept".to_owned(), "application/json, text/event-stream".to_owned()),
    ]
}

/// Where a response sends the same request; 303 asks for another method, which no MCP request has.
fn redirect(response: &Response<Incoming>) -> Option<String> {
    matches!(response.status().as_u16(), 301 | 302 | 307 | 308).then(|| header(response, "location"))?
}
