//! Encodings in which servers write a secret, for tests.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

/// A name and a way of writing.
pub(super) type Encoding = (&'static str, fn(&str) -> String);

/// Every way of writing that is tried.
pub(super) const ENCODINGS: &[Encoding] = &[
    ("as it is", str::to_owned),
    ("JSON", json),
    ("JSON of PHP", |secret| json(secret).replace('/', "\\/")),
    ("JSON of Go", |secret| json(secret).replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e")),
    ("JSON of .NET", |secret| json(secret).replace('+', "\\u002B").replace('\'', "\\u0027")),
    ("JSON, all escaped", |secret| units(secret, |unit| format!("\\u{unit:04x}"))),
    ("JSON, all escaped, upper case", |secret| units(secret, |unit| format!("\\u{unit:04X}"))),
    ("JSON in JSON", |secret| json(&json(secret))),
    ("JSON in JSON, all escaped", |secret| json(&units(secret, |unit| format!("\\u{unit:04x}")))),
    ("JSON in JSON in JSON", |secret| json(&json(&json(secret)))),
    ("URL", |secret| percent(secret, |byte| byte.is_ascii_alphanumeric())),
    ("URL, all escaped", |secret| percent(secret, |_| false)),
    ("URL, lower case, in JSON", |secret| json(&percent(secret, |byte| byte == b'a').to_lowercase())),
    ("form", |secret| percent(secret, |byte| byte.is_ascii_alphanumeric() || byte == b' ').replace(' ', "+")),
    ("base64", |secret| STANDARD.encode(secret)),
    ("base64 of PHP", |secret| STANDARD.encode(secret).replace('/', "\\/")),
    ("base64 for URLs", |secret| URL_SAFE_NO_PAD.encode(secret)),
    ("Basic", |secret| STANDARD.encode(format!("me:{secret}"))),
    ("in base64, first", |secret| STANDARD.encode(format!("u{secret}, and more"))),
    ("in base64, second", |secret| URL_SAFE_NO_PAD.encode(format!("ab{secret}!"))),
    ("in base64, third", |secret| STANDARD.encode(format!("{{\"a\":\"{secret}\"}}"))),
    ("hexadecimal", |secret| joined(secret.bytes().map(|byte| format!("{byte:02x}")))),
    ("hexadecimal, upper case", |secret| joined(secret.bytes().map(|byte| format!("{byte:02X}")))),
    ("hexadecimal with colons", |secret| separated(secret, ":", |byte| format!("{byte:02x}"))),
    ("hexadecimal with spaces, upper case", |secret| separated(secret, " ", |byte| format!("{byte:02X}"))),
    ("list of bytes", |secret| separated(secret, ", ", |byte| byte.to_string())),
    ("list of bytes of Node", |secret| separated(secret, ",", |byte| byte.to_string())),
    ("list of bytes of Go", |secret| separated(secret, " ", |byte| byte.to_string())),
    ("list of bytes, one a line", |secret| separated(secret, ",\n    ", |byte| byte.to_string())),
    ("array of C", |secret| separated(secret, ", ", |byte| format!("0x{byte:02x}"))),
    ("hexadecimal of .NET", |secret| separated(secret, "-", |byte| format!("{byte:02X}"))),
    ("base64 of a form", |secret| {
        STANDARD.encode(format!(
            "a=b&secret={}",
            percent(secret, |byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
        ))
    }),
    ("base64 of JSON", |secret| STANDARD.encode(format!("{{\"secret\":\"{}\"}}", json(secret)))),
    ("base64 of a header", |secret| STANDARD.encode(format!("Basic {}", STANDARD.encode(format!("a:{secret}"))))),
    ("SQL", |secret| doubled(secret, '\'')),
    ("CSV", |secret| doubled(secret, '"')),
    ("escape of JavaScript", |secret| units(secret, |unit| format!("%u{unit:04x}"))),
    // A space at the start of a line could be of the indentation.
    ("indented", |secret| {
        let (mut text, mut next) = (String::new(), secret.chars().peekable());
        while let Some(c) = next.next() {
            let is_end = text.len() % 5 == 4 && next.peek().is_some_and(|next| *next != ' ');
            text.push(c);
            text.push_str(if is_end { "\n    " } else { "" });
        }
        text
    }),
    ("CSS, all escaped", |secret| joined(secret.chars().map(|c| format!("\\{:x} ", u32::from(c))))),
    ("CSS, six digits", |secret| joined(secret.chars().map(|c| format!("\\{:06X}", u32::from(c))))),
    ("CSS in JSON", |secret| json(&joined(secret.chars().map(|c| format!("\\{:x} ", u32::from(c)))))),
    ("CSS.escape", |secret| quoted_with_backslashes(secret)),
    ("shell", |secret| quoted_with_backslashes(secret).replace("\\-", "-")),
    ("octal", |secret| joined(secret.bytes().map(|byte| format!("\\{byte:03o}")))),
    ("base64 of base64", |secret| STANDARD.encode(STANDARD.encode(secret))),
    ("base64 of UTF-16", |secret| {
        STANDARD.encode(secret.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>())
    }),
    ("base64 of hexadecimal", |secret| STANDARD.encode(joined(secret.bytes().map(|byte| format!("{byte:02x}"))))),
    ("hexadecimal of base64", |secret| joined(STANDARD.encode(secret).bytes().map(|byte| format!("{byte:02x}")))),
    ("hexadecimal of UTF-16", |secret| {
        joined(secret.encode_utf16().flat_map(u16::to_le_bytes).map(|byte| format!("{byte:02X}")))
    }),
    ("JSON Pointer", |secret| secret.replace('~', "~0").replace('/', "~1")),
    ("quoted-printable", |secret| secret.replace('=', "=3D")),
    ("quoted-printable, all escaped", |secret| separated(secret, "", |byte| format!("={byte:02X}"))),
    ("HTML", |secret| secret.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")),
    ("HTML, all escaped", |secret| joined(secret.chars().map(|c| format!("&#{};", u32::from(c))))),
    ("UTF-16", |secret| joined(secret.chars().map(|c| format!("{c}\0")))),
    ("wrapped", |secret| {
        secret.chars().enumerate().map(|(at, c)| if at % 5 == 4 { format!("{c}\n") } else { c.to_string() }).collect()
    }),
];

fn json(secret: &str) -> String {
    let quoted = serde_json::to_string(secret).expect("JSON");
    quoted[1..quoted.len() - 1].to_owned()
}

/// Every mark with a backslash before it.
fn quoted_with_backslashes(secret: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || c == '_' || !c.is_ascii();
    joined(secret.chars().map(|c| if is_plain(c) { c.to_string() } else { format!("\\{c}") }))
}

/// With the marks inside doubled.
fn doubled(secret: &str, mark: char) -> String {
    let inner = secret.trim_matches(mark);
    secret.replacen(inner, &inner.replace(mark, &format!("{mark}{mark}")), 1)
}

fn units(secret: &str, write: fn(u16) -> String) -> String {
    secret.encode_utf16().map(write).collect()
}

fn percent(secret: &str, is_plain: fn(u8) -> bool) -> String {
    secret
        .bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

fn joined(pieces: impl Iterator<Item = String>) -> String {
    pieces.collect()
}

fn separated(secret: &str, separator: &str, write: fn(u8) -> String) -> String {
    secret.bytes().map(write).collect::<Vec<_>>().join(separator)
}
