//! The databases of a worker: what its command line names, opened at the versions that heads ask for.

use lode_base::cancel::{CancelToken, Cancelled};
use lode_engine::store::{OpenFiles, Snapshot};
use lode_engine::{Database, EngineError, OpenOptions};
use lode_remote::{Address, CacheOptions, Published, ReadOptions, RemoteError, Wanted};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// Versions that stay open: those asked for last.
const VERSIONS_MAX: usize = 8;
/// Who waits for another version to be opened looks so often whether it is called off.
const LOOK: Duration = Duration::from_millis(20);

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
    /// It was called off while others were opened.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
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
    asked: Instant,
}

impl Opened {
    fn is(&self, number: u128, version: u64) -> bool {
        (self.number, self.version) == (number, version)
    }
}

/// All of them. Heads name databases by their random numbers, so they cannot have other files opened than these.
#[derive(Debug)]
pub struct Databases {
    places: Vec<Place>,
    cache: Option<CacheOptions>,
    options: OpenOptions,
    /// The last one asked for is the last.
    open: Mutex<Vec<Opened>>,
    /// Held by who opens one: the same version is opened once, and those that are open are had meanwhile.
    opening: Mutex<()>,
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
        Ok(Self { places, cache, options, open: Mutex::default(), opening: Mutex::default() })
    }

    /// A version, which is open as long as the first of both is held.
    ///
    /// # Errors
    /// Where no place has it, or it cannot be opened.
    pub fn version(
        &self,
        number: u128,
        version: u64,
        cancel: &CancelToken,
    ) -> Result<(Arc<Database>, Snapshot), DatabaseError> {
        if let Some(found) = self.found(number, version) {
            return Ok(at(&found));
        }
        let _turn = self.turn(cancel)?;
        // Another may have opened it meanwhile.
        if let Some(found) = self.found(number, version) {
            return Ok(at(&found));
        }
        let mut others = Vec::new();
        for place in &self.places {
            let opened = match self.open_at(place, version, cancel) {
                Ok(opened) => opened,
                // Another place may have it.
                Err(error) => {
                    others.push(error.to_string());
                    continue;
                }
            };
            if opened.is(number, version) {
                let mut open = self.open();
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

    /// How many versions are open.
    pub fn count(&self) -> usize {
        self.open().len()
    }

    /// Closes what nobody has asked for that long, but of each database the version that was asked for last.
    pub fn close_idle(&self, idle: Duration) {
        let mut open = self.open();
        let mut kept = Vec::new();
        // From the last one asked for on.
        while let Some(opened) = open.pop() {
            let is_last = kept.iter().all(|other: &Opened| other.number != opened.number);
            let is_used = Arc::strong_count(&opened.database) > 1;
            if is_last || is_used || opened.asked.elapsed() < idle {
                kept.push(opened);
            }
        }
        kept.reverse();
        *open = kept;
    }

    fn open(&self) -> MutexGuard<'_, Vec<Opened>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One that is open already, which is the last one asked for now.
    fn found(&self, number: u128, version: u64) -> Option<Opened> {
        let mut open = self.open();
        let place = open.iter().position(|one| one.is(number, version))?;
        let found = Opened { asked: Instant::now(), ..open.remove(place) };
        open.push(found.clone());
        Some(found)
    }

    /// Waits for others who open versions.
    fn turn(&self, cancel: &CancelToken) -> Result<MutexGuard<'_, ()>, Cancelled> {
        loop {
            match self.opening.try_lock() {
                Ok(turn) => return Ok(turn),
                Err(TryLockError::Poisoned(turn)) => return Ok(turn.into_inner()),
                Err(TryLockError::WouldBlock) => {}
            }
            cancel.check()?;
            std::thread::sleep(LOOK);
        }
    }

    /// What a place has: this version if it can be, or else the newest.
    fn open_at(&self, place: &Place, version: u64, cancel: &CancelToken) -> Result<Opened, DatabaseError> {
        let database = match place {
            Place::Folder(folder) => Database::open_for_reading(folder, &self.options, OpenFiles::Now)?,
            Place::Published(address) => {
                self.published(address, version, cancel)?.database(&self.options, OpenFiles::WhenRead)?
            }
        };
        let snapshot = database.snapshot();
        let (number, version) = (snapshot.database_number(), snapshot.version_number());
        Ok(Opened { database: Arc::new(database), number, version, asked: Instant::now() })
    }

    /// A head may have a version that is not the newest any more.
    fn published(
        &self,
        address: &Address,
        version: u64,
        cancel: &CancelToken,
    ) -> Result<Published, DatabaseError> {
        let read = |wanted| {
            let (cache, cancel) = (self.cache.clone(), cancel.clone());
            Published::open(address, &ReadOptions { wanted, cache, cancel, ..ReadOptions::default() })
        };
        let newest = read(Wanted::Newest)?;
        if newest.version().version == version {
            return Ok(newest);
        }
        Ok(read(Wanted::OfDatabase(version)).unwrap_or(newest))
    }
}

fn at(opened: &Opened) -> (Arc<Database>, Snapshot) {
    (Arc::clone(&opened.database), opened.database.snapshot())
}
