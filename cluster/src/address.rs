//! Addresses of workers as people write them: of one worker, or a name behind which there are several.

use std::net::IpAddr;
use url::{Host, Url};

/// Why a text is no address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// It is none.
    #[error(
        "{0:?} is no address of a worker: 127.0.0.1:7979, https://worker1.example.org:7979, or dns:workers.example.org:7979"
    )]
    Wrong(String),
    /// It would be spoken to in the open.
    #[error("{0:?} is not on this machine: the token goes over https:// only")]
    Plain(String),
}

/// What a text names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// One worker.
    Worker(Url),
    /// A worker at each address that the name has at the time.
    Name {
        /// The name.
        host: String,
        /// The port at all of them.
        port: u16,
    },
}

/// Before a name with several workers behind it.
const NAME: &str = "dns:";
/// What an address has more where the name is that of several.
const AT: &str = "at";

impl Address {
    /// What this text names. An address of this machine may stand without a scheme.
    ///
    /// # Errors
    /// Where it names nothing, or what must not be spoken to in the open.
    pub fn of(text: &str) -> Result<Self, AddressError> {
        let wrong = || AddressError::Wrong(text.to_owned());
        if let Some(name) = text.strip_prefix(NAME) {
            let url = Url::parse(&format!("https://{name}")).map_err(|_| wrong())?;
            return match (url.host(), url.port_or_known_default()) {
                (Some(Host::Domain(host)), Some(port)) if is_bare(&url) && name.contains(':') => {
                    Ok(Self::Name { host: host.to_owned(), port })
                }
                _ => Err(wrong()),
            };
        }
        let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let url = Url::parse(&whole).map_err(|_| wrong())?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() || !is_bare(&url) {
            return Err(wrong());
        }
        match url.scheme() == "https" || may_be_plain(&url) {
            true => Ok(Self::Worker(url)),
            false => Err(AddressError::Plain(text.to_owned())),
        }
    }
}

/// Whether it is a place and nothing else.
fn is_bare(url: &Url) -> bool {
    url.path() == "/"
        && url.query().is_none()
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none()
}

/// A worker at one of the addresses of a name: its certificate has to be one of the name. One on this machine needs none.
pub fn behind(host: &str, port: u16, at: IpAddr) -> Option<Url> {
    let place = match at {
        IpAddr::V4(at) => at.to_string(),
        IpAddr::V6(at) => format!("[{at}]"),
    };
    let text = match at.is_loopback() {
        true => format!("http://{place}:{port}/"),
        false => format!("https://{host}:{port}/?{AT}={at}"),
    };
    Url::parse(&text).ok()
}

/// Where the name of an address is only that of the certificate: which address of the network is meant.
pub fn place(url: &Url) -> Option<IpAddr> {
    let (_, at) = url.query_pairs().find(|(key, _)| key == AT)?;
    at.parse().ok()
}

/// Whether nobody listens between here and there.
pub fn may_be_plain(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

#[cfg(test)]
mod tests {
    //! What is an address.
    use super::*;

    #[test]
    fn addresses_of_workers() {
        let url = |text| match Address::of(text) {
            Ok(Address::Worker(url)) => url,
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(url("127.0.0.1:7979").as_str(), "http://127.0.0.1:7979/");
        for good in ["localhost:1", "[::1]:7979", "https://worker.example.org", "https://10.0.0.7:7979"] {
            url(good);
        }
        for bad in [
            "",
            "10.0.0.7:7979",
            "http://worker.example.org:1",
            "ftp://localhost",
            "http://localhost/x",
            "https://w.example.org/?at=10.0.0.1",
            "https://me@w.example.org",
            "https://w.example.org/#x",
        ] {
            assert!(Address::of(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn names_with_several_behind_them() {
        let name = |host: &str, port| Ok(Address::Name { host: host.to_owned(), port });
        assert_eq!(Address::of("dns:workers.example.org:7979"), name("workers.example.org", 7979));
        assert_eq!(Address::of("dns:localhost:443"), name("localhost", 443));
        for bad in
            ["dns:", "dns:name", "dns:10.0.0.1:7979", "dns:name:99999", "dns:name:7979/x", "dns:a@name:79"]
        {
            assert!(matches!(Address::of(bad), Err(AddressError::Wrong(_))), "{bad}");
        }
    }

    #[test]
    fn those_behind_a_name_keep_it_for_their_certificates() {
        let (near, far) = ("127.0.0.1".parse().unwrap(), "2001:db8::7".parse().unwrap());
        assert_eq!(behind("w.example.org", 7979, near).unwrap().as_str(), "http://127.0.0.1:7979/");
        let url = behind("w.example.org", 7979, far).unwrap();
        assert_eq!((url.scheme(), url.host_str(), url.port()), ("https", Some("w.example.org"), Some(7979)));
        assert_eq!(place(&url), Some(far));
        assert!(!may_be_plain(&url));
        assert_eq!(place(&Url::parse("https://w.example.org:7979/").unwrap()), None);
    }
}
