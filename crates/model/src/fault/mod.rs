//! Faults of a server: one table, from which the mock, the relay, suites and scenarios take them.

mod table;

use std::fmt;
use std::str::FromStr;

pub use table::{FAULTS, FaultId, FaultNumber, FaultRow, FaultSignal};

use crate::nearest;
use table::MOST;

/// A fault with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultKind {
    /// The fault.
    pub id: FaultId,
    /// Its number; 0 where it takes none.
    pub number: i64,
}

impl FaultKind {
    /// No call ever returns.
    pub const HANG: Self = Self { id: FaultId::Hang, number: 0 };
    /// The same by another name.
    pub const WEDGED: Self = Self { id: FaultId::Wedged, number: 0 };
    /// Healthy.
    pub const NONE: Self = Self { id: FaultId::None, number: 0 };

    /// Calls answer after a delay.
    pub fn slow(delay_ms: u64) -> Self {
        Self { id: FaultId::Slow, number: i64::try_from(delay_ms).unwrap_or(MOST) }
    }

    /// The first calls hang.
    pub fn recover_after(failures: u64) -> Self {
        Self { id: FaultId::RecoverAfter, number: i64::try_from(failures).unwrap_or(MOST) }
    }

    /// Its row in the table.
    pub fn row(self) -> &'static FaultRow {
        match FAULTS.iter().find(|row| row.id == self.id) {
            Some(row) => row,
            None => unreachable!("every fault has a row"),
        }
    }

    /// Its number as a count or a time; 0 if it is negative.
    pub fn count(self) -> u64 {
        u64::try_from(self.number).unwrap_or(0)
    }

    /// A fault by its name, with a number where it takes one.
    pub fn named(name: &str, number: Option<i64>) -> Result<Self, String> {
        let name = name.replace('_', "-");
        let Some(row) = FAULTS.iter().find(|row| row.name == name) else {
            return Err(if let Some(near) = nearest(&name, FAULTS.iter().map(|row| row.name)) {
                format!("unknown fault `{name}`: did you mean `{near}`?")
            } else {
                let names: Vec<&str> = FAULTS.iter().map(|row| row.name).collect();
                format!("unknown fault `{name}`: expected {}", names.join(", "))
            });
        };
        let number = match (row.number, number) {
            (FaultNumber::None, None) => 0,
            (FaultNumber::None, Some(_)) => return Err(format!("`{name}` takes no number: write `{name}`")),
            (FaultNumber::Needed(unit, ..), None) => {
                return Err(format!("`{name}` needs a number: write `{}` ({unit})", row.example()));
            }
            (FaultNumber::Optional(.., default), None) => default,
            (FaultNumber::Needed(unit, least, most) | FaultNumber::Optional(unit, least, most, _), Some(number)) => {
                if !(least..=most).contains(&number) {
                    return Err(row.wrong_number(&number.to_string(), unit, least, most));
                }
                number
            }
        };
        Ok(Self { id: row.id, number })
    }
}

impl FaultRow {
    /// Its form on the command line and in files.
    pub fn example(&self) -> String {
        match (self.id, self.number) {
            (_, FaultNumber::None) => self.name.to_owned(),
            (FaultId::Slow, _) => "slow:1500".to_owned(),
            (FaultId::Flaky, _) => "flaky:30".to_owned(),
            (_, FaultNumber::Needed(..)) => format!("{}:2", self.name),
            (_, FaultNumber::Optional(.., default)) if default == MOST => format!("{}:1", self.name),
            (_, FaultNumber::Optional(.., default)) => format!("{}:{default}", self.name),
        }
    }

    fn wrong_number(&self, number: &str, unit: &str, least: i64, most: i64) -> String {
        let bounds = if most == MOST && unit == "milliseconds" {
            "up to a day".to_owned()
        } else {
            format!("from {least} to {most}")
        };
        format!("invalid number `{number}` of `{}`: expected {unit} {bounds}, as in `{}`", self.name, self.example())
    }
}

impl FromStr for FaultKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((name, number)) = text.split_once(':') else { return Self::named(text.trim(), None) };
        let (name, number) = (name.trim(), number.trim());
        let Ok(parsed) = number.parse::<i64>() else {
            let row = FAULTS.iter().find(|row| row.name == name.replace('_', "-"));
            return Err(match row.map(|row| (row, row.number)) {
                Some((row, FaultNumber::Needed(unit, least, most) | FaultNumber::Optional(unit, least, most, _))) => {
                    row.wrong_number(number, unit, least, most)
                }
                Some((_, FaultNumber::None)) | None => Self::named(name, Some(0)).err().unwrap_or_default(),
            });
        };
        Self::named(name, Some(parsed))
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = self.row();
        match row.number {
            FaultNumber::None => f.write_str(row.name),
            FaultNumber::Optional(.., default) if self.number == default => f.write_str(row.name),
            FaultNumber::Needed(..) | FaultNumber::Optional(..) => write!(f, "{}:{}", row.name, self.number),
        }
    }
}

/// A fault and the tool it strikes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultRule {
    /// The tool; every tool when absent.
    pub tool: Option<String>,
    /// The fault.
    pub fault: FaultKind,
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

/// A fault by name: which calls it touches, and what it does to them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Its name in tests.
    pub name: String,
    /// The tool; every tool when absent.
    pub tool: Option<String>,
    /// The server, as the suite names it; every server when absent.
    pub server: Option<String>,
    /// Its kind.
    pub kind: FaultKind,
}

impl Fault {
    /// True if it touches the calls of a tool of a server.
    pub fn touches(&self, server: &str, tool: &str) -> bool {
        self.server.as_deref().is_none_or(|own| own == server) && self.tool.as_deref().is_none_or(|own| own == tool)
    }
}

/// The canary that injected text carries: the same for the same seed and tool.
pub fn canary(seed: u64, tool: &str) -> String {
    // FNV-1a: stable in every build, which the hashers of the standard library do not promise.
    let bytes = seed.to_le_bytes().into_iter().chain(tool.bytes());
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("CANARY-{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_has_one_row_and_reads_back_as_it_is_written() {
        for row in FAULTS {
            let fault: FaultKind = row.example().parse().expect(row.name);
            assert_eq!(fault.id, row.id);
            assert_eq!(fault.to_string().parse::<FaultKind>(), Ok(fault), "{}", row.name);
            assert_eq!(FAULTS.iter().filter(|other| other.id == row.id || other.name == row.name).count(), 1);
        }
    }

    #[test]
    fn kinds_are_read_as_they_are_written() {
        for text in ["none", "hang", "wedged", "slow:1500", "recover-after:2", "error:-32000", "drop:1"] {
            assert_eq!(text.parse::<FaultKind>().expect("a fault").to_string(), text);
        }
        assert_eq!("recover_after:2".parse(), Ok(FaultKind::recover_after(2)));
        let rule = |text: &str| text.parse::<FaultRule>().expect("a rule");
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
            ("flaky:101", "expected percent from 1 to 100"),
            ("hang:3", "takes no number"),
            ("hang:x", "takes no number"),
            ("recover-after:-1", "as in `recover-after:2`"),
            ("explode", "expected none, hang"),
            ("=hang", "names no tool"),
        ] {
            let message = text.parse::<FaultRule>().expect_err(text);
            assert!(message.contains(part), "{text}: {message}");
        }
    }

    #[test]
    fn a_canary_depends_on_seed_and_tool_alone() {
        assert_eq!(canary(7, "search"), canary(7, "search"));
        assert_ne!(canary(7, "search"), canary(8, "search"));
        assert_ne!(canary(7, "search"), canary(7, "other"));
    }
}
