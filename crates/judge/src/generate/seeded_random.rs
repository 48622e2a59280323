//! Seeded choices that are the same on every machine and in every version.
//!
//! A generator of a few lines (`SplitMix64`) rather than a library: a seed that someone wrote into a bug report must
//! give the same bytes after every update of every dependency.

use mcprove_model::{FNV_START, fnv1a};

/// A stream of choices.
#[derive(Clone, Debug)]
pub(crate) struct Dice {
    state: u64,
}

impl Dice {
    /// The choices of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: mix(seed ^ 0x5bd1_e995_9d1b_54a5) }
    }

    /// The choices of a seed for one purpose: what is chosen for another purpose does not move them.
    pub(crate) fn for_purpose(seed: u64, purpose: &str) -> Self {
        Self::new(hash(seed, purpose.as_bytes()))
    }

    /// The choices of the nth of many alike.
    pub(crate) fn turned(&self, nth: u64) -> Self {
        Self { state: mix(self.state ^ mix(nth.wrapping_add(0x632b_e59b_d9b4_e019))) }
    }

    /// The next 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.state)
    }

    /// A number below `end`; 0 when `end` is 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let wide = u128::from(self.next()) * end as u128;
        usize::try_from(wide >> 64).unwrap_or(0)
    }

    /// True in `percent` of a hundred cases.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of the items.
    pub(crate) fn pick<'i, T>(&mut self, items: &'i [T]) -> Option<&'i T> {
        items.get(self.below(items.len()))
    }
}

/// Adds bytes to a hash that is the same everywhere.
pub fn hash(start: u64, bytes: &[u8]) -> u64 {
    mix(fnv1a(start ^ FNV_START, bytes.iter().copied()))
}

fn mix(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_choices_for_ever() {
        let mut dice = Dice::new(7);
        let seen: Vec<usize> = (0..8).map(|_| dice.below(100)).collect();
        assert_eq!(seen, [22, 26, 66, 71, 12, 51, 15, 15]);
        assert_ne!(Dice::new(8).next(), Dice::new(7).next());
        assert_ne!(Dice::for_purpose(7, "a").next(), Dice::for_purpose(7, "b").next());
    }

    #[test]
    fn every_item_is_picked_now_and_then() {
        let mut dice = Dice::new(1);
        let mut counts = [0; 5];
        for _ in 0..5000 {
            counts[*dice.pick(&[0_usize, 1, 2, 3, 4]).expect("an item")] += 1;
        }
        assert!(counts.iter().all(|count| (800..1200).contains(count)), "{counts:?}");
        assert_eq!(dice.pick::<u8>(&[]), None);
        assert_eq!(dice.below(0), 0);
        assert!(!dice.chance(0) && dice.chance(100));
    }
}
