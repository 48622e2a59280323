//! Regular expressions of authors, bounded in all: an expression of twenty letters may take ten megabytes once it is compiled.

use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};

use regex::{Regex, RegexBuilder};

/// Size up to which a compiled expression is not counted; nearly all are smaller.
const SMALL: usize = 256 << 10;
/// Sizes that larger ones are counted with.
const LARGE: [usize; 3] = [1 << 20, 4 << 20, 10 << 20];
/// Size of all large ones that are kept at a time.
const MOST: usize = 128 << 20;

static KEPT: AtomicUsize = AtomicUsize::new(0);

/// A compiled expression; its share of the bound ends with it.
#[derive(Debug)]
pub(crate) struct BoundedRegex {
    regex: Regex,
    size: usize,
}

impl BoundedRegex {
    /// Compiles an expression; the error is one line for its author.
    pub(crate) fn compile(pattern: &str) -> Result<Self, String> {
        let within = |limit: usize| RegexBuilder::new(pattern).size_limit(limit).build();
        match within(SMALL) {
            Ok(regex) => return Ok(Self { regex, size: 0 }),
            Err(regex::Error::CompiledTooBig(_)) => {}
            Err(error) => return Err(last_line(&error)),
        }
        let mut outcome = Err("it is too large once it is compiled".to_owned());
        for size in LARGE {
            let kept = KEPT.fetch_add(size, Ordering::Relaxed);
            // Its share is given back when this is dropped.
            let share = Share(size);
            if kept + size > MOST {
                return Err(format!(
                    "all expressions together take more than {} MiB once they are compiled",
                    MOST >> 20
                ));
            }
            if let Ok(regex) = within(size) {
                std::mem::forget(share);
                outcome = Ok(Self { regex, size });
                break;
            }
        }
        outcome
    }
}

impl Deref for BoundedRegex {
    type Target = Regex;

    fn deref(&self) -> &Regex {
        &self.regex
    }
}

impl Drop for BoundedRegex {
    fn drop(&mut self) {
        KEPT.fetch_sub(self.size, Ordering::Relaxed);
    }
}

struct Share(usize);

impl Drop for Share {
    fn drop(&mut self) {
        KEPT.fetch_sub(self.0, Ordering::Relaxed);
    }
}

/// The part of the error that names the fault; the lines before it draw the pattern.
fn last_line(error: &regex::Error) -> String {
    let text = error.to_string();
    let line = text.lines().last().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_expressions_are_bounded_together_and_give_their_share_back() {
        // Unicode classes that are repeated: a few letters, half a megabyte and more.
        let large = r"(\w{1,40}x){1,4}";
        let fault = {
            let mut kept = Vec::new();
            loop {
                match BoundedRegex::compile(large) {
                    Ok(regex) if kept.len() < 1_000 => kept.push(regex),
                    Ok(_) => panic!("no bound"),
                    Err(fault) => break fault,
                }
            }
        };
        assert_eq!(fault, "all expressions together take more than 128 MiB once they are compiled");
        assert!(BoundedRegex::compile(large).is_ok(), "the others are gone");
        assert!(BoundedRegex::compile("a{3}").is_ok_and(|regex| regex.size == 0 && regex.is_match("aaa")));
        assert_eq!(BoundedRegex::compile("(").expect_err("unclosed"), "unclosed group");
        assert_eq!(BoundedRegex::compile(r"\w{100000}").expect_err("huge"), "it is too large once it is compiled");
    }
}
