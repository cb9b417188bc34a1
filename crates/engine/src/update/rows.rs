//! Quads of an operation, gathered before any of them is applied: in memory that the request's budget grants, and beyond that in a
//! temporary file.

use super::draft::too_much;
use crate::EngineError;
use lode_base::memory_budget::{MemoryBudget, Reservation};
use lode_base::real_vfs::RealVfs;
use lode_base::row_file::{RowFileReader, RowFileWriter};
use lode_base::vfs::Vfs as _;
use lode_exec::ExecError;
use lode_rdf::ValueId;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Room that the first row makes.
const ROWS_MIN: usize = 256;
/// Rows that are written at once.
const SPILLED_ROWS: usize = 1024;

type Quad = [ValueId; 4];

/// A list of quads: S, P, O, G.
pub(super) struct Rows {
    /// The last ones.
    rows: Vec<Quad>,
    reservation: Reservation,
    /// Those before.
    spilled: Option<Spilled>,
    folder: PathBuf,
}

/// A temporary file of quads, two numbers each.
struct Spilled {
    writer: RowFileWriter<u128>,
    file: TemporaryFile,
}

/// Removed when dropped.
struct TemporaryFile(PathBuf);

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        // What stays behind is in the folder of temporary files.
        let _ = RealVfs.remove(&self.0);
    }
}

impl Rows {
    /// None yet; `folder` is where a temporary file may be.
    pub fn new(budget: &MemoryBudget, folder: &Path) -> Self {
        let reservation = budget.reserve_spillable();
        Self { rows: Vec::new(), reservation, spilled: None, folder: folder.to_owned() }
    }

    /// Adds one, unless it is the same as the last.
    pub fn push(&mut self, quad: Quad) -> Result<(), EngineError> {
        if self.rows.last() == Some(&quad) {
            return Ok(());
        }
        if self.rows.len() == self.rows.capacity() {
            self.make_room()?;
        }
        self.rows.push(quad);
        Ok(())
    }

    /// More memory, or else a file for what is there.
    fn make_room(&mut self) -> Result<(), EngineError> {
        let more = self.rows.len().max(ROWS_MIN);
        // While it grows, the old room is there, too.
        let grown = self.reservation.resize((2 * self.rows.len() + more) * size_of::<Quad>());
        match grown {
            Ok(()) => self.rows.reserve_exact(more),
            Err(error) if self.rows.is_empty() => return Err(too_much(error)),
            Err(_) => self.spill().map_err(|error| EngineError::Execution(ExecError::Spill(error)))?,
        }
        self.reservation.shrink(self.rows.capacity() * size_of::<Quad>());
        Ok(())
    }

    fn spill(&mut self) -> io::Result<()> {
        let spilled = match &mut self.spilled {
            Some(spilled) => spilled,
            none => none.insert(Spilled::create(&self.folder)?),
        };
        for rows in self.rows.chunks(SPILLED_ROWS) {
            let numbers: Vec<u128> = rows.iter().flat_map(|quad| halves(*quad)).collect();
            spilled.writer.push(&numbers)?;
        }
        self.rows.clear();
        Ok(())
    }

    /// Calls `visit` with all of them, in order; this ends them.
    pub fn for_each(self, mut visit: impl FnMut(Quad) -> Result<(), EngineError>) -> Result<(), EngineError> {
        let failed = |error| EngineError::Execution(ExecError::Spill(error));
        if let Some(Spilled { writer, file }) = self.spilled {
            writer.finish().map_err(failed)?;
            let mut reader = RowFileReader::open(&RealVfs, &file.0).map_err(failed)?;
            let mut numbers: Vec<u128> = Vec::new();
            while reader.next(&mut numbers).map_err(failed)? {
                let (quads, _) = numbers.as_chunks();
                quads.iter().try_for_each(|halves| visit(quad_of(*halves)))?;
            }
        }
        self.rows.into_iter().try_for_each(visit)
    }
}

impl Spilled {
    fn create(folder: &Path) -> io::Result<Self> {
        static FILES: AtomicU64 = AtomicU64::new(0);
        let number = FILES.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("lode-update-{}-{number}.rows", std::process::id()));
        Ok(Self { writer: RowFileWriter::create(&RealVfs, &path)?, file: TemporaryFile(path) })
    }
}

fn halves([s, p, o, g]: Quad) -> [u128; 2] {
    let half = |high: ValueId, low: ValueId| u128::from(high.to_bits()) << 64 | u128::from(low.to_bits());
    [half(s, p), half(o, g)]
}

fn quad_of(halves: [u128; 2]) -> Quad {
    let [[s, p], [o, g]] = halves.map(|half| [(half >> 64) as u64, half as u64].map(ValueId::from_bits));
    [s, p, o, g]
}

#[cfg(test)]
mod tests {
    //! Quads in memory and in a file come in the order in which they were added.
    use super::*;

    #[test]
    fn more_quads_than_fit_come_back_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let quad = |n: u64| [n, n / 3, 7, u64::MAX - n].map(ValueId::from_bits);
        for (bytes, count) in [(1 << 30, 50_000), (100_000, 50_000), (100_000, 0), (40_000, 257)] {
            let budget = MemoryBudget::new(bytes);
            let mut rows = Rows::new(&budget, folder.path());
            for n in 0..count {
                rows.push(quad(n)).unwrap();
                rows.push(quad(n)).unwrap();
            }
            assert_eq!(
                std::fs::read_dir(folder.path()).unwrap().count(),
                usize::from(bytes == 100_000 && count > 0)
            );
            let mut next = 0;
            rows.for_each(|found| {
                assert_eq!(found, quad(next));
                next += 1;
                Ok(())
            })
            .unwrap();
            assert_eq!((next, budget.used()), (count, 0));
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        }
        let mut rows = Rows::new(&MemoryBudget::new(100), folder.path());
        assert!(matches!(rows.push(quad(1)), Err(EngineError::Execution(ExecError::OutOfMemory(_)))));
    }
}
