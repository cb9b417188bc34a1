//! Where to find terms again that are on the disk: by number and by hash, in pages of a temporary file.
//!
//! By hash this is extendible hashing (Fagin et al., 1979): a directory in memory tells by the first bits of a hash which page has its
//! entries; a page that is full is divided by one more bit. Terms are added many at once, in the order of their hashes, so that each page is
//! read and written once. In memory are some four bytes for two hundred terms.

use super::temporary_file::TemporaryFile;
use super::term_file::damaged;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

const PAGE_BYTES: usize = 4 << 10;
/// The page's head: how many entries (2 bytes), by how many bits of their hashes they are here (1), and the page that goes on (4).
const HEAD_BYTES: usize = 8;
/// An entry by hash: the hash, and the term's number.
const ENTRY_BYTES: usize = 12;
const ENTRIES_MAX: usize = (PAGE_BYTES - HEAD_BYTES) / ENTRY_BYTES;
/// An entry by number: the hash, and the place of the term.
const PLACE_BYTES: usize = 16;
const PLACES: usize = PAGE_BYTES / PLACE_BYTES;
/// The directory has so many bits at most. A page that would need more goes on in another one.
const DEPTH_MAX: u8 = if cfg!(test) { 6 } else { 20 };
/// No page.
const NONE: u32 = u32::MAX;

/// The pages of all indexes of a query.
#[derive(Debug)]
pub struct PageFile {
    file: TemporaryFile,
    next: AtomicU32,
}

impl PageFile {
    /// An empty one in a folder.
    pub fn in_folder(folder: &Path) -> io::Result<Self> {
        Ok(Self { file: TemporaryFile::in_folder(folder)?, next: AtomicU32::new(0) })
    }

    fn allocate(&self) -> io::Result<u32> {
        let page = self.next.fetch_add(1, Ordering::Relaxed);
        if page >= NONE / 2 {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(page)
    }
}

fn offset(page: u32, at: usize) -> u64 {
    u64::from(page) * PAGE_BYTES as u64 + at as u64
}

/// The entry of a term by its number.
#[derive(Debug, Clone, Copy)]
pub struct PlaceAt(u64);

impl PlaceAt {
    /// The term's hash and place.
    pub fn read(self, pages: &PageFile) -> io::Result<(u64, u64)> {
        let mut bytes = [0; PLACE_BYTES];
        pages.file.read_exact_at(&mut bytes, self.0)?;
        Ok((number(&bytes[..8]), number(&bytes[8..])))
    }
}

/// Hashes and places of terms, which have numbers from 0.
#[derive(Debug, Default)]
pub struct DiskIndex {
    len: u32,
    /// Pages of hashes and places, by number.
    places: Vec<u32>,
    /// Pages of hashes and numbers, by the first `depth` bits of hashes.
    directory: Vec<u32>,
    depth: u8,
}

impl DiskIndex {
    /// How many terms there are.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        (self.places.capacity() + self.directory.capacity()) * size_of::<u32>()
    }

    /// Where the entry of a term is.
    pub fn place(&self, at: usize) -> Option<PlaceAt> {
        let page = (at < self.len()).then(|| self.places.get(at / PLACES)).flatten()?;
        Some(PlaceAt(offset(*page, at % PLACES * PLACE_BYTES)))
    }

    /// The first of the terms with this hash that `is_it` says yes to.
    pub fn find(
        &self,
        pages: &PageFile,
        hash: u64,
        mut is_it: impl FnMut(u32) -> io::Result<bool>,
    ) -> io::Result<Option<u32>> {
        let mut page = self.directory.get(self.slot(hash)).copied().unwrap_or(NONE);
        let mut bytes = [0; PAGE_BYTES];
        while page != NONE {
            pages.file.read_exact_at(&mut bytes, offset(page, 0))?;
            let head = Head::of(&bytes)?;
            for entry in bytes[HEAD_BYTES..].chunks_exact(ENTRY_BYTES).take(head.count) {
                if entry[..8] == hash.to_le_bytes() {
                    let at = number(&entry[8..]) as u32;
                    if at < self.len && is_it(at)? {
                        return Ok(Some(at));
                    }
                }
            }
            page = head.next;
        }
        Ok(None)
    }

