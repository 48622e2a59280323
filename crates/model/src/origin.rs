//! Origin of a server's strings, so that files which name it can name the same variables.

/// A text of a server that variables of the caller's environment gave a part of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The string: `command`, `args[0]`, `env.NAME`, `cwd`, `url` or `headers.NAME`.
    pub place: String,
    /// The parts it was assembled from.
    pub parts: Vec<OriginPart>,
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OriginPart {
    /// Literal text.
    Text(String),
    /// A variable.
    Variable {
        /// Its name.
        name: String,
        /// Its value; `None` if it is not set, so that the default is used.
        value: Option<String>,
        /// Default if it is not set.
        default: Option<String>,
    },
}

impl Origin {
    /// The text itself.
    pub fn text(&self) -> String {
        self.parts.iter().map(OriginPart::text).collect()
    }
}

impl OriginPart {
    /// The part of the text.
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Variable { name: _, value, default } => {
                value.as_ref().or(default.as_ref()).map_or("", String::as_str)
            }
        }
    }
}
