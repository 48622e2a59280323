//! The search for the highest rate that a server holds.

/// A search for the highest rate that is held: the rate doubles until it breaks, then the gap is halved.
#[derive(Clone, Debug)]
pub struct LimitSearch {
    held: Option<f64>,
    broken: Option<f64>,
    next: f64,
    tries: u32,
}

/// The gap between the highest rate held and the lowest broken at which the search ends.
const PRECISION: f64 = 1.05;
/// Maximum number of tries.
const TRIES: u32 = 24;
/// Rates beyond this are not tried.
const HIGHEST: f64 = 1e6;

impl LimitSearch {
    /// A search that begins at a rate.
    pub fn new(first: f64) -> Self {
        Self { held: None, broken: None, next: first.clamp(0.1, HIGHEST), tries: 0 }
    }

    /// The rate to try next; `None` when the limit is known.
    pub fn next_rate(&self) -> Option<f64> {
        let is_close = |held: f64, broken: f64| broken / held <= PRECISION;
        let is_over = match (self.held, self.broken) {
            (Some(held), Some(broken)) => is_close(held, broken),
            (Some(held), None) => held >= HIGHEST,
            // A server that holds nothing at all is not searched for ever.
            (None, Some(broken)) => broken <= 0.1,
            (None, None) => false,
        };
        (!is_over && self.tries < TRIES).then_some(self.next)
    }

    /// Takes the result of the rate that was tried.
    pub fn observe(&mut self, is_held: bool) {
        self.tries += 1;
        let tried = self.next;
        if is_held {
            self.held = Some(self.held.map_or(tried, |held| held.max(tried)));
        } else {
            self.broken = Some(self.broken.map_or(tried, |broken| broken.min(tried)));
        }
        self.next = match (self.held, self.broken) {
            (Some(held), Some(broken)) => (held * broken).sqrt(),
            (Some(held), None) => (held * 2.0).min(HIGHEST),
            (None, Some(broken)) => (broken / 4.0).max(0.1),
            (None, None) => tried,
        };
    }

    /// The highest rate held so far.
    pub fn held(&self) -> Option<f64> {
        self.held
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn search(first: f64, limit: f64) -> (Option<f64>, u32) {
        let mut search = LimitSearch::new(first);
        while let Some(rate) = search.next_rate() {
            search.observe(rate <= limit);
        }
        (search.held(), search.tries)
    }

    #[test]
    fn a_server_that_holds_nothing_has_no_limit() {
        assert_eq!(search(10.0, 0.0).0, None);
        assert!(search(10.0, f64::INFINITY).0.is_some_and(|held| held >= HIGHEST));
    }

    proptest! {
        #[test]
        fn the_limit_is_found_within_five_percent(first in 1.0f64..1000.0, limit in 0.5f64..100_000.0) {
            let (held, tries) = search(first, limit);
            let held = held.expect("held");
            prop_assert!(held <= limit && held * PRECISION >= limit, "{} of {}", held, limit);
            prop_assert!(tries <= TRIES);
        }
    }
}
