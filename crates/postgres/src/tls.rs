//! TLS to the server: always checked, against the certificates of the system or of a file.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;
use throughline_core::ports::StoreError;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::Stored;

/// Encrypts connections.
pub(crate) fn encrypting(root_certificates: Option<&Path>) -> Stored<MakeRustlsConnect> {
    client(root_certificates)
        .map(MakeRustlsConnect::new)
        .map_err(|source| StoreError::Failed { doing: "prepare TLS", source })
}

fn client(root_certificates: Option<&Path>) -> Result<ClientConfig, Box<dyn std::error::Error + Send + Sync>> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let Some(path) = root_certificates else {
        return Ok(builder.with_platform_verifier()?.with_no_client_auth());
    };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path)? {
        roots.add(certificate?)?;
    }
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}
