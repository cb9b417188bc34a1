//! One permutation file of a new segment, whose rows come sorted.

use super::build_error::BuildError;
use crate::delta::Row;
use crate::error::StoreError;
use lode_base::vfs::Vfs;
use lode_packed::segment::permutation_file_name;
use lode_packed::{Order, PackedError, PermutationInfo, PermutationWriter};
use std::path::{Path, PathBuf};

/// A permutation that is written.
#[derive(Debug)]
pub struct OrderOutput {
    writer: PermutationWriter,
    path: PathBuf,
}

impl OrderOutput {
    /// Begins the file of an order.
    pub fn create(vfs: &dyn Vfs, folder: &Path, order: Order) -> Result<Self, BuildError> {
        let path = folder.join(permutation_file_name(order));
        let file = vfs.create(&path).map_err(StoreError::io(&path))?;
        Ok(Self { writer: PermutationWriter::new(file, order), path })
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends sorted rows, which come after all before.
    pub fn push(&mut self, rows: &[Row]) -> Result<(), BuildError> {
        self.write(|writer| writer.push_id_rows(rows))
    }

    /// Lets `work` append to the file.
    pub fn write(
        &mut self,
        work: impl FnOnce(&mut PermutationWriter) -> Result<(), PackedError>,
    ) -> Result<(), BuildError> {
        work(&mut self.writer).map_err(|error| locate(&self.path, error))
    }

    /// Ends the file and makes it durable.
    pub fn finish(self) -> Result<PermutationInfo, BuildError> {
        let finished = self.writer.finish_into_file();
        let (info, mut file) = finished.map_err(|error| locate(&self.path, error))?;
        file.sync().map_err(StoreError::io(&self.path))?;
        Ok(info)
    }
}

/// A writer's error, with the path of its file.
fn locate(path: &Path, error: PackedError) -> BuildError {
    match error {
        PackedError::Io { source, .. } => StoreError::Io { path: path.to_owned(), source }.into(),
        // The writer wants rows to ascend strictly.
        PackedError::Unsorted { .. } => {
            BuildError::Inconsistent(format!("{}: a quad is in two segments", path.display()))
        }
        other => other.into(),
    }
}
