//! Addresses of published databases, and which store is at one.
//!
//! `http://` alone is the address of a SPARQL endpoint in most commands: a published database on a web server is `lode+http://` or `lode+https://`
//! there, so that no guess and no request decides what an address means.

use crate::error::RemoteError;
use crate::folder::FolderStore;
use crate::object::ObjectStore;
use crate::web::{WebOptions, WebStore};
use lode_base::real_vfs::RealVfs;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Schemes of object storage.
const CLOUD_SCHEMES: [&str; 8] = ["s3", "s3a", "gs", "az", "azure", "abfs", "abfss", "adl"];
/// What is said where this program was built without.
const NO_CLOUD: &str = "this program was built without object storage: build it with the feature object-store (cargo build --release -p lode --features \
                        object-store), or use a folder (file:///...) or, to read, a web server (lode+https://...)";

/// Where a published database is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A folder: `file:///srv/db`.
    Folder(PathBuf),
    /// A bucket or container of object storage, and what all objects have before their keys: `s3://bucket/prefix`.
    Cloud(String),
    /// A web server: what is before `/manifest/...`, with `http://` or `https://`.
    Web(String),
}

impl Address {
    /// What a name in the place of a database means; none where it is no address of a published one.
    ///
    /// # Errors
    /// Where it is one that cannot be.
    pub fn of(name: &str) -> Result<Option<Self>, RemoteError> {
        let Some((scheme, rest)) = name.split_once("://") else {
            return Self::no_folder(name).map(|()| None);
        };
        let scheme = scheme.to_ascii_lowercase();
        match scheme.as_str() {
            "file" => Self::folder(name, rest).map(Some),
            "lode+http" | "lode+https" => Self::web(name, &scheme["lode+".len()..], rest).map(Some),
            known if CLOUD_SCHEMES.contains(&known) => Self::cloud(name, known, rest).map(Some),
            _ => Ok(None),
        }
    }

    /// What begins as an address, and lacks its slashes, is a folder of that name for nobody.
    fn no_folder(name: &str) -> Result<(), RemoteError> {
        let scheme = name.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
        if scheme.is_some_and(|scheme| scheme == "file" || CLOUD_SCHEMES.contains(&scheme.as_str())) {
            let what = "behind the scheme of an address are slashes, as in file:///srv/db or s3://bucket/db; \
                        a folder that is called so is written ./NAME";
            return Err(wrong(name, what));
        }
        Ok(())
    }

