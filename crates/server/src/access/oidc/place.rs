//! Where the keys of a provider are: a file, or an address.

use lode_engine::web;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// More bytes are no list of keys.
const BYTES_MAX: u64 = 1 << 20;
/// So long an address may take, in all.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Where keys are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyPlace {
    /// A file, read again when it changes.
    File(PathBuf),
    /// An address, asked again when a token is signed with a key that is not known yet, and each hour.
    Url(String),
}

impl FromStr for KeyPlace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if !web::is_url(text) {
            return Ok(Self::File(PathBuf::from(text)));
        }
        // Who can change what comes can make tokens of anybody.
        let host = text.get("http://".len()..).filter(|_| text.to_ascii_lowercase().starts_with("http:"));
        let is_here = |host: &str| {
            let host = host.split(['/', '?', '#']).next().unwrap_or_default();
            let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
            !host.contains('@') && ["localhost", "127.0.0.1", "[::1]"].contains(&name)
        };
        match host.is_none_or(is_here) {
            true => Ok(Self::Url(text.to_owned())),
            false => Err("keys are only read over https://, or from this machine".to_owned()),
        }
    }
}

impl fmt::Display for KeyPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Url(url) => f.write_str(url),
        }
    }
}

impl KeyPlace {
    /// What is there.
    pub(super) fn read(&self) -> io::Result<Vec<u8>> {
        match self {
            Self::File(path) => {
                if !std::fs::metadata(path)?.is_file() {
                    return Err(io::Error::other("it is not a file of bytes"));
                }
                bounded(File::open(path)?)
            }
            Self::Url(url) => bounded(web::read_document(url, TIMEOUT)?),
        }
    }
}

/// All bytes, unless they are too many.
fn bounded(reader: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(BYTES_MAX + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > BYTES_MAX {
        true => {
            Err(io::Error::other(format!("it has more than {BYTES_MAX} bytes, which no list of keys has")))
        }
        false => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    //! Places as they are written.
    use super::KeyPlace;

    #[test]
    fn keys_come_over_https_or_from_here() {
        for url in [
            "https://e.org/jwks",
            "http://127.0.0.1:8080/jwks",
            "http://localhost/x",
            "http://[::1]:1/",
            "HTTP://localhost:1",
        ] {
            assert_eq!(url.parse(), Ok(KeyPlace::Url(url.to_owned())), "{url}");
        }
        for url in [
            "http://e.org/jwks",
            "http://localhost.e.org/",
            "http://e.org/@localhost",
            "http://localhost:1@e.org/",
        ] {
            assert!(url.parse::<KeyPlace>().is_err(), "{url}");
        }
        assert_eq!("keys.json".parse(), Ok(KeyPlace::File("keys.json".into())));
    }
}
