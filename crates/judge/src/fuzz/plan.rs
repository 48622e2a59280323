//! The inputs for one tool, in order.

use std::collections::HashSet;

use serde_json::Value;

use super::cases::{CaseCollector, FuzzCase, first};
use super::pool::ValuePool;
use super::random::Random;
use crate::generate::{Generator, Oracle};
use crate::harm::HarmGuard;

/// The plan for one tool: the same for the same schema, seed and values fed in, whatever the order of keys.
///
/// Structural cases come first, then values that break programs for each property, then the schema's boundaries, then
/// seeded mutations of valid inputs, one at a time and later two. It is made a piece at a time, so that a long one
/// takes neither memory nor time before the first call.
#[derive(Debug)]
pub struct FuzzPlan<'s> {
    schema: &'s Value,
    oracle: Option<Oracle>,
    seed: u64,
    /// Maximum number of cases, and the number made so far.
    count: usize,
    made: usize,
    sent: HashSet<u64>,
    random: Option<Random>,
    guard: HarmGuard,
}

impl<'s> FuzzPlan<'s> {
    /// A plan of at most `count` cases; the seed fixes every byte of them.
    pub fn new(schema: &'s Value, seed: u64, count: usize) -> Self {
        let oracle = Oracle::new(schema).ok();
        let guard = HarmGuard::off();
        Self { schema, oracle, seed, count, made: 0, sent: HashSet::new(), random: None, guard }
    }

    /// Makes every case harmless.
    #[must_use]
    pub fn guarded(mut self, guard: HarmGuard) -> Self {
        self.guard = guard;
        self
    }

    /// The cases that the schema decides; fewer where `enough` says so before they are made.
    pub fn first(&mut self, pool: &ValuePool, enough: &dyn Fn() -> bool) -> Vec<FuzzCase> {
        self.collect(pool, self.count, |collector| first(collector, enough))
    }

    /// The next cases that the seed decides, at most `most`; none at the end of the plan. They are made from the values
    /// that were known when the first of them were asked for.
    pub fn more(&mut self, pool: &ValuePool, most: usize) -> Vec<FuzzCase> {
        let (count, left) = (self.count, self.count.saturating_sub(self.made));
        let mut random = self.random.take();
        let cases = self.collect(pool, most.min(left), |collector| {
            if collector.most > 0 {
                random.get_or_insert_with(|| Random::new(collector, count, left)).add_to(collector);
            }
        });
        self.random = random;
        cases
    }

    fn collect(
        &mut self,
        pool: &ValuePool,
        most: usize,
        work: impl FnOnce(&mut CaseCollector<'_, '_>),
    ) -> Vec<FuzzCase> {
        let generator = Generator::new(self.schema, self.oracle.as_ref());
        let mut collector = CaseCollector {
            generator: &generator,
            oracle: self.oracle.as_ref(),
            seed: self.seed,
            pool,
            guard: &self.guard,
            most,
            cases: Vec::new(),
            bytes: 0,
            sent: std::mem::take(&mut self.sent),
        };
        work(&mut collector);
        self.sent = collector.sent;
        self.made += collector.cases.len();
        collector.cases
    }
}

