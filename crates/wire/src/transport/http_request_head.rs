//! The request side of an exchange: its headers, its token, and its form in the log.

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::{Method, Response, StatusCode};
use mcprove_model::{Direction, WirePart, without_password};

use super::http_client::{HttpRequestParts, NoResponse, header, is_secret, prepare, shown_headers};
use super::http_direct_head::DirectHead;
use super::http_exchange::HttpExchange;
use super::http_replay::Replay;
use super::sse::{origin, resolve};

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
    pub(super) async fn replayed(&self, replay: Replay) -> Result<Response<Incoming>, NoResponse> {
        let response = self.client.replay(replay, &self.url).await?;
        self.log_response(&response).await;
        Ok(response)
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

    /// Asks, with a token where there are such; one that the server no longer takes is replaced once.
    pub(super) async fn ask(
        &self,
        method: Method,
        more: Vec<(String, String)>,
        body: Bytes,
    ) -> Result<Response<Incoming>, NoResponse> {
        let Some(tokens) = self.client.tokens() else { return self.ask_once(method, more, body).await };
        let token = tokens.token(&self.client).await?;
        let with = |token: &str| {
            let field = ("authorization".to_owned(), format!("Bearer {token}"));
            more.iter().cloned().chain([field]).collect()
        };
        let response = self.ask_once(method.clone(), with(&token), body.clone()).await?;
        if response.status() != StatusCode::UNAUTHORIZED {
            return Ok(response);
        }
        let token = tokens.instead_of(&token, &self.client).await?;
        self.ask_once(method, with(&token), body).await
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
            match redirect(&response).filter(|_| followed < self.client.max_redirects()) {
                Some(location) => url = resolve(&url, &location),
                None => return Ok(response),
            }
        }
        unreachable!("the number of redirects is bounded")
    }
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
