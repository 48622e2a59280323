//! The forms in which a secret appears in what servers send.
//!
//! Escapes (JSON, percent, entities) are undone by [`super::view`]; these are the forms that cannot be undone without
//! knowing where they begin: base64, base32, digits of bytes, UTF-16, quoted-printable, single lines of a key.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};

use super::Redactor;
use super::parts::parts;
use super::view::{Layer, View};
use crate::{is_scheme, is_unreserved, percent_encoded};

/// The shortest secret that is masked in capitals and in small letters, too.
const RECASED: usize = 12;

/// Kind of a byte string that shows a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The secret, or a part of it that is sent alone.
    Text,
    /// The secret in another alphabet.
    Encoded,
}

/// All byte strings that show a secret, on demand also those of rare encodings and of encodings of encodings; none for one that is too short to be
/// recognised.
pub(super) fn forms(secret: &str, is_thorough: bool) -> BTreeMap<Vec<u8>, Form> {
    let mut forms = BTreeMap::new();
    for text in spellings(secret).into_iter().filter(|text| is_long_enough(text)) {
        let bytes = text.as_bytes();
        let mut encoded: Vec<Vec<u8>> = base64_forms(bytes);
        if is_thorough {
            encoded.append(&mut twice_encoded(&text));
            encoded.append(&mut rarely_encoded(bytes));
        }
        let base32 = base32(bytes);
        encoded.extend([base32.to_ascii_lowercase(), base32]);
        encoded.extend(hexadecimal(bytes));
        for separator in [":", " "] {
            encoded.push(digits(bytes, separator, |byte| format!("{byte:02x}")));
            encoded.push(digits(bytes, separator, |byte| format!("{byte:02X}")));
        }
        encoded.push(digits(bytes, "", |byte| format!("={byte:02X}")));
        // The bytes as a list: a buffer of Node, `bytes` of Python.
        for separator in [",", ", "] {
            encoded.push(digits(bytes, separator, |byte| byte.to_string()));
        }
        encoded.extend(utf16(&text));
        for form in encoded {
            forms.entry(form).or_insert(Form::Encoded);
        }
        for text in respelled(&text) {
            forms.insert(text, Form::Text);
        }
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
    for part in parts(trimmed) {
        add(&part);
    }
    // Keys are often kept in one line, and programs that use them put the line breaks back.
    let unfolded = trimmed.replace("\\r\\n", "\n").replace("\\n", "\n");
    add(&unfolded);
    if unfolded.contains(['\n', '\r']) {
        add(&unfolded.replace(['\n', '\r'], ""));
        unfolded.lines().for_each(|line| add(line.trim()));
    }
    // What is in a URL is written as URLs are, and the server reads what it means.
    if let Some(decoded) =
        View::of(trimmed.as_bytes(), Layer::Percent).and_then(|view| String::from_utf8(view.bytes).ok())
    {
        add(&decoded);
        add(&decoded.replace('+', " "));
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

/// The base64 of what is encoded already: some stores and some headers do that.
fn twice_encoded(text: &str) -> Vec<Vec<u8>> {
    let json = quoted(text);
    let whole = [STANDARD.encode(text), percent_encoded(text, is_unreserved), json.replace('/', "\\/"), json];
    // Of base64 next to other text, the part that it has wherever it begins.
    let parts = base64_forms(text.as_bytes()).into_iter().skip(2).take(3);
    let inner =
        whole.into_iter().map(String::into_bytes).chain(parts).chain(utf16(text)).chain(hexadecimal(text.as_bytes()));
    let hexadecimals = [STANDARD.encode(text).into_bytes()].into_iter().chain(utf16(text));
    let digits = hexadecimals.flat_map(|inner| hexadecimal(&inner)).collect::<Vec<_>>();
    inner.flat_map(|inner| base64_forms(&inner)).chain(digits).collect()
}

/// The text in UTF-16, in both orders of bytes.
fn utf16(text: &str) -> [Vec<u8>; 2] {
    [text.encode_utf16().flat_map(u16::to_le_bytes).collect(), text.encode_utf16().flat_map(u16::to_be_bytes).collect()]
}

/// The bytes as hexadecimal digits, in small letters and in capitals.
fn hexadecimal(bytes: &[u8]) -> [Vec<u8>; 2] {
    [digits(bytes, "", |byte| format!("{byte:02x}")), digits(bytes, "", |byte| format!("{byte:02X}"))]
}

/// The text as other formats write it.
fn respelled(text: &str) -> Vec<Vec<u8>> {
    let mut texts: Vec<Vec<u8>> = [
        // A form writes a space as a plus sign.
        text.replace(' ', "+"),
        // Mail writes an equals sign as its number.
        text.replace('=', "=3D"),
        // A JSON Pointer.
        text.replace('~', "~0").replace('/', "~1"),
        // SQL, CSV and shells.
        requoted(text, '\'', "''"),
        requoted(text, '"', "\"\""),
        requoted(text, '\'', "'\\''"),
    ]
    .map(String::into_bytes)
    .into();
    // Keys of hexadecimal digits are written in either case; words are not keys.
    if text.len() >= RECASED && text.bytes().any(|byte| byte.is_ascii_digit()) {
        texts.extend([text.to_ascii_uppercase().into_bytes(), text.to_ascii_lowercase().into_bytes()]);
    }
    if !text.is_ascii() {
        // Its UTF-8 read as Latin-1, or its Latin-1.
        texts.push(text.bytes().map(char::from).collect::<String>().into_bytes());
        texts.extend(text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect::<Option<Vec<u8>>>());
    }
    texts.retain(|text| text.len() >= Redactor::SHORTEST);
    texts
}

/// The text with its quotation marks in another spelling. Those at its ends stay: what follows may be the end of a string.
fn requoted(text: &str, mark: char, spelling: &str) -> String {
    let inner = text.trim_matches(mark);
    let start = text.find(inner).unwrap_or(0);
    format!("{}{}{}", &text[..start], inner.replace(mark, spelling), &text[start + inner.len()..])
}

/// The text as JSON writes it, without the quotation marks.
fn quoted(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// The bytes as .NET, Go, C and `xxd` write them.
fn rarely_encoded(bytes: &[u8]) -> Vec<Vec<u8>> {
    let pairs = bytes.chunks(2).map(|pair| digits(pair, "", |byte| format!("{byte:02x}")));
    vec![
        digits(bytes, "-", |byte| format!("{byte:02X}")),
        digits(bytes, "-", |byte| format!("{byte:02x}")),
        digits(bytes, " ", |byte| byte.to_string()),
        digits(bytes, ", ", |byte| format!("0x{byte:02x}")),
        pairs.collect::<Vec<_>>().join(&b' '),
    ]
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
