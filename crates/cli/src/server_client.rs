//! Requests to the administration of a server.

use crate::args::LoginArgs;
use crate::exit::wrong_usage;
use anyhow::{Context, anyhow, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::Path;
use std::time::Duration;
use ureq::config::ConfigBuilder;
use ureq::typestate::AgentScope;

/// What is asked for is made at once, however busy the server is.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The longest first line of a file with a secret.
const SECRET_BYTES_MAX: u64 = 4096;

/// A server's administration.
pub struct ServerClient {
    agent: ureq::Agent,
    /// Its address, without a path.
    pub endpoint: String,
    /// What `Authorization` is.
    login: Option<String>,
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

/// Refuses the address of a server that has a password in it.
///
/// # Errors
/// Where it has a name before its host.
pub fn without_password(url: &str) -> anyhow::Result<()> {
    let (_, behind) = url.split_once("://").unwrap_or(("", url));
    if !behind.split(['/', '?', '#']).next().is_some_and(|host| host.contains('@')) {
        return Ok(());
    }
    Err(wrong_usage(
        "others on this machine can see a password in an address: --user NAME, with the password in LODE_PASSWORD or --password-file, or \
         typed, keeps it from them",
    ))
}

impl ServerClient {
    pub fn new(endpoint: &str, login: &LoginArgs) -> anyhow::Result<Self> {
        without_password(endpoint)?;
        let config = ureq::Agent::config_builder().http_status_as_error(false).timeout_global(Some(TIMEOUT));
        let config = with_login_tls(config, login)?;
        let login = login_header(login)?;
        Ok(Self { agent: config.build().into(), endpoint: server_address(endpoint), login })
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
        if let Some(login) = &self.login {
            request = request.header("Authorization", login);
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
        if let Some(login) = &self.login {
            request = request.header("Authorization", login);
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

/// What `Authorization` is: of a user, or of a token; none where nobody logs in.
///
/// # Errors
/// Where a file with a secret cannot be read, or a password is needed and cannot be asked for.
pub fn login_header(login: &LoginArgs) -> anyhow::Result<Option<String>> {
    if let Some(user) = &login.user {
        let password = match (&login.password_file, std::env::var("LODE_PASSWORD")) {
            (Some(path), _) => secret(path)?,
            (None, Ok(password)) => password,
            (None, Err(_)) => rpassword::prompt_password(format!("Password of {user}: "))
                .context("asking for the password (LODE_PASSWORD or --password-file tells it)")?,
        };
        return Ok(Some(format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))));
    }
    let token = match (&login.token, &login.token_file) {
        (_, Some(path)) => Some(secret(path)?),
        (Some(token), None) => Some(token.clone()),
        (None, None) => None,
    };
    Ok(token.map(|token| format!("Bearer {token}")))
}

/// A configuration that believes the certificates that the login names.
///
/// # Errors
/// Where their file cannot be read.
#[cfg(feature = "tls")]
pub fn with_login_tls(
    config: ConfigBuilder<AgentScope>,
    login: &LoginArgs,
) -> anyhow::Result<ConfigBuilder<AgentScope>> {
    Ok(config.tls_config(tls(login)?))
}

/// Without TLS there are none.
#[cfg(not(feature = "tls"))]
pub fn with_login_tls(
    config: ConfigBuilder<AgentScope>,
    _: &LoginArgs,
) -> anyhow::Result<ConfigBuilder<AgentScope>> {
    Ok(config)
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
pub fn is_nobody(error: &ureq::Error) -> bool {
    match error {
        ureq::Error::ConnectionFailed | ureq::Error::HostNotFound => true,
        ureq::Error::Io(error) => error.kind() == ErrorKind::ConnectionRefused,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    //! Addresses as they are written.
    use super::{server_address, without_password};

    #[test]
    fn passwords_are_no_part_of_addresses() {
        for url in ["http://me:secret@h:1", "me:secret@h", "https://me@h/x"] {
            let told = without_password(url).unwrap_err().to_string();
            assert!(told.contains("--user NAME") && !told.contains("secret"), "{told}");
        }
        for url in ["http://h:1", "7878", "h/x@y", "http://h/?a=b@c"] {
            assert!(without_password(url).is_ok(), "{url}");
        }
    }

    #[test]
    fn addresses_of_servers() {
        for text in ["http://h:1", "http://h:1/", "http://h:1/sparql", "h:1", "h:1/sparql/", " h:1/query"] {
            assert_eq!(server_address(text), "http://h:1", "{text}");
        }
        assert_eq!(server_address("8212"), "http://127.0.0.1:8212");
        assert_eq!(server_address("https://h/proxy/lode"), "https://h/proxy/lode");
    }
}
