//! Files with variables, one `NAME=value` a line, as shells and containers know them. Pure: text in, variables out.

use mcprove_model::{Diagnostics, Finding, SourceFile, Span};

use crate::environment::is_name;

/// The most variables of a file; no system gives a program as many.
const MOST: usize = 50_000;

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
        if variables.len() == MOST {
            let message = format!("`{}` sets more than {MOST} variables", source.path());
            found.add(Finding::error("too-large", message).help("leave out those that nothing refers to"));
            break;
        }
        let span = Span::new(start, start + text.len());
        match variable(text) {
            Ok(variable) => variables.push(variable),
            Err(why) => {
                let help = "write `NAME=value`, with quotes around a value that has blanks at its ends or a `#`";
                // No place, so that no report quotes the line: it may hold a secret.
                let line = source.position(span.start).line;
                let message = format!("line {line} of `{}`: {why}", source.path());
                found.add(Finding::error("bad-variable", message).help(help));
            }
        }
    }
    (variables, found.into_findings())
}

fn variable(line: &str) -> Result<(String, String), String> {
    let line = line.strip_prefix("export ").map_or(line, str::trim_start);
    let Some((name, value)) = line.split_once('=') else { return Err("it sets no variable".to_owned()) };
    let name = name.trim_end();
    if !is_name(name) {
        return Err("it does not begin with the name of a variable".to_owned());
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
    Err("the quote is not closed".to_owned())
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
    fn a_file_sets_a_bounded_number() {
        let (variables, findings) = parse(&SourceFile::new(".env", "A=1\n".repeat(60_000).as_str()));
        assert_eq!((variables.len(), findings.len()), (50_000, 1));
        assert!(findings[0].message.contains("more than 50000"), "{findings:?}");
    }

    #[test]
    fn every_bad_line_is_reported_and_none_is_quoted() {
        let text = "A=1\nsecret\n  1secret=2\nB=\"secret\nC='a' secret\n=secret\n";
        let (variables, findings) = parse(&SourceFile::new(".env", text));
        assert_eq!(variables, [("A".to_owned(), "1".to_owned())]);
        for (line, finding) in (2..=6).zip(&findings) {
            assert!(finding.message.starts_with(&format!("line {line} of `.env`: ")), "{finding:?}");
            assert!(finding.place.is_none() && !finding.message.contains("secret"), "{finding:?}");
        }
        assert_eq!(findings.len(), 5);
    }
}
