//! JSON paths: RFC 9535, and the short forms of older files.
//!
//! Older files write `a.b[0]` without `$`, and keys such as `my-key` after a dot, which RFC 9535 rejects. Every
//! path is therefore rewritten with its dotted keys in brackets, and the result must be an RFC 9535 query.
//!
//! Long because reading a path and saying why it matches nothing share its steps.

use std::fmt::Write as _;

use mcprove_model::nearest;
use serde_json::Value;

/// A compiled path.
#[derive(Clone, Debug)]
pub struct JsonPath {
    query: serde_json_path::JsonPath,
    /// The keys and indices the path begins with: all of it, when it can match one node at most.
    steps: Vec<Step>,
    singular: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Key(String),
    Index(i64),
}

/// Reason why a path matches nothing: the missing part, and a suggestion.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Missing {
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

impl JsonPath {
    /// Compiles a path; the error is a message for the author.
    pub fn parse(text: &str) -> Result<Self, String> {
        if nesting(text) > MOST_NESTING {
            let text = crate::excerpt::head(text, 40);
            return Err(format!("`{text}` is not a JSON path: brackets are nested more than {MOST_NESTING} times"));
        }
        let written = Reader::read(text).map_err(|why| format!("`{text}` is not a JSON path: {why}"))?;
        let query = serde_json_path::JsonPath::parse(&written.query).map_err(|error| {
            // The position counts in the rewritten text, so that text is shown along with it.
            format!("`{text}` is not a JSON path: read as `{}`, {error}", written.query)
        })?;
        Ok(Self { query, steps: written.steps, singular: written.singular })
    }

    /// Every node the path matches, in document order.
    pub fn query<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        self.query.query(value).all()
    }

    /// True if the path can match one node at most.
    pub fn is_singular(&self) -> bool {
        self.singular
    }

    /// The keys the path begins with, up to the first step that is not one key.
    pub(crate) fn leading_keys(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().map_while(|step| match step {
            Step::Key(key) => Some(key.as_str()),
            Step::Index(_) => None,
        })
    }

    /// The place where a singular path leaves the document; `None` if it does not, or is not singular.
    pub(crate) fn missing_in(&self, document: &Value) -> Option<Missing> {
        if !self.singular {
            return None;
        }
        let mut here = document;
        let mut place = String::from("$");
        for step in &self.steps {
            match step.take(here) {
                Some(next) => here = next,
                None => return Some(step.missing(here, &place)),
            }
            step.append_to(&mut place);
        }
        None
    }
}

impl Step {
    fn take<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        match self {
            Self::Key(key) => value.as_object()?.get(key),
            Self::Index(index) => {
                let items = value.as_array()?;
                let back = usize::try_from(index.unsigned_abs()).ok()?;
                items.get(if *index < 0 { items.len().checked_sub(back)? } else { back })
            }
        }
    }

    fn append_to(&self, place: &mut String) {
        match self {
            Self::Key(key) if key.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-') && !key.is_empty() => {
                place.push('.');
                place.push_str(key);
            }
            Self::Key(key) => push_quoted_key(place, key),
            Self::Index(index) => {
                let _ = write!(place, "[{index}]");
            }
        }
    }

    fn missing(&self, here: &Value, place: &str) -> Missing {
        match (self, here) {
            (Self::Key(key), Value::Object(map)) => {
                let keys = map.keys().map(String::as_str);
                Missing {
                    message: format!("`{place}` has no key `{key}`; {}", keys_seen(keys.clone())),
                    help: nearest(key, keys).map(|near| format!("did you mean `{near}`?")),
                }
            }
            (Self::Key(key), Value::Array(items)) => Missing {
                message: format!("`{place}` is a list of {}, so it has no key `{key}`", items.len()),
                help: Some(format!(
                    "`{place}[0]` is the first item, `{place}[*].{key}` takes the key from all of them"
                )),
            },
            (Self::Index(index), Value::Array(items)) => Missing {
                message: format!("`{place}` is a list of {}, so there is no `[{index}]`", items.len()),
                help: None,
            },
            (Self::Index(index), Value::Object(map)) => Missing {
                message: format!(
                    "`{place}` is an object, so there is no `[{index}]`; {}",
                    keys_seen(map.keys().map(String::as_str))
                ),
                help: None,
            },
            (step, Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
                let mut wanted = String::new();
                step.append_to(&mut wanted);
                Missing {
                    message: format!("`{place}` is {}, so there is no `{wanted}` in it", kind_of(here)),
                    help: None,
                }
            }
        }
    }
}

