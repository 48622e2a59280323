//! The token of every request to a server behind a login: kept, renewed, and replaced when it is refused.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::HeaderValue;
use hyper::{Response, StatusCode};
use mcprove_model::oauth::{
    Challenge, LoginObstacle, LoginRecord, OauthSettings, bearer_challenge, step_up_scopes, wants_dpop_nonce,
};
use mcprove_model::without_password;
use tokio::time::{Instant, sleep};

use super::dpop::{Proof, unix_seconds};
use super::exchanges::LoginLog;
use super::host::{LoginHost, LoginLock};
use super::jwt::JwtKey;
use super::login::{LoginRequest, log_in, refresh};
use crate::transport::HttpClient;
use crate::transport::http_client::NoResponse;

/// Time that a browser has in a run.
const IN_A_RUN: Duration = Duration::from_mins(2);
/// Time for which another process may hold the lock, and the pause between two tries to get it.
const LOCKED: Duration = Duration::from_secs(15);
const BETWEEN_TRIES: Duration = Duration::from_millis(20);
/// Maximum number of logins for more scopes.
const STEP_UPS: usize = 3;

/// The login at one server.
#[derive(Debug)]
pub struct LoginSource {
    server: String,
    settings: OauthSettings,
    host: Arc<dyn LoginHost>,
    /// Held while a token is renewed, so that concurrent requests renew it once.
    state: tokio::sync::Mutex<State>,
    /// True once there is a token.
    has_token: AtomicBool,
    /// True from the beginning of a login to its end.
    is_open: AtomicBool,
    given: Arc<Mutex<Vec<String>>>,
}

#[derive(Debug, Default)]
struct State {
    /// True if kept logins were looked through.
    is_loaded: bool,
    record: Option<LoginRecord>,
    key: Option<Arc<JwtKey>>,
    /// The nonce that the server asked for.
    nonce: Option<String>,
    step_ups: usize,
    /// True once the user knows that a token was not renewed.
    is_renewal_reported: bool,
    /// The reason for which the last login failed: it is not made again.
    failed: Option<LoginObstacle>,
}

/// A token as a request carries it.
#[derive(Clone, Debug)]
pub(crate) struct Presented {
    token: String,
    /// The key it is bound to, and the nonce that the server asked for.
    bound: Option<(Arc<JwtKey>, Option<String>)>,
}

impl Presented {
    /// The headers of a request.
    pub(crate) fn headers(&self, method: &str, url: &str) -> Vec<(String, String)> {
        let scheme = if self.bound.is_some() { "DPoP" } else { "Bearer" };
        let mut headers = vec![("authorization".to_owned(), format!("{scheme} {}", self.token))];
        if let Some((key, nonce)) = &self.bound {
            let proof = Proof { method, url, token: Some(&self.token), nonce: nonce.as_deref() };
            headers.push(("dpop".to_owned(), proof.signed(key)));
        }
        headers
    }

    /// A bearer token.
    pub(crate) fn bearer(token: String) -> Self {
        Self { token, bound: None }
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }
}

/// Steps taken for one request after its token was refused: nothing is done twice.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Remedies {
    renewed: bool,
    logged_in: bool,
}

impl Remedies {
    /// True once.
    pub(crate) fn is_first_renewal(&mut self) -> bool {
        !std::mem::replace(&mut self.renewed, true)
    }
}

/// A response that asks for another token.
#[derive(Clone, Debug)]
pub(crate) struct TokenRefusal {
    status: StatusCode,
    challenge: Option<Challenge>,
    nonce: Option<String>,
    wants_nonce: bool,
}

impl TokenRefusal {
    /// The refusal in a response, if it is one.
    pub(crate) fn of(response: &Response<Incoming>) -> Option<Self> {
        let status = response.status();
        if status != StatusCode::UNAUTHORIZED && status != StatusCode::FORBIDDEN {
            return None;
        }
        let headers = response.headers();
        let texts = || headers.get_all("www-authenticate").iter().filter_map(|value| value.to_str().ok());
        let challenge = bearer_challenge(texts());
        let wants_scope = challenge.as_ref().is_some_and(Challenge::wants_scope);
        if status == StatusCode::FORBIDDEN && !wants_scope {
            return None;
        }
        let nonce = headers.get("dpop-nonce").and_then(|value: &HeaderValue| value.to_str().ok()).map(str::to_owned);
        Some(Self { status, challenge, nonce, wants_nonce: wants_dpop_nonce(texts()) })
    }

