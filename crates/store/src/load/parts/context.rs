//! What every task works with.

use super::board::Board;
use super::plan::Plan;
use crate::error::StoreError;
use crate::load::error::LoadError;
use crate::manifest::Manifest;
use crate::progress::LoadProgress;
use crate::segment_builder::working_bytes;
use crate::stripes::striped;
use crate::version::Version;
use lode_base::cancel::CancelToken;
use lode_base::vfs::Vfs;
use lode_packed::BlockCache;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// What a task keeps of the database that is loaded into: most of it is read in sequence, past the cache.
const BASE_CACHE_BYTES: usize = 32 << 20;

/// Where tasks find what others have written, and with what they work.
#[derive(Debug)]
pub struct TaskContext<'a> {
    /// The work folder.
    pub board: &'a Board,
    /// What is loaded.
    pub plan: &'a Plan,
    /// What tables may take.
    pub working_bytes: usize,
    /// Stops the work.
    pub cancel: &'a CancelToken,
    /// Told how far it is.
    pub progress: &'a Arc<LoadProgress>,
}

impl<'a> TaskContext<'a> {
    /// For the tasks of a plan.
    pub fn new(
        board: &'a Board,
        plan: &'a Plan,
        cancel: &'a CancelToken,
        progress: &'a Arc<LoadProgress>,
    ) -> Self {
        Self { board, plan, working_bytes: working_bytes(plan.memory_bytes), cancel, progress }
    }

    /// What the database holds that is loaded into; of a new one nothing.
    pub fn base(&self) -> Result<Version, StoreError> {
        let cache = Arc::new(BlockCache::new(BASE_CACHE_BYTES.min(self.working_bytes / 8)));
        let vfs = self.vfs();
        match &self.plan.base {
            None => Version::open(vfs, Path::new(""), Manifest::new(0), &cache, &[]),
            Some(base) => {
                let vfs = striped(vfs, &base.folder)?;
                Version::open(&vfs, &base.folder, base.manifest.clone(), &cache, &[])
            }
        }
    }

    /// The file system.
    pub fn vfs(&self) -> &Arc<dyn Vfs> {
        self.board.vfs()
    }

    /// An error of a file in a folder of the load.
    pub fn io(&self, folder: &Path) -> impl Fn(io::Error) -> LoadError + use<> {
        let folder = folder.to_owned();
        move |source| LoadError::temporary(&folder, source)
    }
}
