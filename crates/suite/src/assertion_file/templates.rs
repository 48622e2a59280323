//! Which `{{name}}` may be used where.

use mcprove_model::{Diagnostics, Node, Span, nearest};

use crate::template::{FIXTURE, templated_places, unresolved, unresolved_with_keys};

/// The variables known at a place of a document: the fixture, and what earlier steps capture.
pub(crate) struct Scope {
    has_fixture: bool,
    captures: Vec<String>,
}

impl Scope {
    /// The scope at the beginning of a document.
    pub(crate) fn new(has_fixture: bool) -> Self {
        Self { has_fixture, captures: Vec::new() }
    }

    /// The scope of what is fixed before any step is taken.
    pub(crate) fn before_setup(&self) -> Self {
        Self::new(self.has_fixture)
    }

    /// True if a text holds a reference that will have a value.
    pub(crate) fn is_templated(&self, node: &Node) -> bool {
        !templated_places(node, &self.names()).is_empty()
    }

    /// Makes a captured value known to what follows.
    pub(crate) fn add_capture(&mut self, name: &str) {
        self.captures.push(name.to_owned());
    }

    /// The names that have a value when the case runs.
    pub(crate) fn names(&self) -> Vec<&str> {
        let fixture = self.has_fixture.then_some(FIXTURE);
        fixture.into_iter().chain(self.captures.iter().map(String::as_str)).collect()
    }

    /// Reports references in texts that nothing provides.
    pub(crate) fn check(&self, node: &Node, found: &mut Diagnostics<'_>) {
        self.report(unresolved(node, &self.names()), found);
    }

    /// Reports references in texts that nothing provides; `is_known` is true for further names.
    pub(crate) fn check_beside(&self, node: &Node, is_known: impl Fn(&str) -> bool, found: &mut Diagnostics<'_>) {
        let references = unresolved(node, &self.names());
        self.report(references.into_iter().filter(|(name, _)| !is_known(name)).collect(), found);
    }

    /// Reports references in texts and keys that nothing provides.
    pub(crate) fn check_with_keys(&self, node: &Node, found: &mut Diagnostics<'_>) {
        self.report(unresolved_with_keys(node, &self.names()), found);
    }

    fn report(&self, references: Vec<(String, Span)>, found: &mut Diagnostics<'_>) {
        for (name, span) in references {
            if name == FIXTURE {
                found.error_with_help(
                    "no-fixture",
                    span,
                    "`{{fixture}}` stands for a folder, and there is none",
                    "give `--fixture DIR`, or put a `fixtures/` folder next to the suite",
                );
                continue;
            }
            let known = std::iter::once(FIXTURE).chain(self.captures.iter().map(String::as_str));
            let help = match nearest(&name, known) {
                Some(near) => format!("did you mean `{{{{{near}}}}}`?"),
                None => "capture it in an earlier `setup` step, or leave it if it is meant literally".to_owned(),
            };
            let message = format!("`{{{{{name}}}}}` has no value here; it stays as written");
            found.warning("unresolved-template", span, message, Some(help));
        }
    }
}
