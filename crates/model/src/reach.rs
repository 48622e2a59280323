//! Coverage: the share of a server's capabilities that a suite asserts.

use serde::Serialize;
use serde_json::Value;

/// Coverage of a server.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Reach {
    /// Its tools.
    pub tools: Vec<ToolReach>,
    /// Its resources, by address.
    pub resources: Vec<ItemReach>,
    /// Its resource templates.
    pub resource_templates: Vec<ItemReach>,
    /// Its prompts.
    pub prompts: Vec<ItemReach>,
    /// Names that are asserted, but not listed by the server: tools, resources and prompts.
    pub unknown: Vec<String>,
}

/// Coverage of a tool.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolReach {
    /// Its name.
    pub name: String,
    /// Number of cases with an assertion about it.
    pub assertions: usize,
    /// The arguments it takes.
    pub arguments: Vec<ArgumentReach>,
    /// True if a case expects it to fail.
    pub error_path: bool,
}

/// Coverage of an argument.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArgumentReach {
    /// Its name.
    pub name: String,
    /// True if a case passes it.
    pub exercised: bool,
    /// The values of its `enum` that a case passes.
    pub values: Vec<Value>,
    /// The values of its `enum` that no case passes.
    pub unused_values: Vec<Value>,
}

/// A resource or prompt.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ItemReach {
    /// Its name.
    pub name: String,
    /// Number of cases with an assertion about it.
    pub assertions: usize,
}

/// So many of so many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Number of covered items.
    pub covered: usize,
    /// Number of all items.
    pub total: usize,
}

impl Part {
    /// In percent; nothing to reach is all of it.
    pub fn percent(self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "fewer tools than this")]
        if self.total == 0 { 100.0 } else { self.covered as f64 * 100.0 / self.total as f64 }
    }

    fn of<T>(items: impl IntoIterator<Item = T>, is_covered: impl Fn(T) -> bool) -> Self {
        let mut part = Self::default();
        for item in items {
            part.total += 1;
            part.covered += usize::from(is_covered(item));
        }
        part
    }
}

impl std::ops::Add for Part {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { covered: self.covered + other.covered, total: self.total + other.total }
    }
}

impl Reach {
    /// Tools with an assertion.
    pub fn tools(&self) -> Part {
        Part::of(&self.tools, |tool| tool.assertions > 0)
    }

    /// Arguments that are passed.
    pub fn arguments(&self) -> Part {
        Part::of(self.tools.iter().flat_map(|tool| &tool.arguments), |argument| argument.exercised)
    }

    /// Values of enumerations that are passed.
    pub fn values(&self) -> Part {
        let arguments = self.tools.iter().flat_map(|tool| &tool.arguments);
        arguments.fold(Part::default(), |all, argument| {
            let covered = argument.values.len();
            all + Part { covered, total: covered + argument.unused_values.len() }
        })
    }

    /// Tools that a case expects to fail.
    pub fn error_paths(&self) -> Part {
        Part::of(&self.tools, |tool| tool.error_path)
    }

    /// Resources and templates with an assertion.
    pub fn resources(&self) -> Part {
        Part::of(self.resources.iter().chain(&self.resource_templates), |item| item.assertions > 0)
    }

    /// Prompts with an assertion.
    pub fn prompts(&self) -> Part {
        Part::of(&self.prompts, |item| item.assertions > 0)
    }
}
