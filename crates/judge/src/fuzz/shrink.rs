//! Shrinks a failing input step by step: the caller tests each candidate.
//!
//! The types of values are kept, so that what is left is as valid as what was sent: a text shrinks to an empty text, not
//! to null. Objects lose keys and lists lose items in halves, quarters and so on; nested values are cut out in between;
//! texts lose parts and then their odd characters; numbers go towards zero by halving.

use std::collections::BTreeSet;

use serde_json::Value;

use super::simpler::Simpler;
use crate::generate::hash;
use crate::harm::HarmGuard;

/// The work spent in a row on candidates of one place that are passed over, in bytes; then the place is left as it is.
/// A long text whose parts are all alike or all refused by the guard has as many candidates as characters.
const PASSED_OVER: usize = 50_000_000;

/// The search for a smaller input that still fails.
///
/// Request a candidate, try it and report the result until no candidate is left; then the best is as small as this
/// search gets it. "Still fails" should mean the same failure (see [`super::signature`]).
#[derive(Debug)]
pub struct Shrinker {
    best: Value,
    /// The candidate that was handed out, and the place it changes.
    asked: Option<Value>,
    left: usize,
    place: usize,
    simpler: Option<Simpler>,
    /// The bytes of candidates of this place that were passed over in a row.
    passed_over: usize,
    smaller_this_round: bool,
    finished: bool,
    tried: BTreeSet<u64>,
    guard: HarmGuard,
}

impl Shrinker {
    /// Begins with an input that fails; at most `attempts` candidates are handed out.
    pub fn new(failing: Value, attempts: usize) -> Self {
        let tried = BTreeSet::from([fingerprint(&failing.to_string())]);
        Self {
            best: failing,
            asked: None,
            left: attempts,
            place: 0,
            simpler: None,
            passed_over: 0,
            smaller_this_round: false,
            finished: false,
            tried,
            guard: HarmGuard::off(),
        }
    }

    /// Hands out harmless candidates only.
    #[must_use]
    pub fn guarded(mut self, guard: HarmGuard) -> Self {
        self.guard = guard;
        self
    }

    /// The next input to try; none when nothing smaller is left or all attempts are used.
    ///
    /// A candidate whose result was never reported counts as one that does not fail.
    pub fn next_candidate(&mut self) -> Option<Value> {
        if self.asked.is_some() {
            self.tell(false);
        }
        while self.left > 0 && !self.finished {
            let Some(candidate) = self.proposed() else { continue };
            let text = candidate.to_string();
            if self.tried.insert(fingerprint(&text)) && self.guard.allows(&candidate) {
                self.left -= 1;
                self.passed_over = 0;
                self.asked = Some(candidate.clone());
                return Some(candidate);
            }
            self.heard(false);
            self.passed_over += text.len();
            if self.passed_over > PASSED_OVER {
                self.go_to(self.place + 1);
            }
        }
        None
    }

    /// Takes the result of the last candidate.
    pub fn tell(&mut self, still_fails: bool) {
        let Some(candidate) = self.asked.take() else { return };
        if still_fails {
            self.best = candidate;
            self.smaller_this_round = true;
        }
        self.heard(still_fails);
    }

    /// The smallest input known to fail.
    pub fn best(&self) -> &Value {
        &self.best
    }

    /// Number of attempts left.
    pub fn attempts_left(&self) -> usize {
        self.left
    }

    /// The next candidate of the current place; none when the search moved on to another place or ended.
    fn proposed(&mut self) -> Option<Value> {
        let path = path_of(&self.best, self.place);
        let Some(path) = path else {
            self.finished = !self.smaller_this_round;
            self.smaller_this_round = false;
            self.go_to(0);
            return None;
        };
        let node = at(&self.best, &path)?;
        let simpler = self.simpler.get_or_insert_with(|| Simpler::of(node, path.is_empty()));
        let Some(replacement) = simpler.next(node) else {
            self.go_to(self.place + 1);
            return None;
        };
        let mut candidate = self.best.clone();
        *at_mut(&mut candidate, &path)? = replacement;
        Some(candidate)
    }

