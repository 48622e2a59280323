//! Masking: a secret that is in a text is not in it afterwards.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mcprove_model::Redactor;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Some((secret, text)) = text.split_once('\u{1}') else { return };
    let redactor = Redactor::new([secret]);
    let masked = redactor.text(text);
    if secret.chars().count() >= Redactor::SHORTEST && !secret.trim().is_empty() {
        assert!(!masked.contains(secret), "{secret:?} is left in {masked:?}");
    }
});
