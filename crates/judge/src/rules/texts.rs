//! All texts of a tool, for the rules that look at every one.

use crate::spanned_json::{Json, JsonKind};

/// Calls `see` with every string and every name of a value; the flag is true for a name.
pub(super) fn texts<'c>(value: Json<'c>, see: &mut dyn FnMut(Json<'c>, &str, bool)) {
    let mut open = vec![(value, false)];
    while let Some((value, is_name)) = open.pop() {
        match value.kind() {
            JsonKind::Map => {
                let members: Vec<(Json<'c>, Json<'c>)> = value.members().collect();
                for (key, inner) in members.into_iter().rev() {
                    if let Some(text) = key.as_text() {
                        see(inner, &text, true);
                    }
                    open.push((inner, key.is_text("name")));
                }
            }
            JsonKind::List => {
                let items: Vec<Json<'c>> = value.items().collect();
                open.extend(items.into_iter().rev().map(|item| (item, false)));
            }
            _ => {
                if let Some(text) = value.as_text() {
                    see(value, &text, is_name);
                }
            }
        }
    }
}
