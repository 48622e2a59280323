//! Styling of text for the terminal.

use anstyle::{AnsiColor, Effects};

/// Styling options: colour or not, and the maximum width.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// True if to write ANSI colours.
    pub color: bool,
    /// Columns of the terminal, when known.
    pub width: Option<usize>,
}

/// Role of a piece of text, which decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Good,
    Bad,
    Warning,
    Note,
    Skipped,
    Strong,
    Faint,
    Frame,
    Removed,
    Added,
    Hunk,
    Key,
    Text,
    Literal,
    Plain,
}

impl Style {
    /// The text in the colours of its role, or as it is.
    pub(crate) fn paint(&self, role: Role, text: &str) -> String {
        if !self.color || role == Role::Plain || text.is_empty() {
            return text.to_owned();
        }
        let style = role.style();
        format!("{style}{text}{style:#}")
    }
}

impl Role {
    fn style(self) -> anstyle::Style {
        match self {
            Self::Good => AnsiColor::Green.on_default().effects(Effects::BOLD),
            Self::Bad => AnsiColor::Red.on_default().effects(Effects::BOLD),
            Self::Warning | Self::Skipped | Self::Literal => AnsiColor::Yellow.on_default(),
            Self::Note | Self::Hunk | Self::Key => AnsiColor::Cyan.on_default(),
            Self::Strong => anstyle::Style::new().bold(),
            Self::Faint => anstyle::Style::new().dimmed(),
            Self::Frame => AnsiColor::Blue.on_default().effects(Effects::BOLD),
            Self::Removed => AnsiColor::Red.on_default(),
            Self::Added | Self::Text => AnsiColor::Green.on_default(),
            Self::Plain => anstyle::Style::new(),
        }
    }
}
