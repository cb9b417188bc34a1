//! What every task works with.

use super::board::Board;
use super::plan::Plan;
use crate::load::error::LoadError;
use crate::progress::LoadProgress;
use crate::segment_builder::working_bytes;
use lode_base::cancel::CancelToken;
use lode_base::vfs::Vfs;
use std::io;
use std::path::Path;
use std::sync::Arc;

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
