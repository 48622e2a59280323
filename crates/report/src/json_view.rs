//! JSON as a person reads it in a failure: spaced, cut around the relevant part, wrapped and highlighted.

use std::borrow::Cow;

use crate::escape;
use crate::style::{Role, Style};
use crate::wrap::wrapped;

/// The lines of a request, a reply or another text, escaped. What is longer than `most` characters is cut around the first
/// `focus` that it contains.
pub(crate) fn lines(text: &str, most: usize, focus: &[String], style: &Style) -> Vec<String> {
    let spaced = spaced(text);
    let cut = cut_around(&spaced, most, focus);
    let line = escape::line_within(&cut, most);
    let pieces = wrapped(&line, style.width);
    if !style.color || !is_json(text) {
        return pieces.into_iter().map(Cow::into_owned).collect();
    }
    let mut painter = Painter::new(&line);
    pieces.into_iter().map(|piece| painter.painted(&piece, style)).collect()
}

/// Text to look for in a reply that is cut: the actual value of a finding, and the name at the end of its path.
pub(crate) fn focus_of(finding: &mcprove_model::Finding) -> Vec<String> {
    let mut focus = Vec::new();
    // A path such as `$.items[3].price`, or a pointer.
    for path in finding.message.split('`').skip(1).step_by(2) {
        let is_path = path.starts_with(['$', '/']) || path.starts_with("result.");
        let name = path.rsplit(['.', '/', '[', ']', '"', '\'']).find(|name| !name.is_empty() && *name != "*");
        if let Some(name) = name.filter(|name| is_path && name.parse::<usize>().is_err() && *name != "$") {
            focus.push(format!("\"{name}\": "));
        }
    }
    let longest = |text: &str| text.split(['…', '\n']).map(str::trim).max_by_key(|part| part.len()).map(str::to_owned);
    if let Some(part) = finding.actual.as_deref().and_then(longest).filter(|part| part.chars().count() >= 4) {
        // Text is quoted in the reply, so line breaks and quotes are written otherwise there.
        let quoted = crate::json_text::string(&part);
        focus.push(quoted.trim_matches('"').to_owned());
        focus.push(part);
    }
    focus
}

fn is_json(text: &str) -> bool {
    text.starts_with(['{', '['])
}

/// The text from a bit before the first focus on, where the end of that would be cut off.
fn cut_around<'t>(text: &'t str, most: usize, focus: &[String]) -> Cow<'t, str> {
    let Some((end, _)) = text.char_indices().nth(most) else { return Cow::Borrowed(text) };
    let Some((at, length)) = focus.iter().find_map(|focus| text.find(focus.as_str()).map(|at| (at, focus.len())))
    else {
        return Cow::Borrowed(text);
    };
    if at + length <= end {
        return Cow::Borrowed(text);
    }
    let before = text[..at].char_indices().rev().nth(most / 3).map_or(0, |(before, _)| before);
    // The end of the text is worth more than its start.
    let last = text.char_indices().rev().nth(most.saturating_sub(2)).map_or(0, |(last, _)| last);
    Cow::Owned(format!("…{}", &text[before.min(last)..]))
}

/// JSON with a space after each comma and colon, so that it can be read and broken into lines. It may be cut off anywhere,
/// so it is not parsed; text that is not an object or a list stays as it is.
fn spaced(text: &str) -> Cow<'_, str> {
    if !is_json(text) {
        return Cow::Borrowed(text);
    }
    let mut spaced = String::with_capacity(text.len() + text.len() / 8);
    let mut in_string = false;
    let mut escaped = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        spaced.push(c);
        if in_string {
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
        } else if c == '"' {
            in_string = true;
        } else if matches!(c, ',' | ':') && chars.peek().is_some_and(|next| !next.is_whitespace()) {
            spaced.push(' ');
        }
    }
    Cow::Owned(spaced)
}

/// Paints a line of JSON piece by piece. Where the line was cut, a string may look like its opposite until the next
/// line; only colours suffer.
struct Painter {
    /// True for each string of the line that is a key.
    keys: std::vec::IntoIter<bool>,
    role: Role,
    in_string: bool,
    escaped: bool,
}

