//! Deliberate faults of a mock. Faults touch `tools/call` alone: everything else stays responsive.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use mcprove_model::nearest;

/// Time after which the mock gives up a hung call, far past any sane timeout.
pub const HANG: Duration = Duration::from_mins(10);

/// The longest delay of a slow call: a day.
const LONGEST_MS: u64 = 86_400_000;

/// A way to be unresponsive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MockFault {
    /// Healthy.
    None,
    /// Calls do not return.
    Hang,
    /// Calls do not return; the name says that a deadlock is meant rather than a stalled network.
    Wedged,
    /// Calls return after a delay.
    Slow(Duration),
    /// So many calls do not return, later ones do.
    RecoverAfter(u64),
}

impl FromStr for MockFault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const NAMES: [&str; 5] = ["none", "hang", "wedged", "slow", "recover-after"];
        let (name, number) = match text.split_once(':') {
            Some((name, number)) => (name.trim(), Some(number.trim())),
            None => (text.trim(), None),
        };
        match (name, number) {
            ("none", None) => Ok(Self::None),
            ("hang", None) => Ok(Self::Hang),
            ("wedged", None) => Ok(Self::Wedged),
            ("slow", Some(number)) => match number.parse::<u64>() {
                Ok(ms) if ms <= LONGEST_MS => Ok(Self::Slow(Duration::from_millis(ms))),
                Ok(_) | Err(_) => {
                    Err(format!("invalid delay `{number}`: expected milliseconds up to a day, as in `slow:1500`"))
                }
            },
            ("recover-after" | "recover_after", Some(number)) => number.parse().map(Self::RecoverAfter).map_err(|_| {
                format!("invalid number of calls `{number}`: expected the number of calls that hang first, as in `recover-after:2`")
            }),
            ("slow" | "recover-after" | "recover_after", None) => {
                Err(format!("`{name}` needs a number: write `slow:<ms>` or `recover-after:<n>`"))
            }
            ("none" | "hang" | "wedged", Some(_)) => Err(format!("`{name}` takes no number: write `{name}`")),
            (_, _) => Err(match nearest(name, NAMES) {
                Some(near) => format!("unknown fault `{name}`: did you mean `{near}`?"),
                None => format!("unknown fault `{name}`: expected none, hang, wedged, slow:<ms> or recover-after:<n>"),
            }),
        }
    }
}

impl fmt::Display for MockFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Hang => f.write_str("hang"),
            Self::Wedged => f.write_str("wedged"),
            Self::Slow(delay) => write!(f, "slow:{}", delay.as_millis()),
            Self::RecoverAfter(calls) => write!(f, "recover-after:{calls}"),
        }
    }
}

/// A fault and whom it strikes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultRule {
    /// The tool; every tool when absent.
    pub tool: Option<String>,
    /// The fault.
    pub fault: MockFault,
}

impl FromStr for FaultRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.rsplit_once('=') {
            Some((tool, _)) if tool.trim().is_empty() => {
                Err(format!("`{text}` names no tool: write `TOOL=KIND`, or the kind alone for every tool"))
            }
            Some((tool, fault)) => Ok(Self { tool: Some(tool.trim().to_owned()), fault: fault.parse()? }),
            None => Ok(Self { tool: None, fault: text.parse()? }),
        }
    }
}

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
    by_tool: BTreeMap<String, MockFault>,
    everywhere: Option<MockFault>,
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
        match fault {
            MockFault::None => Delay::No,
            MockFault::Hang | MockFault::Wedged => Delay::Never,
            MockFault::Slow(delay) => Delay::Late(delay),
            MockFault::RecoverAfter(calls) => {
                let mut met = self.met.lock().unwrap_or_else(PoisonError::into_inner);
                let met = met.entry(whose).or_default();
                *met = met.saturating_add(1);
                if *met > calls { Delay::No } else { Delay::Never }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str) -> FaultRule {
        text.parse().expect("a fault")
    }

    #[test]
    fn kinds_are_read_as_they_are_written() {
        for text in ["none", "hang", "wedged", "slow:1500", "recover-after:2"] {
            assert_eq!(text.parse::<MockFault>().expect("a fault").to_string(), text);
        }
        assert_eq!(rule("search=slow:10").tool.as_deref(), Some("search"));
        assert_eq!(rule("a=b=hang").tool.as_deref(), Some("a=b"));
    }

    #[test]
    fn mistakes_say_what_to_write() {
        for (text, part) in [
            ("hnag", "did you mean `hang`?"),
            ("slow", "needs a number"),
            ("slow:x", "as in `slow:1500`"),
            ("slow:99999999999", "up to a day"),
            ("hang:3", "takes no number"),
            ("recover-after:-1", "as in `recover-after:2`"),
            ("explode", "expected none, hang"),
            ("=hang", "names no tool"),
        ] {
            let message = text.parse::<FaultRule>().expect_err(text);
            assert!(message.contains(part), "{text}: {message}");
        }
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
