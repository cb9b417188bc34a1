//! A set of rows numbered in the order of their insertion: rows lie one after the other, hashes are kept, chains go through flat arrays.

use lode_rdf::ValueId;

/// The set. Rows have a fixed number of columns, possibly none.
#[derive(Debug)]
pub(crate) struct RowSet {
    width: usize,
    values: Vec<ValueId>,
    hashes: Vec<u64>,
    heads: Vec<u32>,
    next: Vec<u32>,
}

impl RowSet {
    /// An empty set of rows of `width` columns.
    pub(crate) fn new(width: usize) -> Self {
        Self { width, values: Vec::new(), hashes: Vec::new(), heads: vec![0; 16], next: Vec::new() }
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.hashes.len()
    }

    /// A row.
    pub(crate) fn row(&self, number: usize) -> &[ValueId] {
        &self.values[number * self.width..(number + 1) * self.width]
    }

    /// The hash a row was inserted with.
    pub(crate) fn hash(&self, number: usize) -> u64 {
        self.hashes[number]
    }

    /// Bytes that the set takes.
    pub(crate) fn bytes(&self) -> usize {
        self.values.capacity() * size_of::<ValueId>()
            + self.hashes.capacity() * size_of::<u64>()
            + (self.heads.capacity() + self.next.capacity()) * size_of::<u32>()
    }

    fn slot(&self, hash: u64) -> usize {
        usize::try_from(hash & (self.heads.len() as u64 - 1)).unwrap_or(0)
    }

    /// The number of a row with this hash and these values.
    pub(crate) fn find(&self, hash: u64, row: impl Iterator<Item = ValueId> + Clone) -> Option<u32> {
        let mut entry = self.heads[self.slot(hash)];
        while entry != 0 {
            let number = entry as usize - 1;
            if self.hashes[number] == hash && self.row(number).iter().copied().eq(row.clone()) {
                return Some(entry - 1);
            }
            entry = self.next[number];
        }
        None
    }

    /// The number of a row of one column with this value.
    #[inline]
    pub(crate) fn find_id(&self, hash: u64, id: ValueId) -> Option<u32> {
        debug_assert!(self.width == 1, "rows of one column");
        let mut entry = self.heads[self.slot(hash)];
        while entry != 0 {
            let number = entry as usize - 1;
            if self.values[number] == id {
                return Some(entry - 1);
            }
            entry = self.next[number];
        }
        None
    }

    /// The number of the row, and whether it is new.
    pub(crate) fn insert(&mut self, hash: u64, row: impl Iterator<Item = ValueId> + Clone) -> (u32, bool) {
        match self.find(hash, row.clone()) {
            Some(number) => (number, false),
            None => (self.add(hash, row), true),
        }
    }

    /// Adds a row that is not in the set.
    pub(crate) fn add(&mut self, hash: u64, row: impl Iterator<Item = ValueId>) -> u32 {
        if self.hashes.len() >= self.heads.len() {
            self.rehash();
        }
        let number = u32::try_from(self.hashes.len()).unwrap_or(u32::MAX - 1);
        self.values.extend(row);
        self.hashes.push(hash);
        let slot = self.slot(hash);
        self.next.push(std::mem::replace(&mut self.heads[slot], number + 1));
        number
    }

    fn rehash(&mut self) {
        self.heads = vec![0; self.heads.len() * 2];
        for (number, hash) in self.hashes.iter().enumerate() {
            let slot = usize::try_from(hash & (self.heads.len() as u64 - 1)).unwrap_or(0);
            let entry = u32::try_from(number + 1).unwrap_or(u32::MAX);
            self.next[number] = std::mem::replace(&mut self.heads[slot], entry);
        }
    }
}
