//! Signed tokens (RFC 7519): enough for assertions of clients, proofs of possession and the issuer of the mock.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _,
    RSA_PKCS1_SHA256, RsaKeyPair, UnparsedPublicKey,
};
use serde_json::{Value, json};

/// A private key that signs tokens.
#[derive(Debug)]
pub struct JwtKey {
    pair: Pair,
    pkcs8: Vec<u8>,
}

#[derive(Debug)]
enum Pair {
    Es256(EcdsaKeyPair),
    EdDsa(Ed25519KeyPair),
    Rs256(Box<RsaKeyPair>),
}

impl JwtKey {
    /// A new key on the curve P-256.
    pub fn generate() -> Self {
        let random = SystemRandom::new();
        let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random);
        // A fresh document of the library's own is one that it reads.
        Self::from_pkcs8(made.expect("the system has random numbers").as_ref()).expect("a key")
    }

    /// A key in PEM.
    pub fn from_pem(pem: &str) -> Result<Self, String> {
        let begin = pem.lines().find(|line| line.starts_with("-----BEGIN")).unwrap_or_default();
        if !begin.contains("BEGIN PRIVATE KEY") {
            let found = begin.trim_matches('-').trim_start_matches("BEGIN ");
            let found = if found.is_empty() { "no PEM".to_owned() } else { format!("`{found}`") };
            return Err(format!("the key is {found}, not `PRIVATE KEY` (PKCS #8)"));
        }
        let body: String = pem.lines().map(str::trim).filter(|line| !line.starts_with("-----")).collect();
        let der = STANDARD.decode(body).map_err(|error| format!("the key is not base64: {error}"))?;
        Self::from_pkcs8(&der)
    }

    /// A key as it was kept.
    pub fn from_base64(text: &str) -> Result<Self, String> {
        Self::from_pkcs8(&STANDARD.decode(text).map_err(|error| error.to_string())?)
    }

    /// The key, to be kept.
    pub fn to_base64(&self) -> String {
        STANDARD.encode(&self.pkcs8)
    }

    fn from_pkcs8(der: &[u8]) -> Result<Self, String> {
        let random = SystemRandom::new();
        let pair = if let Ok(pair) = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der, &random) {
            Pair::Es256(pair)
        } else if let Ok(pair) = Ed25519KeyPair::from_pkcs8_maybe_unchecked(der) {
            Pair::EdDsa(pair)
        } else {
            let pair = RsaKeyPair::from_pkcs8(der);
            Pair::Rs256(Box::new(pair.map_err(|_| "the key is not of P-256, Ed25519 or RSA".to_owned())?))
        };
        Ok(Self { pair, pkcs8: der.to_vec() })
    }

    /// The name of its algorithm.
    pub fn algorithm(&self) -> &'static str {
        match self.pair {
            Pair::Es256(_) => "ES256",
            Pair::EdDsa(_) => "EdDSA",
            Pair::Rs256(_) => "RS256",
        }
    }

    /// The public half of a key on P-256, as a JWK.
    pub fn public_jwk(&self) -> Value {
        let Pair::Es256(pair) = &self.pair else { return Value::Null };
        // An uncompressed point: a byte, and two numbers of 32.
        let point = pair.public_key().as_ref();
        let part = |range: std::ops::Range<usize>| URL_SAFE_NO_PAD.encode(point.get(range).unwrap_or_default());
        json!({"kty": "EC", "crv": "P-256", "x": part(1..33), "y": part(33..65)})
    }

    /// The thumbprint of its public half (RFC 7638).
    pub fn thumbprint(&self) -> String {
        let jwk = self.public_jwk();
        let text = format!(r#"{{"crv":"P-256","kty":"EC","x":{},"y":{}}}"#, jwk["x"], jwk["y"]);
        URL_SAFE_NO_PAD.encode(digest(&SHA256, text.as_bytes()))
    }

    /// A signed token; `alg` is added to its header.
    pub fn sign(&self, mut header: Value, claims: &Value) -> String {
        header["alg"] = self.algorithm().into();
        let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let message = format!("{}.{}", encode(&header), encode(claims));
        let random = SystemRandom::new();
        let signature = match &self.pair {
            Pair::Es256(pair) => pair.sign(&random, message.as_bytes()).map(|signature| signature.as_ref().to_vec()),
            Pair::EdDsa(pair) => Ok(pair.sign(message.as_bytes()).as_ref().to_vec()),
            Pair::Rs256(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, message.as_bytes(), &mut signature).map(|()| signature)
            }
        };
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature.expect("the system has random numbers")))
    }
}

/// The header and the claims of a token; its signature is not checked.
pub fn decode_claims(token: &str) -> Option<(Value, Value)> {
    let mut parts = token.split('.');
    let mut part = || serde_json::from_slice::<Value>(&URL_SAFE_NO_PAD.decode(parts.next()?).ok()?).ok();
    let (header, claims) = (part()?, part()?);
    (header.is_object() && claims.is_object()).then_some((header, claims))
}

/// True if a token is signed with the key on P-256 whose public half this is.
pub fn verify_es256(token: &str, jwk: &Value) -> bool {
    let verified = || {
        let (message, signature) = token.rsplit_once('.')?;
        let part = |name: &str| URL_SAFE_NO_PAD.decode(jwk.get(name)?.as_str()?).ok();
        let point: Vec<u8> = [vec![4], part("x")?, part("y")?].concat();
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
        key.verify(message.as_bytes(), &signature).ok()
    };
    let is_es256 = decode_claims(token).is_some_and(|(header, _)| header["alg"] == "ES256");
    is_es256 && verified().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_signed_and_verified() {
        let key = JwtKey::generate();
        let token = key.sign(json!({"typ": "JWT"}), &json!({"sub": "me"}));
        let (header, claims) = decode_claims(&token).expect("a token");
        assert_eq!((header["alg"].as_str(), claims["sub"].as_str()), (Some("ES256"), Some("me")));
        assert!(verify_es256(&token, &key.public_jwk()));
        assert!(!verify_es256(&token, &JwtKey::generate().public_jwk()));
        let (head, signature) = token.rsplit_once('.').expect("a signature");
        let forged = URL_SAFE_NO_PAD.encode(json!({"sub": "you"}).to_string());
        let head = head.split('.').next().expect("a header");
        assert!(!verify_es256(&format!("{head}.{forged}.{signature}"), &key.public_jwk()));
        let again = JwtKey::from_base64(&key.to_base64()).expect("the same key");
        assert_eq!(again.thumbprint(), key.thumbprint());
        let pem = format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", key.to_base64());
        assert_eq!(JwtKey::from_pem(&pem).expect("a key").algorithm(), "ES256");
    }

    #[test]
    fn other_keys_are_named() {
        let error = JwtKey::from_pem("-----BEGIN RSA PRIVATE KEY-----\nAA==\n").expect_err("PKCS #1");
        assert_eq!(error, "the key is `RSA PRIVATE KEY`, not `PRIVATE KEY` (PKCS #8)");
        assert!(JwtKey::from_pem("x").is_err() && decode_claims("a.b.c").is_none());
    }
}
