//! URIs that follow a pattern: `{name}` matches anything without a slash, `{+name}` anything (RFC 6570).

use serde_json::{Map, Value};

/// A template of more parts is a mistake, and so is a longer URI.
const MOST: usize = 64;
const LONGEST: usize = 4_096;

/// Error if a pattern cannot be matched.
pub(crate) fn check(pattern: &str) -> Result<(), String> {
    parts(pattern).map(drop)
}

/// The variables of a URI that follows the pattern, matched greedily.
pub(crate) fn matches(pattern: &str, uri: &str) -> Option<Map<String, Value>> {
    if uri.len() > LONGEST {
        return None;
    }
    let parts = parts(pattern).ok()?;
    let mut chosen: Vec<Vec<Option<usize>>> = Vec::new();
    // From the end to the beginning: where each part ends if it begins at a place and the rest follows.
    let mut follows: Vec<bool> = (0..=uri.len()).map(|at| at == uri.len()).collect();
    for part in parts.iter().rev() {
        let ends = ends(part, uri, &follows);
        follows = ends.iter().map(Option::is_some).collect();
        chosen.push(ends);
    }
    let mut variables = Map::new();
    let mut at = 0;
    for (part, ends) in parts.iter().zip(chosen.iter().rev()) {
        let end = ends[at]?;
        if let UriPart::Variable { name, .. } = part {
            // Of two variables of one name, the later one counts.
            variables.insert((*name).to_owned(), Value::String(uri[at..end].to_owned()));
        }
        at = end;
    }
    (at == uri.len()).then_some(variables)
}

/// For each place where a part may begin, the last place where it may end so that the rest follows.
fn ends(part: &UriPart<'_>, uri: &str, follows: &[bool]) -> Vec<Option<usize>> {
    let mut ends = vec![None; uri.len() + 1];
    match part {
        UriPart::Text(text) => {
            for (at, end) in ends.iter_mut().enumerate() {
                let is_here = uri.get(at..).is_some_and(|rest| rest.starts_with(text));
                *end = Some(at + text.len()).filter(|end| is_here && follows[*end]);
            }
        }
        UriPart::Variable { with_slashes, .. } => {
            // The last end that can be reached without a slash, going backwards.
            let mut last = None;
            for at in (0..uri.len()).rev() {
                let after = at + 1;
                if last.is_none() && follows[after] && uri.is_char_boundary(after) {
                    last = Some(after);
                }
                if uri.as_bytes()[at] == b'/' && !with_slashes {
                    last = None;
                    continue;
                }
                ends[at] = last.filter(|_| uri.is_char_boundary(at));
            }
        }
    }
    ends
}

enum UriPart<'p> {
    Text(&'p str),
    Variable { name: &'p str, with_slashes: bool },
}

fn parts(pattern: &str) -> Result<Vec<UriPart<'_>>, String> {
    let mut parts = Vec::new();
    let mut rest = pattern;
    while let Some(open) = rest.find('{') {
        if open > 0 {
            parts.push(UriPart::Text(&rest[..open]));
        }
        let Some(close) = rest[open..].find('}') else {
            return Err(format!("`{}` has no closing brace", &rest[open..]));
        };
        let inside = &rest[open + 1..open + close];
        let (name, with_slashes) = inside.strip_prefix('+').map_or((inside, false), |name| (name, true));
        if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.')) {
            return Err(format!("`{{{inside}}}` is not a variable"));
        }
        parts.push(UriPart::Variable { name, with_slashes });
        rest = &rest[open + close + 1..];
    }
    if !rest.is_empty() {
        parts.push(UriPart::Text(rest));
    }
    if parts.len() > MOST {
        return Err(format!("the template has more than {MOST} parts"));
    }
    Ok(parts)
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
        assert_eq!(all("x:{a}/{b}", "x:1/2"), Some(json!({"a": "1", "b": "2"})));
        assert_eq!(all("x:{a}/{a}", "x:1/2"), Some(json!({"a": "2"})));
        assert_eq!(all("x:{+a}/{b}", "x:1/2/3"), Some(json!({"a": "1/2", "b": "3"})));
        assert_eq!(all("x:{a}", "x:"), None);
        assert_eq!(all("", ""), Some(json!({})));
    }

    #[test]
    fn many_variables_take_no_time() {
        let many = "{a}".repeat(40);
        assert_eq!(matches(&format!("x:{many}!"), &format!("x:{}", "y".repeat(4_000))), None);
        assert!(matches(&format!("x:{many}"), &format!("x:{}", "y".repeat(4_000))).is_some());
        assert!(check(&"{a}".repeat(65)).expect_err("too many").contains("more than 64 parts"));
    }

    #[test]
    fn patterns_that_cannot_be_matched_say_why() {
        assert!(check("a{b").expect_err("open").contains("no closing brace"));
        assert!(check("a{}").expect_err("empty").contains("is not a variable"));
        assert!(check("a{?q}").expect_err("a query").contains("is not a variable"));
    }
}
