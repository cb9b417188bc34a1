//! The files of an index that is kept beside a segment's own: a dictionary of keys and rows of four numbers, the structures that terms and quads have, with their
//! checksums and caches. No manifest names them. They are made of the segment alone, so what is missing or damaged costs time and no answer.

use lode_base::cancel::CancelToken;
use lode_base::vfs::Vfs;
use lode_packed::{BlockCache, Dictionary, Order, PackedError, Permutation, ReadContext};
use lode_rdf::value_id::Section;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The section of its dictionary in which keys are.
pub const KEYS: Section = Section::String;
/// The order that rows are written as: the first columns are what sorts them.
pub const ROWS: Order = Order::Spog;

/// Indexes of geometries.
pub const PLACES: IndexKind = IndexKind { kept_file: "spatial-index", name: "places", version: 1 };

/// A kind of index.
#[derive(Debug, Clone, Copy)]
pub struct IndexKind {
    /// The file of a database that says that it has such indexes: those of new segments are made, too.
    pub kept_file: &'static str,
    /// How the names of its files begin.
    pub name: &'static str,
    /// The version of what is in them: others are not read.
    pub version: u32,
}

impl IndexKind {
    /// The file of keys in a segment's folder; where it is, that of rows is, too.
    pub fn keys_file(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}-{}.lode", self.name, self.version))
    }

    /// The file of rows.
    pub fn rows_file(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}-{}.perm", self.name, self.version))
    }

    /// Files of keys and rows of earlier versions.
    pub fn old_files(&self, folder: &Path) -> Vec<PathBuf> {
        let of_version =
            |version| ["lode", "perm"].map(|end| folder.join(format!("{}-{version}.{end}", self.name)));
        (1..self.version).flat_map(of_version).collect()
    }

    /// Whether a file of a segment's folder, by its name, is one of this kind that was being made.
    pub fn is_unfinished(&self, file: &str) -> bool {
        let rest = file.strip_prefix(self.name);
        let is_own = rest.is_some_and(|rest| {
            (rest.starts_with('.') && rest.ends_with(".new"))
                || (rest.starts_with('-') && rest.ends_with(".rows"))
        });
        // Earlier versions called the rows of words so.
        is_own || (self.name == "words" && matches!(file, "words.new" | "rows.new"))
    }

    /// Whether a file of a segment's folder, by its name, is one of this kind, of any version, finished or not.
    pub fn owns(&self, file: &str) -> bool {
        let is_finished = file
            .strip_prefix(self.name)
            .and_then(|rest| rest.strip_prefix('-'))
            .is_some_and(|rest| rest.ends_with(".lode") || rest.ends_with(".perm"));
        is_finished || self.is_unfinished(file)
    }

    /// Whether a segment's folder has one.
    pub fn is_in(&self, vfs: &dyn Vfs, folder: &Path) -> bool {
        vfs.exists(&self.keys_file(folder))
    }

    /// Files of keys and rows that are being made.
    pub fn new_files(&self, folder: &Path) -> [PathBuf; 2] {
        ["lode.new", "perm.new"].map(|end| folder.join(format!("{}.{end}", self.name)))
    }

    /// Puts files that were made and synced in their places.
    pub fn put_in_place(&self, vfs: &dyn Vfs, folder: &Path) -> Result<(), (PathBuf, io::Error)> {
        let [new_keys, new_rows] = self.new_files(folder);
        // The keys last: where they are, all is there. An older index of this version has the same rows.
        for (from, to) in [(new_rows, self.rows_file(folder)), (new_keys, self.keys_file(folder))] {
            vfs.rename(&from, &to).map_err(|error| (to, error))?;
            vfs.sync_dir(folder).map_err(|error| (folder.to_owned(), error))?;
        }
        Ok(())
    }
}

/// An index of a segment.
#[derive(Debug, Clone)]
pub struct IndexFiles {
    /// Its keys.
    pub keys: Dictionary,
    /// Its rows.
    pub rows: Permutation,
}

impl IndexFiles {
    /// Opens that of a segment's folder; none where there is none.
    pub fn open(
        kind: &IndexKind,
        vfs: &dyn Vfs,
        folder: &Path,
        cache: &Arc<BlockCache>,
    ) -> Result<Option<Self>, PackedError> {
        if !kind.is_in(vfs, folder) {
            return Ok(None);
        }
        let open = |path: PathBuf| {
            let name = path.display().to_string();
            match vfs.open_immutable(&path) {
                Ok(file) => Ok(Some((file, name))),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(source) => Err(PackedError::Io { path: name.as_str().into(), source }),
            }
        };
        let (Some((keys, name)), Some((rows, name_of_rows))) =
            (open(kind.keys_file(folder))?, open(kind.rows_file(folder))?)
        else {
            return Ok(None);
        };
        let keys = Dictionary::open(keys, &name, Arc::clone(cache))?;
        Ok(Some(Self { keys, rows: Permutation::open(rows, &name_of_rows, Arc::clone(cache))? }))
    }

    /// The same files for a reader.
    #[must_use]
    pub fn read_by(&self, context: Option<&Arc<ReadContext>>) -> Self {
        Self { keys: self.keys.read_by(context), rows: self.rows.read_by(context) }
    }

    /// Reads all of it.
    pub fn verify(&self, cancel: &CancelToken, on_progress: &mut dyn FnMut(u64)) -> Result<(), PackedError> {
        self.keys.verify(cancel, on_progress)?;
        self.rows.verify(cancel, on_progress)?;
        Ok(())
    }
}
