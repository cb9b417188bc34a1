//! TLS (RFC 8446, and 1.2): the certificate, read again when its files change, and the handshake.

mod certificate;

use crate::server_error::ServerError;
pub use certificate::Tls;

use certificate::Certificates;
use rustls::ServerConfig;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// A handshake that takes longer is given up.
const HANDSHAKE_MAX: Duration = Duration::from_secs(10);
/// So often it is looked whether the files have changed.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// What clients may speak, HTTP/2 first.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// What makes connections encrypted ones.
#[derive(Clone)]
pub(crate) struct Acceptor {
    acceptor: TlsAcceptor,
    certificates: Arc<Certificates>,
}

impl Acceptor {
    /// Reads or makes the certificate; one that is made is for `names`.
    pub(crate) fn new(tls: &Tls, names: &[String]) -> Result<Self, ServerError> {
        let certificates = Arc::new(Certificates::new(tls, names)?);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.map_err(|error| ServerError::Tls(error.to_string()))?.with_no_client_auth();
        let mut config = config.with_cert_resolver(Arc::clone(&certificates) as _);
        config.alpn_protocols = PROTOCOLS.iter().map(|name| name.to_vec()).collect();
        Ok(Self { acceptor: TlsAcceptor::from(Arc::new(config)), certificates })
    }

    /// The SHA-256 fingerprint of the certificate.
    pub(crate) fn fingerprint(&self) -> String {
        self.certificates.fingerprint()
    }

    /// The handshake; none where it failed or took too long.
    pub(crate) async fn accept<S: AsyncRead + AsyncWrite + Unpin>(&self, stream: S) -> Option<TlsStream<S>> {
        tokio::time::timeout(HANDSHAKE_MAX, self.acceptor.accept(stream)).await.ok()?.ok()
    }

    /// Reads the files again whenever they change, for ever, and tells of it. Where they cannot be used, the last ones stay.
    pub(crate) async fn watch(&self) {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let acceptor = self.clone();
            let _ = tokio::task::spawn_blocking(move || acceptor.look()).await;
        }
    }

    /// Reads the files again if they have changed.
    pub(crate) fn look(&self) {
        match self.certificates.read_if_changed() {
            Ok(true) => tracing::info!("TLS: a new certificate, SHA-256 {}", self.fingerprint()),
            Ok(false) => {}
            Err(error) => tracing::warn!("{error}; the certificate of before stays"),
        }
    }
}
