//! TLS as the `http` block of a server describes it: trusted roots, versions, and a certificate of the client.

use std::sync::Arc;

use mcprove_model::{ClientCertificate, TlsSettings};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme, version};

/// The configuration of a client; the error names the file that cannot be used.
pub(super) fn client_config(settings: &TlsSettings) -> Result<ClientConfig, String> {
    let provider = Arc::new(ring::default_provider());
    let versions: &[_] = if settings.requires_1_3 { &[&version::TLS13] } else { rustls::DEFAULT_VERSIONS };
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider)).with_protocol_versions(versions);
    let builder = builder.map_err(|error| error.to_string())?;
    let verifier: Arc<dyn ServerCertVerifier> = if settings.skips_verification {
        Arc::new(AcceptAny { provider: Arc::clone(&provider) })
    } else {
        let roots = Arc::new(roots(settings.ca_bundle.as_deref())?);
        let verifier = WebPkiServerVerifier::builder_with_provider(roots, provider).build();
        verifier.map_err(|error| error.to_string())?
    };
    let builder = builder.dangerous().with_custom_certificate_verifier(verifier);
    let Some(ClientCertificate { certificate, key }) = &settings.client else {
        return Ok(builder.with_no_client_auth());
    };
    let chain = certificates(certificate)?;
    let key = PrivateKeyDer::from_pem_slice(&read(key)?).map_err(|error| format!("`{key}` holds no key: {error}"))?;
    let config = builder.with_client_auth_cert(chain, key);
    config.map_err(|error| format!("the certificate in `{certificate}` and its key cannot be used: {error}"))
}

/// The trusted roots: those of a file, or those of the platform.
fn roots(bundle: Option<&str>) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    let Some(bundle) = bundle else {
        let platform = rustls_native_certs::load_native_certs();
        let (added, _) = roots.add_parsable_certificates(platform.certs);
        return if added > 0 { Ok(roots) } else { Err("the platform has no root certificates".to_owned()) };
    };
    for certificate in certificates(bundle)? {
        roots
            .add(certificate)
            .map_err(|error| format!("`{bundle}` holds a certificate that is not a root: {error}"))?;
    }
    Ok(roots)
}

/// The certificates of a PEM file, at least one.
fn certificates(path: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&read(path)?).collect();
    let certificates = certificates.map_err(|error| format!("`{path}` is not a PEM file: {error}"))?;
    if certificates.is_empty() {
        return Err(format!("`{path}` holds no certificate"));
    }
    Ok(certificates)
}

fn read(path: &str) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("`{path}` cannot be read: {error}"))
}

/// Accepts every certificate (`insecure_skip_verify`); signatures are still checked, so that the key is the certificate's.
#[derive(Debug)]
struct AcceptAny {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for AcceptAny {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
