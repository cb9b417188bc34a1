//! Which hosts a request may name, and which web pages may send it.
//!
//! A browser sends what any page tells it to, also to this machine. So a request must name a host that is ours (or a page whose name was made
//! to mean this machine could speak to it as its own: DNS rebinding), and a request that a browser sends for a page of elsewhere is refused,
//! unless `--cors` lists the page's origin. Browsers say so by `Origin` (RFC 6454; on all that a form or script writes) and `Sec-Fetch-Site`
//! (W3C Fetch Metadata); clients that are no browsers send neither.

use crate::error::HttpError;
use crate::network::is_secure;
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode, Uri};
use lode_rdf::NamedNode;
use std::net::IpAddr;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// The origin of a web page that may use the server: `https://example.org`, `null` (files, sandboxes), or `*` for all pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorsOrigin(String);

impl CorsOrigin {
    /// Reads an origin as browsers write it (RFC 6454, section 6.1).
    ///
    /// # Errors
    /// Where it has more than scheme, host and port, or less.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text == "*" || text == "null" {
            return Ok(Self(text.to_owned()));
        }
        let expected = || format!("{text}: expected an origin such as https://example.org:8443, or *");
        let uri: Uri = text.parse().map_err(|_| expected())?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(expected());
        };
        let is_bare =
            uri.path_and_query().is_none_or(|path| path.as_str() == "/") && !text.ends_with(['/', '#']);
        if !["http", "https"].contains(&scheme) || !is_bare || authority.as_str().contains('@') {
            return Err(expected());
        }
        Ok(Self(format!("{scheme}://{}", authority.as_str().to_ascii_lowercase())))
    }
}

/// What is known of the server's own names, and of the pages that may use it.
#[derive(Debug, Default)]
pub(crate) struct Origins {
    /// Whether a host that is not known is refused.
    checks_hosts: bool,
    /// Names that the server has besides its numbers, in lower case; with a port, or for all ports.
    hosts: Vec<String>,
    cors: Vec<CorsOrigin>,
    /// Whether connections are encrypted.
    is_secure: bool,
}

impl Origins {
    /// Of a server that listens on this machine only, or on others; both lists are what its starter said.
    pub(crate) fn new(is_loopback: bool, hosts: &[String], cors: &[CorsOrigin]) -> Self {
        let hosts: Vec<String> = hosts.iter().map(|host| host.to_ascii_lowercase()).collect();
        Self { checks_hosts: is_loopback || !hosts.is_empty(), hosts, cors: cors.to_vec(), is_secure: false }
    }

    /// The same of a server whose connections are encrypted, or are not.
    pub(crate) fn secure(self, is_secure: bool) -> Self {
        Self { is_secure, ..self }
    }

    /// The host that the request names, if it is one that the server is known by.
    pub(crate) fn known_host<'a>(&self, uri: &'a Uri, headers: &'a HeaderMap) -> Option<&'a str> {
        host(uri, headers).filter(|host| self.is_known(host))
    }

