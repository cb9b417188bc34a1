//! Who the workers are, as far as people say: addresses, a file of them that is read again when it changes, and names that are resolved again. So workers
//! come and go while a head runs.

use crate::address::{Address, AddressError, behind};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io};
use tokio::net::lookup_host;
use tokio::time::timeout;
use url::Url;

/// Names are resolved again after so long.
const RESOLVED_FOR: Duration = Duration::from_secs(5);
const RESOLVE_PATIENCE: Duration = Duration::from_secs(3);
/// A longer file is no list of workers.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// More are taken for a mistake.
const WORKERS_MAX: usize = 4096;

/// Why nobody can be found there.
#[derive(Debug, thiserror::Error)]
pub enum MembersError {
    /// The file cannot be read.
    #[error("the list of workers {path}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is something else in it.
    #[error("the list of workers {path}, line {line}: {source}", path = path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        source: AddressError,
    },
    /// It is too long.
    #[error("the list of workers {path} is too long: at most {WORKERS_MAX} addresses in 1 MiB", path = path.display())]
    Long {
        /// The file.
        path: PathBuf,
    },
}

/// Addresses in the lines of a file; `#` begins a comment.
fn listed(path: &Path) -> Result<Vec<Address>, MembersError> {
    let io = |source| MembersError::Io { path: path.to_owned(), source };
    let long = || MembersError::Long { path: path.to_owned() };
    if fs::metadata(path).map_err(io)?.len() > FILE_BYTES_MAX {
        return Err(long());
    }
    let text = fs::read_to_string(path).map_err(io)?;
    let mut found = Vec::new();
    for (place, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let wrong = |source| MembersError::Line { path: path.to_owned(), line: place + 1, source };
        found.push(Address::of(line).map_err(wrong)?);
        if found.len() > WORKERS_MAX {
            return Err(long());
        }
    }
    Ok(found)
}

/// A name, and those who were behind it when it was last resolved.
#[derive(Debug)]
struct Name {
    host: String,
    port: u16,
    workers: Vec<Url>,
    resolved: Option<Instant>,
}

/// Who the workers are.
#[derive(Debug)]
pub struct Members {
    fixed: Vec<Address>,
    file: Option<PathBuf>,
    listed: Vec<Address>,
    names: Vec<Name>,
    /// What was wrong with the file when it was last read.
    trouble: Option<String>,
}

impl Members {
    /// Those at these addresses and in this file.
    ///
    /// # Errors
    /// Where the file cannot be read, or has something else in it.
    pub fn new(fixed: Vec<Address>, file: Option<PathBuf>) -> Result<Self, MembersError> {
        let listed = file.as_deref().map_or_else(|| Ok(Vec::new()), listed)?;
        let mut members = Self { fixed, file, listed, names: Vec::new(), trouble: None };
        members.take_names();
        Ok(members)
    }

    /// Whether others may be there later.
    pub fn may_change(&self) -> bool {
        self.file.is_some() || !self.names.is_empty()
    }

    /// Whether somebody has to be asked who is behind a name.
    pub fn has_names(&self) -> bool {
        !self.names.is_empty()
    }

    /// What is wrong with the file, if something is: then those stay who were in it before.
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// Looks whether the file has changed, and resolves names that have not been for a while.
    pub async fn look(&mut self) {
        if let Some(path) = self.file.clone() {
            let read = tokio::task::spawn_blocking(move || listed(&path)).await;
            match read {
                Ok(Ok(listed)) => {
                    self.trouble = None;
                    if listed != self.listed {
                        self.listed = listed;
                        self.take_names();
                    }
                }
                Ok(Err(error)) => self.trouble = Some(error.to_string()),
                Err(error) => self.trouble = Some(error.to_string()),
            }
        }
        for name in &mut self.names {
            name.resolve().await;
        }
    }

    /// Each worker once, in no order that matters.
    pub fn workers(&self) -> Vec<Url> {
        let fixed = self.fixed.iter().chain(&self.listed).filter_map(|address| match address {
            Address::Worker(url) => Some(url.clone()),
            Address::Name { .. } => None,
        });
        let behind = self.names.iter().flat_map(|name| name.workers.iter().cloned());
        let all: BTreeSet<Url> = fixed.chain(behind).collect();
        all.into_iter().take(WORKERS_MAX).collect()
    }