    pub(crate) fn is_unauthorized(&self) -> bool {
        self.status == StatusCode::UNAUTHORIZED
    }
}

impl LoginSource {
    /// A login that is made when a server asks for it.
    pub fn new(
        server: &str,
        settings: &OauthSettings,
        host: Arc<dyn LoginHost>,
        given: Arc<Mutex<Vec<String>>>,
    ) -> Self {
        Self {
            server: server.to_owned(),
            settings: settings.clone(),
            host,
            state: tokio::sync::Mutex::default(),
            has_token: AtomicBool::new(false),
            is_open: AtomicBool::new(false),
            given,
        }
    }

    pub(crate) fn is_for(&self, server: &str, settings: &OauthSettings) -> bool {
        self.server == server && self.settings == *settings
    }

    /// True if requests carry a token, as far as is known.
    pub fn has_token(&self) -> bool {
        self.has_token.load(Ordering::Relaxed)
    }

    /// True if a login was begun and not waited for.
    pub fn was_interrupted(&self) -> bool {
        self.is_open.swap(false, Ordering::Relaxed)
    }

    /// Looks for a kept login, unless a request does that already.
    pub fn load(&self) {
        if let Ok(mut state) = self.state.try_lock() {
            self.loaded(&mut state);
        }
    }

    /// The token of the next request, if there is one.
    pub(crate) async fn token(&self, client: &HttpClient, log: &LoginLog) -> Result<Option<Presented>, NoResponse> {
        let mut state = self.state.lock().await;
        self.loaded(&mut state);
        let Some(record) = &state.record else { return Ok(None) };
        let is_old = record.renew_at.is_some_and(|at| unix_seconds() >= at);
        if is_old && !self.renew(&mut state, client, log).await {
            state.record = None;
        }
        Ok(presented(&state))
    }

    /// Another token in the place of one that the server refused; `None` if there is nothing to try.
    pub(crate) async fn instead_of(
        &self,
        refused: Option<&Presented>,
        refusal: &TokenRefusal,
        remedies: &mut Remedies,
        client: &HttpClient,
        log: &LoginLog,
    ) -> Result<Option<Presented>, NoResponse> {
        let mut state = self.state.lock().await;
        // The user may have logged in meanwhile.
        let has_record = state.record.is_some();
        state.is_loaded &= has_record;
        self.loaded(&mut state);
        if let Some(nonce) = refusal.nonce.as_ref().filter(|_| refusal.wants_nonce) {
            // The same nonce twice means that it did not help.
            let is_new =
                refused.and_then(|token| token.bound.as_ref()).is_some_and(|(_, sent)| sent.as_ref() != Some(nonce));
            state.nonce = Some(nonce.clone());
            return Ok(presented(&state).filter(|_| is_new));
        }
        let current = presented(&state);
        if let Some(current) = current.filter(|current| refused.is_none_or(|refused| refused.token != current.token)) {
            // Another request got it already.
            return Ok(Some(current));
        }
        let is_step_up = refusal.status == StatusCode::FORBIDDEN;
        if is_step_up {
            let asked = state.record.as_ref().map(|record| record.asked.clone()).unwrap_or_default();
            let more = refusal.challenge.as_ref().and_then(|challenge| step_up_scopes(&asked, challenge));
            state.step_ups += 1;
            if more.is_none() || state.step_ups > STEP_UPS {
                return Ok(None);
            }
        } else if remedies.logged_in {
            return Ok(None);
        } else if remedies.is_first_renewal() && self.renew(&mut state, client, log).await {
            return Ok(presented(&state));
        }
        let may_ask = self.settings.is_unattended() || self.settings.browser || is_step_up && self.host.has_person();
        if !may_ask {
            return Ok(None);
        }
        if let Some(failed) = state.failed.as_ref().filter(|_| !is_step_up) {
            return Err(no_response(failed));
        }
        remedies.logged_in = true;
        let challenge = Some(refusal.challenge.clone().unwrap_or_default());
        match self.make(&mut state, challenge, client, log, IN_A_RUN).await {
            Ok(()) => Ok(presented(&state)),
            Err(obstacle) => {
                let answer = no_response(&obstacle);
                state.failed = Some(obstacle);
                Err(answer)
            }
        }
    }