    /// The request's own IRI without its query, as the client knows it; none where it names a host that the server is not known by. `uri` is
    /// without the name of the database, where there are several.
    pub(crate) fn own_iri(
        &self,
        database: Option<&str>,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Option<NamedNode> {
        let host = self.known_host(uri, headers)?;
        let scheme = if self.is_secure || is_secure(headers) { "https" } else { "http" };
        let (slash, database) = database.map_or(("", ""), |name| ("/", name));
        NamedNode::new(format!("{scheme}://{host}{slash}{database}{}", uri.path())).ok()
    }

    fn is_known(&self, host: &str) -> bool {
        let lower = host.to_ascii_lowercase();
        is_sure(&lower) || self.hosts.iter().any(|known| *known == lower || *known == without_port(&lower))
    }

    /// Whether the request's page is one of those that may use the server from elsewhere.
    pub(crate) fn is_listed(&self, headers: &HeaderMap) -> bool {
        headers.get(header::ORIGIN).is_some_and(|origin| self.lists(origin))
    }

    fn lists(&self, origin: &HeaderValue) -> bool {
        self.cors.iter().any(|listed| listed.0 == "*" || listed.0.as_bytes() == origin.as_bytes())
    }

    /// Refuses what a browser sends for others.
    pub(crate) fn check(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), HttpError> {
        for name in [header::HOST, header::ORIGIN] {
            if headers.get_all(&name).iter().nth(1).is_some() {
                return Err(HttpError::bad_request(format!("more than one {name} header: send exactly one")));
            }
        }
        let host = host(uri, headers);
        if let Some(host) = host.filter(|host| self.checks_hosts && !self.is_known(host)) {
            let message = format!(
                "this server does not answer to the name {host}, only to localhost and IP numbers: use one of these, or ask its administrator \
                 to let it answer to the name (lode serve --host {})",
                without_port(host)
            );
            return Err(HttpError::new(StatusCode::MISDIRECTED_REQUEST, message));
        }
        let refused = |origin: &str| {
            let message = format!(
                "web pages of {origin} may not use this server: its administrator can let them (lode serve --cors ORIGIN)"
            );
            Err(HttpError::new(StatusCode::FORBIDDEN, message))
        };
        match headers.get(header::ORIGIN) {
            Some(origin) if self.lists(origin) || host.is_some_and(|host| is_of(origin, host)) => Ok(()),
            Some(origin) => refused(&String::from_utf8_lossy(origin.as_bytes())),
            None if is_of_elsewhere(headers)
                && !is_opened_by_person(method, headers)
                && !self.lists_all() =>
            {
                refused("other servers")
            }
            None => Ok(()),
        }
    }

    fn lists_all(&self) -> bool {
        self.cors.iter().any(|listed| listed.0 == "*")
    }

    /// Tells the browser what the page may have.
    pub(crate) fn tell(&self, origin: Option<&HeaderValue>, headers: &mut HeaderMap) {
        // Nobody guesses from the bytes that an answer is a script.
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        // Nor is the page shown inside another one.
        headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
        if self.cors.is_empty() {
            headers.insert(RESOURCE_POLICY, HeaderValue::from_static("same-origin"));
            return;
        }
        headers.append(header::VARY, HeaderValue::from_static("Origin"));
        let Some(origin) = origin.filter(|origin| self.lists(origin)) else { return };
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        let exposed = HeaderValue::from_static("ETag, Location, Retry-After, Lode-Warning, X-Lode-Version");
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    }
}

fn host<'a>(uri: &'a Uri, headers: &'a HeaderMap) -> Option<&'a str> {
    let named = || headers.get(header::HOST).and_then(|host| host.to_str().ok());
    uri.authority().map(|authority| authority.as_str()).or_else(named)
}

pub(crate) fn without_port(host: &str) -> &str {
    host.rsplit_once(':').filter(|(_, port)| !port.ends_with(']')).map_or(host, |(name, _)| name)
}

/// Whether a host is an IP number or `localhost`: names that nobody can give to a machine of others.
pub(crate) fn is_sure(host: &str) -> bool {
    let name = without_port(host);
    let number = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    name.eq_ignore_ascii_case("localhost") || number.parse::<IpAddr>().is_ok()
}

/// Whether a page of this origin came from this host: through a proxy perhaps, which may speak TLS.
pub(crate) fn is_of(origin: &HeaderValue, host: &str) -> bool {
    let origin = origin.to_str().ok();
    let authority =
        origin.and_then(|text| text.strip_prefix("http://").or_else(|| text.strip_prefix("https://")));
    authority.is_some_and(|authority| authority.eq_ignore_ascii_case(host))
}

/// Whether a browser says that it asks for a page of another site, or of another origin of this one.
fn is_of_elsewhere(headers: &HeaderMap) -> bool {
    let site = headers.get(SEC_FETCH_SITE).map(HeaderValue::as_bytes);
    matches!(site, Some(b"cross-site" | b"same-site"))
}

/// Whether it asks since somebody has followed a link, and shows the answer as a page of its own.
fn is_opened_by_person(method: &Method, headers: &HeaderMap) -> bool {
    let says = |name: HeaderName, value: &str| headers.get(name).is_some_and(|found| found == value);
    [Method::GET, Method::HEAD].contains(method)
        && says(SEC_FETCH_MODE, "navigate")
        && says(SEC_FETCH_DEST, "document")
}

#[cfg(test)]
mod tests {
    //! Which requests are let in.
    use super::{CorsOrigin, Origins};
    use axum::http::{HeaderMap, HeaderName, Method};

