//! From cases to a plan: pure.

use std::num::NonZeroU32;
use std::sync::Arc;

use mcprove_model::{Case, Plan, PlannedCase};
use regex::Regex;

use crate::columns::{Column, ServersOfColumns, in_columns};
use crate::shard::Shard;

/// What narrows or multiplies the cases.
#[derive(Clone, Debug)]
pub struct PlanOptions {
    /// Only cases whose name matches.
    pub filter: Option<Filter>,
    /// The columns of a matrix, each with every case; without any, each case is planned as it is.
    pub columns: Vec<Column>,
    /// How often each case is run.
    pub trials: NonZeroU32,
    /// Only this part of the plan.
    pub shard: Option<Shard>,
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self { filter: None, columns: Vec::new(), trials: NonZeroU32::MIN, shard: None }
    }
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

/// Makes a plan: the cases in the order they were loaded, filtered; each in every column, each so many times; and of that
/// the part that is this shard's.
pub fn plan(cases: &[Arc<Case>], options: &PlanOptions) -> Plan {
    let chosen = cases.iter().filter(|case| options.filter.as_ref().is_none_or(|filter| filter.takes(&case.name)));
    let mut servers = ServersOfColumns::default();
    let mut planned = Vec::new();
    for case in chosen {
        for (case, variant) in in_columns(case, &options.columns, &mut servers) {
            for trial in 1..=options.trials.get() {
                let (index, case, variant) = (planned.len(), Arc::clone(&case), variant.clone());
                planned.push(PlannedCase { index, case, trial, variant });
            }
        }
    }
    match &options.shard {
        Some(shard) => shard.take(planned),
        None => Plan { cases: planned, shard: None },
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
