//! The certificate of the moment, and its files.

use crate::server_error::ServerError;
use rustls::crypto::ring::sign::any_supported_type;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::SystemTime;

/// Where the certificate comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tls {
    /// Files in PEM, read again when they change.
    Files {
        /// The certificate, and those between it and the authority's.
        certificate: PathBuf,
        /// Its private key.
        key: PathBuf,
    },
    /// A certificate made at the start, which nobody trusts by itself: for trials.
    SelfSigned,
}

impl Tls {
    /// Whether a server could use it.
    ///
    /// # Errors
    /// Where files cannot be read, or do not fit each other.
    pub fn check(&self) -> Result<(), ServerError> {
        Certificates::new(self, &["localhost".to_owned()]).map(drop)
    }
}

/// What is given to clients.
#[derive(Debug)]
pub(super) struct Certificates {
    current: RwLock<Arc<CertifiedKey>>,
    source: Tls,
    /// Of the files, when they were read last, usable or not.
    stamps: Mutex<Option<[Stamp; 2]>>,
}

/// What changes with a file.
type Stamp = (SystemTime, u64);

impl Certificates {
    pub(super) fn new(source: &Tls, names: &[String]) -> Result<Self, ServerError> {
        let stamps = stamps(source);
        let current = match source {
            Tls::Files { certificate, key } => read(certificate, key)?,
            Tls::SelfSigned => make(names)?,
        };
        let (current, stamps) = (RwLock::new(Arc::new(current)), Mutex::new(stamps));
        Ok(Self { current, source: source.clone(), stamps })
    }

    fn current(&self) -> Arc<CertifiedKey> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn fingerprint(&self) -> String {
        let current = self.current();
        let digest = Sha256::digest(current.cert.first().map_or(&[][..], |certificate| certificate.as_ref()));
        digest.iter().enumerate().fold(String::new(), |mut text, (at, byte)| {
            let _ = write!(text, "{}{byte:02X}", if at == 0 { "" } else { ":" });
            text
        })
    }

    /// Reads files that have changed; whether there is a new certificate. Of those that cannot be used it is told once.
    pub(super) fn read_if_changed(&self) -> Result<bool, ServerError> {
        let Tls::Files { certificate, key } = &self.source else { return Ok(false) };
        let now = stamps(&self.source);
        let mut stamps = self.stamps.lock().unwrap_or_else(PoisonError::into_inner);
        // A file that is away for a moment is one that is being replaced.
        if now.is_none() || *stamps == now {
            return Ok(false);
        }
        *stamps = now;
        let new = read(certificate, key)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(new);
        Ok(true)
    }
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.current())
    }
}

fn stamps(source: &Tls) -> Option<[Stamp; 2]> {
    let Tls::Files { certificate, key } = source else { return None };
    let stamp = |path: &Path| {
        let found = std::fs::metadata(path).ok()?;
        Some((found.modified().ok()?, found.len()))
    };
    Some([stamp(certificate)?, stamp(key)?])
}

/// The key must be that of the certificate.
fn read(certificate: &Path, key: &Path) -> Result<CertifiedKey, ServerError> {
    let failed = |path: &Path, error: String| ServerError::Tls(format!("{}: {error}", path.display()));
    let chain = CertificateDer::pem_file_iter(certificate).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let chain = chain.map_err(|error| failed(certificate, error.to_string()))?;
    if chain.is_empty() {
        return Err(failed(certificate, "there is no certificate in it (expected PEM)".to_owned()));
    }
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| failed(key, error.to_string()))?;
    certified(chain, &private).map_err(|error| failed(key, error))
}

fn make(names: &[String]) -> Result<CertifiedKey, ServerError> {
    let failed = |error: String| ServerError::Tls(format!("no certificate could be made: {error}"));
    let made = rcgen::generate_simple_self_signed(names).map_err(|error| failed(error.to_string()))?;
    let private = PrivateKeyDer::try_from(made.signing_key.serialize_der())
        .map_err(|error| failed(error.to_owned()))?;
    certified(vec![made.cert.der().clone()], &private).map_err(failed)
}

fn certified(
    chain: Vec<CertificateDer<'static>>,
    private: &PrivateKeyDer<'_>,
) -> Result<CertifiedKey, String> {
    let private = any_supported_type(private).map_err(|error| error.to_string())?;
    let certified = CertifiedKey::new(chain, private);
    certified.keys_match().map_err(|error| format!("it is not the key of the certificate: {error}"))?;
    Ok(certified)
}
