//! Damaged orders of the segments that a compaction is to merge. All orders but that of named graphs hold the same quads, so a damaged one is
//! made again from another, as long as all rows fit in memory at once; and who compacts is told, because a disk that has damaged one file
//! may damage others.

use crate::segment_builder::BuildError;
use crate::version::OpenSegment;
use lode_base::cancel::CancelToken;
use lode_packed::{Order, PackedError};

/// A damaged order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderDamage {
    /// Its file.
    pub file: String,
    /// Byte at which the damage begins.
    pub offset: u64,
    /// What is wrong.
    pub what: String,
}

/// Compares the checksums of all orders of some segments; notes those that are damaged, with the segments too.
pub fn find_damage(
    segments: &mut [OpenSegment],
    cancel: &CancelToken,
) -> Result<Vec<OrderDamage>, BuildError> {
    let mut found = Vec::new();
    for segment in segments {
        for order in Order::ALL {
            let (file, offset, what) = match segment.permutation(order).verify_checksums(cancel) {
                Ok(()) => continue,
                Err(PackedError::Corruption { file, offset, what }) => (file, offset, what.to_string()),
                Err(PackedError::Io { path, source }) => (path, 0, source.to_string()),
                Err(other) => return Err(other.into()),
            };
            found.push(OrderDamage { file: file.to_string(), offset, what });
            segment.note_damage(order);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    //! Each order of each segment damaged, mended and told.
    use super::*;
    use crate::check::{Remedy, check};
    use crate::compact::CompactError;
    use crate::compact::{CompactOptions, compact};
    use crate::load::LoadProgress;
    use crate::test_data::{FOLDER, contents, open};
    use crate::{LoadOptions, Source, load};
    use lode_base::mem_vfs::MemVfs;
    use lode_base::vfs::Vfs;
    use lode_packed::segment::permutation_file_name;
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    fn options(memory_bytes: usize) -> CompactOptions {
        CompactOptions { threads: 2, memory_bytes, force: true, ..CompactOptions::default() }
    }

    /// Two segments with named graphs, inline values and terms of all sorts.
    fn database() -> MemVfs {
        let vfs = MemVfs::new();
        let store = open(&vfs);
        for segment in 0..2 {
            let line = |i: usize| {
                let (s, p, g) = (i % 97, i % 5, i % 3);
                format!(
                    "<http://e/s{s}> <http://e/p{p}> \"{i}\" <http://e/g{g}> .\n\
                     _:b{i} <http://e/q> \"{i}\"^^<http://www.w3.org/2001/XMLSchema#integer> .\n"
                )
            };
            let text: String = (segment * 1000..segment * 1000 + 1500).map(line).collect();
            let source = Source::bytes("data.nq", text.into_bytes());
            load(&store, vec![source], LoadOptions::default(), &Arc::default()).unwrap();
        }
        vfs
    }

    fn remedies(vfs: &MemVfs) -> Vec<Remedy> {
        let shared: Arc<dyn Vfs> = Arc::new(vfs.clone());
        let report = check(&shared, Path::new(FOLDER), &CancelToken::default(), &mut |_| {}).unwrap();
        report.problems.into_iter().map(|problem| problem.remedy).collect()
    }

    /// The same with one byte of a block of each of some files changed.
    fn damaged(vfs: &MemVfs, files: &[PathBuf]) -> MemVfs {
        let vfs = vfs.deep_copy();
        for file in files {
            let mut bytes = vfs.read(file).unwrap();
            bytes[30] ^= 4;
            vfs.overwrite(file, bytes).unwrap();
        }
        vfs
    }

    fn file(segment: u64, order: Order) -> PathBuf {
        Path::new(FOLDER).join(crate::manifest::segment_folder(segment)).join(permutation_file_name(order))
    }

    #[test]
    fn damaged_orders_are_made_again_and_told() {
        let good = database();
        let expected = contents(&open(&good).snapshot());
        for order in Order::ALL {
            for segment in [1, 2] {
                let vfs = damaged(&good, &[file(segment, order)]);
                let is_mended = order != Order::Gspo;
                let remedy = if is_mended { Remedy::Compact } else { Remedy::Restore };
                assert_eq!(remedies(&vfs), [remedy], "{order:?}");
                let result = compact(&open(&vfs), &options(1 << 30), &Arc::new(LoadProgress::default()));
                assert_eq!(result.is_ok(), is_mended, "{order:?}: {result:?}");
                let Ok(report) = result else { continue };
                let [damage] = report.damaged.as_slice() else { panic!("{order:?}: {:?}", report.damaged) };
                assert!(damage.file.ends_with(permutation_file_name(order)), "{damage:?}");
                assert!(damage.what.contains("checksum"), "{damage:?}");
                assert_eq!(contents(&open(&vfs).snapshot()), expected, "{order:?}");
                assert_eq!(remedies(&vfs), [], "{order:?}");
            }
        }
    }

    #[test]
    fn what_no_compaction_mends_is_refused() {
        let good = database();
        let both = damaged(&good, &[file(1, Order::Psog), file(1, Order::Posg)]);
        assert_eq!(remedies(&both), [Remedy::Restore, Remedy::Restore]);
        assert!(compact(&open(&both), &options(1 << 30), &Arc::default()).is_err());
        // One of several is enough.
        let many = damaged(&good, &[file(1, Order::Spog), file(1, Order::Posg), file(2, Order::Opsg)]);
        assert_eq!(remedies(&many), [Remedy::Compact, Remedy::Compact, Remedy::Compact]);
        // Not without the memory for all rows; the error tells how much that is.
        let error = compact(&open(&many), &options(1 << 20), &Arc::default()).unwrap_err();
        assert!(matches!(error, CompactError::Build(BuildError::Memory { .. })), "{error}");
        assert_eq!(compact(&open(&many), &options(1 << 30), &Arc::default()).unwrap().damaged.len(), 3);
        assert_eq!(remedies(&many), []);
    }
}
