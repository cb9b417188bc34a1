//! The temporary space of one execution: a single file without a name, given out in pieces of one size.
//!
//! A query of hundreds of joins spills thousands of row files. As files of the operating system they would cost a descriptor and a
//! buffer each, and making and removing them would cost more than their bytes; a query that is cancelled would still be busy with that long after.
//! Here a row file that goes gives its pieces back to a list, and the space goes with the last user of the area, also where the process is
//! killed.

use lode_base::real_vfs::ScratchFile;
use lode_eval::error::ExecError;
use lode_scheduler::{lock, remove_soon};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

/// How long a piece is. What is not written of one takes no space.
const PIECE_BYTES: u64 = 1 << 20;

/// From so many on, the space of pieces that are given back goes soon. That of fewer is there for others until the execution ends.
const PIECES_LARGE: usize = 64;

/// The file, made when first needed.
#[derive(Debug)]
pub(crate) struct SpillArea {
    folder: PathBuf,
    file: OnceLock<ScratchFile>,
    pieces: Mutex<Pieces>,
}

#[derive(Debug, Default)]
struct Pieces {
    /// How many the file has.
    count: u64,
    unused: Vec<u64>,
}

impl SpillArea {
    /// An area whose file is in `folder`.
    pub(crate) fn new(folder: PathBuf) -> Arc<Self> {
        Arc::new(Self { folder, file: OnceLock::new(), pieces: Mutex::default() })
    }

    /// A new, empty stream of bytes.
    pub(crate) fn space(self: &Arc<Self>) -> Space {
        Space { area: Arc::clone(self), pieces: Vec::new(), bytes: 0 }
    }

    fn file(&self) -> Result<&ScratchFile, ExecError> {
        if self.file.get().is_none() {
            // A second thread may be faster; then this file goes again.
            let _ = self.file.set(ScratchFile::unnamed(&self.folder)?);
        }
        self.file.get().ok_or_else(|| ExecError::Spill(std::io::ErrorKind::NotFound.into()))
    }

    fn take(&self) -> u64 {
        let mut pieces = lock(&self.pieces);
        pieces.unused.pop().unwrap_or_else(|| {
            pieces.count += 1;
            pieces.count - 1
        })
    }

    fn give_back(&self, given: &mut Vec<u64>) {
        lock(&self.pieces).unused.append(given);
    }
}

impl Drop for SpillArea {
    fn drop(&mut self) {
        let bytes = lock(&self.pieces).count * PIECE_BYTES;
        if let Some(file) = self.file.take() {
            remove_soon(bytes, move || drop(file));
        }
    }
}

/// Bytes in the area, appended to and read anywhere.
#[derive(Debug)]
pub(crate) struct Space {
    area: Arc<SpillArea>,
    pieces: Vec<u64>,
    bytes: u64,
}

impl Space {
    /// Appends bytes; where they begin.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<u64, ExecError> {
        let start = self.bytes;
        let mut rest = bytes;
        while !rest.is_empty() {
            let within = self.bytes % PIECE_BYTES;
            if within == 0 {
                self.pieces.push(self.area.take());
            }
            let room = usize::try_from(PIECE_BYTES - within).unwrap_or(usize::MAX);
            let (now, later) = rest.split_at(rest.len().min(room));
            self.area.file()?.write_all_at(now, self.place(self.bytes)?)?;
            self.bytes += now.len() as u64;
            rest = later;
        }
        Ok(start)
    }

    /// Fills `bytes` with what begins at `offset`.
    pub(crate) fn read(&self, bytes: &mut [u8], offset: u64) -> Result<(), ExecError> {
        if offset + bytes.len() as u64 > self.bytes {
            return Err(ExecError::Spill(std::io::ErrorKind::UnexpectedEof.into()));
        }
        let (mut rest, mut offset) = (bytes, offset);
        while !rest.is_empty() {
            let room = usize::try_from(PIECE_BYTES - offset % PIECE_BYTES).unwrap_or(usize::MAX);
            let (now, later) = rest.split_at_mut(room.min(rest.len()));
            self.area.file()?.read_exact_at(now, self.place(offset)?)?;
            offset += now.len() as u64;
            rest = later;
        }
        Ok(())
    }

    /// Where in the file an offset is.
    fn place(&self, offset: u64) -> Result<u64, ExecError> {
        let piece = usize::try_from(offset / PIECE_BYTES).ok().and_then(|number| self.pieces.get(number));
        let piece = piece.ok_or_else(|| ExecError::Spill(std::io::ErrorKind::UnexpectedEof.into()))?;
        Ok(piece * PIECE_BYTES + offset % PIECE_BYTES)
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        let mut pieces = std::mem::take(&mut self.pieces);
        if pieces.len() < PIECES_LARGE {
            self.area.give_back(&mut pieces);
            return;
        }
        let area = Arc::downgrade(&self.area);
        remove_soon(self.bytes, move || {
            // Where the area is gone, so is its file.
            let Some(area) = area.upgrade() else { return };
            for piece in &pieces {
                // A file system that cannot do this keeps the space until the execution ends.
                let _ = area.file().map(|file| file.forget(piece * PIECE_BYTES, PIECE_BYTES));
            }
            area.give_back(&mut pieces);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_share_a_file_and_pieces_are_used_again() {
        let folder = tempfile::tempdir().unwrap();
        let area = SpillArea::new(folder.path().join("made when needed"));
        let mut spaces: Vec<Space> = (0..3).map(|_| area.space()).collect();
        let bytes: Vec<u8> = (0..3_000_000_u32).map(|n| (n % 251) as u8).collect();
        for part in bytes.chunks(700_001) {
            for space in &mut spaces {
                space.append(part).unwrap();
            }
        }
        for (offset, len) in [(0, 10), (1 << 20, 1), ((1 << 20) - 5, 10), (1_000_000, 2_000_000)] {
            let mut read = vec![0; len];
            spaces.iter().for_each(|space| space.read(&mut read, offset as u64).unwrap());
            assert_eq!(read, bytes[offset..offset + len]);
        }
        assert!(spaces[0].read(&mut [0; 2], 2_999_999).is_err());
        assert_eq!(area.pieces.lock().unwrap().count, 9);
        spaces.pop();
        let mut again = area.space();
        again.append(&bytes).unwrap();
        assert_eq!(area.pieces.lock().unwrap().count, 9);
        let mut read = vec![0; bytes.len()];
        again.read(&mut read, 0).unwrap();
        assert_eq!(read, bytes);
        assert_eq!(std::fs::read_dir(folder.path().join("made when needed")).unwrap().count(), 0);
    }

    #[test]
    fn space_of_large_streams_is_given_back_and_used_again() {
        let folder = tempfile::tempdir().unwrap();
        let area = SpillArea::new(folder.path().to_owned());
        let mut space = area.space();
        for _ in 0..PIECES_LARGE {
            space.append(&[7; 1 << 20]).unwrap();
        }
        drop(space);
        lode_scheduler::wait_for_removals();
        assert_eq!(area.pieces.lock().unwrap().unused.len(), PIECES_LARGE);
        let mut again = area.space();
        again.append(b"again").unwrap();
        let mut read = [0; 5];
        again.read(&mut read, 0).unwrap();
        assert_eq!(&read, b"again");
        again.read(&mut read, 1 << 20).unwrap_err();
    }
}