    /// Adds the terms that come next: their hashes and places. Where that fails nothing was added, and it can be tried again.
    pub fn add<I: Iterator<Item = (u64, u64)>>(
        &mut self,
        pages: &PageFile,
        terms: &dyn Fn() -> I,
    ) -> io::Result<()> {
        self.add_places(pages, &mut terms())?;
        let mut entries: Vec<(u64, u32)> = terms().map(|(hash, _)| hash).zip(self.len..u32::MAX).collect();
        let end = u32::try_from(self.len() + entries.len()).map_err(io::Error::other)?;
        entries.sort_unstable();
        let mut page = Page::empty(pages.allocate_first(&mut self.directory)?);
        for (hash, at) in entries {
            loop {
                let slot = self.slot(hash);
                page.switch_to(pages, self.directory.get(slot).copied().unwrap_or(NONE))?;
                if page.entries.len() < ENTRIES_MAX {
                    page.entries.push((hash, at));
                    page.is_changed = true;
                    break;
                }
                self.divide(pages, &mut page, slot)?;
            }
        }
        page.write(pages)?;
        self.len = end;
        Ok(())
    }

    fn add_places(
        &mut self,
        pages: &PageFile,
        terms: &mut dyn Iterator<Item = (u64, u64)>,
    ) -> io::Result<()> {
        let (mut at, mut terms) = (self.len(), terms.peekable());
        let mut bytes = Vec::with_capacity(PAGE_BYTES);
        while terms.peek().is_some() {
            if self.places.len() <= at / PLACES {
                self.places.push(pages.allocate()?);
            }
            let page = self.places.get(at / PLACES).copied().unwrap_or(NONE);
            bytes.clear();
            for (hash, place) in terms.by_ref().take(PLACES - at % PLACES) {
                bytes.extend([hash.to_le_bytes(), place.to_le_bytes()].as_flattened());
            }
            pages.file.write_all_at(&bytes, offset(page, at % PLACES * PLACE_BYTES))?;
            at += bytes.len() / PLACE_BYTES;
        }
        Ok(())
    }

    fn slot(&self, hash: u64) -> usize {
        hash.checked_shr(u64::BITS - u32::from(self.depth)).unwrap_or(0) as usize
    }

    /// Divides a full page, which `slot` names, by the next bit of the hashes in it, or has it go on in an empty one.
    fn divide(&mut self, pages: &PageFile, page: &mut Page, slot: usize) -> io::Result<()> {
        let new = pages.allocate()?;
        if page.depth == DEPTH_MAX {
            page.write(pages)?;
            *page = Page { depth: DEPTH_MAX, next: page.number, ..Page::empty(new) };
            page.is_changed = true;
            page.write(pages)?;
            self.directory[slot] = new;
            return Ok(());
        }
        let (mut directory, mut depth, mut slot) = (None, self.depth, slot);
        if page.depth == depth {
            directory = Some(self.directory.iter().flat_map(|page| [*page; 2]).collect::<Vec<_>>());
            (depth, slot) = (depth + 1, 2 * slot);
        }
        let bit = 1 << (u64::BITS - 1 - u32::from(page.depth));
        let (upper, lower) = page.entries.iter().partition(|(hash, _)| hash & bit != 0);
        let mut other = Page { depth: page.depth + 1, entries: upper, ..Page::empty(new) };
        other.is_changed = true;
        other.write(pages)?;
        (page.entries, page.depth, page.is_changed) = (lower, page.depth + 1, true);
        // Before the directory knows: where this fails, the page is as it was.
        page.write(pages)?;
        if let Some(directory) = directory {
            (self.directory, self.depth) = (directory, depth);
        }
        let slots = 1 << (depth - page.depth);
        let upper_start = (slot & !(2 * slots - 1)) + slots;
        self.directory[upper_start..upper_start + slots].fill(new);
        Ok(())
    }
}

impl PageFile {
    /// The first page of a directory, which is made if there is none.
    fn allocate_first(&self, directory: &mut Vec<u32>) -> io::Result<u32> {
        if let Some(first) = directory.first() {
            return Ok(*first);
        }
        let number = self.allocate()?;
        Page { is_changed: true, ..Page::empty(number) }.write(self)?;
        directory.push(number);
        Ok(number)
    }
}

/// What a page says of itself.
struct Head {
    count: usize,
    depth: u8,
    next: u32,
}

impl Head {
    fn of(page: &[u8; PAGE_BYTES]) -> io::Result<Self> {
        let [count_low, count_high, depth, _, next @ ..] =
            page.first_chunk::<HEAD_BYTES>().ok_or_else(damaged)?;
        let count = usize::from(u16::from_le_bytes([*count_low, *count_high]));
        if count > ENTRIES_MAX || *depth > DEPTH_MAX {
            return Err(damaged());
        }
        Ok(Self { count, depth: *depth, next: number(next) as u32 })
    }
}