    fn go_to(&mut self, place: usize) {
        self.place = place;
        self.simpler = None;
        self.passed_over = 0;
    }

    fn heard(&mut self, still_fails: bool) {
        if let Some(simpler) = &mut self.simpler {
            simpler.heard(still_fails);
        }
    }
}

/// The way to the nth value, counted from the outside: the positions of the children.
fn path_of(value: &Value, nth: usize) -> Option<Vec<usize>> {
    let mut open: Vec<(&Value, Vec<usize>)> = vec![(value, Vec::new())];
    let mut seen = 0;
    while let Some((value, path)) = open.pop() {
        if seen == nth {
            return Some(path);
        }
        seen += 1;
        let extended = |index: usize| path.iter().copied().chain([index]).collect::<Vec<usize>>();
        match value {
            Value::Array(items) => {
                open.extend(items.iter().enumerate().rev().map(|(index, item)| (item, extended(index))));
            }
            Value::Object(map) => {
                let items: Vec<(usize, &Value)> = map.values().enumerate().collect();
                open.extend(items.into_iter().rev().map(|(index, item)| (item, extended(index))));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    None
}

fn at<'v>(value: &'v Value, path: &[usize]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, index| match value {
        Value::Array(items) => items.get(*index),
        Value::Object(map) => map.values().nth(*index),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    })
}

fn at_mut<'v>(value: &'v mut Value, path: &[usize]) -> Option<&'v mut Value> {
    path.iter().try_fold(value, |value, index| match value {
        Value::Array(items) => items.get_mut(*index),
        Value::Object(map) => map.values_mut().nth(*index),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    })
}

