//! Requests to the administration of a server.

use crate::args::LoginArgs;
use anyhow::{Context, anyhow, bail};
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::Path;
use std::time::Duration;

/// What is asked for is made at once, however busy the server is.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The longest first line of a file with a secret.
const SECRET_BYTES_MAX: u64 = 4096;

/// A server's administration.
pub struct ServerClient {
    agent: ureq::Agent,
    /// Its address, without a path.
    pub endpoint: String,
    token: Option<String>,
}

/// The address of a server, however it was written: as that of its endpoint, without `http://`, or as a port of this machine.
pub fn server_address(text: &str) -> String {
    let text = text.trim().trim_end_matches('/');
    let text = ["/sparql", "/query", "/update", "/data"]
        .iter()
        .find_map(|path| text.strip_suffix(path))
        .unwrap_or(text)
        .trim_end_matches('/');
    if text.contains("://") {
        text.to_owned()
    } else if text.parse::<u16>().is_ok() {
        format!("http://127.0.0.1:{text}")
    } else {
        format!("http://{text}")
    }
}

/// The first line of a file, without blanks around it.
pub fn secret(path: &Path) -> anyhow::Result<String> {
    let shown = || path.display().to_string();
    let mut line = String::new();
    let file = File::open(path).with_context(shown)?;
    BufReader::new(file).take(SECRET_BYTES_MAX).read_line(&mut line).with_context(shown)?;
    let line = line.trim();
    if line.is_empty() {
        bail!("{}: its first line is empty, where a token should be", path.display());
    }
    Ok(line.to_owned())
}

impl ServerClient {
    pub fn new(endpoint: &str, login: &LoginArgs) -> anyhow::Result<Self> {
        let config = ureq::Agent::config_builder().http_status_as_error(false).timeout_global(Some(TIMEOUT));
        #[cfg(feature = "tls")]
        let config = config.tls_config(tls(login)?);
        let token = match (&login.token, &login.token_file) {
            (Some(token), _) => Some(token.clone()),
            (None, Some(path)) => Some(secret(path)?),
            (None, None) => None,
        };
        Ok(Self { agent: config.build().into(), endpoint: server_address(endpoint), token })
    }

    /// The body of an answer, which must be a success.
    pub fn ask(&self, method: &str, path: &str) -> anyhow::Result<String> {
        let endpoint = &self.endpoint;
        let (status, text) = self.answer(method, path)?;
        if !(200..300).contains(&status) {
            let hint = if status == 401 { " (--token)" } else { "" };
            bail!("{endpoint}: {}{hint}", text.trim_end());
        }
        Ok(text)
    }

    /// The body of the answer to some JSON, which must be a success.
    pub fn post_json(&self, path: &str, body: &str) -> anyhow::Result<String> {
        let endpoint = &self.endpoint;
        let mut request = self.agent.post(format!("{endpoint}{path}")).content_type("application/json");
        if let Some(token) = &self.token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        let failed = || format!("asking {endpoint}");
        let mut response = request.send(body).with_context(failed)?;
        let text = response.body_mut().with_config().limit(u64::MAX).read_to_string().with_context(failed)?;
        if !response.status().is_success() {
            bail!("{endpoint}: {}", text.trim_end());
        }
        Ok(text)
    }

    /// Status and body.
    pub fn answer(&self, method: &str, path: &str) -> anyhow::Result<(u16, String)> {
        let endpoint = &self.endpoint;
        let mut request = ureq::http::Request::builder().method(method).uri(format!("{endpoint}{path}"));
        if let Some(token) = &self.token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        let failed = || format!("asking {endpoint}");
        let mut response = match self.agent.run(request.body(())?) {
            Err(error) if is_nobody(&error) => {
                bail!(
                    "{endpoint}: nobody answers ({error}); lode serve DB starts a server, and its address is to be told here"
                )
            }
            answer => answer.with_context(failed)?,
        };
        let text = response.body_mut().with_config().limit(u64::MAX).read_to_string().with_context(failed)?;
        Ok((response.status().as_u16(), text))
    }
}

/// Whose certificates are believed.
#[cfg(feature = "tls")]
fn tls(login: &LoginArgs) -> anyhow::Result<ureq::tls::TlsConfig> {
    let config = ureq::tls::TlsConfig::builder().disable_verification(login.insecure);
    let Some(path) = &login.ca else { return Ok(config.build()) };
    let roots = lode_engine::web::roots_of(path).map_err(|what| anyhow!("{}: {what}", path.display()))?;
    Ok(config.root_certs(roots).build())
}

/// Whether there is no server at all.
fn is_nobody(error: &ureq::Error) -> bool {
    match error {
        ureq::Error::ConnectionFailed | ureq::Error::HostNotFound => true,
        ureq::Error::Io(error) => error.kind() == ErrorKind::ConnectionRefused,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    //! Addresses as they are written.
    use super::server_address;

    #[test]
    fn addresses_of_servers() {
        for text in ["http://h:1", "http://h:1/", "http://h:1/sparql", "h:1", "h:1/sparql/", " h:1/query"] {
            assert_eq!(server_address(text), "http://h:1", "{text}");
        }
        assert_eq!(server_address("8212"), "http://127.0.0.1:8212");
        assert_eq!(server_address("https://h/proxy/lode"), "https://h/proxy/lode");
    }
}