    /// Makes a login with the person at the terminal, who may take some minutes.
    pub async fn log_in(&self, client: &HttpClient, patience: Duration) -> Result<(), LoginObstacle> {
        let mut state = self.state.lock().await;
        self.make(&mut state, None, client, &LoginLog::default(), patience).await
    }

    /// True if a person may be asked to sign in when the server wants a login.
    pub fn can_ask(&self) -> bool {
        !self.settings.is_unattended() && !self.settings.browser && self.host.has_person()
    }

    async fn make(
        &self,
        state: &mut State,
        challenge: Option<Challenge>,
        client: &HttpClient,
        log: &LoginLog,
        patience: Duration,
    ) -> Result<(), LoginObstacle> {
        let request = LoginRequest {
            server: &self.server,
            settings: &self.settings,
            challenge,
            previous: state.record.as_ref(),
            host: &self.host,
            patience,
        };
        self.is_open.store(true, Ordering::Relaxed);
        let made = log_in(&request, client, log).await;
        self.is_open.store(false, Ordering::Relaxed);
        let record = made?;
        self.keep(state, record, !self.settings.is_unattended());
        Ok(())
    }

    /// Renews the tokens; false where that is not possible.
    async fn renew(&self, state: &mut State, client: &HttpClient, log: &LoginLog) -> bool {
        let Some(mut record) = state.record.clone().filter(|record| record.refresh_token.is_some()) else {
            return false;
        };
        let _lock = self.locked().await;
        // Another process may have renewed it (a refresh token works once), or the user may have logged in again, or out.
        let kept = self.host.load(&self.server).filter(|kept| self.fits(kept));
        let is_stored = kept.is_some();
        if let Some(kept) = kept {
            if kept.access_token != record.access_token && kept.expires_at.is_none_or(|at| unix_seconds() < at) {
                self.keep(state, kept, false);
                return true;
            }
            record = kept;
        }
        if record.refresh_token.is_none() {
            return false;
        }
        match refresh(&record, &self.settings, client, log).await {
            Ok(renewed) => {
                self.keep(state, renewed, is_stored);
                true
            }
            Err(obstacle) => {
                if !std::mem::replace(&mut state.is_renewal_reported, true) {
                    let place = without_password(&self.server);
                    self.host.warn(&format!("the login at {place} was not renewed: {}", obstacle.what));
                }
                false
            }
        }
    }

    /// The lock on kept logins. A holder that does not let go in time is not waited for: the token endpoint decides.
    async fn locked(&self) -> LoginLock {
        let until = Instant::now() + LOCKED;
        loop {
            let lock = self.host.lock();
            if !matches!(lock, LoginLock::Busy) || Instant::now() >= until {
                return lock;
            }
            // Another process renews a login, and no event marks its end.
            sleep(BETWEEN_TRIES).await;
        }
    }

    fn loaded(&self, state: &mut State) {
        if state.is_loaded {
            return;
        }
        state.is_loaded = true;
        if let Some(record) = self.host.load(&self.server).filter(|record| self.fits(record)) {
            self.keep(state, record, false);
        }
    }

    /// True if a kept login is what the settings ask for.
    fn fits(&self, record: &LoginRecord) -> bool {
        let settings = &self.settings;
        let is_client = settings.client_id.as_ref().is_none_or(|id| *id == record.client.id);
        let is_issuer = settings.issuer.as_ref().is_none_or(|issuer| *issuer == record.issuer);
        let has_scopes = settings.scopes.iter().flatten().all(|scope| record.asked.contains(scope));
        !settings.is_unattended() && is_client && is_issuer && has_scopes && settings.dpop == record.dpop_key.is_some()
    }

    fn keep(&self, state: &mut State, record: LoginRecord, is_stored: bool) {
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        for secret in record.secrets() {
            if !given.iter().any(|known| known == secret) {
                given.push(secret.to_owned());
            }
        }
        drop(given);
        if is_stored {
            // A login that cannot be kept still serves this run.
            if let Err(error) = self.host.save(&record) {
                let place = without_password(&self.server);
                self.host.warn(&format!("the login at {place} is for this run alone: {error}"));
            }
        }
        state.key = record.dpop_key.as_deref().and_then(|key| JwtKey::from_base64(key).ok()).map(Arc::new);
        state.record = Some(record);
        self.has_token.store(true, Ordering::Relaxed);
    }
}

