//! What LOAD may read: files below certain folders, addresses that begin in certain ways; by default nothing, because whoever may send an
//! update could otherwise read all that this process can.

use crate::web::{self, WebOptions};
use lode_base::host;
use lode_store::Source;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The longest that reading an address may take where nothing else says so: nobody else can write meanwhile.
const WEB_TIMEOUT: Duration = Duration::from_secs(600);

/// The list of what LOAD may read. The default is nothing.
#[derive(Debug, Clone, Default)]
pub struct LoadAllow {
    /// Files and folders, without links and dots.
    paths: Vec<PathBuf>,
    /// Beginnings of addresses, scheme and host in lower case.
    urls: Vec<String>,
}

/// Why there is nothing to read.
#[derive(Debug)]
pub(crate) enum NoSource {
    /// It may not be read.
    Refused(String),
    /// It may be read, and is not there.
    Missing(String),
    /// The IRI means nothing that could be read.
    Wrong(String),
}

impl LoadAllow {
    /// A list of folders, files (as paths or `file:` IRIs), and beginnings of `http:` and `https:` addresses.
    ///
    /// # Errors
    /// Where a path does not exist.
    pub fn new(entries: &[String]) -> Result<Self, String> {
        let mut allow = Self::default();
        for entry in entries {
            if web::is_url(entry) {
                allow.urls.push(normal_url(entry).ok_or_else(|| format!("{entry}: no such address"))?);
                continue;
            }
            let path = match file_path(entry) {
                Some(path) => path?,
                None => PathBuf::from(entry),
            };
            allow.paths.push(host::real_path(&path).map_err(|error| format!("{entry}: {error}"))?);
        }
        Ok(allow)
    }

    /// The source that an IRI means, if it may be read. `time_left`: until the request's time-out.
    pub(crate) fn source(&self, iri: &str, time_left: Option<Duration>) -> Result<Source, NoSource> {
        if web::is_url(iri) {
            if !normal_url(iri).is_some_and(|url| self.allows_url(&url)) {
                return Err(NoSource::Refused(self.refusal(iri)));
            }
            let timeout = Some(time_left.unwrap_or(WEB_TIMEOUT).min(WEB_TIMEOUT));
            // Elsewhere may be where nothing is allowed.
            return web::source(iri, WebOptions { redirects_max: 0, timeout }).map_err(NoSource::Wrong);
        }
        let Some(path) = file_path(iri) else {
            return Err(NoSource::Wrong("only file:, http: and https: can be loaded".to_owned()));
        };
        let path = self.real_path(iri, &path.map_err(NoSource::Wrong)?)?;
        if host::input_bytes(&path).is_none() {
            return Err(NoSource::Missing("is not a file".to_owned()));
        }
        Ok(Source::path(&path))
    }

    /// The path without links and dots, if it is allowed. What is not allowed is not even told to exist.
    fn real_path(&self, iri: &str, path: &Path) -> Result<PathBuf, NoSource> {
        let allowed = |path: &Path| self.paths.iter().any(|prefix| path.starts_with(prefix));
        match host::real_path(path) {
            Ok(real) if allowed(&real) => Ok(real),
            Ok(_) => Err(NoSource::Refused(self.refusal(iri))),
            Err(error) => {
                let folder = path.parent().and_then(|folder| host::real_path(folder).ok());
                Err(if folder.is_some_and(|folder| allowed(&folder)) {
                    NoSource::Missing(error.to_string())
                } else {
                    NoSource::Refused(self.refusal(iri))
                })
            }
        }
    }

    /// A prefix ends where a part of an address does, so that another host or folder does not begin with it.
    fn allows_url(&self, url: &str) -> bool {
        self.urls.iter().any(|prefix| {
            let rest = url.strip_prefix(prefix.as_str());
            rest.is_some_and(|rest| {
                prefix.ends_with(['/', '?', '#', '=']) || rest.is_empty() || rest.starts_with(['/', '?', '#'])
            })
        })
    }

    fn refusal(&self, iri: &str) -> String {
        if self.paths.is_empty() && self.urls.is_empty() {
            format!("LOAD is not allowed here (--allow-load '{iri}' allows this)")
        } else {
            format!("not on the list of what may be loaded (--allow-load '{iri}' allows it)")
        }
    }
}

