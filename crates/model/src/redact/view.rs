//! Bytes with their escapes undone, and for each byte the place that it came from.
//!
//! Servers write a secret with any mixture of escapes (`\/` of PHP, `\u0026` of Go, `\u002B` of .NET, `%2F`, `&amp;`), and
//! JSON inside JSON has them twice. Undoing them once is cheaper and more complete than searching for every spelling.

use super::search::CUT;

/// Bytes with escapes undone.
#[derive(Debug)]
pub(super) struct View {
    /// The bytes.
    pub(super) bytes: Vec<u8>,
    /// Start of each byte in the original.
    starts: Vec<u32>,
    /// End of each byte in the original; removed bytes belong to no byte.
    ends: Vec<u32>,
}

/// A kind of escapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layer {
    /// `\n`, `\/`, `\u00e9`, `\x1b`, `\u{1b}`, `\033`.
    Backslash,
    /// `%2F`, `%u002F`.
    Percent,
    /// `&amp;`, `&#38;`, `&#x26;`.
    Entity,
    /// `\2F `, `\00002f`, `\&`: escapes of CSS, and of shells.
    Css,
    /// Text that was broken into lines.
    LineBreak,
    /// Text that was broken into indented lines.
    Indent,
}

impl Layer {
    pub(super) const ALL: [Self; 6] =
        [Self::Backslash, Self::Percent, Self::Entity, Self::Css, Self::LineBreak, Self::Indent];

    /// The byte that every escape of this kind begins with; of line breaks, one of two.
    fn marks(self, byte: u8) -> bool {
        match self {
            Self::Backslash | Self::Css => byte == b'\\',
            Self::Percent => byte == b'%',
            Self::Entity => byte == b'&',
            Self::LineBreak | Self::Indent => matches!(byte, b'\n' | b'\r'),
        }
    }

    fn is_absent(self, bytes: &[u8]) -> bool {
        if self == Self::Indent {
            return !memchr::memchr_iter(b'\n', bytes).any(|at| matches!(bytes.get(at + 1), Some(b' ' | b'\t')));
        }
        if self == Self::Css {
            return !has_css(bytes);
        }
        match self {
            Self::Backslash | Self::Css => memchr::memchr(b'\\', bytes),
            Self::Percent => memchr::memchr(b'%', bytes),
            Self::Entity => memchr::memchr(b'&', bytes),
            Self::LineBreak | Self::Indent => memchr::memchr2(b'\n', b'\r', bytes),
        }
        .is_none()
    }

    /// The escape at the start of `rest`: how many bytes it takes, and what it means.
    fn read(self, rest: &[u8]) -> Option<(usize, Meaning)> {
        match self {
            Self::Backslash => backslash(rest),
            Self::Percent => match rest.get(1)? {
                b'u' => unit(rest),
                _ => Some((3, Meaning::Byte(u8::try_from(hex(rest.get(1..3)?)?).ok()?))),
            },
            Self::Entity => entity(rest),
            Self::Css => css(rest),
            Self::LineBreak => Some((1, Meaning::Nothing)),
            Self::Indent => {
                let indent = rest[1..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
                Some((1 + indent, Meaning::Nothing))
            }
        }
    }
}

enum Meaning {
    Byte(u8),
    Char(char),
    Nothing,
}

impl View {
    /// The bytes with the escapes of one kind undone; `None` when there are none.
    pub(super) fn of(bytes: &[u8], layer: Layer) -> Option<Self> {
        if layer.is_absent(bytes) {
            return None;
        }
        let room = || Vec::with_capacity(bytes.len());
        let mut view = Self { bytes: Vec::with_capacity(bytes.len()), starts: room(), ends: room() };
        let mut is_changed = false;
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            let escape = if layer.marks(*byte) {
                let rest = &bytes[at..];
                layer.read(rest).or_else(|| unfinished(rest).map(|length| (length, Meaning::Nothing)))
            } else {
                None
            };
            let Some((length, meaning)) = escape else {
                view.push(*byte, at, at + 1);
                at += 1;
                continue;
            };
            is_changed = true;
            match meaning {
                Meaning::Byte(byte) => view.push(byte, at, at + length),
                Meaning::Char(c) => {
                    c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| view.push(byte, at, at + length));
                }
                Meaning::Nothing => {}
            }
            at += length;
        }
        is_changed.then_some(view)
    }

    /// The same with another kind undone.
    pub(super) fn further(&self, layer: Layer) -> Option<Self> {
        let mut view = Self::of(&self.bytes, layer)?;
        view.starts.iter_mut().for_each(|at| *at = self.starts[*at as usize]);
        view.ends.iter_mut().for_each(|at| *at = self.ends[*at as usize - 1]);
        Some(view)
    }

    /// The stretch of the original that a stretch of these bytes, which is not empty, came from.
    pub(super) fn origin(&self, start: usize, end: usize) -> (usize, usize) {
        (self.starts[start] as usize, self.ends[end - 1] as usize)
    }

    fn push(&mut self, byte: u8, start: usize, end: usize) {
        self.bytes.push(byte);
        self.starts.push(offset(start));
        self.ends.push(offset(end));
    }
}

