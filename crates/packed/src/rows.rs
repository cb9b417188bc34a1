//! Quads packed into one integer each, which a bulk load sorts and writes. Fields are *codes*: small numbers that ascend like the ids
//! they stand for. Writing codes saves making ids of most columns, since whole blocks of them are the same distance from their ids.

use crate::fingerprint::quad_hash;
use crate::order::{Order, Position};
use lode_base::checksum::fold;
use lode_base::radix_sort::SortRow;
use std::ops::{AddAssign, BitOr, BitXor};

/// An integer that holds a packed quad.
pub trait PackedRow: SortRow + BitXor<Output = Self> + BitOr<Output = Self> {
    /// Puts four fields at their places.
    fn pack(fields: [u64; 4], shifts: [u32; 4]) -> Self;
    /// The field at a place.
    fn field(self, shift: u32, mask: u64) -> u64;
    /// A hash, for sums that do not depend on the order of rows.
    fn hash(self) -> u64;
}

const HASH_LOW: u64 = 0xA076_1D64_78BD_642F;
const HASH_HIGH: u64 = 0xE703_7ED1_A0B4_28DB;

impl PackedRow for u64 {
    #[inline]
    fn pack(fields: [u64; 4], shifts: [u32; 4]) -> Self {
        fields[0] << shifts[0] | fields[1] << shifts[1] | fields[2] << shifts[2] | fields[3] << shifts[3]
    }

    #[inline]
    fn field(self, shift: u32, mask: u64) -> u64 {
        (self >> shift) & mask
    }

    #[inline]
    fn hash(self) -> u64 {
        fold(self ^ HASH_LOW, self.rotate_left(32) ^ HASH_HIGH)
    }
}

impl PackedRow for u128 {
    #[inline]
    fn pack(fields: [u64; 4], shifts: [u32; 4]) -> Self {
        fields.iter().zip(shifts).fold(0, |row, (field, shift)| row | Self::from(*field) << shift)
    }

    #[inline]
    fn field(self, shift: u32, mask: u64) -> u64 {
        (self >> shift) as u64 & mask
    }

    #[inline]
    fn hash(self) -> u64 {
        let (low, high) = (self as u64, (self >> 64) as u64);
        fold(fold(low ^ HASH_LOW, low.rotate_left(32) ^ HASH_HIGH) ^ high, HASH_HIGH)
    }
}

/// Where the positions S, P, O, G of a quad are in a row packed for one order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowShape {
    /// Shifts, by position.
    pub shifts: [u32; 4],
    /// Masks, by position.
    pub masks: [u64; 4],
    /// Bits used.
    pub key_bits: u32,
}

impl RowShape {
    /// All four fields, by position.
    #[inline]
    pub fn fields<R: PackedRow>(&self, row: R) -> [u64; 4] {
        std::array::from_fn(|at| row.field(self.shifts[at], self.masks[at]))
    }

    /// A row of this shape as one of another.
    #[inline]
    pub fn reshape<R: PackedRow>(&self, row: R, to: &Self) -> R {
        R::pack(self.fields(row), to.shifts)
    }
}

/// The ids of a stretch of codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Cell {
    /// What to add to a code for its id.
    add: u64,
    /// All ones where ids are in the list instead.
    listed: u64,
}

/// The ids of codes: a distance that is the same for long stretches of codes, or, in one stretch, a list.
#[derive(Debug, Clone, Default)]
pub struct CodeIds {
    shift: u32,
    cells: Vec<Cell>,
    list: Vec<u64>,
    list_start: u64,
}

impl CodeIds {
    /// Stretches will begin at multiples of `2^shift`.
    pub fn new(shift: u32) -> Self {
        Self { shift, ..Self::default() }
    }

    /// Codes up to `end` that no stretch covers yet are `add` less than their ids.
    pub fn extend(&mut self, end: u64, add: u64) {
        self.cells.resize(self.cells_before(end), Cell { add, listed: 0 });
    }

    /// Codes from `start` on, which must be what comes next, have these ascending ids.
    pub fn extend_list(&mut self, start: u64, ids: Vec<u64>) {
        let cells = self.cells_before(start + ids.len() as u64);
        self.cells.resize(cells, Cell { add: 0, listed: u64::MAX });
        (self.list, self.list_start) = (ids, start);
    }

    /// The same codes moved up behind the code 0, which is that of `first`, and the code that 0 becomes.
    pub fn behind(&self, first: u64) -> (Self, u64) {
        let step = 1 << self.shift;
        let moved = self.cells.iter().map(|cell| Cell { add: cell.add.wrapping_sub(step), ..*cell });
        let cells = std::iter::once(Cell { add: first, listed: 0 }).chain(moved).collect();
        let list_start = self.list_start + step;
        (Self { shift: self.shift, cells, list: self.list.clone(), list_start }, step)
    }

    /// Ids in the list.
    pub fn listed(&self) -> usize {
        self.list.len()
    }

    fn cells_before(&self, end: u64) -> usize {
        end.div_ceil(1 << self.shift) as usize
    }

