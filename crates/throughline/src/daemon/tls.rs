//! A TLS connection to the daemon of this home. It is told apart from others by its certificate, whose digest it keeps in a
//! file of its owner's: the certificate may be one that nobody else trusts, and made out to any name.

use std::io::{Error, Read, Result, Write};
use std::net::TcpStream;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme, StreamOwned};
use throughline_server::certificate_digest;

/// A stream that is written and read.
pub(super) trait Stream: Read + Write {}

impl<S: Read + Write> Stream for S {}

/// Speaks TLS over a connection to whoever has this certificate.
pub(super) fn encrypted(stream: TcpStream, certificate: &str) -> Result<impl Stream> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let expected = Arc::new(Expected { certificate: certificate.to_owned(), provider: Arc::clone(&provider) });
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(Error::other)?
        .dangerous()
        .with_custom_certificate_verifier(expected)
        .with_no_client_auth();
    // The name is not looked at.
    let name = ServerName::try_from("localhost").map_err(Error::other)?;
    let connection = ClientConnection::new(Arc::new(config), name).map_err(Error::other)?;
    Ok(StreamOwned::new(connection, stream))
}

/// Takes one certificate and no other.
#[derive(Debug)]
struct Expected {
    certificate: String,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Expected {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        if certificate_digest(certificate) == self.certificate {
            return Ok(ServerCertVerified::assertion());
        }
        Err(CertificateError::ApplicationVerificationFailure.into())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
