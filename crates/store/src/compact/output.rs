//! One order of what a merge writes: quads that the merged segments insert, and quads of older segments that they delete.

use crate::compact::order_merge::Row;
use crate::error::StoreError;
use crate::load::LoadError;
use lode_base::vfs::Vfs;
use lode_packed::segment::permutation_file_name;
use lode_packed::{Order, PackedError, PermutationInfo, PermutationWriter};
use std::path::{Path, PathBuf};

/// A permutation that is written.
#[derive(Debug)]
pub struct Output {
    writer: PermutationWriter,
    path: PathBuf,
}

impl Output {
    /// Begins the file of an order.
    pub fn create(vfs: &dyn Vfs, folder: &Path, order: Order) -> Result<Self, LoadError> {
        let path = folder.join(permutation_file_name(order));
        let file = vfs.create(&path).map_err(StoreError::io(&path))?;
        Ok(Self { writer: PermutationWriter::new(file, order), path })
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends sorted rows, which come after all before.
    pub fn push(&mut self, rows: &[Row]) -> Result<(), LoadError> {
        self.write(|writer| writer.push_id_rows(rows))
    }

    /// Lets `work` append to the file.
    pub fn write(
        &mut self,
        work: impl FnOnce(&mut PermutationWriter) -> Result<(), PackedError>,
    ) -> Result<(), LoadError> {
        work(&mut self.writer).map_err(|error| locate(&self.path, error))
    }

    /// Ends the file and makes it durable.
    pub fn finish(self) -> Result<PermutationInfo, LoadError> {
        let finished = self.writer.finish_into_file();
        let (info, mut file) = finished.map_err(|error| locate(&self.path, error))?;
        file.sync().map_err(StoreError::io(&self.path))?;
        Ok(info)
    }
}

/// A writer's error, with the path of its file.
fn locate(path: &Path, error: PackedError) -> LoadError {
    match error {
        PackedError::Io { source, .. } => StoreError::Io { path: path.to_owned(), source }.into(),
        // The writer wants rows to ascend strictly.
        PackedError::Unsorted { .. } => {
            LoadError::Inconsistent(format!("{}: a quad is in two segments", path.display()))
        }
        other => other.into(),
    }
}

/// Takes from both lists (sorted) what they say of the same quad: what is left is inserted or deleted once. False if a
/// quad is inserted or deleted more than once.
pub fn net<R: Copy + Ord>(inserted: &mut Vec<R>, deleted: &mut Vec<R>) -> bool {
    let (mut read, mut kept) = ([0; 2], [0; 2]);
    loop {
        let row = match (inserted.get(read[0]), deleted.get(read[1])) {
            (None, None) => break,
            (Some(row), None) | (None, Some(row)) => *row,
            (Some(a), Some(b)) => *a.min(b),
        };
        let counts = [(&*inserted, read[0]), (&*deleted, read[1])]
            .map(|(rows, from)| rows[from..].iter().take_while(|other| **other == row).count());
        read[0] += counts[0];
        read[1] += counts[1];
        if counts[0] == counts[1] {
            continue;
        }
        let (list, at) = if counts[0] > counts[1] { (&mut *inserted, 0) } else { (&mut *deleted, 1) };
        if counts[at] - counts[1 - at] != 1 {
            return false;
        }
        list[kept[at]] = row;
        kept[at] += 1;
    }
    inserted.truncate(kept[0]);
    deleted.truncate(kept[1]);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_inserted_and_deleted_is_neither() {
        let row = |number| [number, 0, 0, 0];
        let rows = |numbers: &[u64]| -> Vec<Row> { numbers.iter().map(|number| row(*number)).collect() };
        let mut inserted = rows(&[1, 2, 3, 3, 7]);
        let mut deleted = rows(&[2, 3, 5, 8, 8]);
        deleted.pop();
        assert!(net(&mut inserted, &mut deleted));
        assert_eq!(inserted, rows(&[1, 3, 7]));
        assert_eq!(deleted, rows(&[5, 8]));
        assert!(!net(&mut rows(&[1, 1, 2]), &mut rows(&[2])));
        assert!(!net(&mut rows(&[1]), &mut rows(&[2, 2])));
    }
}
