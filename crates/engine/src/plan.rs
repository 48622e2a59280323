//! From cases to a plan: pure.

use std::sync::Arc;

use mcprove_model::{Case, Plan, PlannedCase};
use regex::Regex;

/// What narrows or multiplies the cases.
#[derive(Clone, Debug, Default)]
pub struct PlanOptions {
    /// Only cases whose name matches.
    pub filter: Option<Filter>,
}

/// A choice of cases by name.
#[derive(Clone, Debug)]
pub enum Filter {
    /// The name contains this text.
    Text(String),
    /// The name matches this expression.
    Pattern(Regex),
}

impl Filter {
    /// Reads `TEXT` or `/regex/`.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')) {
            Some(pattern) if !pattern.is_empty() => {
                Regex::new(pattern).map(Self::Pattern).map_err(|error| error.to_string())
            }
            Some(_) | None => Ok(Self::Text(text.to_owned())),
        }
    }

    fn takes(&self, name: &str) -> bool {
        match self {
            Self::Text(text) => name.contains(text),
            Self::Pattern(pattern) => pattern.is_match(name),
        }
    }
}

/// Makes a plan: the cases in the order they were loaded, filtered.
pub fn plan(cases: &[Arc<Case>], options: &PlanOptions) -> Plan {
    let chosen = cases.iter().filter(|case| options.filter.as_ref().is_none_or(|filter| filter.takes(&case.name)));
    Plan {
        cases: chosen
            .enumerate()
            .map(|(index, case)| PlannedCase { index, case: Arc::clone(case), trial: 1 })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_text_or_a_pattern_between_slashes() {
        assert!(Filter::parse("read").expect("text").takes("can read a file"));
        assert!(Filter::parse("/^can .* file$/").expect("pattern").takes("can read a file"));
        assert!(Filter::parse("/").expect("text").takes("a/b"));
        assert!(Filter::parse("/(/").is_err());
    }
}
