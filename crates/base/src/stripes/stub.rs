//! What stands in the folder of a database in place of a striped file: how long it is and which parts it has. Each time that the file is
//! flushed or synced another record is appended, and the last whole one counts: so none is ever written over.

use crate::checksum::checksum;
use crate::vfs::{ReadAt, Vfs};
use std::io;
use std::path::Path;

const MAGIC: [u8; 8] = *b"LODESTRP";
pub(super) const RECORD_BYTES: usize = 72;
/// Begins a record: what it is, and of which stripes.
const HEAD_BYTES: usize = 24;
/// No longer file is a stub.
const BYTES_MAX: u64 = 64 << 10;

/// A striped file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stub {
    /// The number of the stripes.
    pub set: u128,
    /// By which its parts are named.
    pub name: u128,
    /// Its length in bytes.
    pub len: u64,
    /// So many bytes of it are in one folder, the next in the next one.
    pub chunk: u64,
    /// Folders.
    pub folders: u16,
    /// The folder of its first bytes.
    pub first: u16,
    /// Whether its parts are durable: then they stay until it is durable that the stub is gone.
    pub is_durable: bool,
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the list of its parts in the stripe folders is damaged")
}

impl Stub {
    /// As a record.
    pub fn encode(&self) -> [u8; RECORD_BYTES] {
        let mut record = [0; RECORD_BYTES];
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            if let Some(room) = record.get_mut(at..at + bytes.len()) {
                room.copy_from_slice(bytes);
            }
            at += bytes.len();
        };
        put(&MAGIC);
        put(&self.set.to_le_bytes());
        put(&self.name.to_le_bytes());
        put(&self.len.to_le_bytes());
        put(&self.chunk.to_le_bytes());
        put(&self.folders.to_le_bytes());
        put(&self.first.to_le_bytes());
        put(&u32::from(self.is_durable).to_le_bytes());
        let (body, sum) = record.split_at_mut(RECORD_BYTES - 8);
        sum.copy_from_slice(&checksum(body).to_le_bytes());
        record
    }

    /// None where the record is not whole.
    fn decode(record: &[u8]) -> Option<Self> {
        let (body, sum) = record.split_at_checked(RECORD_BYTES - 8)?;
        let mut rest = body.strip_prefix(&MAGIC)?;
        if sum != checksum(body).to_le_bytes() {
            return None;
        }
        let mut take = |count: usize| {
            let (bytes, left) = rest.split_at_checked(count)?;
            rest = left;
            let mut number = [0; 16];
            number.get_mut(..count)?.copy_from_slice(bytes);
            Some(u128::from_le_bytes(number))
        };
        let stub = Self {
            set: take(16)?,
            name: take(16)?,
            len: u64::try_from(take(8)?).ok()?,
            chunk: u64::try_from(take(8)?).ok()?,
            folders: u16::try_from(take(2)?).ok()?,
            first: u16::try_from(take(2)?).ok()?,
            is_durable: take(4)? != 0,
        };
        (stub.chunk > 0 && stub.first < stub.folders).then_some(stub)
    }

    /// The stub that a file is; none where it is a file itself.
    ///
    /// # Errors
    /// `InvalidData` where it is a stub that is damaged or belongs to other stripes; where the file cannot be read.
    pub fn read(file: &dyn ReadAt, set: u128) -> io::Result<Option<Self>> {
        let len = file.len();
        if !(RECORD_BYTES as u64..=BYTES_MAX).contains(&len) {
            return Ok(None);
        }
        let mut head = [0; HEAD_BYTES];
        file.read_exact_at(&mut head, 0)?;
        let (magic, number) = head.split_at(MAGIC.len());
        if magic != MAGIC {
            return Ok(None);
        }
        if number != set.to_le_bytes() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "its bytes are in the stripe folders of another database",
            ));
        }
        let mut bytes = vec![0; len as usize];
        file.read_exact_at(&mut bytes, 0)?;
        let last = bytes.chunks_exact(RECORD_BYTES).rev().find_map(Self::decode);
        last.filter(|stub| stub.set == set).map(Some).ok_or_else(damaged)
    }

    /// The name of its part in each folder.
    pub fn part(&self) -> String {
        part_name(self.name)
    }

    /// Where the byte at `offset` is: the folder, the place in its part, and how many bytes from there on are in one piece.
    pub fn place(&self, offset: u64) -> Place {
        let (chunk, within) = (offset / self.chunk, offset % self.chunk);
        let folders = u64::from(self.folders);
        Place {
            folder: ((u64::from(self.first) + chunk) % folders) as usize,
            offset: chunk / folders * self.chunk + within,
            bytes: self.chunk - within,
        }
    }

    /// Bytes of its part in a folder.
    pub fn part_bytes(&self, folder: usize) -> u64 {
        let folders = u64::from(self.folders);
        let place = (folder as u64 + folders - u64::from(self.first)) % folders;
        let (whole, rest) = (self.len / self.chunk, self.len % self.chunk);
        let of_whole = (whole + folders - 1 - place) / folders * self.chunk;
        of_whole + if whole % folders == place { rest } else { 0 }
    }
}

