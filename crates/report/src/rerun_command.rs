//! The command line that runs cases again.

use std::fmt::Write as _;

use mcprove_model::CaseStarted;

use crate::escape;

/// Words as a shell takes them after the program's name, in one harmless line; `None` where there are none.
pub(crate) fn command_line(words: &[String]) -> Option<String> {
    let mut line = "mcprove".to_owned();
    for word in words {
        let is_plain = !word.is_empty() && word.chars().all(|c| is_path_char(c) || matches!(c, ':' | '=' | ',' | '@'));
        if is_plain {
            let _ = write!(line, " {word}");
        } else {
            let _ = write!(line, " '{}'", word.replace('\'', r"'\''"));
        }
    }
    (!words.is_empty()).then(|| escape::line(&line).into_owned())
}

/// Where a command line comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Known<'a> {
    /// The command line of this run.
    Command(&'a str),
    /// Nothing: the file of the case will do.
    Nothing,
    /// A log, which may come from anywhere: only paths of suites are repeated.
    Log,
}

/// A command to paste that looks closer at the first failure.
pub(crate) fn next_step<'f>(
    failed: impl Iterator<Item = &'f CaseStarted>,
    known: Known<'_>,
    is_verbose: bool,
) -> Option<String> {
    let mut failed = failed.peekable();
    let first = *failed.peek()?;
    let count = failed.count();
    let is_path = first.file.starts_with(|c: char| is_path_char(c) && c != '-');
    let file = if is_path && first.file.chars().all(is_path_char) && first.file.len() <= LONGEST {
        format!(" {}", first.file)
    } else {
        String::new()
    };
    // Options come before a command that is run on behalf of the user.
    let (mut line, last) = match known {
        Known::Command(command) => match last_arguments(command) {
            Some(at) => (command[..at].to_owned(), &command[at..]),
            None => (command.to_owned(), ""),
        },
        Known::Nothing | Known::Log => (format!("mcprove run{file}"), ""),
    };
    let is_one = match known {
        Known::Command(_) | Known::Nothing => is_plain_name(&first.name),
        Known::Log => false,
    };
    if is_one {
        let _ = write!(line, " --filter \"{}\"", first.name);
    }
    if !is_verbose {
        line.push_str(" -v");
    }
    line.push_str(last);
    if is_one && count > 1 {
        let _ = write!(line, "  # the first of {count}");
    }
    Some(line)
}

/// Start of the arguments after `--` of a command line; quoted words may have one, too.
fn last_arguments(command: &str) -> Option<usize> {
    let mut is_quoted = false;
    let mut chars = command.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\'' => is_quoted = !is_quoted,
            '\\' if !is_quoted => {
                chars.next();
            }
            ' ' if !is_quoted && command[at..].starts_with(" -- ") => return Some(at),
            _ => {}
        }
    }
    None
}

/// The longest name or path that is repeated.
const LONGEST: usize = 200;

/// True for a name that means itself between double quotes in any shell, and that `--filter` takes as it is.
fn is_plain_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= LONGEST
        && !name.starts_with(['-', '/'])
        && !name.contains(['"', '$', '`', '\\', '!', '%'])
        // A masked secret would not be found.
        && !name.contains("***")
        && escape::line(name) == name
}

fn is_path_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_step_can_be_pasted() {
        let case = |name: &str, file: &str| CaseStarted {
            index: 0,
            name: name.to_owned(),
            file: file.to_owned(),
            line: 1,
            trial: 1,
            server: None,
            variant: None,
            tags: Vec::new(),
        };
        let next = |cases: &[CaseStarted], known| next_step(cases.iter(), known, false).expect("a step");
        let one = [case("reads (a: b)", "evals/a.yaml")];
        assert_eq!(next(&one, Known::Nothing), "mcprove run evals/a.yaml --filter \"reads (a: b)\" -v");
        assert_eq!(next(&one, Known::Command("mcprove run x")), "mcprove run x --filter \"reads (a: b)\" -v");
        assert_eq!(next(&one, Known::Log), "mcprove run evals/a.yaml -v");
        // Options come before the command of the user, and not into a quoted word.
        let client = Known::Command("mcprove host s.yaml -- my-client --x");
        assert_eq!(next(&one, client), "mcprove host s.yaml --filter \"reads (a: b)\" -v -- my-client --x");
        let quoted = Known::Command(r"mcprove audit --server 'it'\''s -- x'");
        assert_eq!(next(&one, quoted), r#"mcprove audit --server 'it'\''s -- x' --filter "reads (a: b)" -v"#);
        let two = [case("a", "a.yaml"), case("b", "b.yaml")];
        assert_eq!(next(&two, Known::Nothing), "mcprove run a.yaml --filter \"a\" -v  # the first of 2");
        for hostile in ["$(x)", "a\"b", "`x`", "-x", "%PATH%", "a\nb", ""] {
            assert_eq!(next(&[case(hostile, "--server=x")], Known::Nothing), "mcprove run -v", "{hostile:?}");
        }
    }

    #[test]
    fn words_are_quoted_where_a_shell_would_take_them_apart() {
        let words = |words: &[&str]| command_line(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(words(&[]), None);
        let plain = words(&["run", "evals", "--url", "http://localhost:3000/mcp"]);
        assert_eq!(plain.as_deref(), Some("mcprove run evals --url http://localhost:3000/mcp"));
        let quoted = words(&["run", "my evals", "--server", "it's $HOME", ""]);
        assert_eq!(quoted.as_deref(), Some(r"mcprove run 'my evals' --server 'it'\''s $HOME' ''"));
    }
}
