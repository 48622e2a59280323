//! A walk through all combinations of choices: each run of the same code takes the next combination.

use super::seeded_random::hash;

/// One combination of choices, and the way to the next.
///
/// The first run takes choice 0 everywhere; [`Choices::advance`] then turns the last choice that has more, as an
/// odometer does. The code that asks need not know how many choices it will meet.
#[derive(Debug, Default)]
pub(crate) struct Choices {
    made: Vec<(usize, usize)>,
    next: usize,
    /// Offset of the choices; 0 leaves them in their order.
    turn: u64,
}

impl Choices {
    /// Combinations that begin elsewhere than with the first choices.
    pub(crate) fn turned(turn: u64) -> Self {
        Self { turn, ..Self::default() }
    }

    /// Goes back to the first question with the same answers.
    pub(crate) fn rewind(&mut self) {
        self.next = 0;
    }

    /// The choice here, below `among`; `among` must be at least 1.
    pub(crate) fn choose(&mut self, among: usize) -> usize {
        let position = self.next;
        self.next += 1;
        let choice = if let Some((choice, known)) = self.made.get_mut(position) {
            // Another combination before may have led to a place with another number of choices.
            *known = among;
            *choice = (*choice).min(among.saturating_sub(1));
            *choice
        } else {
            self.made.push((0, among));
            0
        };
        if self.turn == 0 || among == 0 {
            return choice;
        }
        let turn = hash(self.turn, &position.to_le_bytes()) % among as u64;
        (choice + usize::try_from(turn).unwrap_or(0)) % among
    }

    /// Moves to the next combination; false when all were taken.
    pub(crate) fn advance(&mut self) -> bool {
        self.made.truncate(self.next);
        self.next = 0;
        while let Some((choice, among)) = self.made.pop() {
            if choice + 1 < among {
                self.made.push((choice + 1, among));
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_is_taken_once() {
        let mut choices = Choices::default();
        let mut seen = Vec::new();
        loop {
            let first = choices.choose(2);
            // The second question has three answers in one branch and is not asked in the other.
            let second = if first == 0 { Some(choices.choose(3)) } else { None };
            seen.push((first, second));
            if !choices.advance() {
                break;
            }
        }
        assert_eq!(seen, [(0, Some(0)), (0, Some(1)), (0, Some(2)), (1, None)]);
    }

    #[test]
    fn turned_choices_are_all_taken_too() {
        let mut choices = Choices::turned(5);
        let mut seen = Vec::new();
        loop {
            seen.push((choices.choose(2), choices.choose(3)));
            if !choices.advance() {
                break;
            }
        }
        seen.sort_unstable();
        assert_eq!(seen, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]);
    }

    #[test]
    fn no_choice_is_one_combination() {
        assert!(!Choices::default().advance());
    }
}
