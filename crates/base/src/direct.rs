//! Reads and writes past the memory of the system (`O_DIRECT`): what a database reads is then in its own cache alone, and a load leaves the memory of the
//! system to others. It is for the process as a whole, as the cache of descriptors is.
//!
//! Immutable files are read so, and new files written so from their first megabyte on; what is small, or read and written in turns (manifests, logs,
//! temporary files that are read back), stays as it is. Where a file system refuses, all goes on as without, and whoever asked for it is told once.

use crate::vfs::WriteFile;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Places, lengths and addresses are multiples of this: no device has larger sectors.
const ALIGN: usize = 4096;
/// What is written at once.
const WRITE_BYTES: usize = 1 << 20;

/// Hears of the first file that cannot be read or written so, and why.
pub type OnRefused = fn(&Path, &io::Error);

static ASKED: OnceLock<OnRefused> = OnceLock::new();
static REFUSED: AtomicBool = AtomicBool::new(false);

/// From now on files of databases are read and written directly, where the system can.
pub fn use_in_process(on_refused: OnRefused) {
    ASKED.get_or_init(|| on_refused);
}

/// Whether that was asked for.
pub(crate) fn is_asked() -> bool {
    ASKED.get().is_some()
}

/// Has a file read and written directly, if that was asked for; whether it is then.
pub(crate) fn make_direct(file: &File, path: &Path) -> bool {
    let Some(on_refused) = ASKED.get() else { return false };
    match set(file, true) {
        Ok(()) => true,
        Err(error) => {
            if !REFUSED.swap(true, Ordering::Relaxed) {
                on_refused(path, &error);
            }
            false
        }
    }
}

#[cfg(target_os = "linux")]
fn set(file: &File, is_direct: bool) -> io::Result<()> {
    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
    let mut flags = fcntl_getfl(file)?;
    flags.set(OFlags::DIRECT, is_direct);
    Ok(fcntl_setfl(file, flags)?)
}

#[cfg(not(target_os = "linux"))]
fn set(_: &File, is_direct: bool) -> io::Result<()> {
    if is_direct { Err(io::Error::from(io::ErrorKind::Unsupported)) } else { Ok(()) }
}

/// Memory whose address is aligned.
#[derive(Debug)]
struct Aligned {
    bytes: Vec<u8>,
    start: usize,
}

impl Aligned {
    fn new(len: usize) -> Self {
        let bytes = vec![0; len + ALIGN];
        let start = bytes.as_ptr().align_offset(ALIGN).min(ALIGN);
        Self { bytes, start }
    }

    fn get(&mut self, len: usize) -> &mut [u8] {
        let end = (self.start + len).min(self.bytes.len());
        &mut self.bytes[self.start..end]
    }
}

