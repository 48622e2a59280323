//! Sequences of calls: in which order, and what else may be there.

use std::fmt;

use mcprove_model::{TracedCall, shorten};

use super::args::ArgsMatcher;

/// A call that a suite expects.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedCall {
    /// The tool.
    pub tool: String,
    /// Requirements on its arguments.
    pub args: ArgsMatcher,
}

/// Way of comparing calls with the expectation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The same calls in the same order and no others; also written `exact_sequence`.
    Strict,
    /// The expected calls in their order, with others between them.
    Subsequence,
    /// The expected calls in any order, with others among them; the same as [`Mode::Superset`].
    Unordered,
    /// No call that is not expected; not all of them need to come.
    Subset,
    /// All expected calls, in any order, with others among them.
    Superset,
}

/// The first place where calls are not as expected.
#[derive(Clone, Debug, PartialEq)]
pub enum Divergence {
    /// A call is not the expected one.
    Different {
        /// Its position among the calls, from 0.
        position: usize,
        /// The tool that was expected.
        expected: String,
        /// The tool that was called.
        found: String,
        /// The error in the arguments, if it is the right tool.
        why: Option<String>,
    },
    /// An expected call did not come.
    Missing {
        /// Its position among the expected calls, from 0.
        expected_position: usize,
        /// The tool.
        expected: String,
        /// The error in the nearest call of that tool, if there is one.
        why: Option<String>,
    },
    /// A call came that nothing expects.
    Unexpected {
        /// Its position among the calls, from 0.
        position: usize,
        /// The tool that was called.
        found: String,
        /// The error in its arguments, if the tool is expected with others.
        why: Option<String>,
    },
}

impl Mode {
    /// Every mode with its name in suites, as they are listed in messages.
    pub const NAMES: [(&'static str, Self); 6] = [
        ("strict", Self::Strict),
        ("exact_sequence", Self::Strict),
        ("subsequence", Self::Subsequence),
        ("unordered", Self::Unordered),
        ("subset", Self::Subset),
        ("superset", Self::Superset),
    ];

    /// The mode of a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, mode)| *mode)
    }
}

/// The first place where calls are not as expected; `None` when they are.
pub fn divergence(mode: Mode, expected: &[ExpectedCall], calls: &[TracedCall]) -> Option<Divergence> {
    divergences(mode, expected, calls).into_iter().next()
}

/// Number of places where calls differ from the expectation.
pub fn mismatch_count(mode: Mode, expected: &[ExpectedCall], calls: &[TracedCall]) -> usize {
    divergences(mode, expected, calls).len()
}

fn divergences(mode: Mode, expected: &[ExpectedCall], calls: &[TracedCall]) -> Vec<Divergence> {
    match mode {
        Mode::Strict => strict(expected, calls),
        Mode::Subsequence => subsequence(expected, calls),
        Mode::Unordered | Mode::Superset => superset(expected, calls),
        Mode::Subset => subset(expected, calls),
    }
}

fn strict(expected: &[ExpectedCall], calls: &[TracedCall]) -> Vec<Divergence> {
    let mut found = Vec::new();
    for (position, (wanted, call)) in expected.iter().zip(calls).enumerate() {
        if !wanted.matches(call) {
            let why = wanted.why_not(call);
            found.push(Divergence::Different {
                position,
                expected: wanted.tool.clone(),
                found: call.tool.clone(),
                why,
            });
        }
    }
    let missing = expected.iter().enumerate().skip(calls.len());
    found.extend(missing.map(|(position, wanted)| wanted.missing(position, &[])));
    let extra = calls.iter().enumerate().skip(expected.len());
    found.extend(extra.map(|(position, call)| unexpected(position, call, &[])));
    found
}

/// Taking the first call that fits is enough: whatever a later one would leave, the first leaves too.
fn subsequence(expected: &[ExpectedCall], calls: &[TracedCall]) -> Vec<Divergence> {
    let mut rest = calls;
    let mut found = Vec::new();
    for (position, wanted) in expected.iter().enumerate() {
        match rest.iter().position(|call| wanted.matches(call)) {
            Some(at) => rest = &rest[at + 1..],
            // The ones after it are looked for where this one should have come.
            None => found.push(wanted.missing(position, rest)),
        }
    }
    found
}

