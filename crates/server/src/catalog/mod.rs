//! Several databases in one server: each folder in a folder is one, and has its addresses below its name.
//!
//! They share all that [`Shared`] has: memory, places for queries, users. What the administration does with a database (makes, opens,
//! closes, renames, drops it) goes one after the other; a database is closed once its last request has ended.

mod admin;
mod closing;
mod index;
mod name;
mod one_address;
mod root;
mod routes;

pub(crate) use routes::router as catalog_router;

use crate::database_routes::database_router;
use crate::error::HttpError;
use crate::running::Running;
use crate::state::{AppState, Served, Shared, blocking};
use axum::Router;
use axum::http::StatusCode;
use lode_engine::EngineError;
use lode_engine::store::{DatabaseFolders, StoreError};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

/// Whether a database must be there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// One that is there.
    Existing,
    /// A new one, where there is nothing.
    New,
}

/// Opens a database; none where the folder has none. The error is for people.
pub type Opener = Box<dyn Fn(&Path, Wish) -> Result<Option<Served>, String> + Send + Sync>;

/// The databases of a server.
pub struct Databases {
    /// Whose folders they are.
    pub folder: PathBuf,
    /// How to open one.
    pub opener: Opener,
    /// Whether they may not be made, renamed or dropped.
    pub is_read_only: bool,
}

/// Why a database is closed that was not to be open.
const CLOSED: &str = "it was closed: POST /admin/databases/NAME/open opens it";

/// The databases as they are now.
pub(crate) struct Catalog {
    folders: DatabaseFolders,
    opener: Opener,
    is_read_only: bool,
    shared: Arc<Shared>,
    entries: RwLock<BTreeMap<String, Entry>>,
    /// One change after the other.
    change: tokio::sync::Mutex<()>,
}

/// A database.
#[derive(Clone)]
enum Entry {
    Open(Arc<Mounted>),
    /// It answers nothing, for this reason.
    Closed(String),
}

/// A database that is open.
struct Mounted {
    state: Arc<AppState>,
    router: Router,
}

impl Mounted {
    fn new(state: Arc<AppState>) -> Arc<Self> {
        let router = database_router(&state, one_address::routes());
        Arc::new(Self { state, router })
    }
}

impl Catalog {
    /// Opens all that there are. One that cannot be opened stays closed, and the others are served.
    pub(crate) fn open(databases: Databases, shared: &Arc<Shared>) -> Result<Self, StoreError> {
        let Databases { folder, opener, is_read_only } = databases;
        let folders = DatabaseFolders::new(&folder);
        if !is_read_only {
            folders.remove_dropped()?;
        }
        let names = folders.names()?;
        let (shared, entries, change) =
            (Arc::clone(shared), RwLock::default(), tokio::sync::Mutex::default());
        let catalog = Self { folders, opener, is_read_only, shared, entries, change };
        for name in names.iter().filter(|name| name::is_fit(name)) {
            match (catalog.opener)(&catalog.folders.path(name), Wish::Existing) {
                Ok(Some(served)) => catalog.put(name, catalog.mounted(name, served)),
                Ok(None) => {}
                Err(why) => {
                    tracing::error!("{name}: {why}; it stays closed");
                    catalog.put(name, Entry::Closed(why));
                }
            }
        }
        Ok(catalog)
    }

    fn mounted(&self, name: &str, served: Served) -> Entry {
        let state = Arc::new(AppState::new(&self.shared, Some(name.to_owned()), served));
        Entry::Open(Mounted::new(state))
    }

