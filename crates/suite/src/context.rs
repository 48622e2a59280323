//! Context for decoding files of both kinds.

use std::path::Path;

use mcprove_model::{Diagnostics, Node};

use crate::environment::Environment;
use crate::server::ServerOverride;

/// Kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// One assertion per document; dollar signs have a meaning in `env` and `headers` only.
    Assertion,
    /// Many tests, with servers by name; dollar signs have a meaning everywhere.
    Suite,
}

/// Context for decoding a file.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The caller's environment.
    pub environment: Environment<'a>,
    /// The folder that `{{fixture}}` stands for, when there is one.
    pub fixture: Option<&'a Path>,
    /// A server given on the command line.
    pub server: Option<&'a ServerOverride>,
    /// The folder of a suite file, which `${CONFIG_DIR}` stands for and to which paths are relative.
    pub folder: Option<&'a str>,
}

impl Context<'_> {
    /// A path in the folder of the suite; one that begins with a template is known when the test runs.
    pub(crate) fn path(&self, path: &str) -> String {
        match self.folder.filter(|_| !path.starts_with("{{")) {
            Some(folder) => Path::new(folder).join(path).display().to_string(),
            None => path.to_owned(),
        }
    }
}

/// The context of a file, and the secrets that were read with it so far.
pub(crate) struct Reader<'c, 's> {
    pub(crate) context: &'c Context<'c>,
    pub(crate) secrets: &'s mut Vec<String>,
}

impl Reader<'_, '_> {
    /// The value of a variable of the environment, which is never shown; none if it is empty.
    pub(crate) fn secret(&mut self, variable: &str) -> Option<String> {
        let value = (self.context.environment.lookup)(variable).filter(|value| !value.is_empty())?;
        if !self.secrets.contains(&value) {
            self.secrets.push(value.clone());
        }
        Some(value)
    }

    /// The same for the variable that a node names, which must be set.
    pub(crate) fn required_secret(&mut self, name: &Node, what: &str, found: &mut Diagnostics<'_>) -> Option<String> {
        let text = found.text(name, what)?;
        let value = self.secret(text);
        if value.is_none() {
            let message = format!("the environment variable `{text}` is not set");
            found.error_with_help("required-variable", name.span, message, format!("set `{text}` and run again"));
        }
        value
    }
}
