//! Logging in from the page: the browser that shows it is also the one that signs in.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper::StatusCode;
use mcprove_model::oauth::{LoginObstacle, LoginRecord, OauthSettings, RegisteredClient};
use mcprove_model::{Auth, ServerSpec, Target};
use mcprove_wire::HttpClient;
use mcprove_wire::oauth::{LoginHost, LoginLock, LoginLog, LoginRequest, log_in};
use serde_json::json;
use tokio::sync::oneshot;

use super::api::Answer;
use crate::logins::Logins;

/// The time that the person has.
const PATIENCE: Duration = Duration::from_mins(5);

/// Logins under way.
#[derive(Default)]
pub(super) struct PageLogins {
    last: Cell<u64>,
    open: RefCell<BTreeMap<u64, oneshot::Receiver<Result<(), LoginObstacle>>>>,
}

/// Keeps logins as every command does, and hands URLs over to the page.
#[derive(Debug)]
struct PageHost {
    logins: Logins,
    url: Mutex<Option<oneshot::Sender<String>>>,
}

impl LoginHost for PageHost {
    fn load(&self, server: &str) -> Option<LoginRecord> {
        self.logins.load(server)
    }

    fn save(&self, record: &LoginRecord) -> Result<(), String> {
        self.logins.save(record)
    }

    fn take_registered(&self, issuer: &str) -> Option<RegisteredClient> {
        self.logins.take_registered(issuer)
    }

    fn warn(&self, text: &str) {
        self.logins.warn(text);
    }

    fn lock(&self) -> LoginLock {
        self.logins.lock()
    }

    fn has_person(&self) -> bool {
        true
    }

    fn show(&self, url: &str) {
        let sender = self.url.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(sender) = sender {
            // A page that went away wants no login any more.
            let _ = sender.send(url.to_owned());
        }
    }
}

impl PageLogins {
    /// Begins a login: its number, and the URL to open.
    pub(super) async fn begin(&self, server: &ServerSpec) -> Answer {
        let Target::Remote { url, .. } = &server.target else {
            return (StatusCode::BAD_REQUEST, json!({"error": "only a server with a URL has a login"}));
        };
        let settings = match &server.auth {
            Some(Auth::Oauth(settings)) => (**settings).clone(),
            Some(_) | None => OauthSettings::default(),
        };
        let (shown, waiting) = oneshot::channel();
        let (end, ended) = oneshot::channel();
        let host = PageHost { logins: Logins::new(false), url: Mutex::new(Some(shown)) };
        let server = url.clone();
        tokio::task::spawn_local(async move {
            let host: Arc<dyn LoginHost> = Arc::new(host);
            let request = LoginRequest {
                server: &server,
                settings: &settings,
                challenge: None,
                previous: None,
                host: &host,
                patience: PATIENCE,
            };
            let made = log_in(&request, &HttpClient::default(), &LoginLog::default()).await;
            let _ = end.send(made.map(|record| {
                // Without a place to keep it, the next request is refused and says so.
                let _ = host.save(&record);
            }));
        });
        // Without a URL, the login ended before the user was asked.
        let Ok(url) = waiting.await else { return outcome(ended.await) };
        let number = self.last.get() + 1;
        self.last.set(number);
        self.open.borrow_mut().insert(number, ended);
        (StatusCode::OK, json!({"login": number, "url": url}))
    }

    /// Waits until a login has ended.
    pub(super) async fn wait(&self, number: u64) -> Answer {
        let ended = self.open.borrow_mut().remove(&number);
        match ended {
            Some(ended) => outcome(ended.await),
            None => (StatusCode::NOT_FOUND, json!({"error": "no such login"})),
        }
    }
}

fn outcome(ended: Result<Result<(), LoginObstacle>, oneshot::error::RecvError>) -> Answer {
    match ended {
        Ok(Ok(())) => (StatusCode::OK, json!({})),
        Ok(Err(obstacle)) => (StatusCode::BAD_GATEWAY, json!({"error": obstacle.message(), "help": obstacle.help})),
        Err(_) => (StatusCode::BAD_GATEWAY, json!({"error": "the login was given up"})),
    }
}
