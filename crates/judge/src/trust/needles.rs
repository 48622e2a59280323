//! Many texts looked for at once, each exactly as it is.

use super::rolling::{HashedMap, Prefixes, Sieve, Size, beginning, sized, whole, windows};

/// Texts of at least this many characters are distinguished by a long beginning, so that a common start (the same host
/// in a thousand URLs) does not make each of them a candidate.
const LONG: usize = 64;

/// Texts to be looked for.
#[derive(Debug)]
pub(super) struct Needles {
    /// No text is shorter.
    least: usize,
    /// The lengths of the texts with a beginning.
    lengths: HashedMap<Vec<Size>>,
    ids: HashedMap<Vec<usize>>,
    texts: Vec<String>,
    sieve: Sieve,
    has_long: bool,
}

impl Needles {
    /// Nothing to look for yet; what is added has at least `least` characters, and `least` is not 0.
    pub(super) fn new(least: usize) -> Self {
        Self {
            least,
            lengths: HashedMap::default(),
            ids: HashedMap::default(),
            texts: Vec::new(),
            sieve: Sieve::for_about(1 << 16),
            has_long: false,
        }
    }

    /// Adds a text and gives its number; the same text has the same number.
    pub(super) fn add(&mut self, text: &str) -> usize {
        let count = text.chars().count();
        let key = sized(whole(text), count);
        let same = self.ids.entry(key).or_default();
        if let Some(id) = same.iter().find(|id| self.texts[**id] == text) {
            return *id;
        }
        let id = self.texts.len();
        same.push(id);
        self.texts.push(text.to_owned());
        let start = if count >= LONG { LONG } else { self.least };
        self.has_long |= count >= LONG;
        if let Some(hash) = beginning(text, start) {
            let lengths = self.lengths.entry(sized(hash, start)).or_default();
            if let Err(place) = lengths.binary_search_by_key(&count, |size| size.count()) {
                lengths.insert(place, Size::of(count));
            }
            self.sieve.put(sized(hash, start));
        }
        id
    }

    /// The number of a text, when it was added.
    pub(super) fn id(&self, text: &str) -> Option<usize> {
        let same = self.ids.get(&sized(whole(text), text.chars().count()))?;
        same.iter().copied().find(|id| self.texts[*id] == text)
    }

    /// Number of different texts added.
    pub(super) fn count(&self) -> usize {
        self.texts.len()
    }

    /// The text of a number.
    pub(super) fn text(&self, id: usize) -> &str {
        &self.texts[id]
    }

    /// Calls `see` with the number and the byte offset of everything that is found in a text.
    pub(super) fn find(&self, text: &str, mut see: impl FnMut(usize, usize)) {
        if self.texts.is_empty() || text.len() < self.least {
            return;
        }
        // Most texts hold no beginning of any, which takes little to see.
        let mut hits: Vec<(usize, usize)> = Vec::new();
        let long = (self.has_long && self.least != LONG).then_some(LONG);
        for beginning in std::iter::once(self.least).chain(long) {
            let mut start = 0;
            windows(text, beginning, |_, hash| {
                if self.sieve.may_hold(sized(hash, beginning)) {
                    hits.push((start, beginning));
                }
                start += 1;
            });
        }
        if hits.is_empty() {
            return;
        }
        hits.sort_unstable();
        let prefixes = Prefixes::new(text);
        let sizes = [self.least, LONG].map(Size::of);
        for (start, beginning) in hits {
            let beginning = if beginning == LONG { sizes[1] } else { sizes[0] };
            self.find_at(&prefixes, start, beginning, &mut see);
        }
    }

    fn find_at(&self, prefixes: &Prefixes<'_>, start: usize, beginning: Size, see: &mut impl FnMut(usize, usize)) {
        let room = prefixes.count() - start;
        let key = sized(prefixes.window(start, beginning), beginning.count());
        for length in self.lengths.get(&key).into_iter().flatten().take_while(|length| length.count() <= room) {
            let key = sized(prefixes.window(start, *length), length.count());
            for id in self.ids.get(&key).into_iter().flatten() {
                if self.texts[*id] == prefixes.slice(start, length.count()) {
                    see(*id, prefixes.offset(start));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn exactly_the_occurrences_are_found(
            text in "[abé]{0,120}", wanted in prop::collection::vec("[abé]{2,5}", 0..6), long in 60_usize..70,
        ) {
            let mut needles = Needles::new(2);
            let mut all: Vec<String> = wanted;
            all.extend(text.char_indices().nth(long).map(|(end, _)| text[..end].to_owned()));
            for needle in &all {
                needles.add(needle);
            }
            let mut found = Vec::new();
            needles.find(&text, |id, offset| found.push((needles.text(id).to_owned(), offset)));
            found.sort();
            let mut expected: Vec<(String, usize)> = Vec::new();
            all.sort();
            all.dedup();
            for needle in all {
                let at = text.char_indices().map(|(offset, _)| offset);
                expected.extend(at.filter(|at| text[*at..].starts_with(&needle)).map(|at| (needle.clone(), at)));
            }
            expected.sort();
            prop_assert_eq!(found, expected);
        }
    }
}
