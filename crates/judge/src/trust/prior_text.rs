//! Text that was familiar before a server said it: given in the prompt, or in arguments sent earlier.
//!
//! A text is familiar where 32 characters in a row (or all of it, when it is shorter) occur in such a one. Of long
//! texts only samples are looked up at first: every 32 characters hold one of the windows of 17 that begin at a
//! multiple of 16. Only around samples that are familiar are all windows looked up.

use std::cell::LazyCell;

use super::rolling::{HashedMap, Prefixes, Sieve, Size, sized, windows};

/// Long enough not to occur by chance in a long conversation.
pub(super) const WINDOW: usize = 32;
const SAMPLE: usize = WINDOW - STRIDE + 1;
const STRIDE: usize = 16;
/// Texts of up to this many characters are looked up at once, without samples.
const SHORT: usize = 64;

/// Origin of familiar text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Prompt,
    Arguments,
}

/// Something that may make a text familiar.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given<'t> {
    pub(super) origin: Origin,
    /// Its position in the trace.
    pub(super) position: usize,
    pub(super) text: &'t str,
}

/// The moments that decide if something was familiar.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moments {
    /// Time of the server's output: arguments sent before do not come from it.
    pub(super) said: usize,
    /// Time of the call to another server: text the user gave by then comes from the user.
    pub(super) told: usize,
}

/// Knows of texts what was familiar in them.
#[derive(Debug, Default)]
pub(super) struct PriorText {
    windows: Seen,
}

/// Windows that are asked about, and when each was first seen.
#[derive(Debug, Default)]
struct Seen {
    sizes: Vec<usize>,
    first: HashedMap<First>,
}

#[derive(Clone, Copy, Debug)]
struct First {
    prompt: usize,
    arguments: usize,
}

impl PriorText {
    /// Finds out what is familiar in texts.
    pub(super) fn learn(texts: &[(&str, Moments)], given: &[Given<'_>]) -> Self {
        let mut samples = Seen::default();
        for (text, _) in texts.iter().filter(|(text, _)| is_long(text)) {
            each_sample(text, |_, hash| samples.ask(hash, SAMPLE));
        }
        samples.look(given);
        let mut all = Seen::default();
        let full = Size::of(WINDOW);
        for (text, moments) in texts {
            if is_long(text) {
                let prefixes = LazyCell::new(|| Prefixes::new(text));
                each_sample(text, |start, hash| {
                    if samples.knows(sized(hash, SAMPLE), *moments) {
                        let last = start.min(prefixes.count() - WINDOW);
                        let first = start.saturating_sub(STRIDE - 1);
                        (first..=last).for_each(|start| all.ask(prefixes.window(start, full), WINDOW));
                    }
                });
            } else {
                let size = text.chars().take(WINDOW).count();
                windows(text, size, |_, hash| all.ask(hash, size));
            }
        }
        all.look(given);
        Self { windows: all }
    }

    /// The characters in the first `until` bytes of a text that were not familiar; once `enough` letters and digits are
    /// found, the rest is left out.
    pub(super) fn strange(&self, text: &str, until: usize, moments: Moments, enough: usize) -> String {
        let size = text.chars().take(WINDOW).count();
        let mut strange = String::new();
        let mut found = 0;
        let mut familiar_until = 0;
        let mut rest = text[..text.floor_char_boundary(until)].char_indices();
        let mut pass = |familiar_until: usize| {
            let Some((offset, c)) = rest.next() else { return false };
            if offset >= familiar_until {
                strange.push(c);
                found += usize::from(c.is_alphanumeric());
            }
            found < enough
        };
        let mut more = true;
        windows(text, size, |range, hash| {
            if more {
                if self.windows.knows(sized(hash, size), moments) {
                    familiar_until = range.end;
                }
                more = pass(familiar_until);
            }
        });
        while more {
            more = pass(familiar_until);
        }
        strange
    }
}

fn is_long(text: &str) -> bool {
    text.len() > SHORT && text.chars().nth(SHORT).is_some()
}

/// Calls `see` with the first character and the hash of every sample of a text.
fn each_sample(text: &str, mut see: impl FnMut(usize, u64)) {
    let mut start = 0_usize;
    windows(text, SAMPLE, |_, hash| {
        if start.is_multiple_of(STRIDE) {
            see(start, hash);
        }
        start += 1;
    });
}

impl Seen {
    fn ask(&mut self, hash: u64, size: usize) {
        if !self.sizes.contains(&size) {
            self.sizes.push(size);
        }
        self.first.entry(sized(hash, size)).or_insert(First { prompt: usize::MAX, arguments: usize::MAX });
    }

