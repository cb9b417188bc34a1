//! Quads of an operation, gathered before any of them is applied: in memory that the request's budget grants, and beyond that in a
//! temporary file.

use super::draft::too_much;
use crate::EngineError;
use lode_base::checksum::checksum;
use lode_base::memory_budget::{MemoryBudget, Reservation};
use lode_base::real_vfs::ScratchFile;
use lode_exec::ExecError;
use lode_rdf::ValueId;
use std::io;
use std::path::{Path, PathBuf};

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

/// Quads in a temporary file without a name.
struct Spilled {
    file: ScratchFile,
    blocks: Vec<Block>,
    bytes: u64,
}

/// What the blocks of the file must be: a wrong quad would end up in the database.
struct Block {
    bytes: usize,
    checksum: u64,
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
            spilled.push(rows)?;
        }
        self.rows.clear();
        Ok(())
    }

    /// Calls `visit` with all of them, in order; this ends them.
    pub fn for_each(self, mut visit: impl FnMut(Quad) -> Result<(), EngineError>) -> Result<(), EngineError> {
        let failed = |error| EngineError::Execution(ExecError::Spill(error));
        if let Some(Spilled { file, blocks, .. }) = self.spilled {
            let (mut bytes, mut at) = (Vec::new(), 0);
            for block in blocks {
                bytes.resize(block.bytes, 0);
                file.read_exact_at(&mut bytes, at).map_err(failed)?;
                if checksum(&bytes) != block.checksum {
                    let error = "a temporary file of quads is damaged";
                    return Err(failed(io::Error::new(io::ErrorKind::InvalidData, error)));
                }
                at += block.bytes as u64;
                let (quads, _) = bytes.as_chunks();
                quads.iter().try_for_each(|bytes| visit(quad_of(bytes)))?;
            }
        }
        self.rows.into_iter().try_for_each(visit)
    }
}

impl Spilled {
    fn create(folder: &Path) -> io::Result<Self> {
        Ok(Self { file: ScratchFile::unnamed(folder)?, blocks: Vec::new(), bytes: 0 })
    }

    fn push(&mut self, rows: &[Quad]) -> io::Result<()> {
        let bytes: Vec<u8> = rows.iter().flatten().flat_map(|id| id.to_bits().to_le_bytes()).collect();
        self.file.write_all_at(&bytes, self.bytes)?;
        self.blocks.push(Block { bytes: bytes.len(), checksum: checksum(&bytes) });
        self.bytes += bytes.len() as u64;
        Ok(())
    }
}

fn quad_of(bytes: &[u8; size_of::<Quad>()]) -> Quad {
    let mut quad = [ValueId::UNDEF; 4];
    for (id, word) in quad.iter_mut().zip(bytes.as_chunks().0) {
        *id = ValueId::from_bits(u64::from_le_bytes(*word));
    }
    quad
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
            assert_eq!(rows.spilled.is_some(), bytes == 100_000 && count > 0);
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "a file has no name");
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
