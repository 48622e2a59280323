//! What the server answers: bytes in, bytes out, without a tree and without an allocation per message.

use std::ops::Range;

/// Answers one message; a notification is not answered.
pub(crate) fn reply(message: &[u8], out: &mut Vec<u8>) {
    let (Some(method), Some(id)) = (member(message, b"method"), member(message, b"id")) else {
        return; // a notification
    };
    let params = member(message, b"params").unwrap_or(b"{}");
    let answer: [&[u8]; 3] = match method {
        b"\"initialize\"" => [
            br#""result":{"protocolVersion":"#,
            member(params, b"protocolVersion").unwrap_or(b"\"2025-11-25\""),
            br#","capabilities":{"tools":{}},"serverInfo":{"name":"tiny-server","version":"1.0.0"}}"#,
        ],
        b"\"ping\"" => [br#""result":{}"#, b"", b""],
        b"\"tools/list\"" => [br#""result":{"tools":[{"name":"echo","description":"Returns the text it is given","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}]}"#, b"", b""],
        b"\"tools/call\"" => [
            br#""result":{"content":[{"type":"text","text":"#,
            member(params, b"arguments").and_then(|arguments| member(arguments, b"text")).unwrap_or(b"\"\""),
            b"}]}",
        ],
        _ => [br#""error":{"code":-32601,"message":"unknown method"}"#, b"", b""],
    };
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    out.extend_from_slice(id);
    out.push(b',');
    for part in answer {
        out.extend_from_slice(part);
    }
    out.extend_from_slice(b"}\n");
}

/// The text of a member of the outermost object, as it stands.
fn member<'a>(object: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let mut at = object.iter().position(|byte| *byte == b'{')? + 1;
    loop {
        let key = value_from(object, at)?;
        let value = value_from(object, key.end)?;
        if object[key].strip_prefix(b"\"").and_then(|key| key.strip_suffix(b"\"")) == Some(name) {
            return Some(&object[value]);
        }
        at = value.end;
    }
}

/// Where the next value from here on lies, after blanks, commas and colons.
fn value_from(text: &[u8], from: usize) -> Option<Range<usize>> {
    let blank = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b':');
    let start = from + text.get(from..)?.iter().position(|byte| !blank(byte))?;
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (offset, byte) in text[start..].iter().enumerate() {
        let end = start + offset;
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => {
                    in_string = false;
                    if depth == 0 {
                        return Some(start..end + 1);
                    }
                }
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => depth += 1,
            // The object we are in ends: there is no value, or it was a bare one.
            b'}' | b']' if depth == 0 => return (end > start).then_some(start..end),
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(start..end + 1);
                }
            }
            b',' | b'\n' if depth == 0 => return Some(start..end),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(message: &str) -> String {
        let mut out = Vec::new();
        reply(message.as_bytes(), &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    #[test]
    fn echoes_whatever_the_order_and_the_escapes() {
        let call = r#"{"id": "a\"b", "params":{"_meta":{"text":"no"},"arguments":{"x":[1,{"text":2}],"text":"q\"}{"},"name":"echo"},"method":"tools/call","jsonrpc":"2.0"}"#;
        let reply = r#"{"jsonrpc":"2.0","id":"a\"b","result":{"content":[{"type":"text","text":"q\"}{"}]}}"#;
        assert_eq!(answer(&format!("{call}\n")), format!("{reply}\n"));
    }

    #[test]
    fn agrees_on_the_version_and_ignores_notifications() {
        let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}"#;
        assert!(answer(hello).contains(r#""id":1,"result":{"protocolVersion":"2025-06-18","#));
        assert_eq!(answer(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#), "");
        assert_eq!(answer(r#"{"method":"ping","id":7}"#), "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n");
    }
}
