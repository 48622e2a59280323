//! Hashes of every window of a text in one pass, and what helps to look them up fast.
//!
//! A window is a number of characters, not bytes. The hash is a polynomial over code points modulo 2^64: equal windows
//! have equal hashes, and where a hit has consequences it is compared with the text itself.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

/// Any large odd number without a pattern.
const BASE: u64 = 0x9e6c_63d0_876a_3f35;
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// A map by hashes that are good enough as they are.
pub(super) type HashedMap<V> = HashMap<u64, V, BuildHasherDefault<Spread>>;

/// Calls `see` with the bytes and the hash of every window of `size` characters, from left to right.
pub(super) fn windows(text: &str, size: usize, see: impl FnMut(Range<usize>, u64)) {
    if size == 0 || text.len() < size {
        return;
    }
    if text.is_ascii() {
        let bytes = || text.bytes().map(u64::from).enumerate();
        roll(bytes().map(|(offset, byte)| (offset + 1, byte)), bytes(), size, see);
    } else {
        let lead = text.char_indices().map(|(offset, c)| (offset + c.len_utf8(), u64::from(c)));
        let trail = text.char_indices().map(|(offset, c)| (offset, u64::from(c)));
        roll(lead, trail, size, see);
    }
}

/// The hash of the first `size` characters; `None` when there are fewer.
pub(super) fn beginning(text: &str, size: usize) -> Option<u64> {
    let mut chars = text.chars();
    let mut hash = 0;
    for _ in 0..size {
        hash = push(hash, u64::from(chars.next()?));
    }
    Some(hash)
}

/// The hash of a whole text, equal to that of a window as long as the text.
pub(super) fn whole(text: &str) -> u64 {
    text.chars().fold(0, |hash, c| push(hash, u64::from(c)))
}

/// A hash that includes the length of the window.
pub(super) fn sized(hash: u64, size: usize) -> u64 {
    hash.wrapping_add((size as u64).wrapping_mul(MIX))
}

/// `lead` gives the ends of its characters, `trail` their starts.
fn roll(
    mut lead: impl Iterator<Item = (usize, u64)>,
    trail: impl Iterator<Item = (usize, u64)>,
    size: usize,
    mut see: impl FnMut(Range<usize>, u64),
) {
    let (mut end, mut hash) = (0, 0);
    for _ in 0..size {
        let Some((after, c)) = lead.next() else { return };
        (end, hash) = (after, push(hash, c));
    }
    let top = power(size);
    for (start, out) in trail {
        see(start..end, hash);
        let Some((after, c)) = lead.next() else { return };
        (end, hash) = (after, push(hash, c).wrapping_sub(out.wrapping_mul(top)));
    }
}

fn push(hash: u64, c: u64) -> u64 {
    hash.wrapping_mul(BASE).wrapping_add(c)
}

fn power(exponent: usize) -> u64 {
    let (mut power, mut square, mut rest) = (1_u64, BASE, exponent);
    while rest > 0 {
        if rest & 1 == 1 {
            power = power.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        rest >>= 1;
    }
    power
}

/// Removes the first characters from a hash; one for each size of window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    count: usize,
    power: u64,
}

impl Size {
    /// A window of this many characters.
    pub(super) fn of(count: usize) -> Self {
        Self { count, power: power(count) }
    }

    /// Number of characters.
    pub(super) fn count(self) -> usize {
        self.count
    }
}

/// A text with constant-time hashes of any window.
#[derive(Debug)]
pub(super) struct Prefixes<'t> {
    text: &'t str,
    /// Byte offsets of all characters and of the end; empty for ASCII, where they are the positions.
    offsets: Vec<usize>,
    sums: Vec<u64>,
}

