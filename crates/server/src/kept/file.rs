//! The kept queries of a database, and their file in its folder: written so that it is the old one or the new one at any time. A backup has it,
//! too.

use super::entry::KeptQuery;
use crate::error::HttpError;
use axum::http::StatusCode;
use lode_engine::EngineError;
use lode_engine::MemoryBudget;
use lode_engine::Reservation;
use lode_engine::store::Store;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The most queries of a database,
const QUERIES_MAX: usize = 1_000;
/// and bytes of all of them.
const BYTES_MAX: usize = 8 << 20;
/// A file of more bytes is none of ours.
const FILE_BYTES_MAX: usize = 64 << 20;
/// A server that does not write the file reads it again so often, at most.
const REREAD_EVERY: Duration = Duration::from_secs(1);
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
    state: Mutex<State>,
    /// One change after the other.
    pub(crate) change: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    queries: Arc<Queries>,
    /// Why the file cannot be used, which is then left as it is.
    broken: Option<String>,
    /// When it was read last.
    read_at: Option<Instant>,
    _memory: Option<Reservation>,
}

impl State {
    /// What the file has.
    fn read(store: &Store, memory: Option<&MemoryBudget>) -> Self {
        let read_at = Some(Instant::now());
        let read = read(store).and_then(|queries| {
            let held = memory.map(|memory| memory.reserve(bytes_of(&queries))).transpose();
            let held = held.map_err(|error| error.to_string())?;
            Ok(Self { queries: Arc::new(queries), broken: None, read_at, _memory: held })
        });
        read.unwrap_or_else(|why| Self { broken: Some(why), read_at, ..Self::default() })
    }
}

impl Kept {
    /// Those of a database.
    pub(crate) fn of(store: &Store, memory: Option<&MemoryBudget>) -> Self {
        let state = State::read(store, memory);
        if let Some(why) = &state.broken {
            let folder = store.folder().display();
            tracing::error!("{folder}: {why}; the kept queries of this database are not there");
        }
        Self { state: Mutex::new(state), change: tokio::sync::Mutex::default() }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        // What is guarded here is whole at any time.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All of them as they are now.
    pub(crate) fn all(&self) -> Result<Arc<Queries>, HttpError> {
        let state = self.lock();
        match &state.broken {
            None => Ok(Arc::clone(&state.queries)),
            Some(_) => Err(HttpError::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "the file of kept queries cannot be read: the server's log says why",
            )),
        }
    }

    /// The same, for who serves requests: where another process writes to the database, its changes are seen within a second.
    pub(crate) fn now(
        &self,
        store: &Store,
        memory: Option<&MemoryBudget>,
    ) -> Result<Arc<Queries>, HttpError> {
        if !store.is_writable() {
            let mut state = self.lock();
            if state.read_at.is_none_or(|at| at.elapsed() >= REREAD_EVERY) {
                // What they held is given back first: there may be no room for both.
                *state = State::default();
                *state = State::read(store, memory);
            }
        }
        self.all()
    }

    /// Puts one in, or takes it out (none); whether there was one before. Durable when it returns. Who calls it has the turn.
    pub(crate) fn set(
        &self,
        id: &str,
        query: Option<KeptQuery>,
        store: &Store,
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
        let text = written(&queries);
        let text =
            text.map_err(|error| HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
        store.keep_queries(&text).map_err(EngineError::from)?;
        let mut state = self.lock();
        (state.queries, state._memory) = (Arc::new(queries), held);
        Ok(before.is_some())
    }
}

fn bytes_of(queries: &Queries) -> usize {
    queries.iter().map(|(id, query)| id.len() + query.bytes()).sum()
}

/// Reads the file; nothing where there is none.
fn read(store: &Store) -> Result<Queries, String> {
    let Some(text) = store.kept_queries(FILE_BYTES_MAX).map_err(|error| error.to_string())? else {
        return Ok(Queries::new());
    };
    let whole: Whole<BTreeMap<String, KeptQuery>> =
        serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    if whole.version != VERSION {
        return Err(format!("it is of version {}, and this program knows {VERSION}", whole.version));
    }
    Ok(whole.queries.into_iter().map(|(id, query)| (id, Arc::new(query))).collect())
}

/// The text of the file.
fn written(queries: &Queries) -> serde_json::Result<Vec<u8>> {
    let queries: BTreeMap<&str, &KeptQuery> =
        queries.iter().map(|(id, query)| (id.as_str(), &**query)).collect();
    let mut text = serde_json::to_vec_pretty(&Whole { version: VERSION, queries })?;
    text.push(b'\n');
    Ok(text)
}

#[cfg(test)]
mod tests {
    //! What is written is read again; what cannot be read is left alone.
    use super::super::entry::{KeptQuery, Runner};
    use super::Kept;
    use lode_engine::store::WriteOptions;
    use lode_engine::{Database, OpenOptions};

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
        let database = Database::in_memory().unwrap();
        let store = database.store();
        let kept = Kept::of(store, None);
        assert!(!kept.set("a", Some(query("ASK {}")), store, None).unwrap());
        assert!(kept.set("a", Some(query("ASK { }")), store, None).unwrap());
        assert!(!kept.set("b", Some(query("ASK {}")), store, None).unwrap());
        let again = Kept::of(store, None);
        assert_eq!(*again.all().unwrap(), *kept.all().unwrap());
        assert!(again.set("a", None, store, None).unwrap() && !again.set("a", None, store, None).unwrap());
        assert_eq!(Kept::of(store, None).all().unwrap().len(), 1);
        let long = "x".repeat(super::BYTES_MAX);
        assert_eq!(again.set("c", Some(query(&long)), store, None).unwrap_err().status.as_u16(), 413);
    }

    #[test]
    fn who_only_reads_sees_what_another_process_keeps() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        let options = OpenOptions::default();
        let writer = Database::create_or_open_for_writing(&path, &options, WriteOptions::default()).unwrap();
        let reader = Database::open(&path, &options).unwrap();
        let (theirs, ours) = (Kept::of(writer.store(), None), Kept::of(reader.store(), None));
        assert!(!reader.store().is_writable() && writer.store().is_writable());
        theirs.set("a", Some(query("ASK {}")), writer.store(), None).unwrap();
        assert_eq!(ours.now(reader.store(), None).unwrap().len(), 0, "it was read just now");
        ours.lock().read_at = None;
        assert_eq!(*ours.now(reader.store(), None).unwrap(), *theirs.all().unwrap());
    }

    #[test]
    fn a_file_that_cannot_be_read_is_left_as_it_is() {
        let database = Database::in_memory().unwrap();
        let store = database.store();
        for text in
            ["nonsense", "{\"version\":2,\"queries\":{}}", "{\"version\":1,\"queries\":{},\"more\":1}"]
        {
            store.keep_queries(text.as_bytes()).unwrap();
            let kept = Kept::of(store, None);
            assert_eq!(kept.all().unwrap_err().status.as_u16(), 500);
            assert!(kept.set("a", Some(query("ASK {}")), store, None).is_err());
            assert_eq!(store.kept_queries(1 << 20).unwrap().unwrap(), text.as_bytes());
        }
    }
}
