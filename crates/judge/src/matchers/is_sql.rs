//! `is-sql`: a text of SQL statements.

use std::sync::Arc;

use mcprove_model::{Diagnostics, Mismatch, Node};
use serde_json::{Value, json};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;

use super::{Decoded, Matcher, MatcherKind, fails, holds, mismatch};

pub(super) const KIND: MatcherKind = MatcherKind {
    name: "is-sql",
    summary: "The text is one or more SQL statements, in no special dialect.",
    decode,
    schema: || json!({"enum": [null, true]}),
    examples: &[
        holds("null", r#""SELECT a FROM b WHERE c = 1""#),
        fails("null", r#""SELEC a FROM""#),
        fails("null", r#""""#),
        fails("null", "1"),
    ],
};

#[derive(Debug)]
struct IsSql;

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Decoded {
    if !node.is_null() && node.as_bool() != Some(true) {
        found.wrong_kind(node, "`is-sql`", "null or true");
        return None;
    }
    Some(Arc::new(IsSql))
}

impl Matcher for IsSql {
    fn judge(&self, value: &Value) -> Result<(), Mismatch> {
        let expected = "SQL statements";
        let Some(text) = value.as_str() else { return Err(mismatch("is not a text", expected, value)) };
        match Parser::parse_sql(&GenericDialect {}, text) {
            Ok(statements) if statements.is_empty() => Err(mismatch("has no statement", expected, value)),
            Ok(_) => Ok(()),
            Err(error) => Err(mismatch(format!("is not SQL: {error}"), expected, value)),
        }
    }
}
