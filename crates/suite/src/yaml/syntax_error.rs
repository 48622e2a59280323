//! The parser's complaints in plain words.

use mcprove_model::{Finding, SourceFile, Span};

/// Where a syntax error is and what the parser said.
pub(super) struct SyntaxError<'e> {
    pub(super) info: &'e str,
    pub(super) at: usize,
    /// The innermost `[` or `{` that is still open.
    pub(super) open: Option<usize>,
}

/// One finding with a place that a caret can mark.
pub(super) fn explain(source: &SourceFile, error: &SyntaxError<'_>) -> Finding {
    let text = source.text();
    let words = words(error);
    let span = match words.at {
        At::Word => word_at(text, error.at),
        At::Tab => tab_before(text, error.at),
        At::PreviousWord => previous_word(text, error.at),
    };
    let line = source.line(source.position(span.start).line);
    let help = if has_bare_template(line) {
        Some("put a value that begins with `{{` in quotes".to_owned())
    } else if let Some(open) = error.open {
        let position = source.position(Span::new(open, open).start);
        let bracket = text.get(open..=open).unwrap_or("[");
        Some(format!("is the `{bracket}` on line {}, column {} closed?", position.line, position.column))
    } else {
        words.help.map(str::to_owned)
    };
    let mut finding =
        Finding::error("yaml-syntax", words.message.unwrap_or_else(|| error.info.to_owned())).at(source.place(span));
    finding.help = help;
    finding
}

enum At {
    Word,
    Tab,
    PreviousWord,
}

struct Words {
    message: Option<String>,
    help: Option<&'static str>,
    at: At,
}

fn words(error: &SyntaxError<'_>) -> Words {
    let info = error.info;
    let say = |message: &str, help| Words { message: Some(message.to_owned()), help, at: At::Word };
    let has = |part: &str| info.contains(part);
    if let Some(character) = info.strip_prefix("unexpected character: `").and_then(|rest| rest.strip_suffix('\'')) {
        return say(&format!("a value cannot begin with `{character}`"), Some("put the value in quotes"));
    }
    if has("tab cannot be used") || has("tabs disallowed") || has("found a tab") || has("start with a tab") {
        return Words {
            message: Some("indentation must be spaces, not tabs".to_owned()),
            help: Some("replace the tab by spaces"),
            at: At::Tab,
        };
    }
    if has("mapping values are not allowed") || has("illegal placement of ':'") {
        if error.open.is_some() {
            return say("expected `,` or a closing bracket before this `:`", None);
        }
        return say(
            "a second `:` on one line, or a key that is indented too far",
            Some("put text that holds `: ` in quotes, or line the key up with its neighbours"),
        );
    }
    if has("simple key expect") {
        return Words {
            message: Some("expected `:` after this key".to_owned()),
            help: Some("write `key: value`, and line keys up with their neighbours"),
            at: At::PreviousWord,
        };
    }
    if has("unexpected end of stream") && has("quoted") || has("unexpected document indicator") {
        return say("this quote is never closed", Some("add the closing quote"));
    }
    if has("invalid indentation in quoted scalar") {
        return say("this quoted text goes on in a line that is not indented", Some("is its closing quote missing?"));
    }
    if has("trailing content after double-quoted") {
        return say("text follows a closing quote", Some("put the whole value in one pair of quotes"));
    }
    if has("unknown escape character") || has("hexadecimal") || has("character escape code") {
        return say(
            "this text in double quotes holds an unknown `\\` escape",
            Some("write `\\\\` for a backslash, or use single quotes"),
        );
    }
    if has("expected key") || has("'-' indicator") || info == "invalid indentation" {
        return say(
            "the indentation of this line fits nothing above it",
            Some("line it up with the keys or dashes it belongs to"),
        );
    }
    if has("expected ',' or '}'") {
        return say("expected `,` or `}`", None);
    }
    if has("expected ',' or ']'") {
        return say("expected `,` or `]`", None);
    }
    if has("misplaced bracket") {
        return say("this bracket closes nothing", Some("put the value in quotes, or add the opening bracket"));
    }
    if has("block sequence entries are not allowed") || has("only valid inside a block") {
        return say("a `-` item cannot begin here", Some("put the list on its own lines below the key"));
    }
    if has("unknown anchor") {
        return say(
            "this alias names no anchor of the document",
            Some("mark the value with `&name` first, or put the text in quotes"),
        );
    }
    if has("expected node content") || has("next token") || has("unexpected eof") {
        return say("expected a value here", None);
    }
    if has("recursion limit") {
        return say("brackets are nested too deeply", None);
    }
    if has("comment intercepting") {
        return say("a comment inside a multi-line text", Some("put the text in quotes"));
    }
    if has("separated from other tokens") {
        return say("a comment needs a blank before its `#`", None);
    }
    Words { message: None, help: None, at: At::Word }
}

/// True if there is a template where YAML sees the beginning of a map.
pub(super) fn has_bare_template(line: &str) -> bool {
    [": {{", "- {{", "[{{", ", {{"].iter().any(|bare| line.contains(bare)) || line.trim_start().starts_with("{{")
}

/// The word at an offset; at the end of a line, the last character before it.
fn word_at(text: &str, at: usize) -> Span {
    let rest = text.get(at..).unwrap_or("");
    let word = rest.find(char::is_whitespace).unwrap_or(rest.len());
    if word > 0 {
        return Span::new(at, at + word);
    }
    let before = text.get(..at).unwrap_or("").trim_end();
    Span::new(before.len(), before.len())
}

fn previous_word(text: &str, at: usize) -> Span {
    let before = text.get(..at).unwrap_or("").trim_end();
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = &before[start..];
    let indent = line.len() - line.trim_start().len();
    Span::new(start + indent, before.len())
}

fn tab_before(text: &str, at: usize) -> Span {
    let line = text.get(..at).unwrap_or("").rfind('\n').map_or(0, |newline| newline + 1);
    // The mark is on the line of the tab, or on the header line of a block scalar above it.
    match text.get(line..).and_then(|rest| rest.find('\t')) {
        Some(tab) => Span::new(line + tab, line + tab + 1),
        None => word_at(text, at),
    }
}