    /// The same where nothing else can be meant by `http://`, as in `lode serve`.
    ///
    /// # Errors
    /// Where it is one that cannot be.
    pub fn of_database(name: &str) -> Result<Option<Self>, RemoteError> {
        let is_plain = ["http://", "https://"]
            .iter()
            .any(|scheme| name.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
        if is_plain { Self::of(&format!("lode+{name}")) } else { Self::of(name) }
    }

    fn folder(name: &str, rest: &str) -> Result<Self, RemoteError> {
        let path = rest.strip_prefix("localhost").filter(|path| path.starts_with('/')).unwrap_or(rest);
        if !path.starts_with('/') {
            return Err(wrong(
                name,
                "an address of a folder has three slashes and the whole path: file:///srv/db",
            ));
        }
        let path = decoded(path)
            .ok_or_else(|| wrong(name, "a % begins two hexadecimal digits of a character in UTF-8"))?;
        let trimmed = path.trim_end_matches('/');
        Ok(Self::Folder(PathBuf::from(if trimmed.is_empty() { "/" } else { trimmed })))
    }

    fn web(name: &str, scheme: &str, rest: &str) -> Result<Self, RemoteError> {
        let host = rest.split('/').next().unwrap_or_default();
        if host.is_empty() {
            return Err(wrong(name, "there is no host in it"));
        }
        if host.contains('@') {
            return Err(wrong(name, "an address has no name and password in it, which others could read"));
        }
        if rest.contains(['?', '#']) {
            return Err(wrong(
                name,
                "the address of a published database has no parameters: objects are below it",
            ));
        }
        Ok(Self::Web(format!("{scheme}://{}", rest.trim_end_matches('/'))))
    }

    fn cloud(name: &str, scheme: &str, rest: &str) -> Result<Self, RemoteError> {
        if !cfg!(feature = "object-store") {
            return Err(wrong(name, NO_CLOUD));
        }
        let bucket = rest.split('/').next().unwrap_or_default();
        if bucket.is_empty() || rest.contains(['?', '#']) {
            let what =
                format!("an address of object storage is {scheme}://BUCKET/PREFIX, without parameters");
            return Err(wrong(name, &what));
        }
        Ok(Self::Cloud(format!("{scheme}://{}", rest.trim_end_matches('/'))))
    }

    /// The store there.
    ///
    /// # Errors
    /// Where it needs what this program was built without, or certificates that cannot be read.
    pub fn store(&self, web: WebOptions) -> Result<Arc<dyn ObjectStore>, RemoteError> {
        match self {
            Self::Folder(path) => Ok(Arc::new(FolderStore::new(RealVfs::shared(), path))),
            Self::Web(url) => Ok(Arc::new(WebStore::new(url, web)?)),
            #[cfg(feature = "object-store")]
            Self::Cloud(url) => Ok(Arc::new(crate::cloud::CloudStore::new(url, std::env::vars(), web)?)),
            #[cfg(not(feature = "object-store"))]
            Self::Cloud(url) => Err(wrong(url, NO_CLOUD)),
        }
    }

    /// The store of a folder, whose objects are read through a cache as if it were far away.
    pub(crate) fn distant_folder(path: &Path) -> Arc<dyn ObjectStore> {
        Arc::new(FolderStore::new(RealVfs::shared(), path).remote())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(path) => write!(f, "file://{}", path.display()),
            Self::Web(url) => write!(f, "lode+{url}"),
            Self::Cloud(url) => f.write_str(url),
        }
    }
}

fn wrong(address: &str, what: &str) -> RemoteError {
    RemoteError::Address { address: address.to_owned(), what: what.to_owned() }
}

/// Undoes the coding of characters as `%20`.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits =
            std::str::from_utf8(rest.get(..2)?).ok().filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = rest.get(2..)?;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let of = |name: &str| Address::of(name).map(|found| found.map(|address| address.to_string()));
        assert_eq!(of("file:///srv/my%20db/").unwrap().unwrap(), "file:///srv/my db");
        assert_eq!(of("file://localhost/srv").unwrap().unwrap(), "file:///srv");
        assert_eq!(of("lode+https://h/a/").unwrap().unwrap(), "lode+https://h/a");
        assert_eq!(of("LODE+HTTP://h:1").unwrap().unwrap(), "lode+http://h:1");
        for other in ["db", "/srv/db", "http://h/db", "https://h/sparql", "a:b"] {
            assert!(of(other).unwrap().is_none(), "{other}");
        }
        assert_eq!(
            Address::of_database("http://h/db").unwrap(),
            Some(Address::Web("http://h/db".to_owned()))
        );
        for bad in [
            "file://srv/db",
            "file:srv/db",
            "S3:bucket/db",
            "file:///a%2",
            "file:///a%ff",
            "file:///a%+1",
            "s3://",
            "gs:///db",
            "lode+http:///x",
            "lode+http://me:x@h/",
            "lode+http://h/?a",
        ] {
            assert!(of(bad).is_err(), "{bad}");
        }
        for cloud in ["s3://b/db/", "gs://b", "AZ://c/a/b"] {
            match of(cloud) {
                Ok(Some(address)) => {
                    let wanted = cloud.trim_end_matches('/').replace("AZ", "az");
                    assert!(cfg!(feature = "object-store") && address == wanted, "{address}");
                }
                refused => {
                    let told = refused.unwrap_err().to_string();
                    assert!(!cfg!(feature = "object-store") && told.contains("--features"), "{told}");
                }
            }
        }
    }
}
