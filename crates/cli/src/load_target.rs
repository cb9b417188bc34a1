//! Where `lode load --workers` makes a database: in a folder, or at an address where it is published. What the two have not in common is here.

use crate::args::LoadArgs;
use crate::inferring::tell_stale;
use crate::keep_few::keep_few;
use crate::load::{CACHE_BYTES, check_words, remove_if_empty};
use crate::load_scratch::{Scratch, work_beside};
use crate::publish;
use crate::published::is_address;
use crate::talk::{say, say_found_log};
use lode_engine::store::CompactOptions;
use lode_engine::store::load::LoadProgress;
use lode_engine::store::load::parts::{Board, PartsReport, Plan, begin, finish};
use lode_engine::{CancelToken, Database, OpenOptions};
use lode_remote::{LoadPlace, ObjectStore, begin_load, publish_load};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where a load with workers goes.
pub enum LoadTarget {
    /// A folder.
    Folder {
        /// It.
        database: PathBuf,
        /// Whether it was there before.
        existed: bool,
        /// Where the work is.
        work: PathBuf,
    },
    /// An address.
    Address {
        /// It, as it was given.
        address: String,
        /// The store there.
        store: Arc<dyn ObjectStore>,
        /// Where the workers of this machine have files.
        scratch: Scratch,
    },
}

/// One that is ready to be loaded into.
pub enum OpenTarget<'a> {
    /// A database in a folder.
    Folder(Box<Database>),
    /// A store of objects.
    Address(&'a dyn ObjectStore),
}

impl LoadTarget {
    /// The one that the command line names.
    pub fn of(args: &LoadArgs) -> anyhow::Result<Self> {
        let (database, work) = (&args.database, args.shared.work.as_deref());
        if let Some(name) = database.to_str().filter(|_| is_address(database)) {
            let store = publish::target(name)?.store(Default::default())?;
            let scratch = Scratch::take(work, store.name())?;
            return Ok(Self::Address { address: name.to_owned(), store, scratch });
        }
        check_words(args)?;
        let work =
            work.map_or_else(|| Ok(work_beside(&std::path::absolute(database)?)), std::path::absolute)?;
        Ok(Self::Folder { database: database.clone(), existed: database.exists(), work })
    }

    /// The work of the load.
    pub fn board(&self) -> anyhow::Result<Board> {
        Ok(match self {
            Self::Folder { work, .. } => Board::on_disk(work),
            Self::Address { store, scratch, .. } => board_at(store, &scratch.files())?,
        })
    }

    /// What a worker of this machine is told of it.
    pub fn worker_arguments(&self) -> Vec<OsString> {
        match self {
            Self::Folder { work, .. } => vec![work.into()],
            Self::Address { address, scratch, .. } => {
                vec![address.into(), "--files".into(), scratch.files().into()]
            }
        }
    }

    /// Makes it ready.
    pub fn open(&self) -> anyhow::Result<OpenTarget<'_>> {
        match self {
            Self::Folder { database, .. } => {
                let database = Database::create_or_open(database, &OpenOptions::with_cache(CACHE_BYTES))?;
                say_found_log(&database);
                Ok(OpenTarget::Folder(Box::new(database)))
            }
            Self::Address { store, .. } => Ok(OpenTarget::Address(&**store)),
        }
    }

    /// Leaves no database where none was, after a load that has failed.
    pub fn leave(&self) {
        if let Self::Folder { database, existed: false, .. } = self {
            remove_if_empty(database);
        }
    }

    /// Says where the database is, if that is not where one would look, and what of it is not up to date any more.
    pub fn tell(&self, quiet: bool) -> anyhow::Result<()> {
        match self {
            Self::Folder { database, .. } => tell_stale(database, CACHE_BYTES),
            Self::Address { address, .. } => {
                if !quiet {
                    say!("published version 1 at {address}");
                }
                Ok(())
            }
        }
    }
}

impl OpenTarget<'_> {
    /// Merges segments where there are too many.
    pub fn keep_few(&self, memory_bytes: usize, quiet: bool) {
        if let Self::Folder(database) = self {
            keep_few(database, &CompactOptions { memory_bytes, ..CompactOptions::default() }, quiet);
        }
    }

    /// Begins a load, or goes on with one; whether it goes on.
    pub fn begin(&self, board: &Board, plan: &Plan) -> anyhow::Result<bool> {
        Ok(match self {
            Self::Folder(database) => begin(database.store(), board, plan)?,
            Self::Address(store) => begin_load(*store, board, plan)?,
        })
    }

    /// Publishes what all tasks have made.
    pub fn finish(&self, board: &Board) -> anyhow::Result<PartsReport> {
        let (cancel, progress) = (CancelToken::default(), Arc::new(LoadProgress::default()));
        Ok(match self {
            Self::Folder(database) => finish(database.store(), board, &cancel, &progress)?,
            Self::Address(store) => publish_load(*store, board, &cancel, &progress)?,
        })
    }
}

/// The work of a load to a store, with files of this machine in a folder.
pub fn board_at(store: &Arc<dyn ObjectStore>, files: &Path) -> anyhow::Result<Board> {
    Ok(Board::at(Arc::new(LoadPlace::on_disk(Arc::clone(store), files)?)))
}
