//! The page of `mcprove ui`: a server on 127.0.0.1 with one page and one JSON API (docs/ui.md).
//!
//! The page is the same as that of the HTML report. Requests need the right `Host` and `Origin` and, for the API, a key that is
//! given out once, for the token in the URL that was printed.

mod access_guard;
mod api;
mod body;
mod connection;
mod history;
mod hub;
mod login;
mod runs;
mod save_test;
mod schema_lint;
mod server;
mod subject_words;
mod suite_tree;
mod written_paths;

pub(crate) use api::Settings;
pub(crate) use server::serve;