/// Fills `buf` from `offset` of a file that may be direct.
pub(crate) fn read_exact_at(file: &File, buf: &mut [u8], offset: u64) -> io::Result<()> {
    if buf.is_empty() {
        return Ok(());
    }
    let before = (offset % ALIGN as u64) as usize;
    let needed = before + buf.len();
    let mut room = Aligned::new(needed.next_multiple_of(ALIGN));
    let bytes = room.get(needed.next_multiple_of(ALIGN));
    let (start, mut found) = (offset - before as u64, 0);
    while found < needed {
        match file.read_at(&mut bytes[found..], start + found as u64) {
            Ok(more) => {
                found += more;
                // Only at its end a file gives less than whole sectors.
                if more == 0 || found < needed && !found.is_multiple_of(ALIGN) {
                    return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    buf.copy_from_slice(&bytes[before..needed]);
    Ok(())
}

/// A new file, written from its start to its end: directly what fills whole buffers, the rest as usual.
#[derive(Debug)]
pub(crate) struct DirectWriter {
    file: File,
    path: Box<Path>,
    /// Made once there is something.
    buffer: Option<Aligned>,
    filled: usize,
    mode: Mode,
}

/// How the file is written at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Nothing was written yet.
    New,
    Direct,
    /// It ended between two sectors, or the file system refuses.
    Usual,
}

impl DirectWriter {
    pub fn new(file: File, path: &Path) -> Self {
        Self { file, path: path.into(), buffer: None, filled: 0, mode: Mode::New }
    }

    /// Writes a buffer that is full.
    fn write_full(&mut self) -> io::Result<()> {
        if self.mode == Mode::New {
            self.mode = if make_direct(&self.file, &self.path) { Mode::Direct } else { Mode::Usual };
        }
        self.write_buffer()
    }

    fn write_buffer(&mut self) -> io::Result<()> {
        let Some(buffer) = &mut self.buffer else { return Ok(()) };
        let result = self.file.write_all(buffer.get(self.filled));
        // After an error the file is of no use, and what was in the buffer is not written twice.
        self.filled = 0;
        result
    }
}

impl Write for DirectWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.filled == WRITE_BYTES {
            self.write_full()?;
        }
        let filled = self.filled;
        let buffer = self.buffer.get_or_insert_with(|| Aligned::new(WRITE_BYTES));
        let room = &mut buffer.get(WRITE_BYTES)[filled..];
        let count = room.len().min(bytes.len());
        room[..count].copy_from_slice(&bytes[..count]);
        self.filled += count;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.filled == 0 {
            return Ok(());
        }
        if self.mode == Mode::Direct && !self.filled.is_multiple_of(ALIGN) {
            // What comes after this begins between two sectors.
            set(&self.file, false)?;
            self.mode = Mode::Usual;
        } else if self.mode == Mode::New {
            self.mode = Mode::Usual;
        }
        self.write_buffer()
    }
}

impl Drop for DirectWriter {
    fn drop(&mut self) {
        // As a buffered writer does: who wants to know of errors has flushed it.
        let _ = self.flush();
    }
}

impl WriteFile for DirectWriter {
    fn sync(&mut self) -> io::Result<()> {
        self.flush()?;
        self.file.sync_all()
    }

    fn sync_data(&mut self) -> io::Result<()> {
        self.flush()?;
        self.file.sync_data()
    }
}

#[cfg(test)]
mod tests {
    //! Bytes are those of usual reads and writes, whatever lengths and places.
    use super::*;

    fn content(bytes: usize) -> Vec<u8> {
        (0..bytes).map(|i| (i * 31 % 251) as u8 ^ (i >> 12) as u8).collect()
    }

    /// In the folder of this crate: temporary folders are often in memory, where nothing is direct.
    fn folder() -> tempfile::TempDir {
        tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap()
    }

    #[test]
    fn reads_are_those_of_the_file() {
        let folder = folder();
        for len in [0, 1, ALIGN - 1, ALIGN, 3 * ALIGN + 17] {
            let (path, bytes) = (folder.path().join("f"), content(len));
            std::fs::write(&path, &bytes).unwrap();
            for is_direct in [false, true] {
                let file = File::open(&path).unwrap();
                let _ = set(&file, is_direct);
                for start in [0, 1, 511, ALIGN - 1, ALIGN, len / 2, len.saturating_sub(1), len, len + ALIGN] {
                    for count in [0, 1, 2, ALIGN, ALIGN + 1, len, len.saturating_sub(start)] {
                        let mut found = vec![0; count];
                        let wanted = bytes.get(start..start + count);
                        match read_exact_at(&file, &mut found, start as u64) {
                            Ok(()) => {
                                assert!(count == 0 || wanted == Some(&found[..]), "{start} {count} of {len}")
                            }
                            Err(error) => {
                                assert_eq!((error.kind(), wanted), (io::ErrorKind::UnexpectedEof, None));
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn writes_are_what_was_written() {
        let folder = folder();
        for len in [
            0,
            1,
            ALIGN,
            WRITE_BYTES - 1,
            WRITE_BYTES,
            WRITE_BYTES + 1,
            3 * WRITE_BYTES + ALIGN,
            3 * WRITE_BYTES + 5,
        ] {
            // In pieces, flushed now and then, and at the end or not at all.
            for (piece, flushed, is_synced) in [
                (usize::MAX, usize::MAX, true),
                (100_003, usize::MAX, false),
                (ALIGN, 300, true),
                (70_001, 7, true),
                (WRITE_BYTES, 2, false),
            ] {
                let (path, bytes) = (folder.path().join("f"), content(len));
                let mut writer = DirectWriter::new(File::create(&path).unwrap(), &path);
                // As if it had been asked for, which would be for all tests.
                writer.mode = if set(&writer.file, true).is_ok() { Mode::Direct } else { Mode::Usual };
                for (number, piece) in bytes.chunks(piece).enumerate() {
                    writer.write_all(piece).unwrap();
                    if number % flushed == flushed - 1 {
                        writer.flush().unwrap();
                    }
                }
                if is_synced {
                    writer.sync().unwrap();
                }
                drop(writer);
                assert!(std::fs::read(&path).unwrap() == bytes, "{len} by {piece}");
            }
        }
    }

    #[test]
    fn a_file_system_that_refuses_is_used_as_usual() {
        // That of processes knows no direct reads.
        let file = File::open("/proc/self/status").unwrap();
        assert!(set(&file, true).is_err() || !cfg!(target_os = "linux"));
        let mut first = [0; 4];
        read_exact_at(&file, &mut first, 0).unwrap();
        assert_eq!(&first, b"Name");
    }
}
