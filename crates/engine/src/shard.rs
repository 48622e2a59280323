//! Part of a plan, so that several machines can share it: every case is in exactly one part, and every machine that has
//! the same suite finds the same parts without asking another.
//!
//! A case's name decides its part. So trials and columns of a case stay together, and a new case moves no other. With the
//! durations of an earlier run the parts take about the same time instead, and then a new case may move others.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::str::FromStr;

use mcprove_model::{FNV_START, Plan, PlannedCase, Report, ShardOf, fnv1a};

/// Which part of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    number: u32,
    of: u32,
    balance: Option<Durations>,
}

/// Durations of cases in an earlier run, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Durations {
    /// Microseconds of one trial, on average.
    by_name: BTreeMap<String, u64>,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a part: give `K/N`, such as 2/3, with K from 1 to N");
        let (number, of) = text.split_once('/').ok_or_else(wrong)?;
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        match (number.parse(), of.parse()) {
            (Ok(number), Ok(of)) if (1..=of).contains(&number) && digits(text.replace('/', "").as_str()) => {
                Ok(Self { number, of, balance: None })
            }
            (_, _) => Err(wrong()),
        }
    }
}

impl Shard {
    /// The same part of a plan that is divided by these durations.
    #[must_use]
    pub fn balanced(self, durations: Durations) -> Self {
        Self { balance: Some(durations), ..self }
    }

    /// This part of a plan.
    pub(crate) fn take(&self, whole: Vec<PlannedCase>) -> Plan {
        let shard = ShardOf {
            number: self.number,
            of: self.of,
            plan: format!("{:016x}", fingerprint(&whole)),
            cases: whole.len(),
        };
        let parts = self.balance.as_ref().map(|durations| balanced(&whole, durations, self.of));
        let part_of = |name: &str| match &parts {
            Some(parts) => parts.get(name).copied().unwrap_or(1),
            None => by_hash(name, self.of),
        };
        let own: HashMap<String, bool> = whole
            .iter()
            .map(|planned| (planned.case.name.clone(), part_of(&planned.case.name) == self.number))
            .collect();
        let cases = whole.into_iter().filter(|planned| own.get(&planned.case.name) == Some(&true)).collect();
        Plan { cases, shard: Some(shard) }
    }
}

impl Durations {
    /// The durations of the cases of a run; a case that was not run took none.
    pub fn of(report: &Report) -> Self {
        let mut sums: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for case in &report.cases {
            let Some(finished) = &case.finished else { continue };
            let (sum, trials) = sums.entry(case.started.name.clone()).or_default();
            *sum = sum.saturating_add(finished.duration_us);
            *trials += 1;
        }
        Self { by_name: sums.into_iter().map(|(name, (sum, trials))| (name, sum / trials.max(1))).collect() }
    }

    /// Assumed duration of a case without a record: the median.
    fn typical(&self) -> u64 {
        let mut all: Vec<_> = self.by_name.values().copied().collect();
        all.sort_unstable();
        all.get(all.len() / 2).copied().unwrap_or(0)
    }
}

/// The part of each name: the longest first, each to the part that has least to do so far.
fn balanced(whole: &[PlannedCase], durations: &Durations, of: u32) -> HashMap<String, u32> {
    let typical = durations.typical();
    let mut work: BTreeMap<&str, u64> = BTreeMap::new();
    for planned in whole {
        let name = planned.case.name.as_str();
        // Even what takes no time is spread, so that a log without durations still divides the work.
        let each = durations.by_name.get(name).copied().unwrap_or(typical).max(1);
        let sum = work.entry(name).or_default();
        *sum = sum.saturating_add(each);
    }
    let mut work: Vec<_> = work.into_iter().collect();
    work.sort_by_key(|(name, us)| (Reverse(*us), *name));
    let mut least: BinaryHeap<Reverse<(u64, u32)>> = (1..=of).map(|number| Reverse((0, number))).collect();
    let mut parts = HashMap::with_capacity(work.len());
    for (name, us) in work {
        let Some(Reverse((load, number))) = least.pop() else { break };
        least.push(Reverse((load.saturating_add(us), number)));
        parts.insert(name.to_owned(), number);
    }
    parts
}

fn by_hash(name: &str, of: u32) -> u32 {
    let part = hash([name.as_bytes()]) % u64::from(of);
    u32::try_from(part).unwrap_or(0) + 1
}

/// Fingerprint of a plan. Paths are left out, because machines may keep the same suite at different ones.
fn fingerprint(whole: &[PlannedCase]) -> u64 {
    let of_cases = whole.iter().map(|planned| {
        let line = planned.case.source.position(planned.case.span.start).line;
        let variant = planned.variant.as_deref().unwrap_or_default();
        hash([planned.case.name.as_bytes(), variant.as_bytes(), &planned.trial.to_le_bytes(), &line.to_le_bytes()])
    });
    of_cases.fold(0, |all, one| hash([&all.to_le_bytes()[..], &one.to_le_bytes()]))
}

