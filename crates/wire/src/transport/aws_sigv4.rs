//! AWS Signature Version 4: a signature of method, URL, body and time in the headers of every request.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use hyper::header::{AUTHORIZATION, HOST, HeaderName, HeaderValue};
use hyper::{Request, Uri};
use mcprove_model::{AwsKeySource, AwsKeys, AwsSigV4, is_unreserved, percent_encoded, utc_timestamp};
use ring::{digest, hmac};

const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// Signs requests.
#[derive(Debug)]
pub struct AwsSigner {
    region: String,
    service: String,
    keys: AwsKeys,
}

impl AwsSigner {
    /// A signer with the keys it needs; a credentials file is read here.
    pub fn new(scope: &AwsSigV4) -> Result<Self, String> {
        let keys = match &scope.keys {
            AwsKeySource::Given(keys) => keys.clone(),
            AwsKeySource::Profile { path, name } => {
                let text =
                    std::fs::read_to_string(path).map_err(|error| format!("`{path}` cannot be read: {error}"))?;
                profile(&text, name).ok_or_else(|| format!("`{path}` has no keys of a profile `{name}`"))?
            }
        };
        Ok(Self { region: scope.region.clone(), service: scope.service.clone(), keys })
    }

    /// Adds the headers of a signature made now.
    pub(super) fn sign<B>(&self, request: &mut Request<B>, body: &[u8]) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        self.sign_at(request, body, now);
    }

    fn sign_at<B>(&self, request: &mut Request<B>, body: &[u8], seconds: u64) {
        let time = basic_time(seconds);
        let mut signed = vec![("host", host(request.uri())), ("x-amz-date", time.clone())];
        signed.extend(self.keys.session_token.clone().map(|token| ("x-amz-security-token", token)));
        let names = signed.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(";");
        let mut canonical = format!("{}\n{}\n", request.method(), canonical_path(request.uri()));
        let _ = writeln!(canonical, "{}", canonical_query(request.uri()));
        for (name, value) in &signed {
            let _ = writeln!(canonical, "{name}:{}", value.trim());
        }
        let _ = write!(canonical, "\n{names}\n{}", hex(digest::digest(&digest::SHA256, body).as_ref()));
        let day = &time[..8];
        let scope = format!("{day}/{}/{}/aws4_request", self.region, self.service);
        let hashed = hex(digest::digest(&digest::SHA256, canonical.as_bytes()).as_ref());
        let to_sign = format!("{ALGORITHM}\n{time}\n{scope}\n{hashed}");
        let mut key = format!("AWS4{}", self.keys.secret_access_key).into_bytes();
        for part in [day, &self.region, &self.service, "aws4_request", &to_sign] {
            key = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key), part.as_bytes()).as_ref().to_vec();
        }
        let id = &self.keys.access_key_id;
        let authorization =
            format!("{ALGORITHM} Credential={id}/{scope}, SignedHeaders={names}, Signature={}", hex(&key));
        let headers = request.headers_mut();
        for (name, value) in signed {
            if let Ok(value) = HeaderValue::try_from(value) {
                headers.insert(if name == "host" { HOST } else { HeaderName::from_static(name) }, value);
            }
        }
        if let Ok(value) = HeaderValue::try_from(authorization) {
            headers.insert(AUTHORIZATION, value);
        }
    }
}

/// The host with a port that is not the scheme's own, as hyper writes it.
fn host(uri: &Uri) -> String {
    let own = if uri.scheme_str() == Some("https") { 443 } else { 80 };
    let host = uri.host().unwrap_or_default();
    uri.port_u16().filter(|port| *port != own).map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// The path, encoded once more than it is sent.
fn canonical_path(uri: &Uri) -> String {
    let path = uri.path();
    if path.is_empty() { "/".to_owned() } else { percent_encoded(path, |byte| byte == b'/' || is_unreserved(byte)) }
}

/// The parameters, sorted.
fn canonical_query(uri: &Uri) -> String {
    let pairs = uri.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
    let mut pairs: Vec<(&str, &str)> = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, ""))).collect();
    pairs.sort_unstable();
    pairs.into_iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A time as `20150830T123600Z`.
fn basic_time(seconds: u64) -> String {
    format!("{}Z", utc_timestamp(seconds * 1000)[..19].replace(['-', ':'], ""))
}

/// The keys of a profile in a credentials file.
fn profile(text: &str, name: &str) -> Option<AwsKeys> {
    let mut lines = text.lines().map(str::trim).skip_while(|line| *line != format!("[{name}]")).skip(1);
    let pairs: Vec<(&str, &str)> = lines
        .by_ref()
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.starts_with(['#', ';']))
        .filter_map(|line| line.split_once('='))
        .map(|(key, value)| (key.trim(), value.trim()))
        .collect();
    let value = |key: &str| pairs.iter().find(|(name, _)| *name == key).map(|(_, value)| (*value).to_owned());
    Some(AwsKeys {
        access_key_id: value("aws_access_key_id")?,
        secret_access_key: value("aws_secret_access_key")?,
        session_token: value("aws_session_token"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signed(method: &str, url: &str, token: Option<&str>) -> Request<()> {
        let keys = AwsKeys {
            access_key_id: "AKIDEXAMPLE".to_owned(),
            secret_access_key: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".to_owned(),
            session_token: token.map(str::to_owned),
        };
        let signer = AwsSigner { region: "us-east-1".to_owned(), service: "service".to_owned(), keys };
        let mut request = Request::builder().method(method).uri(url).body(()).expect("a request");
        // 2015-08-30 12:36:00, the time of the published examples.
        signer.sign_at(&mut request, b"", 1_440_938_160);
        request
    }

    fn authorization(request: &Request<()>) -> &str {
        request.headers()[AUTHORIZATION].to_str().expect("a text")
    }

    #[test]
    fn published_examples_have_their_signatures() {
        let get = signed("GET", "https://example.amazonaws.com/", None);
        let expected = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
                        SignedHeaders=host;x-amz-date, \
                        Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31";
        assert_eq!(authorization(&get), expected);
        let post = signed("POST", "https://example.amazonaws.com/", None);
        assert!(
            authorization(&post).ends_with("5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
            "{post:?}"
        );
        let sorted = signed("GET", "https://example.amazonaws.com/?Param2=value2&Param1=value1", None);
        assert!(
            authorization(&sorted).ends_with("b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
            "{sorted:?}"
        );
    }

    #[test]
    fn a_session_token_and_a_port_are_signed() {
        let request = signed("POST", "http://127.0.0.1:8080/a%20b", Some("token"));
        assert!(authorization(&request).contains("SignedHeaders=host;x-amz-date;x-amz-security-token"), "{request:?}");
        assert_eq!(request.headers()["x-amz-security-token"], "token");
        assert_eq!(request.headers()[HOST], "127.0.0.1:8080");
        assert_eq!(canonical_path(request.uri()), "/a%2520b");
    }

    #[test]
    fn profiles_are_read() {
        let text = "[default]\naws_access_key_id = a\naws_secret_access_key=b\n\n[two]\n# x\naws_access_key_id=c\n\
                    aws_secret_access_key = d\naws_session_token = e\n";
        assert_eq!(profile(text, "default").map(|keys| keys.access_key_id).as_deref(), Some("a"));
        assert_eq!(profile(text, "two").and_then(|keys| keys.session_token).as_deref(), Some("e"));
        assert_eq!(profile(text, "three"), None);
    }
}
