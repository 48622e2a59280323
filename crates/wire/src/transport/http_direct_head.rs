//! The heads of direct exchanges: that of the requests, made once, and that of a usual response.

use bytes::Bytes;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use mcprove_model::{SharedHeaders, without_password};

use super::http_client::{Prepared, shown_headers};

/// Maximum number of headers of a response.
const HEADERS: usize = 100;

/// The head of the requests of a session.
#[derive(Clone, Debug)]
pub(super) struct DirectHead {
    /// Everything up to the length of the body.
    pub(super) bytes: Bytes,
    /// The URL for the frame log.
    pub(super) url: String,
    /// Its headers for the frame log.
    pub(super) shown: SharedHeaders,
}

/// The head of a response with one JSON message.
#[derive(Debug)]
pub(super) struct ResponseHead {
    /// The head as it came, with the empty line.
    pub(super) bytes: Vec<u8>,
    /// Length of the body.
    pub(super) length: usize,
    /// Its headers for the frame log.
    pub(super) shown: SharedHeaders,
}

/// A response that is not the usual one.
#[derive(Debug)]
pub(super) struct Unusual;

impl DirectHead {
    /// The head of a prepared request.
    pub(super) fn new(prepared: &Prepared, url: &str) -> Self {
        let (uri, headers) = (prepared.uri(), prepared.headers());
        let mut bytes = Vec::with_capacity(512);
        let target = uri.path_and_query().map_or("/", |target| target.as_str());
        bytes.extend_from_slice(format!("POST {target} HTTP/1.1\r\n").as_bytes());
        for (name, value) in headers.iter().filter(|(name, _)| **name != header::CONTENT_LENGTH) {
            bytes.extend_from_slice(&[name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
        }
        if !headers.contains_key(header::HOST) {
            let port = uri.port_u16().filter(|port| *port != 80).map(|port| format!(":{port}")).unwrap_or_default();
            bytes.extend_from_slice(format!("host: {}{port}\r\n", uri.host().unwrap_or_default()).as_bytes());
        }
        bytes.extend_from_slice(b"content-length: ");
        let shown = prepared.shown_headers().into();
        Self { bytes: bytes.into(), url: without_password(url).into_owned(), shown }
    }
}

/// Reads the head of a response; `None` as long as it is not complete.
pub(super) fn read_head(read: &[u8], session_id: Option<&str>) -> Result<Option<ResponseHead>, Unusual> {
    let mut fields = [httparse::EMPTY_HEADER; HEADERS];
    let mut response = httparse::Response::new(&mut fields);
    let end = match response.parse(read) {
        Ok(httparse::Status::Complete(end)) => end,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(Unusual),
    };
    if (response.version, response.code) != (Some(1), Some(200)) {
        return Err(Unusual);
    }
    let mut headers = HeaderMap::with_capacity(response.headers.len());
    for field in response.headers.iter() {
        let name = HeaderName::from_bytes(field.name.as_bytes()).map_err(|_| Unusual)?;
        headers.append(name, HeaderValue::from_bytes(field.value).map_err(|_| Unusual)?);
    }
    let is_ours = |id: &HeaderValue| session_id.is_some_and(|ours| id.as_bytes() == ours.as_bytes());
    if !headers.get_all("mcp-session-id").iter().all(is_ours) {
        return Err(Unusual);
    }
    let named = headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
    let length = usual_length(named).ok_or(Unusual)?;
    Ok(Some(ResponseHead { bytes: read[..end].to_vec(), length, shown: shown_headers(&headers).into() }))
}

/// The length of the body of a response that has one JSON message and leaves the connection open. Names of headers are in
/// lower case.
pub(super) fn usual_length<'h>(headers: impl IntoIterator<Item = (&'h str, &'h [u8])>) -> Option<usize> {
    let (mut kind, mut length) = (None, None);
    for (name, value) in headers {
        let is_usual = match name {
            "transfer-encoding" | "content-encoding" => false,
            "connection" => value.eq_ignore_ascii_case(b"keep-alive"),
            "content-type" => kind.replace(value).is_none(),
            "content-length" => length.replace(value).is_none(),
            _ => true,
        };
        if !is_usual {
            return None;
        }
    }
    let kind = kind?.split(|byte| *byte == b';').next()?.trim_ascii();
    let digits = std::str::from_utf8(length?).ok()?;
    let is_json = kind.eq_ignore_ascii_case(b"application/json") && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_json.then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: 12\r\n";

    fn length(more: &str, session_id: Option<&str>) -> Option<usize> {
        let text = format!("{USUAL}{more}\r\n{{}}");
        let head = read_head(text.as_bytes(), session_id).ok()?.expect("it is complete");
        assert_eq!(head.bytes.len(), text.len() - 2);
        Some(head.length)
    }

    #[test]
    fn a_usual_head_is_read_and_others_are_not() {
        assert_eq!(length("", None), Some(12));
        assert_eq!(length("Connection: Keep-Alive\r\nDate: x\r\n", None), Some(12));
        assert_eq!(length("Mcp-Session-Id: a\r\n", Some("a")), Some(12));
        for unusual in [
            "Mcp-Session-Id: b\r\n",
            "Connection: close\r\n",
            "Content-Length: 12\r\n",
            "Content-Type: text/plain\r\n",
            "Content-Encoding: gzip\r\n",
            "Transfer-Encoding: chunked\r\n",
        ] {
            assert_eq!(length(unusual, Some("a")), None, "{unusual}");
        }
    }

    #[test]
    fn heads_are_complete_incomplete_or_unusual() {
        assert!(read_head(USUAL.as_bytes(), None).is_ok_and(|head| head.is_none()));
        for text in
            ["HTTP/1.0 200 OK\r\n\r\n", "HTTP/1.1 202 Accepted\r\n\r\n", "hello\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n"]
        {
            assert!(read_head(text.as_bytes(), None).is_err(), "{text}");
        }
    }
}
