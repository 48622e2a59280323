//! The command line that runs cases again.

use std::fmt::Write as _;

use mcprove_model::CaseStarted;

use crate::harmless;

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
    (!words.is_empty()).then(|| harmless::line(&line).into_owned())
}

/// How to look closer at what failed. `known` is the command line of the run; without one, the file of the case will do.
pub(crate) fn next_step(failed: &[CaseStarted], known: Option<&str>, is_verbose: bool) -> Option<String> {
    let more = if is_verbose { "" } else { " -v" };
    let first = failed.first()?;
    let alone = failed.iter().all(|started| started.name == first.name);
    let command = known.unwrap_or("mcprove run");
    Some(match first.name.as_str() {
        name if alone && is_plain_name(name) => {
            let is_named = known.is_none() && first.file.chars().all(is_path_char) && !first.file.is_empty();
            let file = if is_named { format!(" {}", first.file) } else { String::new() };
            format!("{command}{file} --filter \"{name}\"{more}")
        }
        _ if is_verbose => format!("{command} --filter TEXT runs one case alone"),
        _ => format!("{command} --filter TEXT -v runs one case alone and shows every call"),
    })
}

/// Whether a name can stand between quotes in any shell, and is taken by `--filter` as it is.
fn is_plain_name(name: &str) -> bool {
    !name.starts_with(['-', '/'])
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-' | '.' | ',' | '/' | '='))
}

fn is_path_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/')
}

#[cfg(test)]
mod tests {
    use super::*;

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
