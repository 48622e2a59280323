//! Coverage: the share of a server's capabilities that a suite asserts.

use serde::Serialize;
use serde_json::Value;

/// Coverage of a server.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ServerCoverage {
    /// Its tools.
    pub tools: Vec<ToolCoverage>,
    /// Its resources, by URI.
    pub resources: Vec<ItemCoverage>,
    /// Its resource templates.
    pub resource_templates: Vec<ItemCoverage>,
    /// Its prompts.
    pub prompts: Vec<ItemCoverage>,
    /// Names that are asserted, but not listed by the server: tools, resources and prompts.
    pub unknown: Vec<String>,
}

/// Coverage of a tool.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolCoverage {
    /// Its name.
    pub name: String,
    /// Number of cases with an assertion about it.
    pub assertions: usize,
    /// The arguments it takes.
    pub arguments: Vec<ArgumentCoverage>,
    /// True if a case expects it to fail.
    pub error_path: bool,
}

/// Coverage of an argument.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArgumentCoverage {
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
pub struct ItemCoverage {
    /// Its name.
    pub name: String,
    /// Number of cases with an assertion about it.
    pub assertions: usize,
}

/// Covered and total items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoverageCount {
    /// Number of covered items.
    pub covered: usize,
    /// Number of all items.
    pub total: usize,
}

impl CoverageCount {
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

impl std::ops::Add for CoverageCount {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { covered: self.covered + other.covered, total: self.total + other.total }
    }
}

impl ServerCoverage {
    /// Tools with an assertion.
    pub fn tools(&self) -> CoverageCount {
        CoverageCount::of(&self.tools, |tool| tool.assertions > 0)
    }

    /// Arguments that are passed.
    pub fn arguments(&self) -> CoverageCount {
        CoverageCount::of(self.tools.iter().flat_map(|tool| &tool.arguments), |argument| argument.exercised)
    }

    /// Values of enumerations that are passed.
    pub fn values(&self) -> CoverageCount {
        let arguments = self.tools.iter().flat_map(|tool| &tool.arguments);
        arguments.fold(CoverageCount::default(), |all, argument| {
            let covered = argument.values.len();
            all + CoverageCount { covered, total: covered + argument.unused_values.len() }
        })
    }

    /// Tools that a case expects to fail.
    pub fn error_paths(&self) -> CoverageCount {
        CoverageCount::of(&self.tools, |tool| tool.error_path)
    }

    /// Resources and templates with an assertion.
    pub fn resources(&self) -> CoverageCount {
        CoverageCount::of(self.resources.iter().chain(&self.resource_templates), |item| item.assertions > 0)
    }

    /// Prompts with an assertion.
    pub fn prompts(&self) -> CoverageCount {
        CoverageCount::of(&self.prompts, |item| item.assertions > 0)
    }
}