/// FNV-1a with a final mix.
fn hash<const N: usize>(parts: [&[u8]; N]) -> u64 {
    // The length keeps neighbouring parts apart.
    let bytes = |part: &[u8]| part.iter().copied().chain((part.len() as u64).to_le_bytes()).collect::<Vec<_>>();
    let mut hash = fnv1a(FNV_START, parts.into_iter().flat_map(bytes));
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ hash >> 33
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::plan::tests::cases;
    use crate::{PlanOptions, plan};

    fn shard(number: u32, of: u32) -> Shard {
        format!("{number}/{of}").parse().expect("a part")
    }

    fn parts(names: &BTreeSet<String>, of: u32, trials: u32, balance: Option<&Durations>) -> Vec<Plan> {
        (1..=of)
            .map(|number| {
                let shard = shard(number, of);
                let shard = Some(match balance {
                    Some(durations) => shard.balanced(durations.clone()),
                    None => shard,
                });
                let trials = trials.try_into().expect("not zero");
                plan(&cases(names), &PlanOptions { trials, shard, ..PlanOptions::default() })
            })
            .collect()
    }

    fn names_of(plan: &Plan) -> BTreeSet<String> {
        plan.cases.iter().map(|planned| planned.case.name.clone()).collect()
    }

    fn names() -> impl Strategy<Value = BTreeSet<String>> {
        prop::collection::btree_set("[a-z ]{1,12}", 0..60)
    }

    fn durations() -> impl Strategy<Value = Durations> {
        prop::collection::btree_map("[a-z ]{1,12}", 0_u64..5_000_000, 0..60).prop_map(|by_name| Durations { by_name })
    }

    #[test]
    fn a_part_is_written_as_a_fraction() {
        assert_eq!(shard(2, 3), Shard { number: 2, of: 3, balance: None });
        for wrong in ["", "2", "0/3", "4/3", "1/0", "a/b", "1/2/3", "-1/2", "+1/2", " 1/2"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn parts_of_many_cases_are_about_the_same_size() {
        let names = (0..3_000).map(|number| format!("case {number}")).collect();
        for part in parts(&names, 3, 1, None) {
            assert!((900..1_100).contains(&part.cases.len()), "{}", part.cases.len());
        }
    }

    #[test]
    fn the_parts_of_a_name_never_change() {
        // Logs of old and new versions are merged, so these values are for ever.
        let parts: Vec<_> = ["a", "reads a file", "名前"].iter().map(|name| by_hash(name, 5)).collect();
        assert_eq!(parts, [1, 2, 1]);
    }

    #[test]
    fn durations_even_out() {
        let names: BTreeSet<String> = (0..12).map(|number| format!("case {number}")).collect();
        let by_name = names.iter().enumerate().map(|(at, name)| (name.clone(), if at == 0 { 11_000 } else { 1_000 }));
        let parts = parts(&names, 2, 1, Some(&Durations { by_name: by_name.collect() }));
        let mut sizes: Vec<_> = parts.iter().map(|part| part.cases.len()).collect();
        sizes.sort_unstable();
        assert_eq!(sizes, [1, 11], "the long one alone, the short ones together");
    }

    proptest! {
        #[test]
        fn every_case_is_in_exactly_one_part(
            names in names(), of in 1_u32..9, trials in 1_u32..4, balance in prop::option::of(durations()),
        ) {
            let trials_of_all = trials.try_into().expect("not zero");
            let whole = plan(&cases(&names), &PlanOptions { trials: trials_of_all, ..PlanOptions::default() });
            let parts = parts(&names, of, trials, balance.as_ref());
            let mut indices: Vec<_> = parts.iter().flat_map(|part| &part.cases).map(|planned| planned.index).collect();
            indices.sort_unstable();
            let wanted: Vec<_> = (0..whole.cases.len()).collect();
            prop_assert_eq!(indices, wanted);
            for part in &parts {
                prop_assert!(part.cases.is_sorted_by_key(|planned| planned.index));
                let shard = part.shard.as_ref().expect("it is a part");
                prop_assert_eq!(shard.cases, whole.cases.len());
                prop_assert_eq!(&shard.plan, &parts[0].shard.as_ref().expect("it is a part").plan);
                for other in &parts {
                    let same = std::ptr::eq(part, other);
                    prop_assert!(same || names_of(part).is_disjoint(&names_of(other)), "trials stay together");
                }
            }
        }

        #[test]
        fn a_new_case_moves_no_other(names in names(), new in "[A-Z]{3}", of in 1_u32..9) {
            let before = parts(&names, of, 1, None);
            let mut more = names.clone();
            more.insert(new.clone());
            for (before, after) in before.iter().zip(parts(&more, of, 1, None)) {
                let mut after = names_of(&after);
                after.remove(&new);
                prop_assert_eq!(names_of(before), after);
            }
        }

        #[test]
        fn no_part_takes_much_longer_than_another(names in names(), of in 1_u32..9, balance in durations()) {
            let typical = balance.typical();
            let time = |name: &String| balance.by_name.get(name).copied().unwrap_or(typical).max(1);
            let loads: Vec<u64> =
                parts(&names, of, 1, Some(&balance)).iter().map(|part| names_of(part).iter().map(time).sum()).collect();
            let longest = names.iter().map(time).max().unwrap_or(0);
            let (most, least) = (loads.iter().max().copied().unwrap_or(0), loads.iter().min().copied().unwrap_or(0));
            prop_assert!(most - least <= longest, "{loads:?}");
        }
    }
}
