//! Faults of a mock that it has by itself: calls that do not return, or late. All others are injected between the mock and
//! its clients, by the same code that injects them in front of other servers.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use mcprove_model::{FaultId, FaultKind, FaultRule};

/// Time after which the mock gives up a hung call, far past any sane timeout.
pub const HANG: Duration = Duration::from_mins(10);

/// Effect of a fault on a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delay {
    /// Nothing.
    No,
    /// An answer after a while.
    Late(Duration),
    /// No answer.
    Never,
}

/// The faults of a mock, and how many calls each has met.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    by_tool: BTreeMap<String, FaultKind>,
    everywhere: Option<FaultKind>,
    /// Number of calls that met a fault; the key is the name of the tool, or `None` for the fault of all tools.
    met: Mutex<BTreeMap<Option<String>, u64>>,
}

impl Faults {
    /// Adds a fault; a later one for the same tools takes its place.
    pub(crate) fn add(&mut self, rule: FaultRule) {
        match rule.tool {
            Some(tool) => {
                self.by_tool.insert(tool, rule.fault);
            }
            None => self.everywhere = Some(rule.fault),
        }
    }

    /// Says what a call of this tool meets, and counts it.
    pub(crate) fn next_delay(&self, tool: &str) -> Delay {
        let (fault, whose) = match (self.by_tool.get(tool), self.everywhere) {
            (Some(fault), _) => (*fault, Some(tool.to_owned())),
            (None, Some(fault)) => (fault, None),
            (None, None) => return Delay::No,
        };
        match fault.id {
            FaultId::Hang | FaultId::Wedged => Delay::Never,
            FaultId::Slow => Delay::Late(Duration::from_millis(fault.count())),
            FaultId::RecoverAfter => {
                let mut met = self.met.lock().unwrap_or_else(PoisonError::into_inner);
                let met = met.entry(whose).or_default();
                *met = met.saturating_add(1);
                if *met > fault.count() { Delay::No } else { Delay::Never }
            }
            _ => Delay::No,
        }
    }

    /// True if a fault announces changes of the list of tools.
    pub(crate) fn announce_changes(&self) -> bool {
        self.by_tool.values().chain(&self.everywhere).any(|fault| fault.id == FaultId::ListChangedStorm)
    }

    /// The fault of a tool.
    pub(crate) fn of(&self, tool: &str) -> Option<FaultKind> {
        self.by_tool.get(tool).copied().or(self.everywhere)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str) -> FaultRule {
        text.parse().expect("a fault")
    }

    #[test]
    fn a_fault_of_a_tool_goes_before_one_of_all() {
        let mut faults = Faults::default();
        faults.add(rule("recover-after:2"));
        faults.add(rule("search=none"));
        faults.add(rule("late=slow:5"));
        assert_eq!(faults.next_delay("search"), Delay::No);
        assert_eq!(faults.next_delay("late"), Delay::Late(Duration::from_millis(5)));
        assert_eq!(
            [faults.next_delay("a"), faults.next_delay("b"), faults.next_delay("a")],
            [Delay::Never, Delay::Never, Delay::No]
        );
    }
}