/// Length of an escape that was cut: what is before the cut ends with the character before it.
fn unfinished(rest: &[u8]) -> Option<usize> {
    let end = rest.iter().take(LONGEST_ENTITY + CUT.len()).position(|byte| *byte == CUT.as_bytes()[0])?;
    let is_escape = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'#' | b'{');
    (rest[end..].starts_with(CUT.as_bytes()) && rest[1..end].iter().all(is_escape)).then_some(end)
}

/// Callers look at a few megabytes at a time.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

fn hex(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0_u32, |number, digit| {
        char::from(*digit).to_digit(16).and_then(|digit| number.checked_mul(16)?.checked_add(digit))
    })
}

fn backslash(rest: &[u8]) -> Option<(usize, Meaning)> {
    let short = |byte| Some((2, Meaning::Byte(byte)));
    match rest.get(1)? {
        same @ (b'"' | b'\\' | b'/' | b'\'') => short(*same),
        b'b' => short(8),
        b'f' => short(12),
        b'n' => short(b'\n'),
        b'r' => short(b'\r'),
        b't' => short(b'\t'),
        b'x' => Some((4, Meaning::Char(char::from_u32(hex(rest.get(2..4)?)?)?))),
        b'u' if rest.get(2) == Some(&b'{') => {
            let digits = rest[3..].iter().take(7).position(|byte| *byte == b'}')?;
            Some((4 + digits, Meaning::Char(char::from_u32(hex(&rest[3..3 + digits])?)?)))
        }
        b'u' => unit(rest),
        b'0'..=b'3' => {
            let digits = rest.get(1..4).filter(|digits| digits.iter().all(|digit| matches!(digit, b'0'..=b'7')))?;
            let number = digits.iter().fold(0_u32, |number, digit| number * 8 + u32::from(digit - b'0'));
            Some((4, Meaning::Byte(u8::try_from(number).ok()?)))
        }
        _ => None,
    }
}

/// True if there is an escape that is one of CSS and not one of JSON: almost all text with a backslash is JSON.
fn has_css(bytes: &[u8]) -> bool {
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', &bytes[at..]) {
        at += found;
        match bytes.get(at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f') => {}
            Some(byte) if byte.is_ascii_hexdigit() || byte.is_ascii_punctuation() || *byte == b' ' => return true,
            Some(_) | None => {}
        }
        at += 2;
        if at >= bytes.len() {
            return false;
        }
    }
    false
}

/// `\` and up to six digits, with a space that ends them, or a character that means itself.
fn css(rest: &[u8]) -> Option<(usize, Meaning)> {
    let digits = rest[1..].iter().take(6).take_while(|byte| byte.is_ascii_hexdigit()).count();
    if digits == 0 {
        let byte = *rest.get(1)?;
        let is_itself = byte.is_ascii_punctuation() || byte == b' ';
        return is_itself.then_some((2, Meaning::Byte(byte)));
    }
    let end = 1 + digits;
    if digits < 6 && rest[end..].starts_with(CUT.as_bytes()) {
        return None;
    }
    let is_ended = matches!(rest.get(end), Some(b' ' | b'\t' | b'\n'));
    Some((end + usize::from(is_ended), Meaning::Char(char::from_u32(hex(&rest[1..end])?)?)))
}

