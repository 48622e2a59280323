//! The one shape for everything that is wrong with a subject.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// Something a person should know about a server, an agent or a suite file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Id of the check or rule, e.g. `contains` or `unknown-key`.
    pub rule: Cow<'static, str>,
    /// Its severity.
    pub severity: Severity,
    /// One lowercase fragment that names the path, command or value.
    pub message: String,
    /// Its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// The expected value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// The actual value, bounded, with the interesting part in view.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actual: Option<String>,
    /// All of what `actual` shows a part of, bounded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<String>,
    /// A unified diff from expected to actual, where one helps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// The request that shows it, and its reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// Advice on what to do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// A change that would fix it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<Fix>,
}

/// A request that shows what is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The request as it was sent, bounded.
    pub request: String,
    /// The reply as it came, bounded; absent when none came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
}

/// Severity of a finding, from harmless to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Suspicious; fails only under `--strict`.
    Warning,
    /// Fails the case.
    Error,
    /// A security fault; fails the case.
    High,
    /// The worst class of a rule page; fails the case.
    Critical,
}

impl Severity {
    /// True if a finding of this severity fails its case.
    pub fn fails(self) -> bool {
        self >= Self::Error
    }

    /// The word shown to people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

/// Place of a finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// In a file an author wrote.
    Text(TextPlace),
    /// In something a server sent.
    Wire(WirePlace),
}

/// A place in a file, with its line quoted so that it can be shown without the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TextPlace {
    /// The path as the user named it.
    pub file: String,
    /// First line, from 1.
    pub line: u32,
    /// First column in characters, from 1.
    pub column: u32,
    /// Last line.
    pub end_line: u32,
    /// Column after the last character.
    pub end_column: u32,
    /// The text of the first line.
    pub excerpt: String,
}

/// A place in what a server sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WirePlace {
    /// The server, as the user named it.
    pub server: String,
    /// A JSON Pointer into the message or catalog.
    pub pointer: String,
}

/// A change to authored text that would fix a finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fix {
    /// Summary of the change.
    pub title: String,
    /// The edits, in the file of the finding's place, ascending and disjoint.
    pub edits: Vec<Edit>,
}

/// One replacement of a byte range.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edit {
    /// Offset of the first replaced byte.
    pub start: u32,
    /// Offset after the last replaced byte.
    pub end: u32,
    /// The replacement.
    pub text: String,
}

impl Finding {
    /// The rule of the note on a case that passed because it expects nothing; reporters show it even where
    /// they leave out other notes.
    pub const NOTHING_CHECKED: &'static str = "nothing-checked";

    /// The rule of a note that model-graded checks were left out.
    pub const NOT_GRADED: &str = "not-graded";

    /// The rule of what is said about the best of several models.
    pub const MATRIX_ASSERT: &str = "matrix-assert";

    /// True if it is shown without asking for details: warnings, failures, and the notes that change what a pass means.
    pub fn is_prominent(&self) -> bool {
        let notes = [Self::NOTHING_CHECKED, Self::NOT_GRADED, Self::MATRIX_ASSERT];
        self.severity >= Severity::Warning || notes.contains(&&*self.rule)
    }

    /// The result of a probe whose rejection proves nothing, because valid input fails, too.
    pub const NOT_PROVEN: &'static str = "not proven";

    /// Rules whose notes are results in their own right, sorted: the results of probes and tools of a case. Reporters
    /// show them even where they leave out other notes.
    pub const SUB_RESULTS: &'static [&'static str] = &[
        "SEC-061",
        "extra_field",
        "missing_required",
        "oversized",
        "probe-not-applicable",
        "tool-score",
        "unknown_tool",
        "wrong_type",
    ];

    /// A finding with a rule, a severity and a message; the rest is added by the builder methods.
    pub fn new(rule: impl Into<Cow<'static, str>>, severity: Severity, message: impl Into<String>) -> Self {
        Self {
            rule: rule.into(),
            severity,
            message: message.into(),
            place: None,
            expected: None,
            actual: None,
            seen: None,
            diff: None,
            evidence: None,
            help: None,
            fix: None,
        }
    }

    /// A finding that fails its case.
    pub fn error(rule: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::new(rule, Severity::Error, message)
    }

    /// A finding that fails its case only under `--strict`.
    pub fn warning(rule: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::new(rule, Severity::Warning, message)
    }

    /// A finding that never fails anything.
    pub fn note(rule: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::new(rule, Severity::Note, message)
    }

    /// Says where in a file.
    #[must_use]
    pub fn at(mut self, place: TextPlace) -> Self {
        self.place = Some(Place::Text(place));
        self
    }

    /// Says what to do next.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Sets the expected and the actual value.
    #[must_use]
    pub fn compared(mut self, expected: impl Into<String>, actual: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self.actual = Some(actual.into());
        self
    }

    /// Its details besides the message, with a label for each.
    pub fn parts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let evidence = self.evidence.as_ref();
        [
            ("expected", self.expected.as_deref()),
            ("actual", self.actual.as_deref()),
            ("request", evidence.map(|evidence| evidence.request.as_str())),
            ("reply", evidence.and_then(|evidence| evidence.reply.as_deref())),
            ("help", self.help.as_deref()),
        ]
        .into_iter()
        .filter_map(|(label, part)| Some((label, part?)))
    }

    /// True if it is a result in its own right that fails nothing by itself.
    pub fn is_sub_result(&self) -> bool {
        self.severity == Severity::Note && Self::SUB_RESULTS.contains(&&*self.rule)
    }

    /// True for the result of a probe that proves nothing.
    pub fn is_not_proven(&self) -> bool {
        self.is_sub_result() && self.actual.as_deref() == Some(Self::NOT_PROVEN)
    }

    /// True if this finding fails its case; `strict` raises warnings.
    pub fn fails(&self, strict: bool) -> bool {
        self.severity.fails() || strict && self.severity == Severity::Warning
    }
}