impl<'t> Prefixes<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let mut sums = Vec::with_capacity(text.len() + 1);
        let mut sum = 0;
        sums.push(sum);
        let mut add = |c: u64| {
            sum = push(sum, c);
            sums.push(sum);
        };
        let mut offsets = Vec::new();
        if text.is_ascii() {
            text.bytes().for_each(|byte| add(u64::from(byte)));
        } else {
            text.chars().for_each(|c| add(u64::from(c)));
            offsets = text.char_indices().map(|(offset, _)| offset).chain([text.len()]).collect();
        }
        Self { text, offsets, sums }
    }

    /// Number of characters.
    pub(super) fn count(&self) -> usize {
        self.sums.len() - 1
    }

    /// The hash of the window that begins at a character.
    pub(super) fn window(&self, start: usize, size: Size) -> u64 {
        self.sums[start + size.count].wrapping_sub(self.sums[start].wrapping_mul(size.power))
    }

    /// The byte offset of a character, or of the end.
    pub(super) fn offset(&self, position: usize) -> usize {
        if self.offsets.is_empty() { position } else { self.offsets[position] }
    }

    /// The window itself.
    pub(super) fn slice(&self, start: usize, size: usize) -> &'t str {
        &self.text[self.offset(start)..self.offset(start + size)]
    }
}

/// Says of most hashes at once that they were never put in.
#[derive(Debug)]
pub(super) struct Sieve {
    bits: Vec<u64>,
    shift: u32,
}

impl Sieve {
    /// A sieve for about this many hashes: sixteen bits for each, and never more than 32 MiB.
    pub(super) fn for_about(count: usize) -> Self {
        let log = count.saturating_mul(16).next_power_of_two().trailing_zeros().clamp(10, 28);
        Self { bits: vec![0; 1 << (log - 6)], shift: 64 - log }
    }

    pub(super) fn put(&mut self, hash: u64) {
        let (word, bits) = self.place(hash);
        self.bits[word] |= bits;
    }

    /// True if the hash may have been put in.
    pub(super) fn may_hold(&self, hash: u64) -> bool {
        let (word, bits) = self.place(hash);
        self.bits[word] & bits == bits
    }

    /// Three bits of one word: a tenth of what one bit lets pass, for the same look into memory.
    #[expect(clippy::cast_possible_truncation, reason = "at most 28 bits are left")]
    fn place(&self, hash: u64) -> (usize, u64) {
        let mixed = hash.wrapping_mul(MIX);
        let bit = |shift: u32| 1_u64 << ((mixed >> shift) & 63);
        let word = (mixed >> self.shift) as usize >> 6;
        (word, bit(self.shift) | bit(self.shift - 6) | bit(self.shift - 12))
    }
}

/// Spreads a 64-bit hash over all its bits; nothing else may be hashed with it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte) ^ self.0);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        let mixed = (hash ^ (hash >> 32)).wrapping_mul(MIX);
        self.0 = mixed ^ (mixed >> 29);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_rolled_hash_is_that_of_the_window(text in "[aé漢 ]{0,40}", size in 1_usize..8) {
            let chars: Vec<(usize, char)> = text.char_indices().collect();
            let prefixes = Prefixes::new(&text);
            prop_assert_eq!(prefixes.count(), chars.len());
            let mut seen = Vec::new();
            windows(&text, size, |range, hash| seen.push((range, hash)));
            prop_assert_eq!(seen.len(), (chars.len() + 1).saturating_sub(size));
            for (start, (range, hash)) in seen.iter().enumerate() {
                prop_assert_eq!(prefixes.slice(start, size), &text[range.clone()]);
                prop_assert_eq!(prefixes.offset(start), range.start);
                prop_assert_eq!(prefixes.window(start, Size::of(size)), *hash);
                prop_assert_eq!(whole(&text[range.clone()]), *hash);
            }
            prop_assert_eq!(beginning(&text, size), seen.first().map(|(_, hash)| *hash));
        }

        #[test]
        fn a_sieve_never_loses_anything(hashes in prop::collection::vec(any::<u64>(), 0..200)) {
            let mut sieve = Sieve::for_about(hashes.len());
            for hash in &hashes {
                sieve.put(*hash);
            }
            prop_assert!(hashes.iter().all(|hash| sieve.may_hold(*hash)));
        }
    }
}