fn presented(state: &State) -> Option<Presented> {
    let record = state.record.as_ref()?;
    let bound = state.key.clone().filter(|_| record.token_type.eq_ignore_ascii_case("dpop"));
    Some(Presented { token: record.access_token.clone(), bound: bound.map(|key| (key, state.nonce.clone())) })
}

fn no_response(obstacle: &LoginObstacle) -> NoResponse {
    NoResponse { what: obstacle.message(), help: obstacle.help.clone() }
}

#[cfg(test)]
mod tests {
    use mcprove_model::oauth::RegisteredClient;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    /// Keeps one login for the first look, and another one for all that follow.
    #[derive(Debug)]
    struct Keeper {
        first: Mutex<Option<LoginRecord>>,
        then: Option<LoginRecord>,
        saved: Mutex<Vec<LoginRecord>>,
    }

    impl LoginHost for Keeper {
        fn load(&self, _: &str) -> Option<LoginRecord> {
            self.first.lock().unwrap_or_else(PoisonError::into_inner).take().or_else(|| self.then.clone())
        }

        fn save(&self, record: &LoginRecord) -> Result<(), String> {
            self.saved.lock().unwrap_or_else(PoisonError::into_inner).push(record.clone());
            Ok(())
        }

        fn take_registered(&self, _: &str) -> Option<RegisteredClient> {
            None
        }

        fn warn(&self, text: &str) {
            panic!("{text}");
        }

        fn lock(&self) -> LoginLock {
            LoginLock::Absent
        }

        fn has_person(&self) -> bool {
            false
        }

        fn show(&self, _: &str) {}
    }

    /// Renews an old login, with what is kept by then: the token that is used, and those that are kept.
    async fn renewed(then: impl FnOnce(LoginRecord) -> Option<LoginRecord>) -> (String, Vec<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let endpoint = format!("http://{}/token", listener.local_addr().expect("an address"));
        let old = LoginRecord {
            token_endpoint: endpoint,
            access_token: "old".to_owned(),
            refresh_token: Some("refresh".to_owned()),
            renew_at: Some(1),
            client: RegisteredClient { id: "first".to_owned(), ..RegisteredClient::default() },
            ..LoginRecord::default()
        };
        let keeper = Keeper { first: Mutex::new(Some(old.clone())), then: then(old), saved: Mutex::default() };
        let keeper = Arc::new(keeper);
        let host: Arc<dyn LoginHost> = keeper.clone();
        let source = LoginSource::new("http://x/mcp", &OauthSettings::default(), host, Arc::default());
        let serving = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            let _ = stream.read(&mut [0; 4096]).await;
            let body = r#"{"access_token":"new","token_type":"Bearer","expires_in":60}"#;
            let head =
                format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
            stream.write_all(format!("{head}{body}").as_bytes()).await.expect("sent");
            // A connection that is closed with unread bytes takes the answer with it.
            let _ = stream.read_to_end(&mut Vec::new()).await;
        });
        let presented = source.token(&HttpClient::default(), &LoginLog::default()).await.expect("an answer");
        serving.abort();
        let saved = keeper.saved.lock().unwrap_or_else(PoisonError::into_inner);
        let saved = saved.iter().map(|record| record.access_token.clone()).collect();
        (presented.expect("a token").token, saved)
    }

    #[tokio::test]
    async fn what_is_kept_by_then_decides_what_a_renewal_keeps() {
        assert_eq!(renewed(Some).await, ("new".to_owned(), vec!["new".to_owned()]));
        // The user logged out meanwhile, or the login could not be kept in the first place.
        assert_eq!(renewed(|_| None).await, ("new".to_owned(), Vec::new()));
        // The user logged in again, with another client.
        let client = RegisteredClient { id: "second".to_owned(), ..RegisteredClient::default() };
        let again = |old| Some(LoginRecord { access_token: "again".to_owned(), renew_at: None, client, ..old });
        assert_eq!(renewed(again).await, ("again".to_owned(), Vec::new()));
    }
}