fn fingerprint(text: &str) -> u64 {
    hash(0, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::generate::test_schemas::random_value;

    fn shrunk(failing: Value, attempts: usize, fails: impl Fn(&Value) -> bool) -> (Value, usize) {
        assert!(fails(&failing), "the input fails to begin with");
        let mut shrinker = Shrinker::new(failing, attempts);
        while let Some(candidate) = shrinker.next_candidate() {
            shrinker.tell(fails(&candidate));
        }
        assert!(fails(shrinker.best()));
        (shrinker.best().clone(), attempts - shrinker.attempts_left())
    }

    fn depth(value: &Value) -> usize {
        match value {
            Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
            Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
        }
    }

    fn nested(depth: usize) -> Value {
        (0..depth).fold(json!({"end": [1, "x"]}), |inner, _| json!({"a": inner, "b": 1}))
    }

    /// Length to read: both booleans count the same.
    fn weight(value: &Value) -> usize {
        match value {
            Value::Null | Value::Bool(_) => 1,
            Value::Number(number) => number.to_string().len(),
            Value::String(text) => 1 + text.len(),
            Value::Array(items) => 1 + items.iter().map(weight).sum::<usize>(),
            Value::Object(map) => 1 + map.iter().map(|(key, value)| key.len() + weight(value)).sum::<usize>(),
        }
    }

    #[test]
    fn typical_failures_shrink_to_their_minimum() {
        let noise =
            json!({"path": "notes/../x.txt", "limit": 40, "tags": ["a", "b", "c"], "deep": true, "o": {"p": [1]}});
        let with = |name: &str, value: Value| {
            let mut input = noise.clone();
            input[name] = value;
            input
        };
        let text = |input: &Value| input["s"].as_str().unwrap_or_default().to_owned();
        let (best, attempts) = shrunk(with("x", Value::Null), 200, |input| input.get("x") == Some(&Value::Null));
        assert_eq!(best, json!({"x": null}));
        assert!(attempts <= 12, "{attempts}");

        let (best, attempts) =
            shrunk(with("data", nested(20)), 300, |input| input.get("data").is_some_and(|data| depth(data) >= 7));
        assert_eq!(depth(&best["data"]), 7);
        assert!(best.to_string().len() <= 50 && attempts <= 120, "{best} {attempts}");

        let (best, attempts) =
            shrunk(with("s", json!("xyz ".repeat(2560))), 300, |input| text(input).chars().count() >= 37);
        assert_eq!(best, json!({"s": "a".repeat(37)}));
        assert!(attempts <= 170, "{attempts}");

        let (best, attempts) =
            shrunk(with("s", json!("plain text and é and more".repeat(300))), 400, |input| !text(input).is_ascii());
        assert_eq!(best, json!({"s": "é"}));
        assert!(attempts <= 60, "{attempts}");

        let (best, _) = shrunk(noise.clone(), 200, |input| input.get("limit").is_some() && input.get("deep").is_some());
        assert_eq!(best, json!({"limit": 0, "deep": false}));

        let (best, _) = shrunk(with("n", json!(i64::MAX)), 300, |input| {
            input["n"].as_i64().is_some_and(|number| number > i64::from(i32::MAX))
        });
        assert_eq!(best, json!({"n": 2_147_483_648_i64}));

        let (best, _) =
            shrunk(with("n", json!(i64::MIN)), 300, |input| input["n"].as_i64().is_some_and(|number| number < -5));
        assert_eq!(best, json!({"n": -6}));

        let (best, _) = shrunk(with("n", json!(-987.25)), 300, |input| input["n"].as_f64().is_some_and(|n| n <= -3.0));
        assert_eq!(best, json!({"n": -3}));

        let (best, _) = shrunk(with("n", json!(1e308)), 300, |input| input["n"].as_f64().is_some_and(|n| n > 1e20));
        assert_eq!(best, json!({"n": 1e21}));

        let list: Vec<Value> = (0..1000).map(|number| json!(number)).collect();
        let (best, attempts) = shrunk(with("tags", json!(list)), 600, |input| {
            let tags = input["tags"].as_array().cloned().unwrap_or_default();
            tags.contains(&json!(17)) && tags.contains(&json!(803))
        });
        assert_eq!(best, json!({"tags": [17, 803]}));
        assert!(attempts <= 120, "{attempts}");

        let (best, _) = shrunk(json!([1, {"a": "b"}]), 50, |_| true);
        assert_eq!(best, json!([]));
    }

    #[test]
    fn attempts_are_counted_and_the_unspoken_does_not_fail() {
        let mut shrinker = Shrinker::new(json!({"a": "x".repeat(1000)}), 3);
        assert!((0..3).all(|_| shrinker.next_candidate().is_some()));
        assert_eq!(shrinker.next_candidate(), None);
        assert_eq!(shrinker.best(), &json!({"a": "x".repeat(1000)}));
        shrinker.tell(true);
        assert_eq!(Shrinker::new(json!({}), 10).next_candidate(), None);
        assert_eq!(Shrinker::new(Value::Null, 10).next_candidate(), None);
    }

    #[test]
    fn a_long_text_without_a_new_candidate_ends_the_search() {
        let text = json!("x".repeat(200_000));
        let (best, _) = shrunk(json!({"text": text, "n": 9}), 60, |input| input.get("text") == Some(&text));
        assert_eq!(best, json!({"text": text}));
    }

    proptest! {
        #[test]
        fn what_is_left_is_never_larger_and_still_fails(seed in any::<u64>(), salt in any::<u64>()) {
            let failing = json!({"in": random_value(seed), "n": random_value(seed ^ 1)});
            // An arbitrary predicate that holds of the input itself.
            let fails = |value: &Value| *value == failing || hash(salt, value.to_string().as_bytes()).is_multiple_of(3);
            let (best, _) = shrunk(failing.clone(), 400, fails);
            prop_assert!(weight(&best) <= weight(&failing), "{} {}", failing, best);
        }

        #[test]
        fn the_search_ends_at_a_minimum(seed in any::<u64>()) {
            let failing = json!({"in": random_value(seed)});
            let (best, attempts) = shrunk(failing, 5000, |input| input.get("in").is_some());
            prop_assert!(attempts < 300);
            let left = best["in"].clone();
            prop_assert!([json!(null), json!(false), json!(0), json!(""), json!([]), json!({})].contains(&left), "{}", left);
        }
    }
}
