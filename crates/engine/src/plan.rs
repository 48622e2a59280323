//! From cases to a plan: pure.

use std::num::NonZeroU32;
use std::sync::Arc;

use mcprove_model::{Case, Override, Plan, PlannedCase};
use regex::Regex;

use crate::scan::expand_conformance;
use crate::server_override::{Variants, override_servers};
use crate::shard::Shard;

/// Options that narrow or multiply the cases.
#[derive(Clone, Debug)]
pub struct PlanOptions {
    /// Only cases whose name matches.
    pub filter: Option<Filter>,
    /// Only cases with one of these tags, when there are any.
    pub tags: Vec<String>,
    /// No cases with one of these tags.
    pub skip_tags: Vec<String>,
    /// Number of times each case is run.
    pub trials: NonZeroU32,
    /// Only this shard of the plan.
    pub shard: Option<Shard>,
    /// Replacement for the cases' servers.
    pub server: Override,
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self {
            filter: None,
            tags: Vec::new(),
            skip_tags: Vec::new(),
            trials: NonZeroU32::MIN,
            shard: None,
            server: Override::default(),
        }
    }
}

impl PlanOptions {
    fn takes(&self, case: &Case) -> bool {
        let has_one_of = |tags: &[String]| tags.iter().any(|tag| case.tags.contains(tag));
        self.filter.as_ref().is_none_or(|filter| filter.takes(&case.name))
            && (self.tags.is_empty() || has_one_of(&self.tags))
            && !has_one_of(&self.skip_tags)
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

    /// True if a name is taken.
    pub fn takes(&self, name: &str) -> bool {
        match self {
            Self::Text(text) => name.contains(text),
            Self::Pattern(pattern) => pattern.is_match(name),
        }
    }
}

/// Makes a plan: the cases in the order they were loaded, filtered, on the servers that the user names; each in every
/// variant, each so many times; and of that the shard that is asked for.
pub fn plan(cases: &[Arc<Case>], options: &PlanOptions) -> Plan {
    let mut chosen = expand_conformance(cases, &options.server);
    chosen.retain(|case| options.takes(case));
    let mut variants = Variants::new(&options.server);
    let mut planned = Vec::new();
    for case in override_servers(&chosen, &options.server) {
        for (case, variant) in variants.of(&case) {
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

/// Number of runs that a case asks for.
fn runs_of(case: &Case) -> NonZeroU32 {
    case.agent().map_or(NonZeroU32::MIN, |agent| agent.runs)
}

#[cfg(test)]
pub(crate) mod tests {
    use mcprove_model::{
        Act, ColumnServer, Expectation, Kind, Matrix, Node, Revision, ServerSpec, SourceFile, Span, Trajectory,
    };

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
            matrix: None,
            isolation: mcprove_model::Isolation::Case,
            masks: Vec::new(),
            tags: Vec::new(),
            timeout: None,
            skip: None,
            known: None,
        };
        names.into_iter().map(|name| Arc::new(case(name))).collect()
    }

    #[test]
    fn every_case_is_planned_in_every_column_and_every_trial() {
        let command = |name: &str| ColumnServer::Command { command: name.to_owned(), args: Vec::new() };
        let servers = vec![("x".to_owned(), command("x")), ("y".to_owned(), command("y"))];
        let matrix = Arc::new(Matrix { servers, revisions: Vec::new() });
        let mut cases = cases(&["a".to_owned(), "b".to_owned(), "ca".to_owned()]);
        for case in &mut cases {
            Arc::make_mut(case).matrix = Some(Arc::clone(&matrix));
        }
        let options = PlanOptions {
            filter: Some(Filter::Text("a".to_owned())),
            trials: NonZeroU32::MIN.saturating_add(1),
            ..PlanOptions::default()
        };
        let plan = plan(&cases, &options);
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
    fn tags_choose_and_leave_out() {
        let mut all = cases(&["a".to_owned(), "b".to_owned(), "c".to_owned()]);
        for (case, tags) in all.iter_mut().zip([&["quick", "read"][..], &["read"], &[]]) {
            Arc::make_mut(case).tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        }
        let chosen = |tags: &[&str], skip_tags: &[&str]| {
            let owned = |tags: &[&str]| tags.iter().map(|tag| (*tag).to_owned()).collect();
            let options = PlanOptions { tags: owned(tags), skip_tags: owned(skip_tags), ..PlanOptions::default() };
            plan(&all, &options).cases.iter().map(|planned| planned.case.name.clone()).collect::<String>()
        };
        assert_eq!(chosen(&[], &[]), "abc");
        assert_eq!(chosen(&["read"], &[]), "ab");
        assert_eq!(chosen(&["read"], &["quick"]), "b");
        assert_eq!(chosen(&["slow", "quick"], &[]), "a");
        assert_eq!(chosen(&[], &["read"]), "c");
    }

    #[test]
    fn a_case_without_a_matrix_is_planned_once() {
        let mut cases = cases(&["a".to_owned(), "b".to_owned()]);
        let revisions = vec![Revision::V2025_06_18, Revision::V2025_11_25];
        Arc::make_mut(&mut cases[0]).matrix = Some(Arc::new(Matrix { servers: Vec::new(), revisions }));
        let told = |planned: &PlannedCase| format!("{} {:?}", planned.case.name, planned.variant);
        let told: Vec<_> = plan(&cases, &PlanOptions::default()).cases.iter().map(told).collect();
        assert_eq!(told, ["a Some(\"2025-06-18\")", "a Some(\"2025-11-25\")", "b None"]);
    }

    #[test]
    fn a_filter_is_text_or_a_pattern_between_slashes() {
        assert!(Filter::parse("read").expect("text").takes("can read a file"));
        assert!(Filter::parse("/^can .* file$/").expect("pattern").takes("can read a file"));
        assert!(Filter::parse("/").expect("text").takes("a/b"));
        assert!(Filter::parse("/(/").is_err());
    }
}
