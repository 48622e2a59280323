//! Positions of secrets in bytes, in linear time.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use memchr::memmem;

use super::forms::Form;
use super::view::{Layer, View};

/// Mark of an omission in a string.
pub(super) const CUT: &str = "…";

/// Fewer bytes of a secret than this next to a cut reveal nothing; of an encoded one, twice as many.
const TELLING: usize = 3;

/// Number of layers of escapes that are undone one after the other.
const DEPTH: usize = 2;

/// The same for JSON alone: JSON in JSON in JSON.
const JSON_DEPTH: usize = 3;

/// Bytes that are searched at a time, so that views stay small.
const CHUNK: usize = 1 << 20;

/// A character is written with twelve bytes at most by one layer of escapes.
const WIDEST_ESCAPE: usize = 12;

/// Automatons with more bytes of patterns than this take the compact form.
const SMALL: usize = 2 << 10;

/// A compiled set of byte strings.
#[derive(Clone, Debug)]
pub(super) struct Search {
    automaton: AhoCorasick,
    patterns: Vec<Pattern>,
    /// The patterns by their first bytes, and by their last bytes from the end.
    by_beginning: HashMap<[u8; TELLING], Vec<usize>>,
    by_end: HashMap<[u8; TELLING], Vec<usize>>,
    longest: usize,
}

/// A stretch of bytes, from and to.
pub(super) type Stretch = (usize, usize);

impl Search {
    /// Compiles the patterns; `None` when there are none.
    pub(super) fn new(forms: BTreeMap<Vec<u8>, Form>) -> Option<Self> {
        let longest = forms.keys().map(Vec::len).max()?;
        let bytes: usize = forms.keys().map(Vec::len).sum();
        let kind = if bytes > SMALL { AhoCorasickKind::ContiguousNFA } else { AhoCorasickKind::DFA };
        // Building fails only beyond four billion states, which no environment can hold.
        let automaton =
            AhoCorasick::builder().match_kind(MatchKind::Standard).kind(Some(kind)).build(forms.keys()).ok()?;
        let patterns: Vec<Pattern> = forms.into_iter().map(|(bytes, form)| Pattern::new(bytes, form)).collect();
        let by_beginning = by_first_bytes(patterns.iter().map(|pattern| &pattern.forwards));
        let by_end = by_first_bytes(patterns.iter().map(|pattern| &pattern.backwards));
        Some(Self { automaton, patterns, by_beginning, by_end, longest })
    }

    /// The stretches that show a secret, ascending and apart from each other.
    pub(super) fn stretches(&self, bytes: &[u8]) -> Vec<Stretch> {
        // What a chunk cuts in two is whole in the next.
        let overlap = self.longest.saturating_mul(WIDEST_ESCAPE).saturating_add(64);
        let step = CHUNK.max(overlap.saturating_mul(2));
        let mut found = Vec::new();
        let mut start = 0;
        loop {
            let end = bytes.len().min(start + step + overlap);
            let of_chunk = self.chunk(&bytes[start..end]);
            found.extend(of_chunk.into_iter().map(|(from, to)| (start + from, start + to)));
            if end == bytes.len() {
                break;
            }
            start += step;
        }
        merged(found)
    }

    fn chunk(&self, bytes: &[u8]) -> Vec<Stretch> {
        let mut found = self.plain(bytes);
        for layer in Layer::ALL {
            if let Some(view) = View::of(bytes, layer) {
                self.view(&view, &[layer], &mut found);
            }
        }
        found
    }

    /// Adds what a view shows, and what is below it.
    fn view(&self, view: &View, above: &[Layer], found: &mut Vec<Stretch>) {
        found.extend(self.plain(&view.bytes).into_iter().map(|(from, to)| view.origin(from, to)));
        for layer in Layer::ALL {
            // Below lines there is nothing to undo, and indented lines are in JSON at most.
            if above.contains(&Layer::Indent)
                || layer == Layer::Indent && above.iter().any(|above| *above != Layer::Backslash)
            {
                continue;
            }
            let layers = [above, &[layer]].concat();
            let is_nested_json = layers.iter().all(|layer| *layer == Layer::Backslash);
            // Escapes of CSS are in JSON at most, and there is nothing below them.
            if above.contains(&Layer::Css)
                || layer == Layer::Css && above.iter().any(|above| *above != Layer::Backslash)
            {
                continue;
            }
            let is_shallow = layers.len() <= DEPTH || matches!(layer, Layer::Indent | Layer::Css);
            if (is_shallow || is_nested_json && layers.len() <= JSON_DEPTH)
                && let Some(deeper) = view.further(layer)
            {
                self.view(&deeper, &layers, found);
            }
        }
    }

    /// The stretches in bytes that are taken as they are.
    fn plain(&self, bytes: &[u8]) -> Vec<Stretch> {
        let mut stretches: Vec<Stretch> = Vec::new();
        // Almost no text has a secret in it, and this is found faster than where several overlap.
        if self.automaton.is_match(bytes) {
            // Matches come in the order of their ends, so a later one may begin before several earlier ones.
            for found in self.automaton.find_overlapping_iter(bytes) {
                let mut stretch = (found.start(), found.end());
                while let Some(last) = stretches.pop_if(|last| last.1 > stretch.0) {
                    stretch.0 = stretch.0.min(last.0);
                }
                stretches.push(stretch);
            }
        }
        self.next_to_cuts(bytes, &mut stretches);
        stretches
    }

