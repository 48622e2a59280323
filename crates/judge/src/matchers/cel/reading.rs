//! Facts about an expression before it is evaluated: the names in it that stand for nothing, and its cost.

use std::collections::BTreeSet;

use cel::common::ast::{EntryExpr, Expr, IdedExpr};
use mcprove_model::nearest;

use super::VALUE;
use crate::expressions::Cost;

/// The functions of the language; macros such as `all` are unfolded when an expression is read.
const FUNCTIONS: &[&str] = &[
    "bytes",
    "contains",
    "double",
    "endsWith",
    "hasValue",
    "int",
    "matches",
    "max",
    "min",
    "or",
    "orValue",
    "size",
    "startsWith",
    "string",
    "uint",
    "value",
];
/// The functions that are called on `optional`.
const OF_OPTIONAL: &[&str] = &["none", "of", "ofNonZeroValue"];
/// The macros, for help.
const MACROS: &[&str] = &["all", "exists", "exists_one", "filter", "has", "map"];

/// A name that stands for nothing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unknown {
    Name(String),
    Function(String),
}

impl Unknown {
    pub(super) fn message(&self) -> String {
        match self {
            Self::Name(name) => format!("`{name}` stands for nothing in this expression"),
            Self::Function(name) if MACROS.contains(&name.as_str()) => {
                format!("`{name}` is not called in this way")
            }
            Self::Function(name) => format!("there is no function `{name}`"),
        }
    }

    pub(super) fn help(&self) -> String {
        match self {
            Self::Name(_) => format!("the value is `{VALUE}`; text is written in quotes"),
            Self::Function(name) if MACROS.contains(&name.as_str()) => {
                "write for example `value.all(item, item > 0)`, or `has(value.key)`".to_owned()
            }
            Self::Function(name) => match nearest(name, FUNCTIONS.iter().chain(MACROS).copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("functions: {}", [FUNCTIONS, MACROS].concat().join(", ")),
            },
        }
    }
}

/// Facts about an expression.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub(super) unknown: BTreeSet<Unknown>,
    pub(super) cost: Cost,
}

/// Reads an expression.
pub(super) fn read(program: &IdedExpr) -> Reading {
    let mut reading = Reading::default();
    reading.cost = reading.expression(program, &mut Vec::new());
    reading
}

impl Reading {
    fn expression<'e>(&mut self, node: &'e IdedExpr, bound: &mut Vec<&'e str>) -> Cost {
        let cost = match &node.expr {
            Expr::Unspecified | Expr::Literal(_) => Cost::default(),
            Expr::Ident(name) => {
                if name != VALUE && !name.starts_with('@') && !bound.contains(&name.as_str()) {
                    self.unknown.insert(Unknown::Name(name.clone()));
                }
                Cost::default()
            }
            Expr::Call(call) => {
                let is_operator =
                    call.func_name.starts_with('@') || call.func_name.contains('_') && !is_word(&call.func_name);
                let target = call.target.as_deref();
                let is_of_optional = OF_OPTIONAL.contains(&call.func_name.as_str())
                    && target.is_some_and(|target| matches!(&target.expr, Expr::Ident(name) if name == "optional"));
                if !is_operator && !is_of_optional && !FUNCTIONS.contains(&call.func_name.as_str()) {
                    self.unknown.insert(Unknown::Function(call.func_name.clone()));
                }
                let target = target.filter(|_| !is_of_optional);
                let parts = self.all(target.into_iter().chain(&call.args), bound);
                Cost { doublings: parts.doublings + u32::from(call.func_name == "_+_"), ..parts }
            }
            Expr::Comprehension(comprehension) => {
                let outside = self.all([&comprehension.iter_range, &comprehension.accu_init], bound);
                let known = bound.len();
                bound.push(&comprehension.iter_var);
                bound.extend(comprehension.iter_var2.as_deref());
                bound.push(&comprehension.accu_var);
                let inside =
                    self.all([&comprehension.loop_cond, &comprehension.loop_step, &comprehension.result], bound);
                bound.truncate(known);
                let both = outside.and(inside);
                Cost { loops: both.loops + 1, ..both }
            }
            Expr::List(list) => self.all(&list.elements, bound),
            Expr::Map(map) => self.entries(map.entries.iter().map(|entry| &entry.expr), bound),
            Expr::Struct(fields) => self.entries(fields.entries.iter().map(|entry| &entry.expr), bound),
            Expr::Select(select) => self.expression(&select.operand, bound),
        };
        cost.deeper()
    }

    fn all<'e>(&mut self, parts: impl IntoIterator<Item = &'e IdedExpr>, bound: &mut Vec<&'e str>) -> Cost {
        parts.into_iter().fold(Cost::default(), |cost, part| cost.and(self.expression(part, bound)))
    }

    fn entries<'e>(&mut self, entries: impl IntoIterator<Item = &'e EntryExpr>, bound: &mut Vec<&'e str>) -> Cost {
        entries.into_iter().fold(Cost::default(), |cost, entry| {
            let parts = match entry {
                EntryExpr::StructField(field) => self.all([&field.value], bound),
                EntryExpr::MapEntry(entry) => self.all([&entry.key, &entry.value], bound),
            };
            cost.and(parts)
        })
    }
}

/// True for what an author can write as a name; operators are no words.
fn is_word(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use cel::Program;

    use super::*;

    fn unknown(text: &str) -> Vec<String> {
        read(Program::compile(text).expect(text).expression()).unknown.iter().map(Unknown::message).collect()
    }

    #[test]
    fn names_that_stand_for_nothing_are_found() {
        for (text, name) in [
            ("undefinedvar == 1", "`undefinedvar` stands"),
            ("true || valeu == 1", "`valeu` stands"),
            ("value.all(x, x > y)", "`y` stands"),
            ("value.all(x, x > 0) && x", "`x` stands"),
            ("siez(value) == 1", "no function `siez`"),
            ("value.length() == 1", "no function `length`"),
            ("value.my_own(1)", "no function `my_own`"),
            ("value.map(x)", "`map` is not called"),
            ("{'a': nothing} == value", "`nothing` stands"),
        ] {
            assert!(unknown(text).iter().any(|message| message.contains(name)), "{text}: {:?}", unknown(text));
        }
    }

    #[test]
    fn what_the_language_offers_is_known() {
        for text in [
            "value.all(x, x.exists(y, y > x.size()))",
            "value.filter(x, x > 1).map(x, x * 2).exists_one(x, x == 4)",
            "has(value.a) && !value.b && -value.c < 1 && (value.d ? 1 : 2) in [1, 2]",
            "value['a'][0] == {'b': 1} && value.a.startsWith('x') && string(value.n).matches('^1')",
            "size(value) + int(value.x) - max(1, 2) >= min([1, 2]) && double(value.z) / 2.0 % 1.0 != 0.5",
            "optional.of(value).hasValue() && optional.none().orValue(true)",
            "value.contains('x') || value.endsWith('y') || uint(1) == 1u || bytes('a') == b'a'",
        ] {
            assert_eq!(unknown(text), [] as [&str; 0], "{text}");
        }
    }

    #[test]
    fn costs_are_counted() {
        let cost = |text: &str| read(Program::compile(text).expect(text).expression()).cost;
        assert_eq!((cost("value.a.b == 1").loops, cost("value.a.b == 1").doublings), (0, 0));
        assert!(cost("value.map(a, a + a).map(a, a + a)").loops >= 2);
        assert!(cost("value.map(a, a + a).map(a, a + a)").doublings >= 2);
    }
}
