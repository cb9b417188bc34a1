//! JSON-LD contexts from a folder: a load fetches nothing, so documents that name a context by its IRI need somebody to put it there.

use anyhow::Context;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The file that says which IRI is in which file.
const INDEX: &str = "index.json";
/// Endings that a file's name may have where the IRI has none.
const ENDINGS: [&str; 3] = ["", ".jsonld", ".json"];

/// A folder with contexts.
///
/// `index.json` in it, if there is one, is an object of IRIs and file names. Any other IRI is looked for by host and path:
/// `https://schema.org/` in `schema.org`, `schema.org.jsonld` or `schema.org.json`, `https://w3id.org/security/v2` in
/// `w3id.org/security/v2`, `w3id.org/security/v2.jsonld` or `w3id.org/security/v2.json`. `http` and `https` are the same.
#[derive(Debug)]
pub struct ContextFolder {
    folder: PathBuf,
    index: HashMap<String, PathBuf>,
    read: Mutex<HashMap<String, Vec<u8>>>,
}

impl ContextFolder {
    /// Opens a folder.
    ///
    /// # Errors
    /// Where it cannot be read, or its index is none.
    pub fn open(folder: &Path) -> anyhow::Result<Self> {
        fs::read_dir(folder).with_context(|| folder.display().to_string())?;
        let path = folder.join(INDEX);
        let index: HashMap<String, String> = if path.exists() {
            let text = fs::read(&path).with_context(|| path.display().to_string())?;
            serde_json::from_slice(&text).with_context(|| {
                format!("{}: is no JSON object of IRIs and names of files", path.display())
            })?
        } else {
            HashMap::new()
        };
        let index = index.into_iter().map(|(iri, name)| (normal(&iri), folder.join(name))).collect();
        Ok(Self { folder: folder.to_owned(), index, read: Mutex::default() })
    }

    /// The text of a context.
    ///
    /// # Errors
    /// Says where it was looked for.
    pub fn load(&self, iri: &str) -> Result<Vec<u8>, String> {
        let mut known = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(text) = known.get(iri) {
            return Ok(text.clone());
        }
        let paths = self.paths(iri);
        let Some(path) = paths.iter().find(|path| path.is_file()) else {
            let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
            return Err(format!(
                "it is not in the folder of --contexts ({}, nor in {INDEX})",
                names.join(", ")
            ));
        };
        let text = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        known.insert(iri.to_owned(), text.clone());
        Ok(text)
    }

    /// Where a context may be.
    fn paths(&self, iri: &str) -> Vec<PathBuf> {
        let name = normal(iri);
        if let Some(path) = self.index.get(&name) {
            return vec![path.clone()];
        }
        let is_odd = |part: &str| part.is_empty() || part == "." || part == "..";
        if name.contains(['\\', '\0']) || name.split('/').any(is_odd) {
            return Vec::new();
        }
        ENDINGS.iter().map(|ending| self.folder.join(format!("{name}{ending}"))).collect()
    }
}

/// Host and path of an IRI.
fn normal(iri: &str) -> String {
    let name = iri.split_once("://").map_or(iri, |(_, name)| name);
    name.split(['?', '#']).next().unwrap_or(name).trim_end_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    //! Where contexts are looked for.
    use super::*;

    #[test]
    fn contexts_are_found_by_index_or_by_host_and_path() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("schema.org.jsonld", "schema");
        write("w3id.org/security/v2.json", "security");
        write("odd.jsonld", "odd");
        write("index.json", r#"{"http://e.org/a?b": "odd.jsonld"}"#);
        let contexts = ContextFolder::open(folder.path()).unwrap();
        let load = |iri| contexts.load(iri).map(|text| String::from_utf8(text).unwrap());
        assert_eq!(load("https://schema.org/").as_deref(), Ok("schema"));
        assert_eq!(load("http://schema.org").as_deref(), Ok("schema"));
        assert_eq!(load("https://w3id.org/security/v2").as_deref(), Ok("security"));
        assert_eq!(load("http://e.org/a").as_deref(), Ok("odd"));
        for none in ["https://schema.org/x", "https://a/../../etc/passwd", ""] {
            assert!(load(none).is_err_and(|error| error.contains("--contexts")), "{none}");
        }
        assert!(ContextFolder::open(&folder.path().join("none")).is_err());
        write("index.json", "[1]");
        assert!(ContextFolder::open(folder.path()).is_err());
    }
}