    fn put(&self, name: &str, entry: Entry) {
        // What is guarded here is whole at any time.
        self.entries.write().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), entry);
    }

    fn remove(&self, name: &str) {
        self.entries.write().unwrap_or_else(PoisonError::into_inner).remove(name);
    }

    fn get(&self, name: &str) -> Option<Entry> {
        self.entries.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// All of them, by name.
    fn all(&self) -> Vec<(String, Entry)> {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        entries.iter().map(|(name, entry)| (name.clone(), entry.clone())).collect()
    }

    /// How many are open, and how many closed.
    pub(crate) fn figures(&self) -> (usize, usize) {
        let all = self.all();
        let open = all.iter().filter(|(_, entry)| matches!(entry, Entry::Open(_))).count();
        (open, all.len() - open)
    }

    /// The requests of all databases.
    fn running(&self) -> Vec<(String, Arc<Running>)> {
        let open = |(name, entry)| match entry {
            Entry::Open(mounted) => Some((name, Arc::clone(&mounted.state.running))),
            Entry::Closed(_) => None,
        };
        self.all().into_iter().filter_map(open).collect()
    }

    /// Stops all requests, since the server ends.
    pub(crate) fn cancel_all(&self) {
        self.running().iter().for_each(|(_, running)| running.cancel_all());
    }

    fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    fn check_writable(&self) -> Result<(), HttpError> {
        if self.is_read_only {
            let message = "this server is read-only: it makes, renames and drops no databases";
            return Err(HttpError::new(StatusCode::FORBIDDEN, message));
        }
        Ok(())
    }

    /// Makes an empty database.
    async fn create(self: &Arc<Self>, name: &str) -> Result<(), HttpError> {
        self.check_writable()?;
        name::check(name)?;
        let _turn = self.change.lock().await;
        if self.get(name).is_some() || self.folders.exists(name) {
            return Err(conflict(format!("there is a database {name}, or something else with this name")));
        }
        self.open_one(name, Wish::New).await
    }

    /// Opens a database that was closed, or could not be opened.
    async fn reopen(self: &Arc<Self>, name: &str) -> Result<(), HttpError> {
        let _turn = self.change.lock().await;
        match self.get(name) {
            None => Err(unknown(name)),
            Some(Entry::Open(_)) => Ok(()),
            Some(Entry::Closed(_)) => self.open_one(name, Wish::Existing).await,
        }
    }

    async fn open_one(self: &Arc<Self>, name: &str, wish: Wish) -> Result<(), HttpError> {
        let (this, path) = (Arc::clone(self), self.folders.path(name));
        let opened = blocking(move || Ok((this.opener)(&path, wish))).await?;
        let entry = match opened {
            Ok(Some(served)) => self.mounted(name, served),
            Ok(None) => return Err(unknown(name)),
            Err(why) if wish == Wish::New => {
                return Err(HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, why));
            }
            Err(why) => {
                self.put(name, Entry::Closed(why.clone()));
                return Err(HttpError::new(StatusCode::SERVICE_UNAVAILABLE, why));
            }
        };
        self.put(name, entry);
        Ok(())
    }

    /// Closes a database: new requests are refused, those on their way may end for a short time and are then stopped.
    async fn close(&self, name: &str) -> Result<(), HttpError> {
        let _turn = self.change.lock().await;
        self.close_one(name, CLOSED).await
    }

    async fn close_one(&self, name: &str, why: &str) -> Result<(), HttpError> {
        match self.get(name) {
            None => Err(unknown(name)),
            Some(Entry::Closed(_)) => Ok(()),
            Some(Entry::Open(mounted)) => {
                self.put(name, Entry::Closed(why.to_owned()));
                let state = Arc::clone(&mounted.state);
                drop(mounted);
                closing::end(state).await.map_err(|state| {
                    self.put(name, Entry::Open(Mounted::new(state)));
                    conflict(
                        "requests of this database do not end: it stays open, try again later".to_owned(),
                    )
                })
            }
        }
    }

    /// Gives a database another name.
    async fn rename(self: &Arc<Self>, from: &str, to: &str) -> Result<(), HttpError> {
        self.check_writable()?;
        name::check(to)?;
        let _turn = self.change.lock().await;
        if self.get(to).is_some() || self.folders.exists(to) {
            return Err(conflict(format!("there is a database {to}, or something else with this name")));
        }
        let was_open = matches!(self.get(from), Some(Entry::Open(_)));
        self.close_one(from, "it is being renamed").await?;
        let (old, new) = (from.to_owned(), to.to_owned());
        if let Err(error) = self.in_folder(move |folders| folders.rename(&old, &new)).await {
            if was_open {
                self.open_one(from, Wish::Existing).await?;
            } else {
                self.put(from, Entry::Closed(CLOSED.to_owned()));
            }
            return Err(error);
        }
        self.remove(from);
        self.put(to, Entry::Closed(CLOSED.to_owned()));
        if was_open { self.open_one(to, Wish::Existing).await } else { Ok(()) }
    }

    /// Closes a database and removes its files. What is there of them at a crash is removed at the next start.
    async fn drop_database(self: &Arc<Self>, name: &str) -> Result<(), HttpError> {
        self.check_writable()?;
        let _turn = self.change.lock().await;
        let was_open = matches!(self.get(name), Some(Entry::Open(_)));
        self.close_one(name, "it is being dropped").await?;
        let dropped = name.to_owned();
        let removed = self.in_folder(move |folders| folders.remove(&dropped)).await;
        if removed.is_ok() || !self.folders.exists(name) {
            self.remove(name);
        } else if was_open {
            self.open_one(name, Wish::Existing).await?;
        } else {
            self.put(name, Entry::Closed(CLOSED.to_owned()));
        }
        removed
    }

    async fn in_folder(
        &self,
        work: impl FnOnce(&DatabaseFolders) -> Result<(), StoreError> + Send + 'static,
    ) -> Result<(), HttpError> {
        let folders = self.folders.clone();
        blocking(move || match work(&folders) {
            Err(StoreError::Locked { .. }) => {
                Err(conflict("it is locked: another process has it".to_owned()))
            }
            done => Ok(done.map_err(EngineError::from)?),
        })
        .await
    }
}

fn unknown(name: &str) -> HttpError {
    HttpError::new(StatusCode::NOT_FOUND, format!("there is no database {name}"))
}

fn conflict(message: String) -> HttpError {
    HttpError::new(StatusCode::CONFLICT, message)
}
