//! Keys: the values by which tools know the things that they make.

use serde_json::Value;

use super::reply::Reply;
use super::role::SequenceTool;

/// Names of properties that hold keys, the likeliest first; the noun of the tool is put before some of them.
const NAMES: &[&str] = &["id", "uuid", "key", "uri", "path", "slug", "name", "title"];

/// The key as a text; `None` for what can be none.
pub(super) fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() && text.len() <= 300 => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The rank of a property as the key of a noun, 0 the best.
pub(super) fn rank(property: &str, noun: &str) -> Option<usize> {
    let plain: String = property.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    let noun: String = noun.chars().filter(char::is_ascii_alphanumeric).collect();
    let last = noun_last(&noun);
    NAMES
        .iter()
        .enumerate()
        .find_map(|(at, name)| {
            let own = plain == format!("{noun}{name}") || plain == format!("{last}{name}");
            match (own && !noun.is_empty(), plain == *name) {
                (true, _) => Some(at * 2),
                (_, true) => Some(at * 2 + 1),
                (false, false) => None,
            }
        })
        .or_else(|| (!noun.is_empty() && plain == noun).then_some(NAMES.len() * 2))
}

fn noun_last(noun: &str) -> &str {
    noun
}

/// The key that a reply gives to what was made, and the JSON Pointer of it in the document. A key that is only in a text
/// has no pointer.
pub(super) fn made_key(reply: &Reply, noun: &str, wanted: &[String]) -> Option<(Value, Option<String>)> {
    if let Some(doc) = &reply.doc {
        let mut best: Option<(usize, Value, String)> = None;
        let mut consider = |map: &serde_json::Map<String, Value>, before: &str, depth: usize| {
            for (name, value) in map {
                let by_name = wanted.iter().position(|wanted| wanted == name).map(|_| 0);
                let Some(rank) = by_name.or_else(|| rank(name, noun).filter(|rank| *rank < 4).map(|rank| rank + 1))
                else {
                    continue;
                };
                let rank = rank + depth * 10;
                if text_of(value).is_some() && best.as_ref().is_none_or(|(known, _, _)| rank < *known) {
                    best = Some((rank, value.clone(), format!("{before}/{}", escaped(name))));
                }
            }
        };
        if let Value::Object(map) = doc {
            consider(map, "", 0);
            for (name, inner) in map {
                if let Value::Object(inner) = inner {
                    consider(inner, &format!("/{}", escaped(name)), 1);
                }
            }
        }
        return best.map(|(_, value, pointer)| (value, Some(pointer)));
    }
    let text = reply.text.trim();
    let after = ["id: ", "ID: ", "id ", "ID ", "id=", "#"].iter().find_map(|mark| text.split_once(mark))?.1;
    let key: String = after.chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')).collect();
    let is_key = !key.is_empty() && (key.chars().any(|c| c.is_ascii_digit()) || key.contains('-'));
    is_key.then(|| (Value::from(key), None))
}

/// The keys of the things that one call made: those of a list in the reply with as many records.
pub(super) fn made_keys(
    reply: &Reply,
    tool: &SequenceTool,
    wanted: &[String],
    count: usize,
) -> Vec<(Value, Option<String>)> {
    if count == 1
        && let Some(only) = made_key(reply, &tool.noun, wanted)
    {
        return vec![only];
    }
    let lists = reply.doc.iter().filter(|_| tool.batch.is_some()).flat_map(|doc| match doc {
        Value::Array(items) => vec![(String::new(), items)],
        Value::Object(map) => {
            let list = |(name, inner): (&String, &'_ Value)| inner.is_array().then(|| format!("/{}", escaped(name)));
            map.iter().filter_map(|entry| list(entry).zip(entry.1.as_array())).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    });
    let key = |before: &str, at: usize, item: &Value| {
        let ranked = item.as_object()?.iter().filter_map(|(name, value)| {
            let by_name = wanted.contains(name).then_some(0);
            let rank = by_name.or_else(|| rank(name, &tool.noun).filter(|rank| *rank < 4).map(|rank| rank + 1))?;
            text_of(value).map(|_| (rank, name, value))
        });
        let (_, name, value) = ranked.min_by_key(|(rank, _, _)| *rank)?;
        Some((value.clone(), Some(format!("{before}/{at}/{}", escaped(name)))))
    };
    let mut of_lists = lists.filter(|(_, items)| items.len() == count).filter_map(|(before, items)| {
        items.iter().enumerate().map(|(at, item)| key(&before, at, item)).collect::<Option<Vec<_>>>()
    });
    of_lists.next().unwrap_or_default()
}

/// The key that a call names; none if it names several.
pub(super) fn named_key(tool: &SequenceTool, args: &Value) -> Option<String> {
    match tool.parts(args).as_slice() {
        [only] => part_key(tool, only),
        _ => None,
    }
}

/// The key in the arguments about one thing.
pub(super) fn part_key(tool: &SequenceTool, part: &Value) -> Option<String> {
    text_of(part.get(tool.key.as_deref()?)?)
}

pub(super) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
