//! The generator of inputs: whatever schema a server has, a value that is made is one that the schema accepts.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mcprove_judge::generate::{Oracle, optional_variants, valid_input};
use serde_json::Value;

fuzz_target!(|data: &[u8]| {
    let Ok(schema) = serde_json::from_slice::<Value>(data) else { return };
    let seed = data.len() as u64;
    let made = valid_input(&schema, seed);
    assert_eq!(made, valid_input(&schema, seed), "the same seed gives the same value");
    let Ok(oracle) = Oracle::new(&schema) else { return };
    for value in made.into_iter().chain(optional_variants(&schema, seed)) {
        assert!(oracle.accepts(&value), "{value} is refused by {schema}");
    }
});