fn subset(expected: &[ExpectedCall], calls: &[TracedCall]) -> Vec<Divergence> {
    let extra = calls.iter().enumerate().filter(|(_, call)| !expected.iter().any(|wanted| wanted.matches(call)));
    extra.map(|(position, call)| unexpected(position, call, expected)).collect()
}

/// Each expected call needs a call of its own. A call that fits several is given away again where that lets another
/// find one (augmenting paths), so that the order in which they are written does not matter.
fn superset(expected: &[ExpectedCall], calls: &[TracedCall]) -> Vec<Divergence> {
    let fits: Vec<Vec<usize>> =
        expected.iter().map(|wanted| (0..calls.len()).filter(|call| wanted.matches(&calls[*call])).collect()).collect();
    let mut taken_by: Vec<Option<usize>> = vec![None; calls.len()];
    let mut found = Vec::new();
    for (position, wanted) in expected.iter().enumerate() {
        if !settle(position, &fits, &mut taken_by, &mut vec![false; calls.len()]) {
            let free: Vec<TracedCall> = calls
                .iter()
                .zip(&taken_by)
                .filter(|(_, taken)| taken.is_none())
                .map(|(call, _)| call.clone())
                .collect();
            found.push(wanted.missing(position, &free));
        }
    }
    found
}

/// Finds a call for an expected one, moving others when they have another choice.
fn settle(wanted: usize, fits: &[Vec<usize>], taken_by: &mut [Option<usize>], tried: &mut [bool]) -> bool {
    for call in &fits[wanted] {
        if std::mem::replace(&mut tried[*call], true) {
            continue;
        }
        let free = match taken_by[*call] {
            None => true,
            Some(other) => settle(other, fits, taken_by, tried),
        };
        if free {
            taken_by[*call] = Some(wanted);
            return true;
        }
    }
    false
}

impl ExpectedCall {
    fn matches(&self, call: &TracedCall) -> bool {
        self.tool == call.tool && self.args.mismatch(&call.args).is_none()
    }

    /// The error in the arguments of a call of this tool.
    fn why_not(&self, call: &TracedCall) -> Option<String> {
        (self.tool == call.tool).then(|| self.args.mismatch(&call.args)).flatten()
    }

    fn missing(&self, expected_position: usize, calls: &[TracedCall]) -> Divergence {
        let why = calls.iter().find_map(|call| self.why_not(call));
        Divergence::Missing { expected_position, expected: self.tool.clone(), why }
    }
}

