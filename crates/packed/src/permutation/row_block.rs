//! Packed rows as the columns of a block: counted in one pass over the integers, taken apart only where a column is not constant.

use crate::codec::{ColumnStats, ColumnValues, Numbers};
use crate::order::Order;
use crate::rows::{ColumnIds, PackedRow, RowCodes, sum_of_hashes};

/// What one pass over packed rows tells.
pub(super) struct Measured<R> {
    /// The bits that are not the same in all rows.
    pub differing: R,
    /// For each of the first three columns, the rows that differ from the row before in it or a column before it.
    pub changes: [u64; 3],
    /// Whether a row is not after the one before it.
    pub unsorted: bool,
}

/// Counts in rows of which `starts[i]` is the lowest bit of column `i`.
fn measure<R: PackedRow>(rows: &[R], starts: [R; 3]) -> Measured<R> {
    let [first, second, third] = starts;
    let mut differing = R::default();
    let (mut changes, mut unsorted) = ([0; 3], false);
    for (before, row) in rows.iter().zip(rows.get(1..).unwrap_or_default()) {
        let difference = *before ^ *row;
        differing = differing | difference;
        unsorted |= row <= before;
        changes[0] += u64::from(difference >= first);
        changes[1] += u64::from(difference >= second);
        changes[2] += u64::from(difference >= third);
    }
    Measured { differing, changes, unsorted }
}

/// The rows of a block, taken apart; keeps its buffers from block to block.
#[derive(Debug, Default)]
pub(super) struct RowBlock {
    columns: [Vec<u64>; 4],
}

/// A block of rows as columns, and what is known of them.
pub(super) struct RowColumns<'a> {
    pub columns: [ColumnValues<'a>; 4],
    pub first: [u64; 4],
    pub last: [u64; 4],
    pub changes: [u64; 3],
    /// See [`crate::rows::RowSums::hashes`].
    pub hashes: u64,
}

impl RowBlock {
    /// Takes rows apart; `Err` is the first row that is not after the one before it.
    pub(super) fn columns<'a, R: PackedRow>(
        &'a mut self,
        rows: &[R],
        order: Order,
        codes: &RowCodes<'a>,
    ) -> Result<RowColumns<'a>, usize> {
        let shape = codes.shape(order);
        let positions = order.positions().map(|position| position as usize);
        let starts =
            [0, 1, 2].map(|column| R::pack([1, 0, 0, 0], [shape.shifts[positions[column]], 0, 0, 0]));
        let Measured { differing, changes, unsorted } = measure(rows, starts);
        if unsorted {
            return Err(1 + rows.windows(2).position(|pair| pair[1] <= pair[0]).unwrap_or(0));
        }
        let [first_row, last_row] = [rows.first(), rows.last()].map(|row| row.copied().unwrap_or_default());
        let ids = order.positions().map(|position| codes.column(position));
        let id = |row: R, column: usize| {
            let at = positions[column];
            ids[column].id(row.field(shape.shifts[at], shape.masks[at]))
        };
        let (first, last) = (
            std::array::from_fn(|column| id(first_row, column)),
            std::array::from_fn(|column| id(last_row, column)),
        );
        // Columns ascend as long as those before them are constant.
        let mut before_constant = true;
        let mut column = 0;
        let columns = self.columns.each_mut().map(|values| {
            let at = positions[column];
            let place = Place { shift: shape.shifts[at], mask: shape.masks[at] };
            let sorted_changes = before_constant.then(|| changes.get(column).copied()).flatten();
            let constant = differing.field(place.shift, place.mask) == 0;
            let found = if constant {
                values.clear();
                ColumnValues::constant(first[column], rows.len())
            } else {
                place.extract(rows, sorted_changes, ids[column], values)
            };
            before_constant &= constant;
            column += 1;
            found
        });
        let hashes = sum_of_hashes(rows, &shape, &codes.shape(Order::Spog));
        Ok(RowColumns { columns, first, last, changes, hashes })
    }
}

/// Where a field is in a row.
#[derive(Clone, Copy)]
struct Place {
    shift: u32,
    mask: u64,
}

impl Place {
    /// Reads a column that is not constant. `changes` says how often it changes if it is known to ascend.
    fn extract<'a, R: PackedRow>(
        self,
        rows: &[R],
        changes: Option<u64>,
        ids: ColumnIds<'a>,
        values: &'a mut Vec<u64>,
    ) -> ColumnValues<'a> {
        values.clear();
        values.extend(rows.iter().map(|row| row.field(self.shift, self.mask)));
        let codes = match changes {
            Some(changes) => ColumnStats {
                min: values.first().copied().unwrap_or(0),
                max: values.last().copied().unwrap_or(0),
                runs: 1 + changes as usize,
                ascending: true,
            },
            None => ColumnStats::of_varying(values),
        };
        let stats = ColumnStats { min: ids.id(codes.min), max: ids.id(codes.max), ..codes };
        let numbers = match ids {
            ColumnIds::Places(list) => Numbers::Places { list, min: codes.min, max: codes.max },
            ColumnIds::Terms(terms) => match ids.distance(codes.min, codes.max) {
                Some(distance) => Numbers::Distance(distance),
                None => {
                    values.iter_mut().for_each(|value| *value = terms.id(*value));
                    Numbers::Distance(0)
                }
            },
        };
        ColumnValues { rows: rows.len(), values, numbers, stats }
    }
}
