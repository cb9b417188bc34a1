//! Files that belong to a segment: found by its description, opened when something in them is wanted.

use crate::error::{Damage, PackedError, io_error};
use lode_base::block_source::BlockFile;
use lode_base::device::Device;
use lode_base::vfs::{ReadAt, Vfs};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// A file is not the one of its segment.
pub(crate) const SWAPPED: Damage = Damage("not the file that the segment's description names");

/// Where a file of a segment is.
#[derive(Debug, Clone)]
pub(crate) struct PartPath {
    vfs: Arc<dyn Vfs>,
    path: PathBuf,
    name: Arc<str>,
}

impl PartPath {
    /// A file in the folder of a segment.
    pub fn new(vfs: &Arc<dyn Vfs>, folder: &Path, file: &str) -> Self {
        let path = folder.join(file);
        let name = Arc::from(path.to_string_lossy());
        Self { vfs: Arc::clone(vfs), path, name }
    }

    /// For error messages.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Opens the file, to be read now and then for long.
    fn open(&self) -> Result<Arc<dyn ReadAt>, PackedError> {
        self.vfs.open_immutable(&self.path).map_err(io_error(&self.name))
    }

    #[cold]
    fn read_into<'a, T, I: PartialEq>(
        &self,
        opened: &'a OnceLock<T>,
        info: &I,
        read: impl FnOnce(Arc<dyn ReadAt>) -> Result<(T, I), PackedError>,
    ) -> Result<&'a T, PackedError> {
        let (found, found_info) = read(self.open()?)?;
        if found_info != *info {
            return Err(SWAPPED.at(&self.name, 0));
        }
        // Where another thread was faster, its file is taken.
        Ok(opened.get_or_init(|| found))
    }

    /// Whether reads of its device are known to be slow.
    fn is_slow(&self) -> bool {
        self.vfs.device().is_slow
    }

    /// Opens the file, to be read once.
    pub fn open_once(&self) -> Result<Arc<dyn ReadAt>, PackedError> {
        self.vfs.open(&self.path).map_err(io_error(&self.name))
    }
}

/// A file of a segment and what `T` holds of it in memory.
#[derive(Debug)]
pub(crate) enum Part<T> {
    /// It is open.
    Open(T),
    /// It is opened when something in it is wanted.
    AtPath(PartPath, OnceLock<T>),
}

impl<T> Part<T> {
    /// A file that is opened when something in it is wanted.
    pub fn at(path: PartPath) -> Self {
        Self::AtPath(path, OnceLock::new())
    }

    /// What there is in memory, if the file is open.
    pub fn if_open(&self) -> Option<&T> {
        match self {
            Self::Open(opened) => Some(opened),
            Self::AtPath(_, opened) => opened.get(),
        }
    }

    /// Whether it pays to ask for several things at once: what is known without opening the file.
    pub fn is_far(&self, file: impl FnOnce(&T) -> &BlockFile) -> bool {
        match (self, self.if_open()) {
            (_, Some(opened)) => file(opened).reads_batches_ahead(),
            (Self::AtPath(path, _), None) => path.is_slow(),
            (Self::Open(_), None) => false,
        }
    }

    /// What there is in memory, once the file is open. `read` also tells what the file holds: that must be `info`, as the description of
    /// the segment has it.
    #[inline]
    pub fn get<I: PartialEq>(
        &self,
        info: &I,
        read: impl FnOnce(Arc<dyn ReadAt>) -> Result<(T, I), PackedError>,
    ) -> Result<&T, PackedError> {
        match self {
            Self::Open(opened) => Ok(opened),
            Self::AtPath(path, opened) => match opened.get() {
                Some(opened) => Ok(opened),
                None => path.read_into(opened, info, read),
            },
        }
    }
}

/// So much of the end of a file is read at once: with the footer, what is before it, and of a small file all.
const END_BYTES: u64 = 4096;

/// A file whose end is in memory.
#[derive(Debug)]
pub(crate) struct FileEnd {
    file: Arc<dyn ReadAt>,
    /// Where the end begins.
    start: u64,
    end: Vec<u8>,
}

impl FileEnd {
    /// Reads the end of a file.
    pub fn read(file: Arc<dyn ReadAt>, name: &Arc<str>) -> Result<Self, PackedError> {
        let start = file.len().saturating_sub(END_BYTES);
        let mut end = vec![0; (file.len() - start) as usize];
        file.read_exact_at(&mut end, start).map_err(io_error(name))?;
        Ok(Self { file, start, end })
    }

    /// The file for all further reads. One that is in memory as a whole stays there, which takes less than a descriptor does.
    pub fn into_file(self) -> Arc<dyn ReadAt> {
        if self.start == 0 { Arc::new(WholeFile(self.end)) } else { self.file }
    }
}

impl ReadAt for FileEnd {
    fn device(&self) -> Device {
        self.file.device()
    }

    fn is_near(&self, offset: u64, bytes: usize) -> bool {
        offset >= self.start || self.file.is_near(offset, bytes)
    }

    fn len(&self) -> u64 {
        self.start + self.end.len() as u64
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        match offset.checked_sub(self.start) {
            Some(place) => copy(&self.end, buf, place),
            None => self.file.read_exact_at(buf, offset),
        }
    }
}

/// A file that is in memory.
#[derive(Debug)]
struct WholeFile(Vec<u8>);

impl ReadAt for WholeFile {
    fn device(&self) -> Device {
        Device::MEMORY
    }

    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        copy(&self.0, buf, offset)
    }
}

fn copy(from: &[u8], buf: &mut [u8], place: u64) -> io::Result<()> {
    let bytes = usize::try_from(place).ok().and_then(|place| from.get(place..)?.get(..buf.len()));
    buf.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lode_base::mem_vfs::MemVfs;

    #[test]
    fn reads_are_those_of_the_file() {
        for length in [0, 1, END_BYTES - 1, END_BYTES, END_BYTES + 1, 3 * END_BYTES] {
            let (vfs, path) = (MemVfs::default(), Path::new("f"));
            let bytes: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
            vfs.create(path).unwrap().write_all(&bytes).unwrap();
            let end = FileEnd::read(vfs.open(path).unwrap(), &Arc::from("f")).unwrap();
            let check = |file: &dyn ReadAt| {
                assert_eq!(file.len(), length);
                for start in
                    [0, 1, length / 2, length.saturating_sub(END_BYTES), length.saturating_sub(1), length]
                {
                    for count in [0, 1, 100, length.saturating_sub(start), length] {
                        let mut found = vec![0; count as usize];
                        let wanted = bytes.get(start as usize..(start + count) as usize);
                        match file.read_exact_at(&mut found, start) {
                            Ok(()) => assert_eq!(Some(found.as_slice()), wanted),
                            Err(error) => {
                                assert_eq!((error.kind(), wanted), (io::ErrorKind::UnexpectedEof, None));
                            }
                        }
                    }
                }
            };
            check(&end);
            check(&*end.into_file());
        }
    }
}