/// The kind of a JSON value, in words.
pub(crate) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// The keys of an object in words: the first dozen, the rest counted.
pub(crate) fn keys_seen<'k>(keys: impl Iterator<Item = &'k str>) -> String {
    const SHOWN: usize = 12;
    let keys: Vec<&str> = keys.collect();
    if keys.is_empty() {
        return "it is empty".to_owned();
    }
    let shown: Vec<String> =
        keys.iter().take(SHOWN).map(|key| format!("`{}`", crate::excerpt::head(key, 40))).collect();
    let more = keys.len().saturating_sub(SHOWN);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("its keys are {}{rest}", shown.join(", "))
}

/// A path as it was written, rewritten as an RFC 9535 query.
#[derive(Debug)]
struct Written {
    query: String,
    steps: Vec<Step>,
    singular: bool,
}

struct Reader<'t> {
    rest: &'t str,
    query: String,
    steps: Vec<Step>,
    singular: bool,
    /// The number of `..` so far.
    descents: usize,
}

/// The most brackets inside of each other: the parser of filters calls itself for each, and takes twice as long.
const MOST_NESTING: usize = 10;

/// The most brackets of a text that are open at a time; those in quotes count, too.
fn nesting(text: &str) -> usize {
    let (mut depth, mut most) = (0_usize, 0);
    for byte in text.bytes() {
        match byte {
            b'[' | b'(' => depth += 1,
            b']' | b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        most = most.max(depth);
    }
    most
}

/// The most `..` of a path.
const MOST_DESCENTS: usize = 2;

/// Characters that are not allowed in a key after a dot: they mean something else in a path.
const NOT_IN_DOTTED_KEY: &[char] = &[']', '*', '\'', '"', '?', '(', ')', ','];

impl<'t> Reader<'t> {
    fn read(text: &'t str) -> Result<Written, String> {
        let mut reader =
            Self { rest: text.trim(), query: String::from("$"), steps: Vec::new(), singular: true, descents: 0 };
        // `$ref` is a key of that name; `$`, `$.a` and `$[0]` begin at the root.
        let after_root = reader.rest.strip_prefix('$').map(str::trim_start);
        match after_root {
            Some(rest) if rest.is_empty() || rest.starts_with(['.', '[']) => reader.rest = rest,
            Some(_) | None if reader.rest.is_empty() || reader.rest.starts_with('[') => {}
            Some(_) | None => reader.wildcard_or_key(".")?,
        }
        while !reader.rest.is_empty() {
            reader.segment()?;
            reader.rest = reader.rest.trim_start();
        }
        Ok(Written { query: reader.query, steps: reader.steps, singular: reader.singular })
    }

    fn segment(&mut self) -> Result<(), String> {
        if let Some(rest) = self.rest.strip_prefix("..") {
            self.rest = rest;
            self.query.push_str("..");
            self.singular = false;
            self.descend(1)?;
            return if rest.starts_with('[') { self.bracket() } else { self.wildcard_or_key("") };
        }
        if let Some(rest) = self.rest.strip_prefix('.') {
            self.rest = rest;
            return self.wildcard_or_key(".");
        }
        if self.rest.starts_with('[') {
            return self.bracket();
        }
        Err(format!("`{}` is not understood", crate::excerpt::head(self.rest, 40)))
    }

    fn wildcard_or_key(&mut self, dot: &str) -> Result<(), String> {
        if let Some(rest) = self.rest.strip_prefix('*') {
            self.rest = rest;
            self.singular = false;
            self.query.push_str(dot);
            self.query.push('*');
            return Ok(());
        }
        let end = self.rest.find(['.', '[']).unwrap_or(self.rest.len());
        let key = self.rest[..end].trim();
        self.rest = &self.rest[end..];
        if key.is_empty() {
            return Err("a key is missing next to a `.`".to_owned());
        }
        if let Some(odd) = key.chars().find(|c| NOT_IN_DOTTED_KEY.contains(c)) {
            return Err(format!(
                "`{odd}` is not allowed in `{key}`; write a key that contains it in brackets: `['{key}']`"
            ));
        }
        push_quoted_key(&mut self.query, key);
        self.step(Some(Step::Key(key.to_owned())));
        Ok(())
    }

    fn bracket(&mut self) -> Result<(), String> {
        let end = closing_bracket(self.rest).ok_or("a `[` is not closed")?;
        let (group, rest) = self.rest.split_at(end + 1);
        let inner = group[1..end].trim();
        // Only what is in brackets can be wrong for the RFC, and alone it can be named better than by a position.
        if serde_json_path::JsonPath::parse(&format!("${group}")).is_err() {
            let is_word = !inner.is_empty() && inner.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
            let quotes =
                if is_word { format!("; a key in brackets needs quotes: `['{inner}']`") } else { String::new() };
            return Err(format!("`{group}` is not an index, a quoted key, a slice, `*` or a filter{quotes}"));
        }
        self.descend(group.matches("..").count())?;
        self.query.push_str(group);
        self.rest = rest;
        self.step(inner.parse().map(Step::Index).ok().or_else(|| quoted_key(inner).map(Step::Key)));
        Ok(())
    }

    /// Counts searches of all descendants: each one more multiplies the work by the depth of the document.
    fn descend(&mut self, times: usize) -> Result<(), String> {
        self.descents += times;
        if self.descents > MOST_DESCENTS {
            return Err(format!("it searches all descendants (`..`) more than {MOST_DESCENTS} times"));
        }
        Ok(())
    }

    /// Notes a step; anything that is not a single key or index makes the path match several nodes.
    fn step(&mut self, step: Option<Step>) {
        match step {
            Some(step) if self.singular => self.steps.push(step),
            Some(_) => {}
            None => self.singular = false,
        }
    }
}

/// The offset of the `]` that closes the `[` a text begins with; quotes and inner brackets are skipped.
fn closing_bracket(text: &str) -> Option<usize> {
    let mut depth = 0;
    let mut quote = None;
    let mut chars = text.char_indices();
    while let Some((offset, c)) = chars.next() {
        match (quote, c) {
            (Some(_), '\\') => {
                chars.next();
            }
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '[') => depth += 1,
            (None, ']') => {
                depth -= 1;
                if depth == 0 {
                    return Some(offset);
                }
            }
            (Some(_) | None, _) => {}
        }
    }
    None
}

