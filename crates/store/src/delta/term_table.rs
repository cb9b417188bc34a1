//! Terms that are in no dictionary yet: a table that only grows, shared by all versions that see a part of it.

use crate::error::StoreError;
use hashbrown::HashTable;
use lode_rdf::value_id::Section;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Keys by index and indexes by key, from 0 in the order of arrival over all sections.
#[derive(Debug, Default)]
pub struct TermTable(RwLock<Inner>);

#[derive(Debug, Default)]
struct Inner {
    keys: Keys,
    table: HashTable<u32>,
}

/// Keys by index.
#[derive(Debug, Default, Clone)]
pub struct Keys {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    hash: u64,
    end: u64,
    section: Section,
}

impl Keys {
    /// Section and key of a term.
    pub fn key(&self, index: usize) -> Option<(Section, &[u8])> {
        let entry = self.entries.get(index)?;
        let start = self.end(index);
        Some((entry.section, self.bytes.get(start as usize..entry.end as usize)?))
    }

    /// Bytes of the keys before `index`.
    fn end(&self, index: usize) -> u64 {
        index.checked_sub(1).and_then(|before| self.entries.get(before)).map_or(0, |entry| entry.end)
    }

    /// Calls `work` with all terms, sorted by section and key, and with the place of each in its section, by index.
    pub fn sorted<T>(&self, work: impl FnOnce(&[(Section, &[u8])], &[u64]) -> T) -> T {
        let mut terms: Vec<(Section, &[u8], usize)> = Vec::with_capacity(self.entries.len());
        terms.extend((0..self.entries.len()).filter_map(|index| {
            let (section, key) = self.key(index)?;
            Some((section, key, index))
        }));
        terms.sort_unstable();
        let mut ranks = vec![0; terms.len()];
        let mut next = [0; Section::COUNT];
        for (section, _, index) in &terms {
            ranks[*index] = next[*section as usize];
            next[*section as usize] += 1;
        }
        let keys: Vec<(Section, &[u8])> = terms.into_iter().map(|(section, key, _)| (section, key)).collect();
        work(&keys, &ranks)
    }
}

impl Inner {
    fn find(&self, hash: u64, section: Section, key: &[u8]) -> Option<u64> {
        let same = |index: &u32| self.keys.key(*index as usize) == Some((section, key));
        self.table.find(hash, same).map(|index| u64::from(*index))
    }
}

fn hash(section: Section, key: &[u8]) -> u64 {
    xxh3_64_with_seed(key, section as u64)
}

impl TermTable {
    fn read(&self) -> RwLockReadGuard<'_, Inner> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many terms.
    pub fn len(&self) -> u64 {
        self.read().keys.entries.len() as u64
    }

    /// Bytes of memory, about.
    pub fn memory_bytes(&self) -> usize {
        let keys = &self.read().keys;
        keys.bytes.capacity() + keys.entries.capacity() * (size_of::<Entry>() + 8)
    }

    /// The index of a term.
    pub fn find(&self, section: Section, key: &[u8]) -> Option<u64> {
        self.read().find(hash(section, key), section, key)
    }

    /// The index of a term, which is added if it is not there. `None`: there is no room for more.
    pub fn insert(&self, section: Section, key: &[u8]) -> Option<u64> {
        let hash = hash(section, key);
        let mut inner = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = inner.find(hash, section, key) {
            return Some(index);
        }
        let index = u32::try_from(inner.keys.entries.len()).ok()?;
        let Inner { keys: Keys { bytes, entries }, table } = &mut *inner;
        bytes.extend_from_slice(key);
        entries.push(Entry { hash, end: bytes.len() as u64, section });
        table.insert_unique(hash, index, |index| entries.get(*index as usize).map_or(0, |entry| entry.hash));
        Some(u64::from(index))
    }

    /// Like [`TermTable::insert`], with an error that says what to do.
    pub fn insert_or_fail(&self, section: Section, key: &[u8]) -> Result<u64, StoreError> {
        let too_many = || StoreError::Limit("too many new terms at once: divide the update".to_owned());
        self.insert(section, key).ok_or_else(too_many)
    }

    /// Calls `visit` with the section and key of a term.
    pub fn with_key<T>(&self, index: u64, visit: impl FnOnce(Section, &[u8]) -> T) -> Option<T> {
        let inner = self.read();
        let (section, key) = inner.keys.key(usize::try_from(index).ok()?)?;
        Some(visit(section, key))
    }

    /// Calls `visit` with section and key of the terms from `start` on, in order.
    pub fn for_each_from<E>(
        &self,
        start: u64,
        mut visit: impl FnMut(Section, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let keys = &self.read().keys;
        let start = usize::try_from(start).unwrap_or(usize::MAX);
        for (section, key) in (start..keys.entries.len()).filter_map(|index| keys.key(index)) {
            visit(section, key)?;
        }
        Ok(())
    }

    /// Calls `work` with all terms, while nobody can add any.
    pub fn with_keys<T>(&self, work: impl FnOnce(&Keys) -> T) -> T {
        work(&self.read().keys)
    }

    /// A copy of the first `count` terms.
    pub fn first(&self, count: u64) -> Keys {
        let keys = &self.read().keys;
        let count = usize::try_from(count).unwrap_or(usize::MAX).min(keys.entries.len());
        let bytes = keys.bytes.get(..keys.end(count) as usize).unwrap_or_default();
        Keys { bytes: bytes.to_vec(), entries: keys.entries.get(..count).unwrap_or_default().to_vec() }
    }

    /// Bytes of the keys from `start` on.
    pub fn bytes_from(&self, start: u64) -> usize {
        let keys = &self.read().keys;
        let start = usize::try_from(start).unwrap_or(usize::MAX).min(keys.entries.len());
        keys.bytes.len() - keys.end(start) as usize
    }
}
