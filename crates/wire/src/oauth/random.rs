//! Values that cannot be guessed, and PKCE (RFC 7636).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom as _, SystemRandom};

/// Random bytes as text: 32 of them, which is what PKCE asks for.
pub fn random_text() -> String {
    let mut bytes = [0; 32];
    // The system's generator fails only where there is none, and then nothing here works.
    SystemRandom::new().fill(&mut bytes).expect("the system has random numbers");
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The challenge for a verifier, with the method `S256`.
pub fn code_challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenges_are_those_of_the_standard() {
        // RFC 7636, appendix B.
        assert_eq!(
            code_challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        );
        assert!(random_text().len() >= 43 && random_text() != random_text());
    }
}