    /// Those names that there are now, with whom was behind them before.
    fn take_names(&mut self) {
        let mut before = std::mem::take(&mut self.names);
        for address in self.fixed.iter().chain(&self.listed) {
            let Address::Name { host, port } = address else { continue };
            let is_it = |name: &Name| (&name.host, name.port) == (host, *port);
            if self.names.iter().any(is_it) {
                continue;
            }
            let known = before.iter().position(is_it).map(|place| before.swap_remove(place));
            let new = || Name { host: host.clone(), port: *port, workers: Vec::new(), resolved: None };
            self.names.push(known.unwrap_or_else(new));
        }
    }
}

impl Name {
    /// Where it cannot be resolved, those stay who were there: whether they still are is asked of themselves.
    async fn resolve(&mut self) {
        if self.resolved.is_some_and(|at| at.elapsed() < RESOLVED_FOR) {
            return;
        }
        self.resolved = Some(Instant::now());
        let found = timeout(RESOLVE_PATIENCE, lookup_host((self.host.as_str(), self.port))).await;
        if let Ok(Ok(found)) = found {
            self.workers = found.filter_map(|at| behind(&self.host, self.port, at.ip())).collect();
        }
    }
}

#[cfg(test)]
mod tests {
    //! Files that change, and names.
    use super::*;
    use tokio::runtime::Builder;

    fn look(members: &mut Members) {
        Builder::new_current_thread().enable_all().build().unwrap().block_on(members.look());
    }

    fn texts(members: &Members) -> Vec<String> {
        members.workers().iter().map(Url::to_string).collect()
    }

    #[test]
    fn a_file_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("workers");
        let write = |text: &str| fs::write(&path, text).unwrap();
        write("# ours\n127.0.0.1:1\n\n  https://w.example.org:2   # the other one\r\n127.0.0.1:1\n");
        let fixed = Address::of("127.0.0.1:9").unwrap();
        let mut members = Members::new(vec![fixed], Some(path.clone())).unwrap();
        let before = ["http://127.0.0.1:1/", "http://127.0.0.1:9/", "https://w.example.org:2/"];
        assert_eq!(texts(&members), before);
        write("127.0.0.1:3");
        look(&mut members);
        assert_eq!(texts(&members), ["http://127.0.0.1:3/", "http://127.0.0.1:9/"]);
        // What is wrong, or gone, changes nobody.
        for bad in ["127.0.0.1:3\nworker.example.org:7\n", "\u{0}"] {
            write(bad);
            look(&mut members);
            assert_eq!(texts(&members).len(), 2, "{bad:?}");
            assert!(members.trouble().unwrap().contains("line"), "{:?}", members.trouble());
        }
        fs::remove_file(&path).unwrap();
        look(&mut members);
        assert!(members.trouble().is_some());
        assert_eq!(texts(&members).len(), 2);
        write("");
        look(&mut members);
        assert_eq!((texts(&members), members.trouble()), (vec!["http://127.0.0.1:9/".to_owned()], None));
    }

    #[test]
    fn a_file_that_is_wrong_from_the_start_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("workers");
        let error = |text: &str| {
            fs::write(&path, text).unwrap();
            Members::new(Vec::new(), Some(path.clone())).unwrap_err().to_string()
        };
        assert!(error("127.0.0.1:1\nhttp://10.0.0.1:1\n").contains("line 2"));
        assert!(error(&"127.0.0.1:1\n".repeat(WORKERS_MAX + 1)).contains("too long"));
        assert!(error(&"#".repeat(FILE_BYTES_MAX as usize + 1)).contains("too long"));
        fs::remove_file(&path).unwrap();
        assert!(matches!(Members::new(Vec::new(), Some(path)), Err(MembersError::Io { .. })));
    }

    #[test]
    fn names_are_resolved() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("workers");
        fs::write(&path, "dns:localhost:7\n").unwrap();
        let nobody = Address::of("dns:nobody.invalid:7").unwrap();
        let mut members = Members::new(vec![nobody], Some(path.clone())).unwrap();
        assert!(members.has_names() && members.may_change() && texts(&members).is_empty());
        look(&mut members);
        assert!(texts(&members).contains(&"http://127.0.0.1:7/".to_owned()), "{:?}", texts(&members));
        fs::write(&path, "dns:localhost:8\n").unwrap();
        look(&mut members);
        assert!(texts(&members).iter().all(|text| text.contains(":8")), "{:?}", texts(&members));
        assert!(!texts(&members).is_empty());
    }
}
