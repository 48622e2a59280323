//! The cost of a jq program, as far as it can be read off it.

use jaq_core::load::lex::StrPart;
use jaq_core::load::parse::{BinaryOp, Term};
use jaq_core::ops::Math;
use jaq_core::path::{Part, Path};

use crate::expressions::Cost;

/// Functions whose value is at most as large as what they are given, and that take one step for each of its parts.
const PLAIN: &[&str] = &[
    "abs",
    "all",
    "any",
    "arrays",
    "ascii_downcase",
    "ascii_upcase",
    "booleans",
    "ceil",
    "empty",
    "endswith",
    "false",
    "first",
    "floor",
    "fromjson",
    "has",
    "isvalid",
    "iterables",
    "keys",
    "keys_unsorted",
    "last",
    "length",
    "ltrimstr",
    "max",
    "min",
    "not",
    "null",
    "nulls",
    "numbers",
    "objects",
    "reverse",
    "round",
    "rtrimstr",
    "scalars",
    "select",
    "sort",
    "startswith",
    "strings",
    "test",
    "tonumber",
    "trim",
    "true",
    "type",
    "unique",
    "values",
];
/// Functions that do something for each part of a value, or give up to a few times as much as they are given.
const LOOPING: &[&str] = &[
    "add",
    "ascii",
    "contains",
    "del",
    "flatten",
    "from_entries",
    "group_by",
    "index",
    "inside",
    "join",
    "map",
    "map_values",
    "max_by",
    "min_by",
    "sort_by",
    "split",
    "to_entries",
    "tojson",
    "tostring",
    "unique_by",
    "with_entries",
];
/// The largest index that an update may write at: a list is as long as its largest index.
const LARGEST_INDEX: f64 = 10_000.0;

const UNBOUNDED: Cost = Cost { depth: 0, loops: 0, doublings: 0, is_unbounded: true };

/// The cost of a program; that of one that cannot be parsed is of no interest.
pub(super) fn of(program: &str) -> Cost {
    jaq_core::load::parse(program, |parser| parser.term()).map_or(UNBOUNDED, |term| cost(&term))
}

fn cost(term: &Term<&str>) -> Cost {
    let cost = match term {
        Term::Id | Term::Num(_) => Cost::default(),
        Term::Recurse => Cost { loops: 1, ..Cost::default() },
        Term::Str(format, parts) => {
            let inner = parts.iter().filter_map(|part| match part {
                StrPart::Term(term) => Some(term),
                StrPart::Str(_) | StrPart::Char(_) => None,
            });
            let used = u32::try_from(inner.clone().count()).unwrap_or(u32::MAX);
            // A format may write each character as six.
            let written = if format.is_some() { 3 } else { 0 };
            let inner = all(inner);
            Cost { doublings: inner.doublings.saturating_add(used).saturating_add(written), ..inner }
        }
        Term::Arr(inner) => all(inner.as_deref()),
        Term::Obj(entries) => {
            let inner = all(entries.iter().flat_map(|(key, value)| [Some(key), value.as_ref()]).flatten());
            Cost {
                doublings: inner.doublings.saturating_add(u32::try_from(entries.len()).unwrap_or(u32::MAX)),
                ..inner
            }
        }
        Term::Neg(inner) => cost(inner),
        Term::BinOp(left, op, right) => cost(left).and(cost(right)).and(operator(op)),
        Term::TryCatch(inner, catch) => all([Some(&**inner), catch.as_deref()].into_iter().flatten()),
        Term::IfThenElse(branches, otherwise) => {
            all(branches.iter().flat_map(|(when, then)| [when, then]).chain(otherwise.as_deref()))
        }
        Term::Call(name, arguments) => all(arguments).and(if PLAIN.contains(name) {
            Cost::default()
        } else if LOOPING.contains(name) {
            Cost { loops: 1, ..Cost::default() }
        } else {
            UNBOUNDED
        }),
        Term::Path(start, path) => cost(start).and(of_path(path)),
        Term::Def(definitions, inner) => {
            all(definitions.iter().map(|definition| &definition.body).chain([&**inner])).and(UNBOUNDED)
        }
        Term::Label(_, inner) => cost(inner).and(UNBOUNDED),
        Term::Fold(_, inner, _, rest) => all([&**inner].into_iter().chain(rest)).and(UNBOUNDED),
        Term::Break(_) | Term::Var(_) => UNBOUNDED,
    };
    cost.deeper()
}

fn all<'t>(terms: impl IntoIterator<Item = &'t Term<&'t str>>) -> Cost {
    terms.into_iter().fold(Cost::default(), |sum, term| sum.and(cost(term)))
}

fn operator(op: &BinaryOp<&str>) -> Cost {
    match op {
        BinaryOp::Pipe(None) | BinaryOp::Alt | BinaryOp::Or | BinaryOp::And | BinaryOp::Cmp(_) => Cost::default(),
        BinaryOp::Comma | BinaryOp::Math(Math::Add | Math::Sub | Math::Rem) | BinaryOp::Assign => {
            Cost { doublings: 1, ..Cost::default() }
        }
        // A text times a number is as long as it likes, and one divided by another is a list.
        BinaryOp::Math(Math::Mul | Math::Div)
        | BinaryOp::Pipe(Some(_))
        | BinaryOp::Update
        | BinaryOp::UpdateMath(_)
        | BinaryOp::UpdateAlt => UNBOUNDED,
    }
}

fn of_path(path: &Path<Term<&str>>) -> Cost {
    path.0.iter().fold(Cost::default(), |sum, (part, _)| {
        sum.and(match part {
            Part::Index(Term::Num(number)) if number.parse::<f64>().is_ok_and(|index| index <= LARGEST_INDEX) => {
                Cost::default()
            }
            Part::Index(term @ Term::Str(None, _)) => cost(term),
            Part::Index(term) => cost(term).and(UNBOUNDED),
            Part::Range(None, None) => Cost { loops: 1, ..Cost::default() },
            Part::Range(from, to) => all([from, to].into_iter().flatten()).and(UNBOUNDED),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_bounded_is_known() {
        for program in [
            "[range(1e9)]",
            "def f: f; f",
            "\"x\" * 1000000000",
            "reduce range(60) as $i (\"xx\"; . + .)",
            "last(repeat(1))",
            "[limit(9; repeat(1))]",
            "def f(x): x | f([x]); f(1)",
            ".[900000000] = 1",
            "combinations(9)",
            "until(false; .)",
            "[recurse([.])]",
            ". as $x | $x",
            ".[] |= .",
        ] {
            assert!(of(program).is_unbounded, "{program}");
        }
    }

    #[test]
    fn what_people_write_is_cheap() {
        for (program, loops) in [
            (".", 0),
            (".result.content[0].text", 0),
            ("ascii_downcase", 0),
            (".result.id = \"fixed\"", 0),
            ("[.[] | select(. > 1)] | length", 1),
            (".a[1].b // \"none\" | test(\"^a\")", 0),
            ("map(.name) | sort", 1),
            ("del(.a, .b)", 1),
        ] {
            let cost = of(program);
            assert!(!cost.is_unbounded && cost.loops == loops && cost.doublings <= 2, "{program}: {cost:?}");
        }
        assert!(of(". , ".repeat(40).trim_end_matches(", ")).doublings >= 30);
    }
}