/// A page in memory.
struct Page {
    number: u32,
    depth: u8,
    next: u32,
    entries: Vec<(u64, u32)>,
    is_changed: bool,
    is_read: bool,
}

impl Page {
    fn empty(number: u32) -> Self {
        Self { number, depth: 0, next: NONE, entries: Vec::new(), is_changed: false, is_read: false }
    }

    /// Writes this one, and reads another.
    fn switch_to(&mut self, pages: &PageFile, other: u32) -> io::Result<()> {
        if self.number == other && (self.is_read || self.is_changed) {
            return Ok(());
        }
        self.write(pages)?;
        let mut bytes = [0; PAGE_BYTES];
        pages.file.read_exact_at(&mut bytes, offset(other, 0))?;
        let Head { count, depth, next } = Head::of(&bytes)?;
        let entries = bytes[HEAD_BYTES..].chunks_exact(ENTRY_BYTES).take(count);
        let entries = entries.map(|entry| (number(&entry[..8]), number(&entry[8..]) as u32)).collect();
        *self = Self { number: other, depth, next, entries, is_changed: false, is_read: true };
        Ok(())
    }

    fn write(&mut self, pages: &PageFile) -> io::Result<()> {
        if !std::mem::take(&mut self.is_changed) {
            return Ok(());
        }
        self.is_read = true;
        let mut bytes = Vec::with_capacity(PAGE_BYTES);
        bytes.extend((self.entries.len() as u16).to_le_bytes());
        bytes.extend([self.depth, 0]);
        bytes.extend(self.next.to_le_bytes());
        for (hash, at) in &self.entries {
            bytes.extend(hash.to_le_bytes());
            bytes.extend(at.to_le_bytes());
        }
        bytes.resize(PAGE_BYTES, 0);
        pages.file.write_all_at(&bytes, offset(self.number, 0))
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    //! What was added is found again, also where it was added little by little, and where hashes are alike.
    use super::*;

    fn place_of(hash: u64, at: usize) -> u64 {
        hash.rotate_left(7) ^ at as u64
    }

    fn check(hashes: &[u64], at_once: usize) {
        let folder = tempfile::tempdir().unwrap();
        let (pages, mut index) = (PageFile::in_folder(folder.path()).unwrap(), DiskIndex::default());
        assert_eq!(index.find(&pages, 1, |_| panic!("there is none")).unwrap(), None);
        for (number, part) in hashes.chunks(at_once).enumerate() {
            let start = number * at_once;
            let places: Vec<u64> =
                part.iter().enumerate().map(|(at, hash)| place_of(*hash, start + at)).collect();
            index.add(&pages, &|| part.iter().copied().zip(places.iter().copied())).unwrap();
        }
        assert_eq!(index.len(), hashes.len());
        for (at, hash) in hashes.iter().enumerate() {
            let entry = index.place(at).unwrap().read(&pages).unwrap();
            assert_eq!(entry, (*hash, place_of(*hash, at)));
            let found = index.find(&pages, *hash, |found| Ok(found as usize == at)).unwrap();
            assert_eq!(found, Some(at as u32));
            assert_eq!(
                index.find(&pages, hash ^ 1, |_| Ok(true)).unwrap().is_some(),
                hashes.contains(&(hash ^ 1))
            );
        }
        assert!(index.place(hashes.len()).is_none());
    }

    #[test]
    fn hashes_are_found_again() {
        let spread = |n: u64| n.wrapping_mul(0x9E37_79B9_7F4A_7C15) & !1;
        let hashes: Vec<u64> = (1..=20_000).map(spread).collect();
        [1_000, 20_000, 77].into_iter().for_each(|at_once| check(&hashes[..at_once.max(3000)], at_once));
        // All in one page of the greatest depth, and some that are the same.
        let alike: Vec<u64> = (0..2000).map(|n| 2 * (n / 3)).collect();
        check(&alike, 500);
    }

    #[test]
    fn what_failed_half_way_is_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let (pages, mut index) = (PageFile::in_folder(folder.path()).unwrap(), DiskIndex::default());
        let hashes: Vec<u64> = (1..2000_u64).map(|n| n << 50 | n).collect();
        index.add(&pages, &|| hashes.iter().map(|hash| (*hash, *hash))).unwrap();
        index.len -= 500;
        assert_eq!(index.find(&pages, hashes[1700], |_| Ok(true)).unwrap(), None);
        index.add(&pages, &|| hashes[1499..].iter().map(|hash| (*hash, *hash))).unwrap();
        for (at, hash) in hashes.iter().enumerate() {
            assert_eq!(index.find(&pages, *hash, |_| Ok(true)).unwrap(), Some(at as u32));
        }
    }
}
