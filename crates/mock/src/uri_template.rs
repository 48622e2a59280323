//! Addresses that follow a pattern: `{name}` stands for anything without a slash, `{+name}` for anything (RFC 6570).

use std::collections::HashSet;

use serde_json::{Map, Value};

/// A template of more parts is a mistake, and so is a longer URI.
const MOST: usize = 64;
const LONGEST: usize = 4_096;

/// Whether a pattern can be matched; if not, why.
pub(crate) fn check(pattern: &str) -> Result<(), String> {
    parts(pattern).map(drop)
}

/// The variables of an address that follows the pattern.
pub(crate) fn matches(pattern: &str, uri: &str) -> Option<Map<String, Value>> {
    if uri.len() > LONGEST {
        return None;
    }
    let parts = parts(pattern).ok()?;
    let mut attempt = Attempt::default();
    attempt.follow(&parts, uri).then_some(attempt.variables)
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
    if parts.len() > MOST {
        return Err(format!("the template has more than {MOST} parts"));
    }
    Ok(parts)
}

/// One attempt to follow a pattern.
#[derive(Default)]
struct Attempt {
    variables: Map<String, Value>,
    /// Where the rest of the pattern does not follow: the number of its parts, and the length of the rest of the URI.
    dead_ends: HashSet<(usize, usize)>,
}

impl Attempt {
    fn follow(&mut self, parts: &[Part<'_>], uri: &str) -> bool {
        if self.dead_ends.contains(&(parts.len(), uri.len())) {
            return false;
        }
        let follows = match parts {
            [] => uri.is_empty(),
            [Part::Text(text), rest @ ..] => uri.strip_prefix(text).is_some_and(|uri| self.follow(rest, uri)),
            [Part::Variable { name, with_slashes }, rest @ ..] => {
                let longest = if *with_slashes { uri.len() } else { uri.find('/').unwrap_or(uri.len()) };
                // The longest value that lets the rest follow, as a greedy reader would take it.
                let ends = uri.char_indices().map(|(at, _)| at).chain([uri.len()]);
                ends.filter(|at| (1..=longest).contains(at)).rev().any(|end| {
                    let follows = self.follow(rest, &uri[end..]);
                    if follows {
                        // Of two variables of one name, the later one counts.
                        let value = Value::String(uri[..end].to_owned());
                        self.variables.entry((*name).to_owned()).or_insert(value);
                    }
                    follows
                })
            }
        };
        if !follows {
            self.dead_ends.insert((parts.len(), uri.len()));
        }
        follows
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
    fn many_variables_take_no_time() {
        let many = "{a}".repeat(40);
        assert_eq!(matches(&format!("x:{many}!"), &format!("x:{}", "y".repeat(400))), None);
        assert!(matches(&format!("x:{many}"), &format!("x:{}", "y".repeat(400))).is_some());
        assert!(check(&"{a}".repeat(65)).expect_err("too many").contains("more than 64 parts"));
    }

    #[test]
    fn patterns_that_cannot_be_matched_say_why() {
        assert!(check("a{b").expect_err("open").contains("no closing brace"));
        assert!(check("a{}").expect_err("empty").contains("is no variable"));
        assert!(check("a{?q}").expect_err("a query").contains("is no variable"));
    }
}
