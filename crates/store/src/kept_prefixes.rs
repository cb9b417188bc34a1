//! The prefixes that loaded documents declare, kept beside the data: a file of Turtle declarations in the folder of the database, which is the old one
//! or the new one at any time. Nothing depends on it: where it is missing, or somebody has made something else of it, fewer names are known.

use crate::backup::KEPT_PREFIXES;
use crate::kept_files::replace_beside;
use crate::last_prefixes::KeptPrefixes;
use crate::small_file::read_file;
use crate::store::Store;
use lode_base::vfs::Vfs;
use lode_rdf::NamedNode;
use std::path::Path;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// So many are kept.
const PREFIXES_MAX: usize = 1_000;
/// A longer file is none of ours.
const FILE_BYTES_MAX: usize = 1 << 20;
/// Another process may write the file: it is read again after so long.
const REREAD_EVERY: Duration = Duration::from_secs(1);

impl Store {
    /// The prefixes that are kept; none where they cannot be read.
    pub fn prefixes(&self) -> KeptPrefixes {
        let mut last = self.last_prefixes().0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((at, prefixes)) if at.elapsed() < REREAD_EVERY => Arc::clone(prefixes),
            _ => {
                let prefixes = self.read_prefixes();
                *last = Some((Instant::now(), Arc::clone(&prefixes)));
                prefixes
            }
        }
    }

    fn read_prefixes(&self) -> KeptPrefixes {
        prefixes_in(&**self.vfs(), self.folder())
    }

    /// Keeps prefixes, as far as there is room; one that is kept already stays what it is. What cannot be written is not kept, and that is all.
    pub fn keep_prefixes<'a>(&self, new: impl IntoIterator<Item = (&'a str, &'a str)>) {
        if !self.is_writable() {
            return;
        }
        let mut last = self.last_prefixes().0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = self.read_prefixes();
        let all = joined(&known, new);
        if all.len() == known.len() {
            return;
        }
        let is_written = replace_beside(self, KEPT_PREFIXES, encode_prefixes(&all).as_bytes()).is_ok();
        *last = Some((Instant::now(), if is_written { all.into() } else { known }));
    }
}

/// Prefixes that are kept, and new ones as far as there is room, sorted.
pub fn joined<'a>(
    known: &[(String, String)],
    new: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Vec<(String, String)> {
    let mut all = known.to_vec();
    for (name, iri) in new.into_iter().filter(|(name, iri)| is_fit(name, iri)) {
        if all.len() < PREFIXES_MAX && !all.iter().any(|(known, _)| known == name) {
            all.push((name.to_owned(), iri.to_owned()));
        }
    }
    all.sort();
    all
}

/// The prefixes that a database in a folder keeps; none where they cannot be read.
pub fn prefixes_in(vfs: &dyn Vfs, folder: &Path) -> KeptPrefixes {
    let read = read_file(vfs, &folder.join(KEPT_PREFIXES), FILE_BYTES_MAX);
    let text = read.ok().flatten().and_then(|text| String::from_utf8(text).ok()).unwrap_or_default();
    let declared = text.lines().filter_map(declaration).take(PREFIXES_MAX);
    let mut all: Vec<_> = declared.map(|(name, iri)| (name.to_owned(), iri.to_owned())).collect();
    all.sort();
    all.dedup_by(|later, first| later.0 == first.0);
    all.into()
}

/// The text of the file that keeps them.
pub fn encode_prefixes(prefixes: &[(String, String)]) -> String {
    prefixes.iter().map(|(name, iri)| format!("PREFIX {name}: <{iri}>\n")).collect()
}

/// The prefix that a line of the file declares.
fn declaration(line: &str) -> Option<(&str, &str)> {
    let (name, iri) = line.strip_prefix("PREFIX ")?.split_once(": <")?;
    let iri = iri.strip_suffix('>')?;
    is_fit(name, iri).then_some((name, iri))
}

/// Whether every syntax takes it: names may have more than these characters, but hardly have.
fn is_fit(name: &str, iri: &str) -> bool {
    let is_name = name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c))
        && !name.starts_with(|c: char| !c.is_alphabetic())
        && !name.ends_with('.');
    is_name && NamedNode::new(iri).is_ok()
}

#[cfg(test)]
mod tests;