fn unexpected(position: usize, call: &TracedCall, expected: &[ExpectedCall]) -> Divergence {
    let why = expected.iter().find_map(|wanted| wanted.why_not(call));
    Divergence::Unexpected { position, found: call.tool.clone(), why }
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |tool: &str| format!("`{}`", shorten(tool, 80));
        let why = match self {
            Self::Different { position, expected, found, why } => {
                let place = position + 1;
                if expected == found {
                    write!(f, "call {place} of {} has other arguments", name(found))?;
                } else {
                    write!(f, "call {place} is {}, expected {}", name(found), name(expected))?;
                }
                why
            }
            Self::Missing { expected_position, expected, why } => {
                write!(f, "expected call {} of {} did not come", expected_position + 1, name(expected))?;
                why
            }
            Self::Unexpected { position, found, why } => {
                write!(f, "call {} of {} was not expected", position + 1, name(found))?;
                why
            }
        };
        why.as_ref().map_or(Ok(()), |why| write!(f, ": {why}"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn calls(tools: &[&str]) -> Vec<TracedCall> {
        tools.iter().enumerate().map(|(n, tool)| TracedCall { tool: (*tool).into(), args: json!({"n": n}) }).collect()
    }

    fn expected(tools: &[&str]) -> Vec<ExpectedCall> {
        tools.iter().map(|tool| ExpectedCall { tool: (*tool).into(), args: ArgsMatcher::Any }).collect()
    }

    fn told(mode: &str, wanted: &[&str], made: &[&str]) -> Option<String> {
        let mode = Mode::parse(mode).expect(mode);
        divergence(mode, &expected(wanted), &calls(made)).map(|divergence| divergence.to_string())
    }

    #[test]
    fn each_mode_accepts_what_it_says() {
        for (mode, wanted, made, fits) in [
            ("strict", &["a", "b"][..], &["a", "b"][..], true),
            ("exact_sequence", &["a", "b"], &["b", "a"], false),
            ("strict", &["a", "b"], &["a", "b", "b"], false),
            ("strict", &[], &[], true),
            ("subsequence", &["a", "c"], &["a", "b", "c"], true),
            ("subsequence", &["c", "a"], &["a", "b", "c"], false),
            ("subsequence", &["a", "a"], &["a"], false),
            ("unordered", &["b", "a"], &["a", "x", "b"], true),
            ("superset", &["b", "b"], &["a", "b"], false),
            ("superset", &["b", "b"], &["b", "a", "b"], true),
            ("subset", &["a", "b"], &["b", "b"], true),
            ("subset", &["a", "b"], &[], true),
            ("subset", &["a", "b"], &["a", "c"], false),
        ] {
            assert_eq!(told(mode, wanted, made).is_none(), fits, "{mode} {wanted:?} {made:?}");
        }
        assert_eq!(Mode::parse("random"), None);
    }

    #[test]
    fn the_first_divergence_is_named() {
        assert_eq!(told("strict", &["a", "b"], &["a", "c"]).as_deref(), Some("call 2 is `c`, expected `b`"));
        assert_eq!(told("strict", &["a", "b"], &["a"]).as_deref(), Some("expected call 2 of `b` did not come"));
        assert_eq!(told("strict", &["a"], &["a", "b"]).as_deref(), Some("call 2 of `b` was not expected"));
        assert_eq!(told("subset", &["a"], &["a", "b", "c"]).as_deref(), Some("call 2 of `b` was not expected"));
        let wanted = [ExpectedCall { tool: "a".into(), args: ArgsMatcher::Subset(json!({"n": 7})) }];
        let told = |mode| divergence(mode, &wanted, &calls(&["a"])).map(|divergence| divergence.to_string());
        let why = "expected `7` at /n, found `0`";
        assert_eq!(told(Mode::Strict), Some(format!("call 1 of `a` has other arguments: {why}")));
        assert_eq!(told(Mode::Superset), Some(format!("expected call 1 of `a` did not come: {why}")));
        assert_eq!(told(Mode::Subset), Some(format!("call 1 of `a` was not expected: {why}")));
        assert_eq!(mismatch_count(Mode::Strict, &expected(&["a", "b"]), &calls(&["b", "a", "c"])), 3);
    }

    #[test]
    fn a_call_that_fits_several_is_given_where_it_is_needed() {
        let wanted = [
            ExpectedCall { tool: "a".into(), args: ArgsMatcher::Any },
            ExpectedCall { tool: "a".into(), args: ArgsMatcher::Exact(json!({"n": 0})) },
        ];
        assert_eq!(divergence(Mode::Unordered, &wanted, &calls(&["a", "a"])), None);
    }

    proptest! {
        #[test]
        fn modes_agree_where_they_must(wanted in prop::collection::vec("[abc]", 0..5), made in prop::collection::vec("[abc]", 0..6)) {
            let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
            let made: Vec<&str> = made.iter().map(String::as_str).collect();
            let fits = |mode| told(mode, &wanted, &made).is_none();
            prop_assert_eq!(fits("strict"), wanted == made);
            prop_assert!(!fits("strict") || fits("subsequence") && fits("subset"));
            prop_assert!(!fits("subsequence") || fits("superset"));
            let count = |list: &[&str], tool: &str| list.iter().filter(|one| **one == tool).count();
            prop_assert_eq!(fits("superset"), ["a", "b", "c"].iter().all(|tool| count(&made, tool) >= count(&wanted, tool)));
            prop_assert_eq!(fits("subset"), made.iter().all(|tool| wanted.contains(tool)));
            let (expected, calls) = (expected(&wanted), calls(&made));
            for (_, mode) in Mode::NAMES {
                let first = divergence(mode, &expected, &calls);
                prop_assert_eq!(first.is_none(), mismatch_count(mode, &expected, &calls) == 0);
            }
        }
    }
}
