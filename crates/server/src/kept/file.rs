//! The kept queries of a database, and their file in its folder: written so that it is the old one or the new one at any time. A backup has it,
//! too.

use super::entry::KeptQuery;
use crate::error::HttpError;
use axum::http::StatusCode;
use lode_engine::MemoryBudget;
use lode_engine::Reservation;
use lode_engine::store::KEPT_QUERIES;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The most queries of a database,
const QUERIES_MAX: usize = 1_000;
/// and bytes of all of them.
const BYTES_MAX: usize = 8 << 20;
/// A file of more bytes is none of ours.
const FILE_BYTES_MAX: u64 = 64 << 20;
/// The form that this program writes.
const VERSION: u32 = 1;

/// By their names.
type Queries = BTreeMap<String, Arc<KeptQuery>>;

/// The file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Whole<Q> {
    version: u32,
    queries: Q,
}

/// Those of a database.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// None of a database in memory.
    path: Option<PathBuf>,
    state: Mutex<State>,
    /// One change after the other.
    pub(super) change: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    queries: Arc<Queries>,
    /// Why the file cannot be used, which is then left as it is.
    broken: Option<String>,
    _memory: Option<Reservation>,
}

impl Kept {
    /// Those of the folder of a database.
    pub(crate) fn of(folder: &Path, memory: Option<&MemoryBudget>) -> Self {
        // Of one in memory there is no such folder.
        let path = folder.join("MANIFEST").is_file().then(|| folder.join(KEPT_QUERIES));
        let read = path.as_deref().map_or_else(|| Ok(Queries::new()), read);
        let read = read.and_then(|queries| {
            let held = memory.map(|memory| memory.reserve(bytes_of(&queries))).transpose();
            let held = held.map_err(|error| error.to_string())?;
            Ok(State { queries: Arc::new(queries), broken: None, _memory: held })
        });
        let state = read.unwrap_or_else(|why| {
            let shown = path.as_deref().unwrap_or(folder).display();
            tracing::error!("{shown}: {why}; the kept queries of this database are not there");
            State { broken: Some(why), ..State::default() }
        });
        Self { path, state: Mutex::new(state), change: tokio::sync::Mutex::default() }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        // What is guarded here is whole at any time.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All of them as they are now.
    pub(super) fn all(&self) -> Result<Arc<Queries>, HttpError> {
        let state = self.lock();
        match &state.broken {
            None => Ok(Arc::clone(&state.queries)),
            Some(_) => Err(HttpError::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "the file of kept queries cannot be read: the server's log says why",
            )),
        }
    }

    /// Puts one in, or takes it out (none); whether there was one before. Durable when it returns. Who calls it has the turn.
    pub(super) fn set(
        &self,
        id: &str,
        query: Option<KeptQuery>,
        memory: Option<&MemoryBudget>,
    ) -> Result<bool, HttpError> {
        let mut queries = (*self.all()?).clone();
        let before = match query {
            Some(query) => queries.insert(id.to_owned(), Arc::new(query)),
            None => queries.remove(id),
        };
        let (count, bytes) = (queries.len(), bytes_of(&queries));
        if count > QUERIES_MAX || bytes > BYTES_MAX {
            let message = format!(
                "a database keeps up to {QUERIES_MAX} queries of {} MiB together: remove some first",
                BYTES_MAX >> 20
            );
            return Err(HttpError::new(StatusCode::PAYLOAD_TOO_LARGE, message));
        }
        let held = memory.map(|memory| memory.reserve(bytes)).transpose();
        let held =
            held.map_err(|_| HttpError::busy("there is no memory to keep more queries: try again later"))?;
        if let Some(path) = &self.path {
            write(path, &queries).map_err(|error| failed(path, &error))?;
        }
        let mut state = self.lock();
        (state.queries, state._memory) = (Arc::new(queries), held);
        Ok(before.is_some())
    }
}

fn bytes_of(queries: &Queries) -> usize {
    queries.iter().map(|(id, query)| id.len() + query.bytes()).sum()
}

/// Reads the file; nothing where there is none.
fn read(path: &Path) -> Result<Queries, String> {
    let mut text = String::new();
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Queries::new()),
        file => file.map_err(|error| error.to_string())?,
    };
    file.take(FILE_BYTES_MAX).read_to_string(&mut text).map_err(|error| error.to_string())?;
    let whole: Whole<BTreeMap<String, KeptQuery>> =
        serde_json::from_str(&text).map_err(|error| error.to_string())?;
    if whole.version != VERSION {
        return Err(format!("it is of version {}, and this program knows {VERSION}", whole.version));
    }
    Ok(whole.queries.into_iter().map(|(id, query)| (id, Arc::new(query))).collect())
}

fn write(path: &Path, queries: &Queries) -> io::Result<()> {
    let new = path.with_extension("new");
    let mut file = File::create(&new)?;
    let queries: BTreeMap<&str, &KeptQuery> =
        queries.iter().map(|(id, query)| (id.as_str(), &**query)).collect();
    serde_json::to_writer_pretty(&mut file, &Whole { version: VERSION, queries })?;
    file.write_all(b"\n")?;
    file.sync_all()?;
    std::fs::rename(&new, path)?;
    File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
}

fn failed(path: &Path, error: &io::Error) -> HttpError {
    let is_full = matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
    let status = if is_full { StatusCode::INSUFFICIENT_STORAGE } else { StatusCode::INTERNAL_SERVER_ERROR };
    let message = "the file of kept queries could not be written: nothing was changed";
    HttpError { details: Some(format!("{}: {error}", path.display())), ..HttpError::new(status, message) }
}

#[cfg(test)]
mod tests {
    //! What is written is read again; what cannot be read is left alone.
    use super::super::entry::{KeptQuery, Runner};
    use super::{KEPT_QUERIES, Kept};

    fn query(text: &str) -> KeptQuery {
        let (description, limits) = (String::new(), "rows=3".to_owned());
        KeptQuery {
            text: text.to_owned(),
            description,
            role: Runner::Anybody,
            limits,
            parameters: Vec::new(),
        }
    }

    #[test]
    fn queries_survive() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("MANIFEST"), "").unwrap();
        let kept = Kept::of(folder.path(), None);
        assert!(!kept.set("a", Some(query("ASK {}")), None).unwrap());
        assert!(kept.set("a", Some(query("ASK { }")), None).unwrap());
        assert!(!kept.set("b", Some(query("ASK {}")), None).unwrap());
        let again = Kept::of(folder.path(), None);
        assert_eq!(*again.all().unwrap(), *kept.all().unwrap());
        assert!(again.set("a", None, None).unwrap() && !again.set("a", None, None).unwrap());
        assert_eq!(Kept::of(folder.path(), None).all().unwrap().len(), 1);
        let long = "x".repeat(super::BYTES_MAX);
        assert_eq!(again.set("c", Some(query(&long)), None).unwrap_err().status.as_u16(), 413);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("MANIFEST"), "").unwrap();
        let path = folder.path().join(KEPT_QUERIES);
        for text in
            ["nonsense", "{\"version\":2,\"queries\":{}}", "{\"version\":1,\"queries\":{},\"more\":1}"]
        {
            std::fs::write(&path, text).unwrap();
            let kept = Kept::of(folder.path(), None);
            assert_eq!(kept.all().unwrap_err().status.as_u16(), 500);
            assert!(kept.set("a", Some(query("ASK {}")), None).is_err());
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }
}
