//! Which certificates are believed when an address is read over https.
//!
//! Built in are the roots that Mozilla ships, so that a container without any certificates can read https. Where `SSL_CERT_FILE` names a
//! file, as OpenSSL and others have it, its certificates are believed instead: those of a company, or the system's.

use std::path::{Path, PathBuf};
use ureq::config::ConfigBuilder;
use ureq::typestate::AgentScope;

/// Whether this program can read https.
pub(crate) const IS_BUILT_IN: bool = cfg!(feature = "tls");
/// What is said where it cannot.
pub(crate) const MISSING: &str = "this program was built without TLS (feature tls)";

/// The file with certificates that the environment names.
pub(crate) fn certificates_named() -> Option<PathBuf> {
    std::env::var_os("SSL_CERT_FILE").filter(|name| !name.is_empty()).map(PathBuf::from)
}

/// Configures an agent to believe the certificates of a file, or those built in.
///
/// # Errors
/// Where the file cannot be read.
#[cfg(feature = "tls")]
pub(crate) fn configured(
    config: ConfigBuilder<AgentScope>,
    certificates: Option<&Path>,
) -> Result<ConfigBuilder<AgentScope>, String> {
    use ureq::tls::TlsConfig;

    let Some(path) = certificates else { return Ok(config) };
    let roots = roots_of(path).map_err(|what| {
        format!("{} (certificates to believe, from SSL_CERT_FILE): {what}", path.display())
    })?;
    Ok(config.tls_config(TlsConfig::builder().root_certs(roots).build()))
}

/// The certificates of a file in PEM, to be believed and no others.
///
/// # Errors
/// Where the file cannot be read, or has none; without its name.
#[cfg(feature = "tls")]
pub fn roots_of(path: &Path) -> Result<ureq::tls::RootCerts, String> {
    use std::io::Read;
    use ureq::tls::{PemItem, RootCerts, parse_pem};

    let mut text = Vec::new();
    let (file, _) = lode_base::host::open_input(path).map_err(|error| error.to_string())?;
    file.take(FILE_BYTES_MAX).read_to_end(&mut text).map_err(|error| error.to_string())?;
    let items = parse_pem(&text).collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
    let certificates: Vec<_> = items
        .into_iter()
        .filter_map(|item| match item {
            PemItem::Certificate(certificate) => Some(certificate),
            _ => None,
        })
        .collect();
    if certificates.is_empty() {
        return Err("has no certificates in PEM".to_owned());
    }
    Ok(RootCerts::Specific(std::sync::Arc::new(certificates)))
}

/// The system's certificates are some hundred KiB.
#[cfg(feature = "tls")]
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Without TLS there is nothing to configure.
#[cfg(not(feature = "tls"))]
pub(crate) fn configured(
    config: ConfigBuilder<AgentScope>,
    _certificates: Option<&Path>,
) -> Result<ConfigBuilder<AgentScope>, String> {
    Ok(config)
}