/// An address with scheme and host in lower case; none where it has user names, or dots that a server could resolve.
fn normal_url(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    let plain = path.split(['?', '#']).next().unwrap_or(path).to_ascii_lowercase().replace("%2e", ".");
    let dots = plain.split(['/', '\\']).any(|part| part == "." || part == "..");
    let odd = plain.contains("%2f") || plain.contains("%5c") || url.contains('\\') || host.contains('@');
    (!dots && !odd).then(|| format!("{}://{}{path}", scheme.to_ascii_lowercase(), host.to_ascii_lowercase()))
}

/// The path that a `file:` IRI means; none where it is no such IRI.
fn file_path(iri: &str) -> Option<Result<PathBuf, String>> {
    let rest = iri.get(5..).filter(|_| iri.get(..5).is_some_and(|s| s.eq_ignore_ascii_case("file:")))?;
    let rest = rest.split(['?', '#']).next().unwrap_or(rest);
    let path = match rest.strip_prefix("//") {
        None => rest,
        Some(rest) => {
            let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            if !(host.is_empty() || host.eq_ignore_ascii_case("localhost")) {
                return Some(Err("names a file of another machine".to_owned()));
            }
            path
        }
    };
    if !path.starts_with('/') {
        return Some(Err("names no file: a path begins with / (file:///folder/file)".to_owned()));
    }
    let decoded = decoded(path).filter(|path| !path.contains('\0'));
    Some(decoded.map(PathBuf::from).ok_or_else(|| "names no file: its escapes are no text".to_owned()))
}

/// The text with `%` escapes resolved.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
            let value = digit(rest.next())? * 16 + digit(rest.next())?;
            bytes.push(u8::try_from(value).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    //! Ways in, and ways around.
    use super::{LoadAllow, decoded, file_path, normal_url};

    fn allows(prefix: &str, url: &str) -> bool {
        let allow = LoadAllow::new(&[prefix.to_owned()]).expect("a list");
        allow.source(url, None).is_ok()
    }

    #[test]
    fn addresses_match_by_whole_parts() {
        assert!(allows("http://e.org", "http://e.org/a.ttl"));
        assert!(allows("HTTP://E.org/data/", "http://e.ORG/data/x/a.ttl"));
        assert!(allows("http://e.org/data", "http://e.org/data?x=1"));
        for url in [
            "http://e.org.evil.net/a.ttl",
            "http://e.org@evil.net/a.ttl",
            "http://e.org:81/a.ttl",
            "http://e.org/database/a.ttl",
            "http://e.org/data/../a.ttl",
            "http://e.org/data/%2E%2e/a.ttl",
            "http://e.org/data/..%2fa.ttl",
            "http://e.org/a.ttl",
        ] {
            assert!(!allows("http://e.org/data", url), "{url}");
        }
        assert!(
            !allows("http://e.org", "http://e.org.evil.net/") && !allows("http://e.org", "http://e.org@f/")
        );
    }

    #[test]
    fn nothing_is_allowed_by_default() {
        for iri in ["file:///etc/passwd", "http://e.org/", "ftp://e.org/", "urn:x"] {
            assert!(LoadAllow::default().source(iri, None).is_err(), "{iri}");
        }
        assert!(LoadAllow::new(&["/no/such/folder".to_owned()]).is_err());
    }

    #[test]
    fn file_iris_are_paths() {
        let path = |iri| file_path(iri).map(|path| path.map(|path| path.display().to_string()));
        assert_eq!(path("file:///a%20b/c#d"), Some(Ok("/a b/c".to_owned())));
        assert_eq!(path("FILE://localhost/a"), Some(Ok("/a".to_owned())));
        assert_eq!(path("file:/a"), Some(Ok("/a".to_owned())));
        assert!(matches!(path("file://other/a"), Some(Err(_))));
        assert!(matches!(path("file:a"), Some(Err(_))));
        assert!(matches!(path("file:///%00"), Some(Err(_))));
        assert_eq!(path("http://a/"), None);
        assert_eq!((decoded("%4"), decoded("%C3%A9").as_deref()), (None, Some("é")));
        assert_eq!(normal_url("HTTP://A.b/C?d=.."), Some("http://a.b/C?d=..".to_owned()));
    }
}