/// The key that a quoted string in brackets names, when the text is exactly one such string.
fn quoted_key(text: &str) -> Option<String> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let mut json = String::from("\"");
    let mut chars = text[1..].chars();
    loop {
        match chars.next()? {
            c if c == quote => break,
            '\\' => match chars.next()? {
                '\'' => json.push('\''),
                c => json.extend(['\\', c]),
            },
            '"' => json.push_str("\\\""),
            c => json.push(c),
        }
    }
    json.push('"');
    if chars.next().is_some() {
        return None;
    }
    serde_json::from_str(&json).ok()
}

fn push_quoted_key(query: &mut String, key: &str) {
    query.push_str("['");
    for c in key.chars() {
        match c {
            '\'' | '\\' => query.extend(['\\', c]),
            c if u32::from(c) < 0x20 => {
                let _ = write!(query, "\\u{:04x}", u32::from(c));
            }
            c => query.push(c),
        }
    }
    query.push_str("']");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn found(path: &str, document: &Value) -> Vec<Value> {
        JsonPath::parse(path).expect(path).query(document).into_iter().cloned().collect()
    }

    #[test]
    fn searches_of_all_descendants_are_bounded() {
        for path in ["$..a..b", "$..[?@..x]", "$['..']['..']"] {
            assert!(JsonPath::parse(path).is_ok(), "{path}");
        }
        for path in ["$..a..b..c", "$..*..*..*", "$..[?@..x]..y"] {
            let fault = JsonPath::parse(path).expect_err(path);
            assert!(fault.contains("more than 2 times"), "{fault}");
        }
    }

    #[test]
    fn short_forms_of_old_files_are_understood() {
        let document = json!({"a": {"b": [1, {"c": 2}]}, "my-key": {"x_y": 3}, "$ref": 4, "@type": 5, "2024": 6});
        for (path, value) in [
            ("a.b[0]", json!(1)),
            ("$.a.b[0]", json!(1)),
            ("a.b[1].c", json!(2)),
            ("a.b[-1].c", json!(2)),
            ("$.my-key.x_y", json!(3)),
            ("my-key['x_y']", json!(3)),
            ("$ref", json!(4)),
            ("$.@type", json!(5)),
            ("2024", json!(6)),
        ] {
            assert_eq!(found(path, &document), [value], "{path}");
        }
        for whole in ["", " ", "$"] {
            assert_eq!(found(whole, &document), std::slice::from_ref(&document));
        }
        let list = json!([{"x": 1}, [2, 3]]);
        assert_eq!(found("$[0].x", &list), [json!(1)]);
        assert_eq!(found("[0].x", &list), [json!(1)]);
        assert_eq!(found("[1][1]", &list), [json!(3)]);
    }

    #[test]
    fn rfc_queries_are_understood() {
        let document = json!({"items": [{"id": 1, "t": "a.b"}, {"id": 2, "t": "]"}], "n": {"id": 3}});
        for (path, values) in [
            ("$.items[*].id", json!([1, 2])),
            ("items[*].id", json!([1, 2])),
            ("$..id", json!([1, 2, 3])),
            ("$..['id']", json!([1, 2, 3])),
            ("$.n.*", json!([3])),
            ("$.items[?@.t == 'a.b'].id", json!([1])),
            ("$.items[?@.t == ']'].id", json!([2])),
            ("$.items[?@['id'] > 1].id", json!([2])),
            ("$.items[0,1].id", json!([1, 2])),
            ("$.items[1:].id", json!([2])),
            ("$ .items [0] .id", json!([1])),
        ] {
            assert_eq!(Value::Array(found(path, &document)), values, "{path}");
        }
    }

    #[test]
    fn only_keys_and_indices_make_a_singular_path() {
        for path in ["", "$", "a.b[0]", "$['a'][\"b\"]", "$['it\\'s'][-1]"] {
            assert!(JsonPath::parse(path).expect(path).is_singular(), "{path}");
        }
        for path in ["$.*", "$..a", "$[*]", "$[0,1]", "$['a','b']", "$[0:1]", "$[?@.a]"] {
            assert!(!JsonPath::parse(path).expect(path).is_singular(), "{path}");
        }
    }

    #[test]
    fn brackets_are_not_nested_without_end() {
        for (open, close) in [("[?@", "]"), ("[?(", ")]")] {
            let deep = |depth: usize| {
                let inner = if open.ends_with('(') { "@.a" } else { ".a" };
                format!("${}{inner}{}", open.repeat(depth), close.repeat(depth))
            };
            assert!(JsonPath::parse(&deep(1)).is_ok(), "{}", deep(1));
            let fault = JsonPath::parse(&deep(5_000)).expect_err("deep");
            assert!(fault.ends_with("brackets are nested more than 10 times"), "{fault}");
        }
    }

    #[test]
    fn what_is_not_a_path_is_named() {
        for (path, part) in [
            ("$.", "a key is missing"),
            ("a..", "a key is missing"),
            (".a", "a key is missing"),
            ("$.a[0", "not closed"),
            ("$.a[x]", "a key in brackets needs quotes: `['x']`"),
            ("$.a[?(]", "`[?(]` is not"),
            ("$.a[]", "`[]` is not"),
            ("$.a.length()", "brackets"),
            ("$.a[0]b", "`b` is not understood"),
        ] {
            let error = JsonPath::parse(path).expect_err(path);
            assert!(error.contains(part) && error.starts_with(&format!("`{path}` is not a JSON path")), "{error}");
        }
    }

    #[test]
    fn the_missing_segment_is_named_with_what_is_there() {
        let document = json!({"user": {"name": "x", "tags": ["a"]}, "empty": {}});
        let missing = |path: &str| JsonPath::parse(path).expect(path).missing_in(&document).expect("missing");
        let nme = missing("user.nme");
        assert_eq!(nme.message, "`$.user` has no key `nme`; its keys are `name`, `tags`");
        assert_eq!(nme.help.as_deref(), Some("did you mean `name`?"));
        assert_eq!(missing("empty.x").message, "`$.empty` has no key `x`; it is empty");
        assert_eq!(missing("user.tags[3].z").message, "`$.user.tags` is a list of 1, so there is no `[3]`");
        assert_eq!(missing("user.tags.z").message, "`$.user.tags` is a list of 1, so it has no key `z`");
        assert_eq!(missing("user.name.z").message, "`$.user.name` is text, so there is no `.z` in it");
        assert_eq!(JsonPath::parse("user.name").expect("a path").missing_in(&document), None);
    }

    fn key() -> impl Strategy<Value = String> {
        // What older files may have after a dot: no dots, brackets, quotes or outer white space.
        "[a-zA-Z_0-9@:/\\\\-][a-zA-Z_0-9 @:/$\\\\-]{0,5}[a-zA-Z_ä-]"
    }

    proptest! {
        #[test]
        fn a_short_form_equals_its_bracketed_form(
            steps in proptest::collection::vec(prop_oneof![key().prop_map(Step::Key), (0..3_i64).prop_map(Step::Index)], 1..5),
            decoy in key(),
        ) {
            let mut short = String::new();
            let mut full = String::from("$");
            let mut document = json!("leaf");
            for step in &steps {
                match step {
                    Step::Key(key) => {
                        if !short.is_empty() {
                            short.push('.');
                        }
                        short.push_str(key);
                        push_quoted_key(&mut full, key);
                    }
                    Step::Index(index) => {
                        let _ = write!(short, "[{index}]");
                        let _ = write!(full, "[{index}]");
                    }
                }
            }
            for step in steps.iter().rev() {
                document = match step {
                    Step::Key(key) => {
                        let mut map = serde_json::Map::from_iter([(decoy.clone(), json!("decoy"))]);
                        map.insert(key.clone(), document);
                        Value::Object(map)
                    }
                    Step::Index(index) => {
                        let mut items = vec![json!("decoy"); usize::try_from(*index).expect("small") + 2];
                        items[usize::try_from(*index).expect("small")] = document;
                        Value::Array(items)
                    }
                };
            }
            let leaf = json!("leaf");
            let rfc = serde_json_path::JsonPath::parse(&full).expect("an RFC 9535 query");
            let dotted = if short.starts_with('[') { format!("${short}") } else { format!("$.{short}") };
            for path in [short, dotted, full] {
                let path = JsonPath::parse(&path).expect("a path");
                prop_assert!(path.is_singular());
                prop_assert_eq!(path.query(&document), rfc.query(&document).all());
                prop_assert_eq!(path.query(&document), [&leaf]);
                prop_assert_eq!(path.missing_in(&document), None);
            }
        }

        #[test]
        fn any_text_is_a_path_or_an_error(text in ".{0,20}") {
            let _ = JsonPath::parse(&text);
        }
    }
}