    /// The id of a code. Without branches, because in a column of objects nothing can be foretold.
    #[inline]
    pub fn id(&self, code: u64) -> u64 {
        let cell = self.cells.get((code >> self.shift) as usize).copied().unwrap_or_default();
        let rank = code.wrapping_sub(self.list_start) & cell.listed;
        let listed = self.list.get(rank as usize).copied().unwrap_or(0) & cell.listed;
        listed | (code.wrapping_add(cell.add) & !cell.listed)
    }

    /// What to add to all codes from `min` to `max`, if that is the same for all.
    fn distance(&self, min: u64, max: u64) -> Option<u64> {
        let [low, high] = [min, max].map(|code| (code >> self.shift) as usize);
        let (first, others) = self.cells.get(low..=high)?.split_first()?;
        let same = first.listed == 0 && others.iter().all(|cell| cell == first);
        same.then_some(first.add)
    }
}

/// The ids that the codes of a column stand for.
#[derive(Debug, Clone, Copy)]
pub enum ColumnIds<'a> {
    /// A code is a place in a list of ascending ids.
    Places(&'a [u64]),
    /// The codes of terms.
    Terms(&'a CodeIds),
}

impl ColumnIds<'_> {
    /// The id of a code.
    #[inline]
    pub fn id(&self, code: u64) -> u64 {
        match self {
            Self::Places(list) => list.get(code as usize).copied().unwrap_or(0),
            Self::Terms(codes) => codes.id(code),
        }
    }

    /// See [`CodeIds::distance`].
    pub(crate) fn distance(&self, min: u64, max: u64) -> Option<u64> {
        match self {
            Self::Places(_) => None,
            Self::Terms(codes) => codes.distance(min, max),
        }
    }
}

/// All there is to know about packed rows.
#[derive(Debug, Clone, Copy)]
pub struct RowCodes<'a> {
    /// Bits of the fields of S, P, O, G.
    pub widths: [u32; 4],
    /// Ids of subjects.
    pub subjects: &'a CodeIds,
    /// Ids of predicates.
    pub predicates: ColumnIds<'a>,
    /// Ids of objects.
    pub objects: &'a CodeIds,
    /// Ids of graphs; code 0 is the default graph.
    pub graphs: ColumnIds<'a>,
}

impl<'a> RowCodes<'a> {
    /// The shape of rows sorted in `order`.
    pub fn shape(&self, order: Order) -> RowShape {
        let mut shape = RowShape { shifts: [0; 4], masks: [0; 4], key_bits: self.widths.iter().sum() };
        let mut shift = 0;
        for position in order.positions().into_iter().rev() {
            let position = position as usize;
            shape.shifts[position] = shift;
            shape.masks[position] = (1_u64 << self.widths[position]) - 1;
            shift += self.widths[position];
        }
        shape
    }

    pub(crate) fn column(&self, position: Position) -> ColumnIds<'a> {
        match position {
            Position::S => ColumnIds::Terms(self.subjects),
            Position::P => self.predicates,
            Position::O => ColumnIds::Terms(self.objects),
            Position::G => self.graphs,
        }
    }

    /// The id of a field.
    #[inline]
    pub fn id(&self, position: Position, field: u64) -> u64 {
        self.column(position).id(field)
    }
}

/// What a set of quads sums up to, in whatever order they come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RowSums {
    /// How many.
    pub rows: u64,
    /// The fingerprint of their ids.
    pub fingerprint: u64,
    /// The sum of the hashes of rows packed in the order S, P, O, G: all orders must have this, too.
    pub hashes: u64,
}

impl AddAssign for RowSums {
    fn add_assign(&mut self, other: Self) {
        self.rows += other.rows;
        self.fingerprint = self.fingerprint.wrapping_add(other.fingerprint);
        self.hashes = self.hashes.wrapping_add(other.hashes);
    }
}

impl RowSums {
    /// Adds rows packed in the order S, P, O, G.
    pub fn add<R: PackedRow>(&mut self, rows: &[R], codes: &RowCodes<'_>) {
        let shape = codes.shape(Order::Spog);
        self.rows += rows.len() as u64;
        for row in rows {
            let [s, p, o, g] = shape.fields(*row);
            let ids = [codes.subjects.id(s), codes.predicates.id(p), codes.objects.id(o), codes.graphs.id(g)];
            self.fingerprint = self.fingerprint.wrapping_add(quad_hash(ids));
            self.hashes = self.hashes.wrapping_add(row.hash());
        }
    }
}

/// The sum of the hashes of rows of any shape.
pub(crate) fn sum_of_hashes<R: PackedRow>(rows: &[R], shape: &RowShape, canonical: &RowShape) -> u64 {
    if shape == canonical {
        return rows.iter().fold(0, |sum, row| sum.wrapping_add(row.hash()));
    }
    rows.iter().fold(0, |sum, row| sum.wrapping_add(shape.reshape(*row, canonical).hash()))
}

#[cfg(test)]
mod tests;
