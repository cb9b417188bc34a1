//! Databases that can only be folders.

use clap::builder::{PathBufValueParser, TypedValueParser};
use lode_engine::web::is_url;
use std::path::{Path, PathBuf};

/// A folder, as an argument.
pub fn folder() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match refusal(&path) {
        Some(refusal) => Err(refusal),
        None => Ok(path),
    })
}

/// A folder that is worked on, as an argument: who names a server is told that it is done where the folder is.
pub fn folder_to_work_on() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match refusal_of_work(&path) {
        Some(refusal) => Err(refusal),
        None => Ok(path),
    })
}

fn refusal_of_work(path: &Path) -> Option<String> {
    match path.to_str().filter(|text| is_url(text)) {
        None => refusal(path),
        Some(_) => Some(
            "this command takes the folder of a database, and not the address of a server: run it where the folder is, before the server \
             is started or after it has ended; a server keeps up what it finds"
                .to_owned(),
        ),
    }
}

/// A folder, or the address of a server, as an argument.
pub fn folder_or_server() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match path.to_str().and_then(refusal_of_published) {
        Some(refusal) => Err(refusal),
        None => Ok(path),
    })
}

/// What is said where the address of a published database stands.
fn refusal_of_published(name: &str) -> Option<String> {
    const SCHEMES: [&str; 6] = ["file://", "lode+http://", "lode+https://", "s3://", "gs://", "az://"];
    SCHEMES.iter().any(|scheme| name.starts_with(scheme)).then(|| {
        format!(
            "this command takes the folder of a database, and {name} is the address of a published one, which is only read: by lode query, \
             serve, stats, check, dump, validate and why, and by lode restore, which makes a database of it"
        )
    })
}

/// The address that is most likely meant by the name of a folder that is not there: `localhost:7878` lacks its `http://`.
pub fn meant_address(path: &Path) -> Option<String> {
    let text = path.to_str().filter(|_| !path.exists())?;
    let server = text.split('/').next().unwrap_or(text);
    let (host, port) = server.rsplit_once(':')?;
    let is_host = !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || "-.[]:".contains(c));
    (is_host && port.parse::<u16>().is_ok()).then(|| format!("http://{text}"))
}

/// What is said where an address stands for a folder: it would be made one, `http:`, and below it the rest.
pub fn refusal(path: &Path) -> Option<String> {
    let name = path.to_str()?;
    if let Some(refusal) = refusal_of_published(name) {
        return Some(refusal);
    }
    let address = Some(name).filter(|text| is_url(text))?;
    Some(format!(
        "this command takes the folder of a database, and not the address of a server: documents are sent to one by \
         `curl -T FILE '{address}/data?default'`, or by .load in `lode shell {address}`. What is published there is lode+{address} (lode query, stats, check, serve)"
    ))
}

#[cfg(test)]
mod tests {
    use super::{meant_address, refusal, refusal_of_work};
    use std::path::Path;

    #[test]
    fn addresses_of_published_databases_are_no_folders() {
        let said = |text: &str| refusal(Path::new(text)).unwrap_or_default();
        assert!(
            said("file:///srv/db").contains("lode restore")
                && said("lode+https://h/db").contains("published")
        );
        let of_work = |text: &str| refusal_of_work(Path::new(text)).unwrap_or_default();
        assert!(
            of_work("http://h/db").contains("where the folder is") && !of_work("http://h").contains("curl")
        );
        assert!(of_work("s3://b/db").contains("published") && of_work("my.db").is_empty());
        assert!(
            said("http://h/db").contains("curl") && said("my.db").is_empty() && said("file:x").is_empty()
        );
    }

    #[test]
    fn addresses_without_a_scheme() {
        for text in ["localhost:7878", "127.0.0.1:80/db", "[::1]:7878", "data.example.org:8080/a/sparql"] {
            assert_eq!(meant_address(Path::new(text)), Some(format!("http://{text}")));
        }
        for text in
            ["my.db", "localhost", "a:b", ":80", "a b:80", "/folder/x:80", "x:70000", "http://h:80", ""]
        {
            assert_eq!(meant_address(Path::new(text)), None, "{text}");
        }
    }
}
