//! The bytes of a file in memory: what readers see, and what is on the medium.

use super::crash_kind::{CrashKind, Dice};
use crate::device::Device;
use crate::vfs::{ReadAt, WriteFile};
use std::io::{self, ErrorKind, Write};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Pieces in which the bytes of a [`CrashKind::Scattered`] file survive; smaller than any disk's, so that small files have
/// many.
const PIECE_BYTES: usize = 16;

/// A file; names in folders, readers and writers share it.
#[derive(Debug, Clone, Default)]
pub(super) struct File(Arc<RwLock<FileBytes>>);

impl File {
    /// A file whose bytes are all durable.
    pub fn durable(bytes: Vec<u8>) -> Self {
        Self(Arc::new(RwLock::new(FileBytes::durable(bytes))))
    }

    pub fn bytes(&self) -> RwLockReadGuard<'_, FileBytes> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn change(&self) -> RwLockWriteGuard<'_, FileBytes> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// What tells files apart.
    pub fn address(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }
}

#[derive(Debug, Default)]
pub(super) struct FileBytes {
    visible: Vec<u8>,
    /// So many of the visible bytes need not be written to the medium any more: they have been, or a sync of them has failed.
    clean: usize,
    /// What is on the medium.
    durable: Vec<u8>,
}

impl FileBytes {
    pub fn durable(bytes: Vec<u8>) -> Self {
        Self { clean: bytes.len(), durable: bytes.clone(), visible: bytes }
    }

    pub fn visible(&self) -> &[u8] {
        &self.visible
    }

    /// Cuts off what is behind `len` bytes.
    pub fn cut(&mut self, len: usize) {
        self.visible.truncate(len);
        self.clean = self.clean.min(len);
    }

    fn sync(&mut self) {
        self.durable.resize(self.clean, 0);
        self.durable.extend_from_slice(self.visible.get(self.clean..).unwrap_or_default());
        self.clean = self.visible.len();
    }

    /// A sync that fails: what it was to write never gets to the medium, but readers see it until the power goes.
    fn fail_sync(&mut self) {
        self.clean = self.visible.len();
    }

    /// Bytes that the next sync writes.
    fn loose(&self) -> &[u8] {
        self.visible.get(self.clean..).unwrap_or_default()
    }

    /// What a power cut leaves.
    pub fn survive(&self, kind: CrashKind, dice: &mut Dice) -> Vec<u8> {
        if kind == CrashKind::LoseAll {
            return self.durable.clone();
        }
        let mut left = self.durable.clone();
        left.resize(self.clean, 0);
        let loose = self.loose();
        let old = self.durable.get(self.clean..).unwrap_or_default();
        match kind {
            CrashKind::LoseAll => {}
            CrashKind::KeepAll => left.extend_from_slice(loose),
            CrashKind::Torn(_) => {
                left.extend_from_slice(loose.get(..dice.up_to(loose.len())).unwrap_or_default());
                // The bytes may be there without the cut before them.
                if !old.is_empty() && dice.yes() {
                    left.extend_from_slice(old.get(left.len() - self.clean..).unwrap_or_default());
                }
            }
            CrashKind::Scattered(_) => {
                left.extend_from_slice(loose.get(..dice.up_to(loose.len())).unwrap_or_default());
                for (i, piece) in left.split_at_mut(self.clean).1.chunks_mut(PIECE_BYTES).enumerate() {
                    if dice.yes() {
                        let old = old.iter().skip(i * PIECE_BYTES).chain(std::iter::repeat(&0));
                        piece.iter_mut().zip(old).for_each(|(byte, old)| *byte = *old);
                    }
                }
            }
        }
        left
    }
}

#[derive(Debug)]
pub(super) struct MemReader(pub File);

impl ReadAt for MemReader {
    fn device(&self) -> Device {
        Device::MEMORY
    }

    fn len(&self) -> u64 {
        self.0.bytes().visible().len() as u64
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let file = self.0.bytes();
        let eof = || io::Error::from(ErrorKind::UnexpectedEof);
        let start = usize::try_from(offset).map_err(|_| eof())?;
        let end = start.checked_add(buf.len()).ok_or_else(eof)?;
        buf.copy_from_slice(file.visible().get(start..end).ok_or_else(eof)?);
        Ok(())
    }
}

/// Writes to the end of a file.
#[derive(Debug)]
pub(crate) struct MemWriter(pub(super) File);

impl MemWriter {
    /// A sync that fails, and after which later ones do not write what this one was to write.
    pub fn fail_sync(&self) {
        self.0.change().fail_sync();
    }
}

impl Write for MemWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.change().visible.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl WriteFile for MemWriter {
    fn sync(&mut self) -> io::Result<()> {
        self.0.change().sync();
        Ok(())
    }
}