/// All cases of a plan, generated in batches.
#[cfg(test)]
pub(super) fn all_cases(schema: &Value, seed: u64, count: usize, pool: &ValuePool) -> Vec<FuzzCase> {
    let mut plan = FuzzPlan::new(schema, seed, count);
    let mut cases = plan.first(pool, &|| false);
    loop {
        let more = plan.more(pool, 10);
        if more.is_empty() {
            return cases;
        }
        cases.extend(more);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::mutation::Phase;
    use super::*;
    use crate::generate::hash;
    use crate::generate::test_schemas::{random_schema, with_turned_keys};

    fn made(schema: &Value, seed: u64, count: usize) -> Vec<FuzzCase> {
        all_cases(schema, seed, count, &ValuePool::default())
    }

    fn bytes_of(cases: &[FuzzCase]) -> String {
        let told = cases.iter().map(|case| format!("{} {} {}", case.label, case.accepted, case.arguments));
        told.collect::<Vec<_>>().join("\n")
    }

    fn tool() -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "minLength": 1, "maxLength": 20},
                "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
                "mode": {"enum": ["fast", "slow"]},
                "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
                "options": {"type": "object", "properties": {"deep": {"type": "boolean"}}, "required": ["deep"]}
            },
            "required": ["path", "mode", "options"],
            "additionalProperties": false
        })
    }

    #[test]
    fn phases_come_in_order_and_each_has_its_share() {
        for count in [50, 200] {
            let cases = made(&tool(), 1, count);
            assert_eq!(cases.len(), count);
            assert!(cases.is_sorted_by_key(|case| case.phase));
            for phase in [Phase::Structural, Phase::Property, Phase::Boundary, Phase::Random] {
                let share = cases.iter().filter(|case| case.phase == phase).count();
                assert!(share >= 5, "{phase:?} has {share} of {count}");
            }
        }
        assert!(made(&tool(), 1, 0).is_empty());
        assert_eq!(made(&tool(), 1, 1)[0].label, "valid");
    }

    #[test]
    fn the_first_cases_are_what_a_reader_expects() {
        let labels: Vec<String> = made(&tool(), 1, 50).into_iter().map(|case| case.label).collect();
        assert_eq!(
            labels[..9],
            [
                "valid",
                "no arguments",
                "empty object",
                "null arguments",
                "missing `mode`",
                "missing `options`",
                "missing `path`",
                "everything null",
                "valid, with all optional properties",
            ]
        );
        for expected in ["`path`: null", "`path`: empty string", "`limit`: above 100", "`options`: empty object"] {
            assert!(labels.iter().any(|label| label == expected), "{expected} is not in {labels:#?}");
        }
    }

    #[test]
    fn a_small_tool_meets_every_category() {
        let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
        let labels: Vec<String> = made(&schema, 1, 50).into_iter().map(|case| case.label).collect();
        for what in
            ["empty string", "10 KB string", "NUL byte", "unicode", "path traversal", "white space", "line breaks"]
        {
            assert!(labels.iter().any(|label| label.ends_with(what)), "{what} is not in {labels:#?}");
        }
    }

    #[test]
    fn a_schema_that_cannot_be_used_refuses_nothing() {
        for schema in [
            json!({"type": "object", "properties": {"a": {"type": "strnig"}, "b": {"type": "integer"}}, "required": ["a"]}),
            json!({"type": "object", "properties": {"a": {"$ref": "https://example.com/x"}}}),
            json!({"type": "object", "properties": {"a": false}, "required": ["a"]}),
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "(?=b)a"}}}),
        ] {
            let cases = made(&schema, 1, 40);
            assert!(cases.len() > 20, "{schema}: {}", cases.len());
            if Oracle::new(&schema).is_err() {
                assert!(cases.iter().all(|case| case.accepted));
            }
        }
    }

    #[test]
    fn known_values_are_fed_in_by_name_and_given_arguments_come_first() {
        let schema = json!({
            "type": "object",
            "properties": {"user_id": {"type": "string"}, "size": {"type": "integer"}},
            "required": ["user_id", "size"]
        });
        let mut pool = ValuePool::default();
        pool.harvest(&json!({"structuredContent": {"users": [{"id": "u-77", "size": "large"}]}}));
        let fed = all_cases(&schema, 1, 10, &pool);
        assert_eq!(fed[0].arguments, json!({"size": 10, "user_id": "u-77"}));
        pool.give(json!({"user_id": "mine", "size": 3}));
        let fed = all_cases(&schema, 1, 10, &pool);
        assert_eq!(fed[0].arguments, json!({"size": 3, "user_id": "mine"}));
    }

    #[test]
    fn a_plan_is_made_as_far_as_it_is_asked_for() {
        let (schema, pool) = (tool(), ValuePool::default());
        let mut plan = FuzzPlan::new(&schema, 1, usize::MAX);
        let asked = std::cell::Cell::new(0);
        let enough = || asked.replace(asked.get() + 1) >= 10;
        assert!((1..40).contains(&plan.first(&pool, &enough).len()));
        let (one, other) = (plan.more(&pool, 20), plan.more(&pool, 20));
        assert_eq!((one.len(), other.len()), (20, 20));
        assert!(one.iter().all(|case| !other.iter().any(|other| other.text == case.text)));
        let mut whole = FuzzPlan::new(&schema, 1, 500);
        whole.first(&pool, &|| false);
        let made = whole.more(&pool, 500);
        assert_eq!(made, all_cases(&schema, 1, 500, &pool)[500 - made.len()..]);
    }

    #[test]
    fn the_cases_of_a_seed_stay_the_same_for_ever() {
        let bytes = bytes_of(&made(&tool(), 7, 50));
        let known = 7_635_489_747_908_877_877;
        assert_eq!(hash(0, bytes.as_bytes()), known, "seeds no longer reproduce: say so in the release notes");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn labels_are_the_oracles_and_seeds_fix_every_byte(seed in any::<u64>()) {
            let schema = random_schema(seed);
            let one = made(&schema, seed, 40);
            let other = made(&with_turned_keys(&schema), seed, 40);
            prop_assert_eq!(bytes_of(&one), bytes_of(&other), "{}", schema);
            let oracle = Oracle::new(&schema);
            for case in &one {
                let expected = oracle.as_ref().map_or(true, |oracle| oracle.accepts(&case.arguments));
                prop_assert_eq!(case.accepted, expected);
                prop_assert!(!crate::generate::is_deeper_than(&case.arguments, 110));
            }
        }
    }
}