    /// The beginning of a secret before a cut, and the end of one after it.
    fn next_to_cuts(&self, bytes: &[u8], stretches: &mut Vec<Stretch>) {
        let mut cuts = memmem::find_iter(bytes, CUT).peekable();
        let mut done = 0;
        while let Some(cut) = cuts.next() {
            // Windows end at the neighbouring cuts, so that every byte is looked at twice at most.
            let before = &bytes[done..cut];
            let length = self.beginning_at_end(before);
            if length > 0 {
                stretches.push((cut - length, cut));
            }
            done = cut + CUT.len();
            let after = &bytes[done..cuts.peek().copied().unwrap_or(bytes.len())];
            let length = self.end_at_beginning(after);
            if length > 0 {
                stretches.push((done, done + length));
            }
        }
    }

    /// Number of bytes at the end of a string that are the beginning of a pattern. Only patterns whose first bytes are there
    /// are compared: a server can send millions of cuts, and there may be thousands of patterns.
    fn beginning_at_end(&self, text: &[u8]) -> usize {
        let window = &text[text.len().saturating_sub(self.longest)..];
        let found = candidates(&self.by_beginning, window.array_windows().copied());
        found.into_iter().map(|at| self.patterns[at].beginning_at_end(text)).max().unwrap_or(0)
    }

    /// Number of bytes at the beginning of a string that are the end of a pattern.
    fn end_at_beginning(&self, text: &[u8]) -> usize {
        let window = &text[..text.len().min(self.longest)];
        let reversed = window.array_windows().map(|[first, second, third]: &[u8; TELLING]| [*third, *second, *first]);
        let found = candidates(&self.by_end, reversed);
        found.into_iter().map(|at| self.patterns[at].end_at_beginning(text)).max().unwrap_or(0)
    }
}

fn by_first_bytes<'p>(patterns: impl Iterator<Item = &'p Partial>) -> HashMap<[u8; TELLING], Vec<usize>> {
    let mut map: HashMap<[u8; TELLING], Vec<usize>> = HashMap::new();
    for (at, pattern) in patterns.enumerate() {
        if let Some(first) = pattern.bytes.first_chunk() {
            map.entry(*first).or_default().push(at);
        }
    }
    map
}

/// The patterns that begin with some of these bytes.
fn candidates(
    patterns: &HashMap<[u8; TELLING], Vec<usize>>,
    bytes: impl Iterator<Item = [u8; TELLING]>,
) -> BTreeSet<usize> {
    bytes.filter_map(|bytes| patterns.get(&bytes)).flatten().copied().collect()
}

fn merged(mut stretches: Vec<Stretch>) -> Vec<Stretch> {
    stretches.sort_unstable();
    let mut apart: Vec<Stretch> = Vec::with_capacity(stretches.len());
    for (from, to) in stretches {
        match apart.last_mut() {
            Some(last) if from < last.1 => last.1 = last.1.max(to),
            Some(_) | None => apart.push((from, to)),
        }
    }
    apart
}

/// A pattern that is recognised by its beginning and by its end.
#[derive(Clone, Debug)]
struct Pattern {
    forwards: Partial,
    backwards: Partial,
}

impl Pattern {
    fn new(bytes: Vec<u8>, form: Form) -> Self {
        let reversed = bytes.iter().rev().copied().collect();
        let telling = match form {
            Form::Text => TELLING,
            Form::Encoded => 2 * TELLING,
        };
        Self { forwards: Partial::new(bytes, telling), backwards: Partial::new(reversed, telling) }
    }

    /// Number of bytes at the end of a string that are the beginning of the pattern.
    fn beginning_at_end(&self, text: &[u8]) -> usize {
        let window = &text[text.len().saturating_sub(self.forwards.bytes.len())..];
        self.forwards.at_end(window.iter().copied())
    }

    /// Number of bytes at the beginning of a string that are the end of the pattern.
    fn end_at_beginning(&self, text: &[u8]) -> usize {
        let window = &text[..text.len().min(self.backwards.bytes.len())];
        self.backwards.at_end(window.iter().rev().copied())
    }
}

/// Bytes with their failure function (Knuth, Morris and Pratt).
#[derive(Clone, Debug)]
struct Partial {
    bytes: Vec<u8>,
    /// For each length, the longest shorter beginning that is also its end.
    shorter: Vec<u32>,
    /// Number of matching bytes that reveal the secret.
    telling: usize,
}

impl Partial {
    fn new(bytes: Vec<u8>, telling: usize) -> Self {
        let mut partial = Self { shorter: vec![0; bytes.len() + 1], bytes, telling };
        let mut length = 0;
        for at in 1..partial.bytes.len() {
            length = partial.next(length, partial.bytes[at]);
            partial.shorter[at + 1] = u32::try_from(length).unwrap_or(0);
        }
        partial
    }

    fn next(&self, mut length: usize, byte: u8) -> usize {
        loop {
            if self.bytes.get(length) == Some(&byte) {
                return length + 1;
            }
            if length == 0 {
                return 0;
            }
            length = self.shorter[length] as usize;
        }
    }

    /// Number of bytes at the end of a string that are the beginning of these, if that is enough to reveal something.
    fn at_end(&self, text: impl Iterator<Item = u8>) -> usize {
        let length = text.fold(0, |length, byte| self.next(length, byte));
        if length >= self.telling { length } else { 0 }
    }
}