/// A place in a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub folder: usize,
    pub offset: u64,
    pub bytes: u64,
}

const PART_SUFFIX: &str = ".part";

/// Whether any file in a folder, or in one in it, begins as a stub.
pub(super) fn is_in(vfs: &dyn Vfs, folder: &Path, is_outer: bool) -> bool {
    let begins_so = |path: &Path| {
        let mut head = [0; MAGIC.len()];
        let read = vfs.open(path).and_then(|file| file.read_exact_at(&mut head, 0));
        read.map(|()| head == MAGIC)
    };
    vfs.list(folder).unwrap_or_default().iter().map(|name| folder.join(name)).any(|path| {
        match begins_so(&path) {
            Ok(begins_so) => begins_so,
            Err(_) => is_outer && is_in(vfs, &path, false),
        }
    })
}

/// The name of parts.
pub(super) fn part_name(name: u128) -> String {
    format!("{name:032x}{PART_SUFFIX}")
}

/// Whether a file is called like a part.
pub(super) fn is_part_name(name: &str) -> bool {
    name.strip_suffix(PART_SUFFIX)
        .is_some_and(|number| number.len() == 32 && number.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    //! Records come back, damage is told, and all bytes have one place.
    use super::*;
    use crate::mem_vfs::MemVfs;
    use crate::vfs::Vfs;
    use std::path::Path;

    const STUB: Stub =
        Stub { set: 7, name: 1 << 100, len: 1000, chunk: 64, folders: 3, first: 2, is_durable: true };

    fn read(bytes: &[u8], set: u128) -> io::Result<Option<Stub>> {
        let vfs = MemVfs::new();
        vfs.create(Path::new("/x")).unwrap().write_all(bytes).unwrap();
        Stub::read(&*vfs.open(Path::new("/x")).unwrap(), set)
    }

    #[test]
    fn the_last_whole_record_counts() {
        assert_eq!(read(&STUB.encode(), 7).unwrap(), Some(STUB));
        let longer = Stub { len: 2000, ..STUB };
        let both = [STUB.encode(), longer.encode()].concat();
        assert_eq!(read(&both, 7).unwrap(), Some(longer));
        for cut in RECORD_BYTES..both.len() {
            assert_eq!(read(&both[..cut], 7).unwrap(), Some(STUB));
        }
        assert_eq!(read(&both, 8).unwrap_err().kind(), io::ErrorKind::InvalidData);
        for (bytes, found) in [(vec![], None), (vec![1; 100], None), (STUB.encode()[..71].to_vec(), None)] {
            assert_eq!(read(&bytes, 7).unwrap(), found);
        }
        for at in 0..RECORD_BYTES {
            let mut bytes = STUB.encode();
            bytes[at] ^= 1;
            assert!(!matches!(read(&bytes, 7), Ok(Some(_))), "{at}");
        }
    }

    #[test]
    fn all_bytes_have_one_place() {
        for folders in 1..5 {
            for first in 0..folders {
                for len in (0..700).step_by(13) {
                    let stub = Stub { len, folders, first, ..STUB };
                    let mut ends = vec![0; usize::from(folders)];
                    let mut offset = 0;
                    while offset < len {
                        let place = stub.place(offset);
                        assert_eq!(place.offset, ends[place.folder]);
                        let bytes = place.bytes.min(len - offset);
                        ends[place.folder] += bytes;
                        offset += bytes;
                    }
                    let parts: Vec<u64> = (0..ends.len()).map(|folder| stub.part_bytes(folder)).collect();
                    assert_eq!(parts, ends, "{len} bytes in {folders} from {first}");
                }
            }
        }
    }
}
