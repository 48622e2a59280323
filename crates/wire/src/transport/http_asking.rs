//! The request side of an exchange: its headers, its token, and its form in the log.

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::{Method, Response, StatusCode};
use mcprove_model::{Direction, WirePart, without_password};

use super::http_client::{HttpAsk, NoResponse, prepare, shown_headers};
use super::http_exchange::HttpExchange;

impl HttpExchange {
    pub(super) async fn post(&self, body: Bytes) -> Result<Response<Incoming>, NoResponse> {
        let headers = vec![
            ("content-type".to_owned(), "application/json".to_owned()),
            ("accept".to_owned(), "application/json, text/event-stream".to_owned()),
        ];
        self.ask(Method::POST, headers, body).await
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
        let headers = self.headers.iter().cloned().chain(more).collect();
        let shown = method.as_str().to_owned();
        let prepared = prepare(HttpAsk { method, url: &self.url, headers, wished: &self.wished, body })?;
        let headers = prepared.shown_headers();
        let url = without_password(&self.url).into_owned();
        let part = WirePart::HttpRequest { exchange: self.number, method: shown, url, headers };
        self.log(Direction::Sent, part, Bytes::new()).await;
        let response = self.client.send(prepared).await?;
        let status = response.status().as_u16();
        let part = WirePart::HttpResponse { exchange: self.number, status, headers: shown_headers(&response) };
        self.log(Direction::Received, part, Bytes::new()).await;
        Ok(response)
    }
}
