//! A published version, open for reading.

use crate::address::Address;
use crate::cache::ObjectCache;
use crate::counters::RemoteCounters;
use crate::error::RemoteError;
use crate::files::PublishedFiles;
use crate::follow::Follower;
use crate::object::ObjectStore;
use crate::opening::{Counted, KnownSegments, Opening, known_segments};
use crate::version::PublishedVersion;
use crate::versions::Wanted;
use crate::web::WebOptions;
use lode_base::cancel::{self, CancelToken};
use lode_base::real_vfs::RealVfs;
use lode_base::vfs::Vfs;
use lode_engine::store::OpenFiles;
use lode_engine::{Database, EngineError, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where parts of objects are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheOptions {
    /// The folder.
    pub folder: PathBuf,
    /// The most that it may take.
    pub bytes_max: u64,
}

/// How a published database is read.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// Which version.
    pub wanted: Wanted,
    /// The cache on local disk. Without it, what is far away is fetched again whenever it is read again.
    pub cache: Option<CacheOptions>,
    /// How a web server is talked to.
    pub web: WebOptions,
    /// Calls the opening off.
    pub cancel: CancelToken,
}

/// A published version, open.
#[derive(Debug)]
pub struct Published {
    version: PublishedVersion,
    files: Arc<PublishedFiles>,
    known: KnownSegments,
    root: PathBuf,
    opening: Opening,
    beside: Arc<dyn Vfs>,
}

impl Published {
    /// Finds the version, and reads what is needed to open its segments.
    ///
    /// # Errors
    /// Where there is no such version, the store cannot be read, what it gives is damaged, or it needs a cache and there is none.
    pub fn open(address: &Address, options: &ReadOptions) -> Result<Self, RemoteError> {
        let store = match (address, &options.cache) {
            // Somebody wants the cache, as for a folder that is mounted from elsewhere.
            (Address::Folder(path), Some(_)) => Address::distant_folder(path),
            _ => address.store(options.web)?,
        };
        let root = PathBuf::from(address.to_string());
        Self::open_store(store, &root, options, RealVfs::shared())
    }

    /// The same for any store; `root` stands for its address in paths, and all other paths are in `beside`.
    ///
    /// # Errors
    /// As [`Published::open`].
    pub fn open_store(
        store: Arc<dyn ObjectStore>,
        root: &Path,
        options: &ReadOptions,
        beside: Arc<dyn Vfs>,
    ) -> Result<Self, RemoteError> {
        let counters = Arc::new(RemoteCounters::default());
        let cache = match &options.cache {
            Some(CacheOptions { folder, bytes_max }) => {
                let opened = ObjectCache::open(folder, *bytes_max, store.name());
                Some(Arc::new(opened.map_err(RemoteError::io(folder.display().to_string()))?))
            }
            None => None,
        };
        let counted: Arc<dyn ObjectStore> = Arc::new(Counted { store, counters: Arc::clone(&counters) });
        let opening = Opening { store: counted, cache, counters: Arc::clone(&counters) };
        let (version, files) =
            cancel::with_current(Some(&options.cancel), || opening.newest_or(&options.wanted))?;
        let known = known_segments(&version, &files);
        let files = opening.files(root, &version, files, Arc::clone(&beside));
        Ok(Self { version, files: Arc::new(files), known, root: root.to_owned(), opening, beside })
    }

    /// Which it is.
    pub fn version(&self) -> &PublishedVersion {
        &self.version
    }

    /// Its files, below [`Published::root`].
    pub fn files(&self) -> Arc<dyn Vfs> {
        Arc::clone(&self.files) as Arc<dyn Vfs>
    }

    /// What stands for the folder of the database.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What was asked of the store.
    pub fn counters(&self) -> &Arc<RemoteCounters> {
        &self.opening.counters
    }

    /// What has the database go on to later versions.
    pub fn follower(&self) -> Follower {
        let at = (self.version.clone(), self.known.clone());
        Follower::new(self.opening.clone(), self.root.clone(), Arc::clone(&self.beside), at)
    }

    /// The database, for reading.
    ///
    /// # Errors
    /// Where something of it cannot be read or is damaged.
    pub fn database(&self, options: &OpenOptions, files: OpenFiles) -> Result<Database, EngineError> {
        Database::open_on(self.files(), &self.root, options, files)
    }
}
