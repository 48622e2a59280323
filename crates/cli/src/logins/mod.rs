//! Logins of the user: where they are kept, and how a person signs in.

mod store;

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use mcprove_model::oauth::{LoginRecord, RegisteredClient};
use mcprove_model::{Redactor, escape_line};
use mcprove_wire::Tokens;
use mcprove_wire::oauth::{LoginHost, LoginLock};

use crate::browser::open_in_browser;
use crate::context::Context;

pub(crate) use store::LoginStore;

/// The person at the terminal, and the logins that are kept for them.
#[derive(Debug)]
pub(crate) struct Logins {
    store: LoginStore,
    has_person: bool,
    opens_browser: bool,
}

/// The tokens of this process, with the logins of its user.
pub(crate) fn tokens() -> &'static Tokens {
    static TOKENS: OnceLock<Tokens> = OnceLock::new();
    TOKENS.get_or_init(|| Tokens::with_host(Arc::new(Logins::new(true))))
}

/// Knows these secrets, and all tokens that this process has used.
pub(crate) fn redactor<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Redactor {
    let given = tokens().given();
    let secrets: Vec<&str> = secrets.into_iter().collect();
    Redactor::new(given.iter().map(String::as_str).chain(secrets.iter().copied()))
}

/// The redactor of all tokens that this process has used, and their number.
static OF_TOKENS: Mutex<(usize, Option<Redactor>)> = Mutex::new((0, None));

/// A text without the tokens that this process has used. They become known while a command runs, so whatever it prints or
/// writes goes through here at the end.
pub(crate) fn without_tokens(text: &str) -> Cow<'_, str> {
    let count = tokens().count();
    if count == 0 {
        return Cow::Borrowed(text);
    }
    let mut known = OF_TOKENS.lock().unwrap_or_else(PoisonError::into_inner);
    if known.0 != count {
        *known = (count, Some(redactor([])));
    }
    known.1.as_ref().map_or(Cow::Borrowed(text), |redactor| redactor.text(text))
}

/// Lets no command of this process ask the person at the terminal: another page asks them.
pub(crate) fn ask_elsewhere() {
    ASKS_ELSEWHERE.store(true, Ordering::Relaxed);
}

static ASKS_ELSEWHERE: AtomicBool = AtomicBool::new(false);

impl Logins {
    /// The logins of the user; without a browser, URLs are printed.
    pub(crate) fn new(opens_browser: bool) -> Self {
        Self { store: LoginStore::of_user(), has_person: Context::can_ask(), opens_browser }
    }
}

impl LoginHost for Logins {
    fn load(&self, server: &str) -> Option<LoginRecord> {
        static IS_REPORTED: AtomicBool = AtomicBool::new(false);
        self.store.load(server).unwrap_or_else(|error| {
            if !IS_REPORTED.swap(true, Ordering::Relaxed) {
                self.warn(&error);
            }
            None
        })
    }

    fn save(&self, record: &LoginRecord) -> Result<(), String> {
        self.store.save(record)
    }

    fn take_registered(&self, issuer: &str) -> Option<RegisteredClient> {
        self.store.take_registered(issuer)
    }

    fn warn(&self, text: &str) {
        Context::print_notice(&format!("warning: {}\n", escape_line(text)));
    }

    fn lock(&self) -> LoginLock {
        self.store.lock()
    }

    fn has_person(&self) -> bool {
        self.has_person && !ASKS_ELSEWHERE.load(Ordering::Relaxed)
    }

    fn show(&self, url: &str) {
        let opens = self.opens_browser && has_display();
        let what = if opens { "opening the browser to log in" } else { "open this URL in a browser to log in" };
        let elsewhere =
            "if the browser is on another machine, copy the URL that it ends at, and open that here with curl";
        let text = format!("{what}:\n{url}\n({elsewhere})\n");
        Context::print_notice(&text);
        if opens {
            open_in_browser(url);
        }
    }
}

/// True if a browser can be expected to appear.
fn has_display() -> bool {
    let is_set = |name: &str| Context::variable(name).is_some_and(|value| !value.is_empty());
    cfg!(any(target_os = "macos", windows)) || is_set("BROWSER") || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")
}
