//! Pages and limits: parts of the list that is given without them.

use serde_json::{Value, json};

use super::super::invariant::{Expected, Fault, Invariant, Scene};
use super::super::key::text_of;
use super::super::role::Role;
use super::super::world::next_cursor;

/// A limit gives the beginning of the list, pages give its parts, another order gives the same items.
pub(in super::super) const PAGES_DISAGREE: Invariant = Invariant { id: "pages-disagree", check: pages_disagree };

fn pages_disagree(scene: &Scene<'_>) -> Option<Fault> {
    let tool = scene.tool.filter(|tool| tool.role == Role::List && scene.reply.is_fine)?;
    let args = scene.step.args.as_object().filter(|args| !args.is_empty())?;
    let whole = scene.world.observed.get(&(scene.target(), "{}".to_owned()))?;
    if !whole.is_undisturbed() || !scene.facts.is_stable(scene.target()) || next_cursor(&whole.reply).is_some() {
        return None;
    }
    let (whole, items) = (whole.reply.items()?, scene.reply.items()?);
    let known = [&tool.limit, &tool.offset, &tool.cursor, &tool.sort];
    if !args.keys().all(|name| known.iter().any(|known| known.as_ref() == Some(name))) {
        return None;
    }
    let given = |name: &Option<String>| name.as_ref().and_then(|name| args.get(name));
    let number =
        |name: &Option<String>| given(name).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok());
    let fault = |what: String, expected: &[Value]| {
        // The items in a test are compared as they are on a correct server.
        let expected = match path_of_items(scene.reply.doc.as_ref()) {
            Some(path) if given(&tool.sort).is_none() => Expected::Checks(json!({"json_path": {path: expected}})),
            // In another order, each item is there.
            Some(_) | None => {
                Expected::Checks(json!({"contains": whole.iter().filter_map(first_text).collect::<Vec<_>>()}))
            }
        };
        Some(Fault {
            message: format!("`{}` with {} {what}", tool.name, scene.step.args),
            subject: None,
            blamed: None,
            expected,
        })
    };
    if given(&tool.sort).is_some() {
        let missing = whole.iter().filter(|item| !items.contains(item)).count();
        let is_same = missing == 0 && items.len() == whole.len();
        let is_only_sort = args.len() == 1;
        return if is_same || !is_only_sort {
            None
        } else {
            fault(format!("gives {} of {} items", items.len(), whole.len()), &[])
        };
    }
    // Some count from one.
    let own = |key: &str| tool.schema.pointer(&format!("/properties/{}/{key}", tool.offset.as_deref()?))?.as_u64();
    if given(&tool.offset).is_some() && (own("minimum") == Some(1) || own("default") == Some(1)) {
        return None;
    }
    let begin = match given(&tool.cursor).and_then(text_of) {
        Some(cursor) => *scene.world.cursors.get(&cursor)?,
        None => number(&tool.offset).unwrap_or(0),
    };
    let limit = number(&tool.limit).filter(|limit| *limit > 0).unwrap_or(whole.len());
    // Pages of a server that numbers them in another way prove nothing.
    if begin > whole.len() || given(&tool.offset).is_some() && !scene.facts.listed.contains_key(&scene.target()) {
        return None;
    }
    let wanted = &whole[begin..(begin + limit).min(whole.len())];
    if items.as_slice() == wanted || is_other_order(whole, items, wanted.len()) {
        return None;
    }
    let what = match () {
        () if items.len() > limit => format!("gives {} items", items.len()),
        () if begin == 0 => "does not give the beginning of the list".to_owned(),
        () => format!("does not give items {} to {} of the list", begin + 1, begin + wanted.len()),
    };
    fault(what, wanted)
}

/// True if the list may have no order: the right number of items, all of them from the list, on the first page.
fn is_other_order(whole: &[Value], items: &[Value], wanted: usize) -> bool {
    let is_part = items.len() == wanted && items.iter().all(|item| whole.contains(item));
    is_part && !items.is_empty() && whole.len() > 1 && items.first() == whole.last()
}

/// The first string in an item of a list, which is most often its key.
fn first_text(item: &Value) -> Option<&str> {
    match item {
        Value::String(text) => Some(text),
        Value::Object(map) => map.values().find_map(Value::as_str),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    }
}

/// The path of the list in a document.
fn path_of_items(doc: Option<&Value>) -> Option<String> {
    match doc? {
        Value::Array(_) => Some("$".to_owned()),
        Value::Object(map) => {
            let (name, _) = map
                .iter()
                .filter(|(_, value)| value.is_array())
                .max_by_key(|(_, value)| value.as_array().map_or(0, Vec::len))?;
            Some(format!("$.{name}"))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}