    /// Reads all given once.
    fn look(&mut self, given: &[Given<'_>]) {
        if self.first.is_empty() {
            return;
        }
        let mut sieve = Sieve::for_about(self.first.len());
        for key in self.first.keys() {
            sieve.put(*key);
        }
        for one in given {
            for size in &self.sizes {
                windows(one.text, *size, |_, hash| {
                    let key = sized(hash, *size);
                    if sieve.may_hold(key)
                        && let Some(first) = self.first.get_mut(&key)
                    {
                        let first = match one.origin {
                            Origin::Prompt => &mut first.prompt,
                            Origin::Arguments => &mut first.arguments,
                        };
                        *first = one.position.min(*first);
                    }
                });
            }
        }
    }

    fn knows(&self, key: u64, moments: Moments) -> bool {
        self.first.get(&key).is_some_and(|first| first.arguments < moments.said || first.prompt < moments.told)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn given(origin: Origin, position: usize, text: &str) -> Given<'_> {
        Given { origin, position, text }
    }

    fn strange(text: &str, given: &[Given<'_>]) -> String {
        let moments = Moments { said: 4, told: 10 };
        PriorText::learn(&[(text, moments)], given).strange(text, usize::MAX, moments, usize::MAX)
    }

    #[test]
    fn what_was_sent_before_the_result_is_familiar_and_what_was_sent_after_is_not() {
        let text = "the quarterly planning offsite";
        let around = format!("at {text}!");
        assert_eq!(strange(text, &[given(Origin::Arguments, 3, &around)]), "");
        assert_eq!(strange(text, &[given(Origin::Arguments, 5, text)]), text);
        assert_eq!(strange(text, &[given(Origin::Prompt, 5, text)]), "");
        assert_eq!(strange(text, &[given(Origin::Prompt, 11, text)]), text);
    }

    #[test]
    fn only_the_strange_part_is_left() {
        let user = [given(Origin::Prompt, 0, "please file the leaking roof in hall four, above the stairs")];
        assert_eq!(strange("Filed: the leaking roof in hall four, above the stairs.", &user), "Filed:.");
        assert_eq!(strange("Filed: leaking roof in hall four", &user), "Filed: leaking roof in hall four");
        assert_eq!(strange("the leaking roof", &user), "");
        assert_eq!(strange("roof in hall", &user), "");
        assert_eq!(strange("a roof of a hall and a leak", &user), "a roof of a hall and a leak");
        assert_eq!(strange("", &user), "");
    }

    proptest! {
        #[test]
        fn samples_miss_nothing(before in "[ab]{0,90}", shared in "[c-zé]{20,60}", after in "[ab]{0,90}", known in "[ab]{0,50}") {
            let text = format!("{before}{shared}{after}");
            let known = format!("{known}{shared}{known}");
            let chars: Vec<char> = text.chars().collect();
            let size = chars.len().min(WINDOW);
            let mut prior_text = vec![false; chars.len()];
            for (start, window) in chars.windows(size).enumerate() {
                if known.contains(&window.iter().collect::<String>()) {
                    prior_text[start..start + size].fill(true);
                }
            }
            let expected: String = chars.iter().zip(prior_text).filter(|(_, known)| !known).map(|(c, _)| *c).collect();
            prop_assert_eq!(strange(&text, &[given(Origin::Prompt, 0, &known)]), expected);
        }
    }
}