impl Painter {
    fn new(line: &str) -> Self {
        let mut keys = Vec::new();
        let (mut in_string, mut escaped) = (false, false);
        for (at, c) in line.char_indices() {
            if in_string {
                if !escaped && c == '"' {
                    keys.push(line[at + 1..].trim_start().starts_with(':'));
                    in_string = false;
                }
                escaped = !escaped && c == '\\';
            } else if c == '"' {
                (in_string, escaped) = (true, false);
            }
        }
        Self { keys: keys.into_iter(), role: Role::Plain, in_string: false, escaped: false }
    }

    fn painted(&mut self, piece: &str, style: &Style) -> String {
        let mut text = String::with_capacity(piece.len() * 2);
        let mut run = String::new();
        for c in piece.chars() {
            let (role, ends) = self.next(c);
            if role != self.role {
                text.push_str(&style.paint(self.role, &run));
                run.clear();
                self.role = role;
            }
            run.push(c);
            if ends {
                self.in_string = false;
            }
        }
        text.push_str(&style.paint(self.role, &run));
        text
    }

    /// The role of a character, and true for the quote that ends a string.
    fn next(&mut self, c: char) -> (Role, bool) {
        if self.in_string {
            let ends = !self.escaped && c == '"';
            self.escaped = !self.escaped && c == '\\';
            return (self.role, ends);
        }
        match c {
            '"' => {
                (self.in_string, self.escaped) = (true, false);
                let is_key = self.keys.next().unwrap_or(false);
                (if is_key { Role::Key } else { Role::Text }, false)
            }
            '{' | '}' | '[' | ']' | ',' | ':' | '…' => (Role::Plain, false),
            c if c.is_whitespace() => (Role::Plain, false),
            _ => (Role::Literal, false),
        }
    }
}

#[cfg(test)]
mod tests {
    use mcprove_model::Finding;

    use super::*;

    #[test]
    fn json_is_spaced_outside_its_strings() {
        assert_eq!(spaced(r#"{"a":1,"b":"x,\":y","c":[1, 2]}"#), r#"{"a": 1, "b": "x,\":y", "c": [1, 2]}"#);
        assert_eq!(spaced(r#"{"a":"cut"#), r#"{"a": "cut"#);
        assert_eq!(spaced("a:b,c"), "a:b,c");
    }

    #[test]
    fn a_long_reply_is_cut_around_what_a_finding_is_about() {
        let items: Vec<String> =
            (0..200).map(|number| format!("{{\"sku\":\"s{number}\",\"price\":{number}}}")).collect();
        let reply = format!("{{\"items\":[{}],\"total\":12,\"after\":\"{}\"}}", items.join(","), "z".repeat(3000));
        let finding = Finding::error("json_path", "`$.total` is 12, not 13").compared("13", "12");
        let shown = lines(&reply, 300, &focus_of(&finding), &Style::default()).concat();
        assert!(shown.starts_with('…') && shown.contains("\"total\": 12"), "{shown}");
        assert!(shown.chars().count() < 340, "{shown}");
        let plain = lines(&reply, 300, &[], &Style::default()).concat();
        assert!(plain.starts_with("{\"items\": [{\"sku\": \"s0\""), "{plain}");
        // What is in view already needs no cut.
        let early = Finding::error("json_path", "`$.items[0].sku` is \"s0\"").compared("x", "s0");
        assert!(lines(&reply, 300, &focus_of(&early), &Style::default()).concat().starts_with("{\"items\""));
    }

    #[test]
    fn keys_strings_and_numbers_have_colours_across_lines() {
        let style = Style { color: true, width: Some(20) };
        let shown = lines(r#"{"name":"a, \"b\": c","n":[1,true,null]}"#, 1000, &[], &style).join("\n");
        let key = style.paint(Role::Key, "\"name\"");
        assert!(shown.contains(&key), "{shown:?}");
        assert!(shown.contains(&style.paint(Role::Literal, "true")), "{shown:?}");
        let plain: String = anstream_stripped(&shown);
        assert_eq!(plain.replace('\n', " "), r#"{"name": "a, \"b\": c", "n": [1, true, null]}"#);
        assert_eq!(lines("a: 1", 1000, &[], &style), ["a: 1"], "text that is not JSON has no colours");
    }

    fn anstream_stripped(text: &str) -> String {
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('\u{1b}') {
            plain.push_str(&rest[..at]);
            rest = rest[at..].split_once('m').map_or("", |(_, rest)| rest);
        }
        plain + rest
    }
}
