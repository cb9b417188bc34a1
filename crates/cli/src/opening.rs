//! How a server opens its databases, with what works on them beside requests.

use crate::args::{CacheArgs, ServeArgs};
use crate::link_thread::LinkThread;
use crate::memory::SharedMemory;
use crate::number;
use crate::published;
use crate::shapes::Guard;
use crate::talk::{say, say_found_log, tell_damaged_snapshots};
use anyhow::bail;
use lode_engine::store::{
    BackgroundOptions, CommitCheck, Compactor, Maintenance, OpenFiles, StoreError, Warmer, WriteOptions,
};
use lode_engine::{CancelToken, Database, EngineError, OpenOptions, Upkeeper, UpkeeperOptions};
use lode_remote::Address;
use lode_server::{Databases, Served, Wish};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// What is the same for all databases of a server.
pub struct Opening {
    open: OpenOptions,
    /// How changes are written; none where nothing is changed.
    write: Option<WriteOptions>,
    background: BackgroundOptions,
    upkeep: UpkeeperOptions,
    is_compaction_paused: bool,
    /// Whether what was hot is read at the start, and noted for the next one.
    is_kept_warm: bool,
    /// Whether a folder without a database gets one.
    makes_one: bool,
    /// What changes must keep.
    guard: Option<Guard>,
}

impl Opening {
    /// What the options say.
    ///
    /// # Errors
    /// Where the shapes that changes must keep cannot be read.
    pub fn new(args: &ServeArgs, memory: &SharedMemory) -> anyhow::Result<Self> {
        let write = WriteOptions { durability: args.durability, ..memory.write_options() };
        Ok(Self {
            open: memory.open_options(),
            write: (!args.read_only).then_some(write),
            background: memory.background_options(),
            upkeep: memory.upkeeper_options(),
            is_compaction_paused: args.no_compaction,
            is_kept_warm: !args.no_warm,
            makes_one: !args.must_exist,
            guard: Guard::new(&args.guard, memory.query_options(&args.evaluation)?)?,
        })
    }

    /// Opens the only database, or makes it.
    pub fn one(&self, path: &Path) -> anyhow::Result<Served> {
        match self.database(path) {
            Err(error @ EngineError::Store(StoreError::Locked { .. })) => {
                bail!("{error}; to answer queries meanwhile, use --read-only")
            }
            // Only where there is nothing at all: what is left of a database, or belongs to others, is another error.
            Err(EngineError::Store(StoreError::Missing { .. })) if self.makes_one && self.write.is_some() => {
                let served = self.new_database(path)?;
                say!("{} was not there: made an empty database (--must-exist refuses to)", path.display());
                Ok(served)
            }
            opened => {
                let database = opened?;
                say_found_log(&database);
                self.served(database)
            }
        }
    }

    /// Opens a published database, for reading.
    pub fn published(
        &self,
        address: &Address,
        cache: &CacheArgs,
        follow: Option<Duration>,
    ) -> anyhow::Result<(Served, Option<LinkThread>)> {
        let published = published::open(address, None, cache, None)?;
        let version = published.version();
        let quads = number::of(version.quads, "quad");
        let and_follows = if follow.is_some() { ", and newer ones as they come" } else { "" };
        say!(
            "{address}: version {} (of the database: {}), {quads}{and_follows}; it can be read only",
            version.number,
            version.version
        );
        let database = Arc::new(published.database(&self.open, OpenFiles::WhenRead)?);
        let mut served = Served::from(database);
        let Some(pause) = follow else { return Ok((served, None)) };
        let (link, thread) = LinkThread::follow(&published, &served.database, address, pause)?;
        served.link = Some(link);
        Ok((served, Some(thread)))
    }

    /// All that there are in a folder, and how to make more.
    pub fn all(self, folder: &Path) -> Databases {
        let is_read_only = self.write.is_none();
        let open = move |path: &Path, wish: Wish| match (wish, self.database(path)) {
            (Wish::Existing, Err(EngineError::Store(StoreError::Missing { .. }))) => Ok(None),
            (Wish::New, _) => self.new_database(path).map(Some),
            (Wish::Existing, opened) => self.served(opened?).map(Some),
        };
        let opener =
            Box::new(move |path: &Path, wish| open(path, wish).map_err(|error| format!("{error:#}")));
        Databases { folder: folder.to_owned(), opener, is_read_only }
    }

    fn database(&self, path: &Path) -> Result<Database, EngineError> {
        match &self.write {
            None => Database::open(path, &self.open),
            Some(write) => Database::open_for_writing(path, &self.open, write.clone()),
        }
    }

    fn new_database(&self, path: &Path) -> anyhow::Result<Served> {
        let write = self.write.clone().unwrap_or_default();
        self.served(Database::create_or_open_for_writing(path, &self.open, write)?)
    }

    fn served(&self, database: Database) -> anyhow::Result<Served> {
        tell_damaged_snapshots(&database);
        let store = database.store();
        let (mut compactor, mut maintenance, mut upkeeper) = (None, None, None);
        if store.is_writable() {
            if let Some(guard) = &self.guard {
                let check = guard.check();
                tell_of_violations(&database, &check);
                guard.tell_of_nobody(&database);
                store.check_commits(check)?;
            }
            maintenance =
                Some(Arc::new(Maintenance::start(store, Box::new(|line: &str| tracing::warn!("{line}")))?));
            let started = Compactor::start(store, self.background.clone())?;
            if self.is_compaction_paused {
                started.pause();
            }
            compactor = Some(Arc::new(started));
            upkeeper = Some(Arc::new(Upkeeper::start(store, self.upkeep.clone())?));
        }
        let warmer =
            self.is_kept_warm.then(|| Warmer::start(store, Box::new(|line| tracing::info!("{line}"))));
        let warmer = warmer.transpose()?.map(Arc::new);
        Ok(Served { database: Arc::new(database), compactor, upkeeper, maintenance, warmer, link: None })
    }
}

/// Says whether changes will be refused since the data do not conform already.
fn tell_of_violations(database: &Database, check: &CommitCheck) {
    if let Err(error) = check.run(&database.snapshot(), &CancelToken::default()) {
        let told = error.to_string();
        let first = told.lines().next().unwrap_or_default();
        say!(
            "warning: the data do not conform to the shapes as they are, so every change is refused that does not mend that ({first}); lode validate tells more"
        );
    }
}
