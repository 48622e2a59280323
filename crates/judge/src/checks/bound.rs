//! Bounds on how many of something there are: `min_…` and `max_…`.

use mcprove_model::{Check, Diagnostics, Mismatch, Node, Observation, PlannedCheck};

use super::shape;
use crate::excerpt;

/// Something that is counted, each shown in a few words.
#[derive(Debug)]
pub(super) struct Counted {
    /// The singular noun.
    pub(super) one: &'static str,
    /// The plural noun.
    pub(super) many: &'static str,
    /// All that were seen.
    pub(super) shown: fn(&Observation) -> Vec<String>,
}

/// A check with a name that is asked for by a whole number.
pub(super) struct CountCheck<'n> {
    pub(super) name: &'static str,
    pub(super) node: &'n Node,
    pub(super) counted: &'static Counted,
}

/// At least this many.
pub(super) fn least(asked: &CountCheck<'_>, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    planned(asked, Limit::Least, found)
}

/// At most this many.
pub(super) fn most(asked: &CountCheck<'_>, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    planned(asked, Limit::Most, found)
}

#[derive(Debug)]
enum Limit {
    Least(u64),
    Most(u64),
}

#[derive(Debug)]
struct Bound {
    limit: Limit,
    counted: &'static Counted,
}

fn planned(asked: &CountCheck<'_>, limit: fn(u64) -> Limit, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    let count = shape::count(asked.name, asked.node, found);
    let check = |count| Bound { limit: limit(count), counted: asked.counted };
    count.map(|count| shape::planned(asked.name, asked.node.span, check(count))).into_iter().collect()
}

impl Check for Bound {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        let shown = (self.counted.shown)(seen);
        let count = shown.len() as u64;
        let (holds, than, expected) = match self.limit {
            Limit::Least(least) => (count >= least, format!("fewer than {least}"), format!("at least {least}")),
            Limit::Most(most) => (count <= most, format!("more than {most}"), format!("at most {most}")),
        };
        if holds {
            return Ok(());
        }
        let arrived = self.counted.number(count);
        Err(Mismatch {
            message: format!("{arrived} arrived, {than}"),
            expected: format!("{expected} {}", self.counted.many),
            actual: if count == 0 {
                arrived
            } else {
                excerpt::around(&format!("{arrived}: {}", shown.join(", ")), 0..0)
            },
            ..Mismatch::default()
        })
    }

    fn awaits_more(&self) -> bool {
        matches!(self.limit, Limit::Least(_))
    }

    fn breaks_with_more(&self) -> bool {
        matches!(self.limit, Limit::Most(_))
    }
}

impl Counted {
    fn number(&self, count: u64) -> String {
        match count {
            0 => format!("no {}", self.many),
            1 => format!("1 {}", self.one),
            _ => format!("{count} {}", self.many),
        }
    }
}
