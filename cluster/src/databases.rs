//! The databases of a worker: what its command line names, opened at the versions that heads ask for.

use lode_base::cancel::CancelToken;
use lode_engine::store::{OpenFiles, Snapshot};
use lode_engine::{Database, EngineError, OpenOptions};
use lode_remote::{Address, CacheOptions, Published, ReadOptions, RemoteError};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Versions that stay open: those asked for last.
const VERSIONS_MAX: usize = 8;

/// Why a version is not open.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// No database has it.
    #[error("version {version} of the database is at none of the places of this worker{found}")]
    Missing {
        /// The version.
        version: u64,
        /// What there is instead.
        found: String,
    },
    /// It cannot be opened.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// It cannot be read where it is published.
    #[error(transparent)]
    Remote(#[from] RemoteError),
}

/// Where a database is.
#[derive(Debug, Clone)]
enum Place {
    Folder(PathBuf),
    Published(Address),
}

/// An open version.
#[derive(Debug, Clone)]
struct Opened {
    database: Arc<Database>,
    number: u128,
    version: u64,
}

/// All of them. Heads name databases by their random numbers, so they cannot have other files opened than these.
#[derive(Debug)]
pub struct Databases {
    places: Vec<Place>,
    cache: Option<CacheOptions>,
    options: OpenOptions,
    /// The last one asked for is the last.
    open: Mutex<Vec<Opened>>,
}

impl Databases {
    /// Those at these places: folders, or addresses of published databases, which are read through this cache.
    ///
    /// # Errors
    /// Where an address is none.
    pub fn new(
        places: &[String],
        cache: Option<CacheOptions>,
        options: OpenOptions,
    ) -> Result<Self, DatabaseError> {
        let place = |name: &String| {
            Ok(match Address::of_database(name)? {
                Some(address) => Place::Published(address),
                None => Place::Folder(name.into()),
            })
        };
        let places = places.iter().map(place).collect::<Result<_, DatabaseError>>()?;
        Ok(Self { places, cache, options, open: Mutex::default() })
    }

    /// A version, which is open as long as the first of both is held. Waits while another version is being opened.
    ///
    /// # Errors
    /// Where no place has it, or it cannot be opened.
    pub fn version(
        &self,
        number: u128,
        version: u64,
        cancel: &CancelToken,
    ) -> Result<(Arc<Database>, Snapshot), DatabaseError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = open.iter().position(|one| (one.number, one.version) == (number, version)) {
            let found = open.remove(place);
            open.push(found.clone());
            return Ok(at(&found));
        }
        let mut others = Vec::new();
        for place in &self.places {
            let opened = match self.open_at(place, cancel) {
                Ok(opened) => opened,
                // Another place may have it.
                Err(error) => {
                    others.push(error.to_string());
                    continue;
                }
            };
            if (opened.number, opened.version) == (number, version) {
                open.retain(|one| (one.number, one.version) != (number, version));
                open.push(opened.clone());
                let more = open.len().saturating_sub(VERSIONS_MAX);
                open.drain(..more);
                return Ok(at(&opened));
            }
            if opened.number == number {
                others.push(format!("version {} is", opened.version));
            }
        }
        let found = if others.is_empty() { String::new() } else { format!(" ({})", others.join("; ")) };
        Err(DatabaseError::Missing { version, found })
    }

    /// The newest version at a place.
    fn open_at(&self, place: &Place, cancel: &CancelToken) -> Result<Opened, DatabaseError> {
        let database = match place {
            Place::Folder(folder) => Database::open_for_reading(folder, &self.options, OpenFiles::Now)?,
            Place::Published(address) => {
                let read = ReadOptions {
                    cache: self.cache.clone(),
                    cancel: cancel.clone(),
                    ..ReadOptions::default()
                };
                Published::open(address, &read)?.database(&self.options, OpenFiles::WhenRead)?
            }
        };
        let snapshot = database.snapshot();
        let (number, version) = (snapshot.database_number(), snapshot.version_number());
        Ok(Opened { database: Arc::new(database), number, version })
    }
}

fn at(opened: &Opened) -> (Arc<Database>, Snapshot) {
    (Arc::clone(&opened.database), opened.database.snapshot())
}
