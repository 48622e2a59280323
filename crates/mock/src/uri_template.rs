//! Addresses that follow a pattern: `{name}` stands for anything without a slash, `{+name}` for anything (RFC 6570).

use serde_json::{Map, Value};

/// Whether a pattern can be matched; if not, why.
pub(crate) fn check(pattern: &str) -> Result<(), String> {
    parts(pattern).map(drop)
}

/// The variables of an address that follows the pattern.
pub(crate) fn matches(pattern: &str, uri: &str) -> Option<Map<String, Value>> {
    let parts = parts(pattern).ok()?;
    let mut variables = Map::new();
    follow(&parts, uri, &mut variables).then_some(variables)
}

enum Part<'p> {
    Text(&'p str),
    Variable { name: &'p str, with_slashes: bool },
}

fn parts(pattern: &str) -> Result<Vec<Part<'_>>, String> {
    let mut parts = Vec::new();
    let mut rest = pattern;
    while let Some(open) = rest.find('{') {
        if open > 0 {
            parts.push(Part::Text(&rest[..open]));
        }
        let Some(close) = rest[open..].find('}') else {
            return Err(format!("`{}` has no closing brace", &rest[open..]));
        };
        let inside = &rest[open + 1..open + close];
        let (name, with_slashes) = inside.strip_prefix('+').map_or((inside, false), |name| (name, true));
        if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.')) {
            return Err(format!("`{{{inside}}}` is no variable"));
        }
        parts.push(Part::Variable { name, with_slashes });
        rest = &rest[open + close + 1..];
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest));
    }
    Ok(parts)
}

fn follow(parts: &[Part<'_>], uri: &str, variables: &mut Map<String, Value>) -> bool {
    match parts {
        [] => uri.is_empty(),
        [Part::Text(text), rest @ ..] => uri.strip_prefix(text).is_some_and(|uri| follow(rest, uri, variables)),
        [Part::Variable { name, with_slashes }, rest @ ..] => {
            let longest = if *with_slashes { uri.len() } else { uri.find('/').unwrap_or(uri.len()) };
            // The longest value that lets the rest follow, as a greedy reader would take it.
            let ends = uri.char_indices().map(|(at, _)| at).chain([uri.len()]).filter(|at| (1..=longest).contains(at));
            ends.rev().any(|end| {
                variables.insert((*name).to_owned(), Value::String(uri[..end].to_owned()));
                follow(rest, &uri[end..], variables)
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn variables_are_taken_out_of_addresses() {
        let all = |pattern, uri| matches(pattern, uri).map(Value::Object);
        assert_eq!(all("test://t/{id}/data", "test://t/12/data"), Some(json!({"id": "12"})));
        assert_eq!(all("test://t/{id}/data", "test://t/1/2/data"), None);
        assert_eq!(all("test://t/{id}/data", "test://t//data"), None);
        assert_eq!(all("file:///{+path}", "file:///a/b.txt"), Some(json!({"path": "a/b.txt"})));
        assert_eq!(all("x:{a}.{b}", "x:1.2.3"), Some(json!({"a": "1.2", "b": "3"})));
        assert_eq!(all("x:{a}", "x:grün"), Some(json!({"a": "grün"})));
        assert_eq!(all("plain:", "plain:"), Some(json!({})));
    }

    #[test]
    fn patterns_that_cannot_be_matched_say_why() {
        assert!(check("a{b").expect_err("open").contains("no closing brace"));
        assert!(check("a{}").expect_err("empty").contains("is no variable"));
        assert!(check("a{?q}").expect_err("a query").contains("is no variable"));
    }
}
