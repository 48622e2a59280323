//! Work on files that is judged without any server.

use std::fmt::Debug;

use serde_json::Value;

/// Work on files that is judged without any server: pure, once the files are read.
pub trait Offline: Debug + Send + Sync {
    /// The files it needs, each relative to the folder of its suite.
    fn files(&self) -> Vec<&str>;

    /// The values it makes of the texts of these files; the error says which text cannot be understood.
    fn evaluate(&self, texts: &[String]) -> Result<Evaluated, String>;
}

/// The values that offline work results in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluated {
    /// The names that targets begin with, and what they stand for: an object.
    pub envelope: Value,
    /// Problems that are independent of the expectation, each as an id and a message.
    pub problems: Vec<(&'static str, String)>,
}
