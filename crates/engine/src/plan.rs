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
            for trial in 1..=runs_of(&case).max(options.trials).get() {
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

/// How often a case wants to be run.
fn runs_of(case: &Case) -> NonZeroU32 {
    case.agent().map_or(NonZeroU32::MIN, |agent| agent.runs)
}

#[cfg(test)]
pub(crate) mod tests {
    use mcprove_model::{Act, Expectation, Kind, Node, ServerSpec, SourceFile, Span, Trajectory};

    use super::*;

    /// Cases of these names, on one server.
    pub(crate) fn cases<'a>(names: impl IntoIterator<Item = &'a String>) -> Vec<Arc<Case>> {
        let source = Arc::new(SourceFile::new("a.yaml".to_owned(), String::new()));
        let server = Arc::new(ServerSpec::default());
        let case = |name: &String| Case {
            name: name.clone(),
            source: Arc::clone(&source),
            span: Span::default(),
            server: Some(Arc::clone(&server)),
            setup: Vec::new(),
            act: Act::Trajectory(Trajectory::Trace(Node { span: Span::default(), kind: Kind::List(Vec::new()) })),
            verify: Vec::new(),
            teardown: Vec::new(),
            expect: Expectation::default(),
            fixture: None,
            capture: Vec::new(),
            suite: None,
            isolation: mcprove_model::Isolation::Case,
            tags: Vec::new(),
            timeout: None,
            skip: None,
        };
        names.into_iter().map(|name| Arc::new(case(name))).collect()
    }

    #[test]
    fn every_case_is_planned_in_every_column_and_every_trial() {
        let column = |name: &str| Column { name: name.into(), server: None, protocol: None };
        let options = PlanOptions {
            filter: Some(Filter::Text("a".to_owned())),
            columns: vec![column("x"), column("y")],
            trials: NonZeroU32::MIN.saturating_add(1),
            shard: None,
        };
        let plan = plan(&cases(&["a".to_owned(), "b".to_owned(), "ca".to_owned()]), &options);
        let told: Vec<_> = plan
            .cases
            .iter()
            .map(|planned| {
                let variant = planned.variant.as_deref().unwrap_or_default();
                format!("{}{}{variant}{}", planned.index, planned.case.name, planned.trial)
            })
            .collect();
        assert_eq!(told, ["0ax1", "1ax2", "2ay1", "3ay2", "4cax1", "5cax2", "6cay1", "7cay2"]);
        let server = |at: usize| plan.cases[at].case.server.as_ref().expect("it has one");
        assert!(Arc::ptr_eq(server(0), server(4)), "cases that shared a server still do");
        assert_eq!((server(0).name.as_str(), server(2).name.as_str()), ("x", "y"));
    }

    #[test]
    fn a_filter_is_text_or_a_pattern_between_slashes() {
        assert!(Filter::parse("read").expect("text").takes("can read a file"));
        assert!(Filter::parse("/^can .* file$/").expect("pattern").takes("can read a file"));
        assert!(Filter::parse("/").expect("text").takes("a/b"));
        assert!(Filter::parse("/(/").is_err());
    }
}
