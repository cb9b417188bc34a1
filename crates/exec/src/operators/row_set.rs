//! A set of rows numbered in the order of their insertion: rows lie one after the other, hashes are kept.

use lode_base::cancel::{CancelToken, Cancelled};
use lode_eval::growth::make_room;
use lode_eval::number_index::NumberIndex;
use lode_rdf::ValueId;

/// The set. Rows have a fixed number of columns, possibly none.
#[derive(Debug)]
pub(crate) struct RowSet {
    width: usize,
    values: Vec<ValueId>,
    hashes: Vec<u64>,
    index: NumberIndex,
}

impl RowSet {
    /// An empty set of rows of `width` columns.
    pub(crate) fn new(width: usize) -> Self {
        Self { width, values: Vec::new(), hashes: Vec::new(), index: NumberIndex::default() }
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
            + self.index.bytes()
    }

    /// Makes room for so many further rows: a large set grows in steps between which `cancel` is looked at. After an error the set is of no
    /// more use.
    pub(crate) fn make_room(&mut self, rows: usize, cancel: &CancelToken) -> Result<(), Cancelled> {
        let Self { width, values, hashes, index } = self;
        make_room(values, rows * *width);
        make_room(hashes, rows);
        index.make_room(rows, |number| hashes[number], || cancel.check())
    }

    /// The number of a row with this hash and these values.
    #[inline]
    pub(crate) fn find(&self, hash: u64, row: impl Iterator<Item = ValueId> + Clone) -> Option<u32> {
        let is =
            |number: usize| self.hashes[number] == hash && self.row(number).iter().copied().eq(row.clone());
        self.index.find(hash, is)
    }

    /// The number of a row of one column with this value.
    #[inline]
    pub(crate) fn find_id(&self, hash: u64, id: ValueId) -> Option<u32> {
        debug_assert!(self.width == 1, "rows of one column");
        self.index.find(hash, |number| self.values[number] == id)
    }

    /// The number of the row, and whether it is new.
    #[inline]
    pub(crate) fn insert(&mut self, hash: u64, row: impl Iterator<Item = ValueId> + Clone) -> (u32, bool) {
        match self.find(hash, row.clone()) {
            Some(number) => (number, false),
            None => (self.add(hash, row), true),
        }
    }

    /// Adds a row that is not in the set.
    pub(crate) fn add(&mut self, hash: u64, row: impl Iterator<Item = ValueId>) -> u32 {
        let Self { values, hashes, index, .. } = self;
        values.extend(row);
        let number = index.add(hash, |number| hashes[number]);
        hashes.push(hash);
        number
    }
}
