//! Relations between the results of related calls.

use serde_json::Value;

use crate::{Expectation, Span};

/// Relations that must hold between the result of a call and those of calls made from it.
#[derive(Clone, Debug)]
pub struct Metamorphic {
    /// The relations, in the order they are tried.
    pub relations: Vec<Relation>,
    /// Expectation on the counts; if empty, no violations are allowed.
    pub expect: Expectation,
    /// Its position in the file.
    pub span: Span,
}

/// A change of the arguments, and what it must do to the result.
#[derive(Clone, Debug, PartialEq)]
pub enum Relation {
    /// The same call again has the same result.
    Idempotent,
    /// The order of the arguments in the message does not matter.
    ArgOrderInsensitive,
    /// Upper and lower case in texts do not matter.
    CaseInsensitive,
    /// White space around texts does not matter.
    WhitespaceInsensitive,
    /// One more item in a list of filters takes nothing away.
    NoopFilter {
        /// The argument.
        arg: String,
        /// The item.
        value: Value,
    },
    /// One more item in a list of filters adds nothing.
    SubsetUnderFilter {
        /// The argument.
        arg: String,
        /// The item.
        value: Value,
    },
    /// A greater number gives no fewer items.
    Monotone {
        /// The argument.
        arg: String,
    },
    /// A greater limit keeps all items there were.
    LimitSuperset {
        /// The argument.
        arg: String,
    },
    /// A limit of half the items gives the first of them.
    LimitPrefix {
        /// The argument that limits.
        arg: String,
    },
    /// The pages of a list, one after the other, are the list.
    PagesConcatenate {
        /// The argument that limits a page.
        limit: String,
        /// The argument that skips items.
        offset: String,
    },
    /// Another order gives the same items.
    SortPermutes {
        /// The argument that orders.
        arg: String,
        /// The order.
        value: Value,
    },
    /// A filter gives some of the items.
    FilterNarrows {
        /// The argument that filters.
        arg: String,
        /// The filter.
        value: Value,
    },
    /// A repeated item of a list does not matter.
    DuplicateInsensitive {
        /// The argument.
        arg: String,
    },
    /// Two arguments may be swapped.
    SymmetricArgs {
        /// The first argument.
        arg_a: String,
        /// The second argument.
        arg_b: String,
    },
    /// A text may be replaced by another in an argument.
    SubstitutionInsensitive {
        /// The argument.
        arg: String,
        /// The text.
        from: String,
        /// Its replacement.
        to: String,
    },
}

impl Relation {
    /// Its name in files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Idempotent => "idempotent",
            Self::ArgOrderInsensitive => "arg_order_insensitive",
            Self::CaseInsensitive => "case_insensitive",
            Self::WhitespaceInsensitive => "whitespace_insensitive",
            Self::NoopFilter { .. } => "noop_filter",
            Self::SubsetUnderFilter { .. } => "subset_under_filter",
            Self::Monotone { .. } => "monotone",
            Self::LimitSuperset { .. } => "limit_superset",
            Self::LimitPrefix { .. } => "limit_prefix",
            Self::PagesConcatenate { .. } => "pages_concatenate",
            Self::SortPermutes { .. } => "sort_permutes",
            Self::FilterNarrows { .. } => "filter_narrows",
            Self::DuplicateInsensitive { .. } => "duplicate_insensitive",
            Self::SymmetricArgs { .. } => "symmetric_args",
            Self::SubstitutionInsensitive { .. } => "substitution_insensitive",
        }
    }
}
