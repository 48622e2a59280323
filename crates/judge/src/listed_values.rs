//! Arguments taken from what list-like tools return: an id that `list_users` shows is one that `get_user` knows.

use serde_json::Value;

use crate::fuzz::ValuePool;
use crate::generate::{Oracle, singular, words};
use crate::harm::{HarmGuard, argument_schema};

/// The most list-like tools that are asked for one tool.
const MOST: usize = 2;

/// Words of tools that list things.
const LISTING: &[&str] = &["list", "search", "find", "all", "browse", "ls", "index", "query"];

/// The most listing tools of a server that are looked at for each of its tools.
const MOST_LISTING: usize = 500;

/// The tools of a server that list things and can be called without arguments.
#[derive(Debug)]
pub struct ListingTools<'t>(Vec<(&'t Value, Vec<String>)>);

impl<'t> ListingTools<'t> {
    /// Those among the tools that may be called.
    pub fn among(callable: &[&'t Value]) -> Self {
        let listing = callable.iter().filter(|tool| is_listing(tool)).take(MOST_LISTING);
        Self(listing.map(|tool| (*tool, noun_words(tool))).collect())
    }

    /// Those that may list what a tool wants, the likeliest first.
    pub fn of(&self, tool: &Value) -> Vec<&'t Value> {
        let wanted = noun_words(tool);
        let others = self.0.iter().filter(|(other, _)| tool_name(other) != tool_name(tool));
        let mut found: Vec<(usize, &Value)> =
            others.map(|(other, nouns)| (nouns.iter().filter(|word| wanted.contains(word)).count(), *other)).collect();
        // One that shares no word may still list the only kind of thing that the server has.
        let is_only = found.len() == 1;
        found.retain(|(shared, _)| *shared > 0 || is_only);
        found.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
        found.into_iter().take(MOST).map(|(_, tool)| tool).collect()
    }
}

/// An input with values that were listed in the place of those that were made up; `None` where nothing fits.
pub fn with_listed_values(tool: &Value, input: &Value, listed: &Value, guard: &HarmGuard) -> Option<Value> {
    let schema = argument_schema(tool);
    let oracle = Oracle::new(&schema).ok()?;
    let mut pool = ValuePool::default();
    pool.harvest(listed);
    let mut changed = input.clone();
    for name in required(&schema) {
        let subject = words(tool_name(tool));
        let nouns = subject.last().map(|noun| singular(noun).to_owned()).unwrap_or_default();
        // `id` of `get_user` is a `user_id`.
        let qualified = format!("{nouns}_{name}");
        for value in pool.values_for(&[&qualified]).into_iter().chain(pool.values_for(&[name])) {
            let mut candidate = changed.clone();
            candidate[name] = value.clone();
            let as_text = value.as_i64().map(|number| Value::from(number.to_string()));
            let fits = |candidate: &Value| oracle.accepts(candidate) && guard.allows(candidate);
            if fits(&candidate) {
                changed = candidate;
                break;
            }
            if let Some(text) = as_text {
                candidate[name] = text;
                if fits(&candidate) {
                    changed = candidate;
                    break;
                }
            }
        }
    }
    (changed != *input).then_some(changed)
}

fn tool_name(tool: &Value) -> &str {
    tool.get("name").and_then(Value::as_str).unwrap_or_default()
}

fn is_listing(tool: &Value) -> bool {
    let names = words(tool_name(tool));
    let is_plural = names.last().is_some_and(|word| singular(word) != word);
    let first = names.first().map(String::as_str).unwrap_or_default();
    let lists =
        names.iter().any(|word| LISTING.contains(&word.as_str())) || is_plural && matches!(first, "get" | "show");
    lists && required(&argument_schema(tool)).is_empty()
}

fn required(schema: &Value) -> Vec<&str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The name of a tool split into words, without the verb, in the singular.
fn noun_words(tool: &Value) -> Vec<String> {
    let all = words(tool_name(tool));
    let nouns = all.iter().skip(1).filter(|word| !LISTING.contains(&word.as_str()));
    nouns.map(|word| singular(word).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tool_effect::ToolEffect;

    fn tool(name: &str, schema: &Value) -> Value {
        json!({"name": name, "inputSchema": schema})
    }

    #[test]
    fn a_listed_id_takes_the_place_of_one_that_was_made_up() {
        let needs = |name: &str, kind: &str| json!({"type": "object", "required": [name], "properties": {name: {"type": kind}}});
        let get = tool("get_user", &needs("id", "string"));
        let (users, orders) = (tool("list_users", &json!({"type": "object"})), tool("list_orders", &json!({})));
        let search = tool("search_users", &needs("query", "string"));
        let all = [&orders, &search, &users, &get];
        assert_eq!(ListingTools::among(&all).of(&get), [&users]);
        assert_eq!(ListingTools::among(&[&orders]).of(&tool("fetch", &json!({}))), [&orders]);
        let guard = HarmGuard::new(&get, &ToolEffect::Reads, "/scratch");
        let listed = json!({"content": [{"type": "text", "text": "{\"users\": [{\"id\": 7}]}"}]});
        let made = json!({"id": "example"});
        assert_eq!(with_listed_values(&get, &made, &listed, &guard), Some(json!({"id": "7"})));
        let nothing = json!({"content": [{"type": "text", "text": "no users"}]});
        assert_eq!(with_listed_values(&get, &made, &nothing, &guard), None);
    }
}