    /// The status of a refusal.
    fn judged(origins: &Origins, method: &Method, said: &[(&str, &str)]) -> Option<u16> {
        let mut headers = HeaderMap::new();
        for (name, value) in said {
            headers.append(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
        }
        let uri = "/sparql".parse().unwrap();
        origins.check(method, &uri, &headers).err().map(|error| error.status.as_u16())
    }

    fn cors(origins: &[&str]) -> Vec<CorsOrigin> {
        origins.iter().map(|origin| CorsOrigin::parse(origin).unwrap()).collect()
    }

    #[test]
    fn hosts_of_this_machine_and_those_that_were_named() {
        let own = Origins::new(true, &[], &[]);
        let named = Origins::new(true, &["Example.org".to_owned(), "b:80".to_owned()], &[]);
        let public = Origins::new(false, &[], &[]);
        for host in ["localhost", "LOCALHOST:7878", "127.0.0.1:7878", "[::1]:7878", "[::1]", "192.168.1.2:1"]
        {
            for origins in [&own, &named, &public] {
                assert_eq!(judged(origins, &Method::POST, &[("host", host)]), None, "{host}");
            }
        }
        for host in [
            "page",
            "page:7878",
            "127.0.0.1.page:7878",
            "localhost.page",
            "[::1].page",
            "",
            "localhost:7878:1",
        ] {
            assert_eq!(judged(&own, &Method::GET, &[("host", host)]), Some(421), "{host}");
            assert_eq!(judged(&named, &Method::GET, &[("host", host)]), Some(421), "{host}");
        }
        for host in ["example.org", "EXAMPLE.org:7878", "b:80"] {
            assert_eq!(judged(&named, &Method::GET, &[("host", host)]), None, "{host}");
        }
        assert_eq!(judged(&named, &Method::GET, &[("host", "b:81")]), Some(421));
        assert_eq!(judged(&public, &Method::GET, &[("host", "anything")]), None);
        assert_eq!(judged(&own, &Method::GET, &[]), None);
        assert_eq!(judged(&own, &Method::GET, &[("host", "localhost"), ("host", "page")]), Some(400));
    }

    #[test]
    fn pages_of_this_server_and_those_that_were_listed() {
        let (none, some) =
            (Origins::new(true, &[], &[]), Origins::new(true, &[], &cors(&["http://page:80", "null"])));
        let all = Origins::new(true, &[], &cors(&["*"]));
        for method in [Method::GET, Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS] {
            for host in ["127.0.0.1:7878", "localhost:7878", "[::1]:7878", "localhost"] {
                for scheme in ["http", "https"] {
                    let own = format!("{scheme}://{host}");
                    assert_eq!(judged(&none, &method, &[("host", host), ("origin", &own)]), None);
                }
                for origin in ["http://page:80", "null"] {
                    let said = [("host", host), ("origin", origin), ("sec-fetch-site", "cross-site")];
                    assert_eq!(judged(&none, &method, &said), Some(403));
                    assert_eq!(judged(&some, &method, &said), None);
                    assert_eq!(judged(&all, &method, &said), None);
                }
                for origin in
                    ["http://page", "https://page:80", "http://127.0.0.1:80", "http://localhost:1", ""]
                {
                    assert_eq!(
                        judged(&some, &method, &[("host", host), ("origin", origin)]),
                        Some(403),
                        "{origin}"
                    );
                }
            }
        }
    }

    #[test]
    fn pages_that_do_not_say_where_they_are_from() {
        let origins = Origins::new(true, &[], &[]);
        let site = |site| ("sec-fetch-site", site);
        for value in ["same-origin", "none"] {
            assert_eq!(judged(&origins, &Method::GET, &[site(value)]), None);
        }
        let link = [("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];
        for value in ["cross-site", "same-site"] {
            assert_eq!(judged(&origins, &Method::GET, &[site(value)]), Some(403), "an image or a script");
            assert_eq!(judged(&origins, &Method::GET, &[site(value), link[0], link[1]]), None, "a link");
            assert_eq!(judged(&origins, &Method::GET, &[site(value), link[0]]), Some(403), "a frame");
            assert_eq!(
                judged(&origins, &Method::POST, &[site(value), link[0], link[1]]),
                Some(403),
                "a form"
            );
        }
    }

    #[test]
    fn origins_as_browsers_write_them() {
        for good in ["http://a", "https://a.b:8443", "http://[::1]:80", "null", "*"] {
            assert!(CorsOrigin::parse(good).is_ok(), "{good}");
        }
        assert_eq!(CorsOrigin::parse("https://Example.ORG"), CorsOrigin::parse("https://example.org"));
        for bad in [
            "",
            "a",
            "a:80",
            "http://",
            "http://a/",
            "http://a/b",
            "http://a?b",
            "ftp://a",
            "http://a@b",
            "**",
        ] {
            assert!(CorsOrigin::parse(bad).is_err(), "{bad}");
        }
    }
}
