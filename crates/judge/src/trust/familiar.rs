//! What was familiar before a server said it: values of the prompt, and of arguments sent earlier.
//!
//! A text is familiar where sixteen characters in a row (or all of it, when it is shorter) stand in such a value. Only
//! the windows of texts that were carried are looked up, in one reading of everything that was familiar.

use std::collections::BTreeSet;

use super::rolling::{HashedMap, Prefixes, Sieve, sized, windows};

const WINDOW: usize = 16;

/// Where something familiar comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Prompt,
    Arguments,
}

/// The moments that decide whether something was familiar.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moments {
    /// When the server said it: arguments sent before do not come from it.
    pub(super) said: usize,
    /// When another server was told: what the user gave by then comes from the user.
    pub(super) told: usize,
}

/// Windows of carried texts, and when each was first familiar.
#[derive(Debug, Default)]
pub(super) struct Familiar {
    sizes: BTreeSet<usize>,
    first: HashedMap<First>,
}

#[derive(Clone, Copy, Debug)]
struct First {
    prompt: usize,
    arguments: usize,
}

impl Familiar {
    /// Prepares to be asked about a text.
    pub(super) fn want(&mut self, text: &str) {
        let size = text.chars().take(WINDOW).count();
        if size == 0 {
            return;
        }
        self.sizes.insert(size);
        windows(text, size, |_, hash| {
            self.first.entry(sized(hash, size)).or_insert(First { prompt: usize::MAX, arguments: usize::MAX });
        });
    }

    /// Reads everything that may be familiar, each with where in the trace it stands.
    pub(super) fn learn<'t>(&mut self, texts: impl Iterator<Item = (Origin, usize, &'t str)>) {
        if self.first.is_empty() {
            return;
        }
        let mut sieve = Sieve::for_about(self.first.len());
        self.first.keys().for_each(|key| sieve.put(*key));
        for (origin, position, text) in texts {
            for size in &self.sizes {
                windows(text, *size, |_, hash| {
                    let key = sized(hash, *size);
                    if sieve.may_hold(key)
                        && let Some(first) = self.first.get_mut(&key)
                    {
                        let first = match origin {
                            Origin::Prompt => &mut first.prompt,
                            Origin::Arguments => &mut first.arguments,
                        };
                        *first = position.min(*first);
                    }
                });
            }
        }
    }

    /// The characters of a wanted text that were not familiar.
    pub(super) fn strange(&self, text: &str, moments: Moments) -> String {
        let prefixes = Prefixes::new(text);
        let size = prefixes.count().min(WINDOW);
        if size == 0 {
            return String::new();
        }
        let mut strange = String::new();
        let mut familiar_until = 0;
        for position in 0..prefixes.count() {
            let is_window = position + size <= prefixes.count();
            if is_window && self.knows(sized(prefixes.window(position, size), size), moments) {
                familiar_until = position + size;
            }
            if position >= familiar_until {
                strange.push_str(prefixes.slice(position, 1));
            }
        }
        strange
    }

    fn knows(&self, key: u64, moments: Moments) -> bool {
        self.first.get(&key).is_some_and(|first| first.arguments < moments.said || first.prompt < moments.told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strange(text: &str, familiar: &[(Origin, usize, &str)], said: usize) -> String {
        let mut known = Familiar::default();
        known.want(text);
        known.learn(familiar.iter().copied());
        known.strange(text, Moments { said, told: 10 })
    }

    #[test]
    fn what_was_sent_before_the_result_is_familiar_and_what_was_sent_after_is_not() {
        let text = "the quarterly planning offsite";
        assert_eq!(strange(text, &[(Origin::Arguments, 3, "at the quarterly planning offsite!")], 4), "");
        assert_eq!(strange(text, &[(Origin::Arguments, 5, text)], 4), text);
        assert_eq!(strange(text, &[(Origin::Prompt, 5, text)], 4), "");
        assert_eq!(strange(text, &[(Origin::Prompt, 11, text)], 4), text);
    }

    #[test]
    fn only_the_strange_part_is_left() {
        let user = (Origin::Prompt, 0, "please file the leaking roof in hall four");
        assert_eq!(strange("Filed: the leaking roof in hall four", &[user], 4), "Filed:");
        assert_eq!(strange("the leaking roof", &[user], 4), "");
        assert_eq!(strange("roof in hall", &[user], 4), "");
        assert_eq!(strange("a roof of a hall and a leak", &[user], 4), "a roof of a hall and a leak");
        assert_eq!(strange("", &[user], 4), "");
    }
}
