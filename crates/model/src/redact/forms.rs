//! The forms in which a secret appears in what servers send.
//!
//! Escapes (JSON, percent, entities) are undone by [`super::view`]; these are the forms that cannot be undone without
//! knowing where they begin: base64, base32, digits of bytes, UTF-16, quoted-printable, single lines of a key.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};

use super::Redactor;
use crate::is_scheme;

/// Kind of a byte string that shows a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The secret, or a part of it that is sent alone.
    Text,
    /// The secret in another alphabet.
    Encoded,
}

/// All byte strings that show a secret; none for one that is too short to be recognised.
pub(super) fn forms(secret: &str) -> BTreeMap<Vec<u8>, Form> {
    let mut forms = BTreeMap::new();
    for text in spellings(secret).into_iter().filter(|text| is_long_enough(text)) {
        let bytes = text.as_bytes();
        let mut encoded: Vec<Vec<u8>> = base64_forms(bytes);
        // Some stores encode what is encoded already.
        let twice = STANDARD.encode(STANDARD.encode(bytes));
        encoded.push(twice.trim_end_matches('=').as_bytes().to_vec());
        encoded.push(twice.into_bytes());
        encoded.push(base32(bytes));
        for separator in ["", ":", " "] {
            encoded.push(digits(bytes, separator, |byte| format!("{byte:02x}")));
            encoded.push(digits(bytes, separator, |byte| format!("{byte:02X}")));
        }
        encoded.push(digits(bytes, "", |byte| format!("={byte:02X}")));
        // The bytes as a list: a buffer of Node, `bytes` of Python.
        for separator in [",", ", "] {
            encoded.push(digits(bytes, separator, |byte| byte.to_string()));
        }
        encoded.push(text.encode_utf16().flat_map(u16::to_le_bytes).collect());
        encoded.push(text.encode_utf16().flat_map(u16::to_be_bytes).collect());
        for form in encoded {
            forms.entry(form).or_insert(Form::Encoded);
        }
        // A form writes a space as a plus sign.
        forms.insert(text.replace(' ', "+").into_bytes(), Form::Text);
        // Mail writes an equals sign as its number.
        forms.insert(text.replace('=', "=3D").into_bytes(), Form::Text);
        forms.insert(text.into_bytes(), Form::Text);
    }
    forms
}

/// The secret as text: whole, without what surrounds it, and in the parts that are sent alone.
fn spellings(secret: &str) -> BTreeSet<String> {
    let mut texts = BTreeSet::from([secret.to_owned()]);
    let mut add = |text: &str| {
        texts.insert(text.to_owned());
    };
    // The line break at the end of a file's content is not part of a key.
    let trimmed = secret.trim();
    add(trimmed);
    // Keys are often kept in one line, and programs that use them put the line breaks back.
    let unfolded = trimmed.replace("\\r\\n", "\n").replace("\\n", "\n");
    add(&unfolded);
    if unfolded.contains(['\n', '\r']) {
        add(&unfolded.replace(['\n', '\r'], ""));
        unfolded.lines().for_each(|line| add(line.trim()));
    }
    if let Some((scheme, token)) = trimmed.split_once(' ')
        && is_scheme(scheme)
    {
        let token = token.trim();
        add(token);
        // `Basic` is a name and a password, and the password is what must not be shown.
        if scheme.eq_ignore_ascii_case("basic")
            && let Some(pair) = STANDARD.decode(token).ok().and_then(|pair| String::from_utf8(pair).ok())
        {
            add(&pair);
            if let Some((_, password)) = pair.split_once(':') {
                add(password);
            }
        }
    }
    texts
}

fn is_long_enough(text: &str) -> bool {
    text.chars().count() >= Redactor::SHORTEST && !text.trim().is_empty()
}

fn digits(bytes: &[u8], separator: &str, digits: fn(u8) -> String) -> Vec<u8> {
    bytes.iter().map(|byte| digits(*byte)).collect::<Vec<_>>().join(separator).into_bytes()
}

/// Base32 (RFC 4648) without padding.
fn base32(bytes: &[u8]) -> Vec<u8> {
    const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let group = |chunk: &[u8]| {
        let number = (0..5).fold(0_u64, |number, at| number << 8 | u64::from(chunk.get(at).copied().unwrap_or(0)));
        let letters = (chunk.len() * 8).div_ceil(5);
        (0..letters).map(move |at| ALPHABET[usize::try_from(number >> (35 - 5 * at) & 31).unwrap_or(0)])
    };
    bytes.chunks(5).flat_map(group).collect()
}

/// The characters of base64 that the bytes decide wherever they begin within the encoded data, and the whole encoding.
fn base64_forms(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = Vec::new();
    for engine in [&STANDARD, &URL_SAFE] {
        let whole = engine.encode(bytes);
        forms.push(whole.trim_end_matches('=').as_bytes().to_vec());
        forms.push(whole.into_bytes());
        for before in 0..3 {
            let mut padded = vec![0; before];
            padded.extend_from_slice(bytes);
            let encoded = engine.encode(&padded);
            // A character of base64 holds six bits; the first and the last may also depend on the neighbours.
            let first = (before * 8).div_ceil(6);
            let end = padded.len() * 8 / 6;
            if end >= first + Redactor::SHORTEST {
                forms.push(encoded.as_bytes()[first..end].to_vec());
            }
        }
    }
    forms
}
