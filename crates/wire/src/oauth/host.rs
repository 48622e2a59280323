//! Services that a login needs from the program around it.

use std::fmt;

use mcprove_model::oauth::{LoginRecord, RegisteredClient};

/// A lock on all kept logins, held once at a time in all processes of the user.
#[derive(Debug)]
pub enum LoginLock {
    /// It is held until this is dropped.
    Held(std::fs::File),
    /// Another one holds it.
    Busy,
    /// There is nothing to lock.
    Absent,
}

/// Keeps logins, and shows URLs to the person who signs in.
pub trait LoginHost: fmt::Debug + Send + Sync {
    /// The login at a server that was kept.
    fn load(&self, server: &str) -> Option<LoginRecord>;

    /// Keeps a login; the error says why that was not possible.
    fn save(&self, record: &LoginRecord) -> Result<(), String>;

    /// Takes the client that was registered with an issuer before. It is kept again once a login with it succeeds, so one that
    /// the issuer has forgotten is not tried twice.
    fn take_registered(&self, issuer: &str) -> Option<RegisteredClient>;

    /// Shows a problem that does not stop anything yet.
    fn warn(&self, text: &str);

    /// Tries to lock all kept logins, without waiting.
    fn lock(&self) -> LoginLock;

    /// True if a person is there who can sign in.
    fn has_person(&self) -> bool;

    /// Opens a URL in the browser of the person, or shows it.
    fn show(&self, url: &str);
}
