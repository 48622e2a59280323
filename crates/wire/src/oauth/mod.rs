//! Logins as a host makes them: discovery, registration, the browser, tokens and their renewal.
//!
//! The conclusions from each answer are in [`mcprove_model::oauth`]. Every exchange is logged without its secrets.

mod discover;
mod dpop;
mod exchanges;
mod grants;
mod host;
mod jwt;
mod login;
mod random;
mod redirect;
mod source;
mod survey;

pub use discover::Discovered;
pub use exchanges::{LoginLog, LoginPart};
pub use host::{LoginHost, LoginLock};
pub use jwt::{JwtKey, decode_claims, verify_es256};
pub use login::{LoginRequest, log_in, revoke};
pub use random::{code_challenge, random_text};
pub use source::LoginSource;
pub(crate) use source::{Presented, Remedies, TokenRefusal};
pub use survey::survey_login;