/// `\u` or `%u` and four digits, or two of them for a character beyond the basic plane.
fn unit(rest: &[u8]) -> Option<(usize, Meaning)> {
    let high = hex(rest.get(2..6)?)?;
    if let Some(c) = char::from_u32(high) {
        return Some((6, Meaning::Char(c)));
    }
    let low = rest.get(6..8).filter(|mark| *mark == &rest[..2]).and_then(|_| hex(rest.get(8..12)?))?;
    let pair = [u16::try_from(high).ok()?, u16::try_from(low).ok()?];
    let c = char::decode_utf16(pair).next()?.ok()?;
    Some((12, Meaning::Char(c)))
}

/// An entity has at most this many bytes; numbers may begin with zeros.
const LONGEST_ENTITY: usize = 16;

fn entity(rest: &[u8]) -> Option<(usize, Meaning)> {
    let end = rest.iter().take(LONGEST_ENTITY).position(|byte| *byte == b';')?;
    let name = &rest[1..end];
    let c = match name {
        b"amp" => '&',
        b"lt" => '<',
        b"gt" => '>',
        b"quot" => '"',
        b"apos" => '\'',
        b"num" => '#',
        b"dollar" => '$',
        b"percnt" => '%',
        b"ast" | b"midast" => '*',
        b"plus" => '+',
        b"comma" => ',',
        b"period" => '.',
        b"sol" => '/',
        b"colon" => ':',
        b"semi" => ';',
        b"equals" => '=',
        b"quest" => '?',
        b"commat" => '@',
        b"excl" => '!',
        b"lpar" => '(',
        b"rpar" => ')',
        b"lsqb" | b"lbrack" => '[',
        b"bsol" => '\\',
        b"rsqb" | b"rbrack" => ']',
        b"Hat" => '^',
        b"lowbar" | b"UnderBar" => '_',
        b"grave" => '`',
        b"lcub" | b"lbrace" => '{',
        b"verbar" | b"vert" => '|',
        b"rcub" | b"rbrace" => '}',
        [b'#', b'x' | b'X', digits @ ..] if !digits.is_empty() => char::from_u32(hex(digits)?)?,
        [b'#', digits @ ..] => char::from_u32(std::str::from_utf8(digits).ok()?.parse().ok()?)?,
        _ => return None,
    };
    Some((end + 1, Meaning::Char(c)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_undone_and_their_places_known() {
        for (layer, text, wanted) in [
            (Layer::Backslash, r#"a\/b\u0026\u00e9\ud83c\udf89\x41\u{42}\103\""#, "a/b&é🎉ABC\""),
            (Layer::Backslash, r"\q \u12 \ud800 \u{110000} \18 \", r"\q \u12 \ud800 \u{110000} \18 \"),
            (Layer::Percent, "a%2Fb%2fc%zz%%u002Fd%u00", "a/b/c%zz%/d%u00"),
            (Layer::Entity, "&amp;&#38;&#x26;&nope; & &#;&sol;&#0000000047;", "&&&&nope; & &#;//"),
            (Layer::Backslash, r"a\u0062\u00…\/c\…", "ab…/c…"),
            (Layer::Percent, "a%2…b%2Fc% …", "a…b/c% …"),
            (Layer::Entity, "&#38;&#00000…", "&…"),
            (Layer::Css, r"a\2F b\00002fc\2f\&\ d\q", r"a/b/c/& d\q"),
            (Layer::Css, r"\2…\26 \d800 ", r"…&\d800 "),
            (Layer::Css, r#"a\"b\\c\nd\/e\b\f\u0041\"#, r#"a\"b\\c\nd\/e\b\f\u0041\"#),
            (Layer::LineBreak, "a\r\nb\n", "ab"),
            (Layer::Indent, "a b\n \tc\nd", "a bcd"),
            (Layer::Indent, "a\nb", "a\nb"),
        ] {
            let view = View::of(text.as_bytes(), layer);
            let shown = view.as_ref().map_or(text.as_bytes(), |view| &view.bytes);
            assert_eq!(String::from_utf8_lossy(shown), wanted, "{text}");
        }
        let twice = View::of(br"x\\u0041y", Layer::Backslash).and_then(|view| view.further(Layer::Backslash));
        let twice = twice.expect("escaped twice");
        assert_eq!(twice.bytes, b"xAy");
        assert_eq!(twice.origin(1, 2), (1, 8));
    }
}
