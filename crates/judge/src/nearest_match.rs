//! The nearest text to a missing part, so that a typo is seen at once.

use std::ops::Range;

use regex::RegexBuilder;

use crate::excerpt::quoted;

/// The nearest thing to a missing part, and how it differs.
#[derive(Debug, PartialEq)]
pub(crate) struct NearestMatch {
    pub(crate) range: Range<usize>,
    pub(crate) help: String,
}

/// Finds the part of a text that was most likely meant by `wanted`, which is not in the text.
pub(crate) fn find(text: &str, wanted: &str) -> Option<NearestMatch> {
    if wanted.is_empty() {
        return None;
    }
    if let Some(range) = find_pattern(text, &regex::escape(wanted)) {
        let help = format!("found {}, which differs in case", quoted(&text[range.clone()]));
        return Some(NearestMatch { range, help });
    }
    let words: Vec<String> = wanted.split_whitespace().map(regex::escape).collect();
    if !words.is_empty()
        && let Some(range) = find_pattern(text, &words.join(r"\s+"))
    {
        let help = format!("found {}, which differs in white space", quoted(&text[range.clone()]));
        return Some(NearestMatch { range, help });
    }
    longest_beginning(text, wanted)
}

fn find_pattern(text: &str, pattern: &str) -> Option<Range<usize>> {
    // A pattern over the size limit of the regex crate only costs the hint.
    let regex = RegexBuilder::new(pattern).case_insensitive(true).build().ok()?;
    regex.find(text).map(|found| found.range())
}

/// The longest beginning of `wanted` that the text has, when it is at least half of it.
fn longest_beginning(text: &str, wanted: &str) -> Option<NearestMatch> {
    let ends: Vec<usize> = wanted.char_indices().map(|(offset, c)| offset + c.len_utf8()).collect();
    // When the text has a beginning, it has all shorter ones: a binary search finds the longest.
    let found = ends.partition_point(|end| text.contains(&wanted[..*end]));
    if found < 3 || found * 2 < ends.len() {
        return None;
    }
    let beginning = &wanted[..ends[found - 1]];
    let start = text.find(beginning)?;
    let end = start + beginning.len();
    let help = if end == text.len() {
        format!("found {}, where the text ends", quoted(beginning))
    } else {
        let next: String = text[end..].chars().take(12).collect();
        format!("found {}, followed by {}", quoted(beginning), quoted(&next))
    };
    Some(NearestMatch { range: start..end, help })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_part_is_found_and_told_how_it_differs() {
        let help = |text: &str, wanted: &str| find(text, wanted).map(|near| (text[near.range].to_owned(), near.help));
        let (part, why) = help("say Hello, World now", "hello, world").expect("near");
        assert_eq!((part.as_str(), why.as_str()), ("Hello, World", "found `Hello, World`, which differs in case"));
        let (_, why) = help("a  b\nc", "a b c").expect("near");
        assert!(why.ends_with("differs in white space"), "{why}");
        let (part, why) = help("Hello, Wurld", "Hello, World").expect("near");
        assert_eq!((part.as_str(), why.as_str()), ("Hello, W", "found `Hello, W`, followed by `urld`"));
        assert_eq!(help("Hello, W", "Hello, World").expect("near").1, "found `Hello, W`, where the text ends");
        assert_eq!(help("something else", "Hello"), None);
        assert_eq!(help("ab", ""), None);
    }
}
