//! Files with variables, one `NAME=value` a line, as shells and containers know them. Pure: text in, variables out.

use mcprove_model::{Diagnostics, Finding, SourceFile, Span};

use crate::environment::is_name;

/// The variables of a file, in order, and what is wrong with it.
pub fn parse(source: &SourceFile) -> (Vec<(String, String)>, Vec<Finding>) {
    let mut found = Diagnostics::new(source);
    let mut variables = Vec::new();
    let mut at = 0;
    for line in source.text().split_inclusive('\n') {
        let start = at + (line.len() - line.trim_start().len());
        let text = line.trim();
        at += line.len();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let span = Span::new(start, start + text.len());
        match variable(text) {
            Ok(variable) => variables.push(variable),
            Err(why) => {
                let help = "write `NAME=value`, with quotes around a value that has blanks at its ends or a `#`";
                found.error_with_help("bad-variable", span, why, help);
            }
        }
    }
    (variables, found.into_findings())
}

fn variable(line: &str) -> Result<(String, String), String> {
    let line = line.strip_prefix("export ").map_or(line, str::trim_start);
    let Some((name, value)) = line.split_once('=') else { return Err("this line sets no variable".to_owned()) };
    let name = name.trim_end();
    if !is_name(name) {
        return Err(format!("`{name}` is no name of a variable"));
    }
    Ok((name.to_owned(), value_of(value.trim())?))
}

/// A value without its quotes. Nothing in it is replaced: a dollar sign is one.
fn value_of(text: &str) -> Result<String, String> {
    let Some(quote @ ('"' | '\'')) = text.chars().next() else {
        // A comment begins after a blank; a `#` inside a word belongs to it.
        let end = text.find(" #").or_else(|| text.find("\t#")).unwrap_or(text.len());
        let value = if text.starts_with('#') { "" } else { &text[..end] };
        return Ok(value.trim_end().to_owned());
    };
    let mut value = String::new();
    let mut characters = text[1..].chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' if quote == '"' => match characters.next() {
                Some('n') => value.push('\n'),
                Some('r') => value.push('\r'),
                Some('t') => value.push('\t'),
                Some(other) => value.push(other),
                None => break,
            },
            end if end == quote => {
                let rest = characters.as_str().trim();
                return if rest.is_empty() || rest.starts_with('#') {
                    Ok(value)
                } else {
                    Err("something follows the closing quote".to_owned())
                };
            }
            other => value.push(other),
        }
    }
    Err("the quote is not closed on this line".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_plain_or_quoted() {
        let text = "# a comment\nA=1\n export B = two words # not this\nC=\"a \\\"b\\\"\\n#c\" # no\nD='$X \\n'\nE=\nF=a#b\nG=#\n";
        let (variables, findings) = parse(&SourceFile::new(".env", text));
        assert_eq!(findings, []);
        let told: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let expected =
            [("A", "1"), ("B", "two words"), ("C", "a \"b\"\n#c"), ("D", "$X \\n"), ("E", ""), ("F", "a#b"), ("G", "")];
        assert_eq!(told, expected);
    }

    #[test]
    fn every_bad_line_is_told_with_its_place() {
        let text = "A=1\nnothing\n  1X=2\nB=\"open\nC='a' b\n=x\n";
        let (variables, findings) = parse(&SourceFile::new(".env", text));
        assert_eq!(variables, [("A".to_owned(), "1".to_owned())]);
        let lines: Vec<_> = findings
            .iter()
            .filter_map(|finding| match &finding.place {
                Some(mcprove_model::Place::Text(place)) => Some((place.line, place.column)),
                Some(mcprove_model::Place::Wire(_)) | None => None,
            })
            .collect();
        assert_eq!(lines, [(2, 1), (3, 3), (4, 1), (5, 1), (6, 1)]);
    }
}
