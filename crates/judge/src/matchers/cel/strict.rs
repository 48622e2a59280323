//! Fields of values that have none. The evaluator takes `value.name` of a text as false, so that `!value.name` and
//! `value.name == value.other` would hold; an index is an error there, and means the same of a map.

use cel::common::ast::{CallExpr, EntryExpr, Expr, IdedEntryExpr, IdedExpr, LiteralValue, operators};

/// Writes each selection of a field as an index; `has(…)` stays a question.
pub(super) fn with_errors(node: &mut IdedExpr) {
    match &mut node.expr {
        Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) => {}
        Expr::Call(call) => {
            call.target.iter_mut().map(|target| &mut **target).chain(&mut call.args).for_each(with_errors);
        }
        Expr::Comprehension(comprehension) => {
            let parts = &mut **comprehension;
            with_errors(&mut parts.iter_range);
            with_errors(&mut parts.accu_init);
            with_errors(&mut parts.loop_cond);
            with_errors(&mut parts.loop_step);
            with_errors(&mut parts.result);
        }
        Expr::List(list) => list.elements.iter_mut().for_each(with_errors),
        Expr::Map(map) => entries(&mut map.entries),
        Expr::Struct(fields) => entries(&mut fields.entries),
        Expr::Select(select) => {
            with_errors(&mut select.operand);
            if !select.test {
                let field = LiteralValue::String(select.field.as_str().into());
                let key = IdedExpr { id: node.id, expr: Expr::Literal(field) };
                let args = vec![std::mem::take(&mut *select.operand), key];
                node.expr = Expr::Call(CallExpr { func_name: operators::INDEX.to_owned(), target: None, args });
            }
        }
    }
}

fn entries(entries: &mut [IdedEntryExpr]) {
    for entry in entries {
        match &mut entry.expr {
            EntryExpr::StructField(field) => with_errors(&mut field.value),
            EntryExpr::MapEntry(entry) => {
                with_errors(&mut entry.key);
                with_errors(&mut entry.value);
            }
        }
    }
}
