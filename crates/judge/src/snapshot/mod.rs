//! Stored replies: what changes from run to run is masked, and the rest is compared byte for byte.
//!
//! The table [`NORMALISERS`] lists the masks, one file each; the fixture folder and the patterns that an author lists
//! under `mask:` are added.

mod duration;
mod file;
mod render;
mod temporary_folder;
mod timestamp;
mod uuid;
mod weekday;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::LazyLock;

use regex::Regex;

use crate::catalog_lock::digest;
use crate::diff::{Sides, unified};

pub use file::{SnapshotFile, Unreadable};
pub use render::{of_reply, of_value};

/// Replacement for the fixture folder.
const FIXTURE: &str = "{{fixture}}";

/// Replacement for matches of an author's pattern.
const MASKED: &str = "<masked>";

/// Something that is different in every run, and what is stored instead.
pub struct Normaliser {
    /// Its replacement, in angle brackets.
    pub name: &'static str,
    /// One sentence for the documentation.
    pub summary: &'static str,
    /// The masked text: a regular expression without capturing groups.
    pub pattern: &'static str,
    /// Texts that are masked as a whole.
    pub masked: &'static [&'static str],
    /// Texts that stay as they are.
    pub kept: &'static [&'static str],
}

/// Every normaliser, sorted by name. All are looked for at once, so that none spoils what another would find.
pub const NORMALISERS: &[Normaliser] =
    &[duration::NORMALISER, temporary_folder::NORMALISER, timestamp::NORMALISER, uuid::NORMALISER, weekday::NORMALISER];

static VOLATILE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let mut pattern = String::new();
    for (index, normaliser) in NORMALISERS.iter().enumerate() {
        let bar = if index == 0 { "" } else { "|" };
        let _ = write!(pattern, "{bar}({})", normaliser.pattern);
    }
    // A table that does not compile fails its test; a program that meets one masks nothing.
    Regex::new(&pattern).ok()
});

/// Masks besides the table.
#[derive(Clone, Debug, Default)]
pub struct Masks {
    fixture: Option<String>,
    patterns: Vec<Regex>,
}

impl Masks {
    /// The patterns that an author wrote; the error says what is wrong with one.
    pub fn new<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Result<Self, String> {
        let compiled = patterns.into_iter().map(|pattern| Regex::new(pattern).map_err(|error| error.to_string()));
        Ok(Self { fixture: None, patterns: compiled.collect::<Result<_, _>>()? })
    }

    /// Masks the path of this folder too.
    #[must_use]
    pub fn with_fixture(mut self, folder: Option<&str>) -> Self {
        self.fixture = folder.filter(|folder| folder.len() > 1).map(str::to_owned);
        self
    }

    /// The text with everything masked that changes from run to run.
    pub fn apply(&self, text: &str) -> String {
        let mut text = Cow::Borrowed(text);
        for pattern in &self.patterns {
            if let Cow::Owned(masked) = pattern.replace_all(&text, regex::NoExpand(MASKED)) {
                text = Cow::Owned(masked);
            }
        }
        if let Some(folder) = &self.fixture
            && text.contains(folder)
        {
            text = Cow::Owned(text.replace(folder, FIXTURE));
        }
        normalised(&text).into_owned()
    }
}

/// Bytes of a reply that are stored; no person reviews more, and a suite has many.
const STORED: usize = 256 << 10;

/// A masked text as it is stored and compared: of a long one its beginning, and the rest in a few letters.
pub fn stored(mut text: String) -> String {
    if text.len() > STORED {
        let rest = text.split_off(text.floor_char_boundary(STORED));
        let _ = write!(text, "\n… {} more bytes, {}", rest.len(), digest(&rest));
        text.shrink_to_fit();
    }
    text
}

/// The text with everything masked that the table knows.
fn normalised(text: &str) -> Cow<'_, str> {
    let Some(volatile) = VOLATILE.as_ref() else { return Cow::Borrowed(text) };
    volatile.replace_all(text, |found: &regex::Captures<'_>| {
        let which = NORMALISERS.iter().enumerate().find(|(index, _)| found.get(index + 1).is_some());
        which.map_or_else(String::new, |(_, normaliser)| format!("<{}>", normaliser.name))
    })
}

/// True if a text holds something that the table masks.
pub fn is_volatile(text: &str) -> bool {
    VOLATILE.as_ref().is_some_and(|volatile| volatile.is_match(text))
}

/// True if a text contains a time.
pub fn tells_the_time(text: &str) -> bool {
    normalised(text).contains(&format!("<{}>", timestamp::NORMALISER.name))
}

/// A unified diff from the stored text to the current one; the two differ.
pub fn difference(stored: &str, now: &str) -> String {
    unified(Sides { old: "stored", new: "now" }, stored, now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_normaliser_masks_its_examples_and_nothing_else() {
        assert!(VOLATILE.is_some(), "the table compiles");
        assert!(NORMALISERS.is_sorted_by_key(|normaliser| normaliser.name));
        for normaliser in NORMALISERS {
            assert!(!normaliser.masked.is_empty() && !normaliser.kept.is_empty(), "{}", normaliser.name);
            for text in normaliser.masked {
                let wanted = format!("a <{}> b", normaliser.name);
                assert_eq!(normalised(&format!("a {text} b")), wanted, "{}: {text}", normaliser.name);
            }
            for text in normaliser.kept {
                assert_eq!(normalised(text), *text, "{}", normaliser.name);
            }
        }
    }

    #[test]
    fn masking_twice_changes_nothing() {
        for text in NORMALISERS.iter().flat_map(|normaliser| normaliser.masked) {
            let once = normalised(text).into_owned();
            assert_eq!(normalised(&once), once);
        }
    }

    #[test]
    fn the_fixture_and_the_authors_patterns_are_masked_first() {
        let masks = Masks::new(["id-[0-9]+", "took .*"]).expect("sound").with_fixture(Some("/tmp/copy-1/data"));
        assert_eq!(
            masks.apply("/tmp/copy-1/data/a.txt id-77 took 3 s\n/tmp/other/b"),
            "{{fixture}}/a.txt <masked> <masked>\n<temporary folder>/b"
        );
        assert!(Masks::new(["("]).is_err());
    }

    #[test]
    fn a_document_is_masked_where_it_changes_and_nowhere_else() {
        let text = "{\n  \"timezone\": \"Asia/Tokyo\",\n  \"datetime\": \"2026-11-15T19:44:01+09:00\",\n  \
                    \"day_of_week\": \"Sunday\",\n  \"is_dst\": false\n}";
        let wanted = "{\n  \"timezone\": \"Asia/Tokyo\",\n  \"datetime\": \"<timestamp>\",\n  \
                      \"day_of_week\": \"<weekday>\",\n  \"is_dst\": false\n}";
        assert_eq!(normalised(text), wanted);
        assert!(tells_the_time(text) && !tells_the_time("it took 5 ms"));
    }
}
