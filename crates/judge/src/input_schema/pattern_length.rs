//! Bounds of the length of strings that a regular expression matches.
//!
//! Patterns of JSON Schema are those of ECMA-262, with look-around, which our regex engine does not know; the question
//! needs no engine. A pattern bounds the length when it is anchored at both ends in every alternative and repeats
//! nothing without end.

/// True if everything a pattern matches has a largest length.
pub(crate) fn bounds_length(pattern: &str) -> bool {
    let chars: Vec<char> = pattern.chars().collect();
    let mut anchored_start = chars.first() == Some(&'^');
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(c) = chars.get(at) {
        match c {
            '\\' => at += 1,
            '[' => at = class_end(&chars, at),
            '(' if is_look_around(&chars, at) => at = group_end(&chars, at),
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            '*' | '+' => return false,
            '{' if repeats_without_end(&chars, at) => return false,
            '|' if depth == 0 => {
                if !anchored_start || !ends_anchored(&chars[..at]) {
                    return false;
                }
                anchored_start = chars.get(at + 1) == Some(&'^');
            }
            _ => {}
        }
        at += 1;
    }
    anchored_start && ends_anchored(&chars)
}

/// True if an alternative ends in `$` that is not escaped.
fn ends_anchored(chars: &[char]) -> bool {
    let Some(('$', head)) = chars.split_last().map(|(last, head)| (*last, head)) else { return false };
    head.iter().rev().take_while(|c| **c == '\\').count() % 2 == 0
}

/// The bracket that closes a character class.
fn class_end(chars: &[char], open: usize) -> usize {
    let mut at = open + 1;
    while let Some(c) = chars.get(at) {
        match c {
            '\\' => at += 1,
            ']' => return at,
            _ => {}
        }
        at += 1;
    }
    chars.len()
}

/// Look-around takes no characters, so what it repeats does not count.
fn is_look_around(chars: &[char], open: usize) -> bool {
    let head: String = chars[open..].iter().take(4).collect();
    ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|start| head.starts_with(start))
}

/// The parenthesis that closes a group.
fn group_end(chars: &[char], open: usize) -> usize {
    let mut depth = 0_usize;
    let mut at = open;
    while let Some(c) = chars.get(at) {
        match c {
            '\\' => at += 1,
            '[' => at = class_end(chars, at),
            '(' => depth += 1,
            ')' => {
                depth -= 1;
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
        at += 1;
    }
    chars.len()
}

/// True if a brace begins `{3,}`; other braces are bounded, or stand for themselves.
fn repeats_without_end(chars: &[char], open: usize) -> bool {
    let inside: String = chars[open + 1..].iter().take_while(|c| **c != '}').collect();
    inside.strip_suffix(',').is_some_and(|least| !least.is_empty() && least.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchored_patterns_without_endless_repetition_are_bounded() {
        for pattern in [
            "^[a-z]{1,10}$",
            "^$",
            "^\\d{4}-\\d{2}-\\d{2}$",
            "^(?:red|green)$",
            "^a$|^b$",
            "^(?=.*\\d)(?!(a+))[^*+]{8,64}$",
            "^[*+]\\+\\*?$",
            "^a{3}{$",
            "^\\\\$",
        ] {
            assert!(bounds_length(pattern), "{pattern}");
        }
    }

    #[test]
    fn others_are_not() {
        for pattern in [
            "", "abc", "^abc", "abc$", "^a+$", "^a*$", "^a{3,}$", "^a$|b", "a|^b$", "^(a|b+)$", "^a\\$", "^[a]+$",
            "(^a$)", "^.*$",
        ] {
            assert!(!bounds_length(pattern), "{pattern}");
        }
    }
}
