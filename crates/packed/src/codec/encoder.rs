//! Chooses the codec of a column: estimates what each would need, then encodes with the smallest.

use super::values::ColumnValues;
use super::{affine, classes, constant, dense, kinds, minis, phrases, runs, table};
use crate::format::BLOCK_ROWS;
use lode_base::varint::write_varint;

/// What is known of other columns of the block when one is encoded.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Hints<'a> {
    /// A column whose changes are where sequences of values begin anew; empty if it does not change.
    pub heads: Option<&'a [u64]>,
    /// The number of the column that was encoded last by [`ColumnEncoder::encode_classes`], if it has codes.
    pub classes: Option<usize>,
}

/// The codecs between which estimates decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    Affine,
    Table,
    Phrases,
    Classes(usize),
    Dense,
}

/// Encodes columns; keeps its buffers between calls.
#[derive(Debug, Default)]
pub(crate) struct ColumnEncoder {
    minis: minis::MinisEncoder,
    affine: affine::AffineEncoder,
    table: table::TableBuilder,
    phrases: phrases::PhraseBuilder,
    classes: classes::ClassesEncoder,
    dense: dense::DenseEncoder,
    /// The table of the column by whose codes another may be encoded.
    class_table: table::TableBuilder,
    /// Room for ids that have to be made.
    ids: Vec<u64>,
}

impl ColumnEncoder {
    /// Appends 1 to [`BLOCK_ROWS`] values in what is probably the smallest encoding.
    pub(crate) fn encode(&mut self, column: &ColumnValues<'_>, hints: Hints<'_>, out: &mut Vec<u8>) {
        self.encode_by_choice(column, hints, out);
    }

    /// Like [`ColumnEncoder::encode`], for the column by whose codes others may be encoded after it; `true` if it got codes.
    pub(crate) fn encode_classes(
        &mut self,
        column: &ColumnValues<'_>,
        hints: Hints<'_>,
        out: &mut Vec<u8>,
    ) -> bool {
        let choice = self.encode_by_choice(column, hints, out);
        let coded = matches!(choice, Some(Choice::Table | Choice::Phrases));
        if coded {
            std::mem::swap(&mut self.table, &mut self.class_table);
        }
        coded
    }

    fn encode_by_choice(
        &mut self,
        column: &ColumnValues<'_>,
        hints: Hints<'_>,
        out: &mut Vec<u8>,
    ) -> Option<Choice> {
        let stats = &column.stats;
        if stats.min == stats.max {
            constant::encode(stats.min, out);
            return None;
        }
        if runs::bytes(stats) <= minis::bytes_least(column.rows) {
            runs::encode(column, out);
            return None;
        }
        let mut room = std::mem::take(&mut self.ids);
        let choice = self.choose(column, hints, &mut room);
        self.ids = room;
        match choice {
            Choice::Affine => self.affine.encode(&mut self.minis, out),
            Choice::Table => table::encode(&mut self.table, &mut self.minis, out),
            Choice::Phrases => phrases::encode(&self.table, &self.phrases, out),
            Choice::Dense => self.dense.encode(&mut self.minis, out),
            Choice::Classes(by) => self.classes.encode(by, self.class_table.codes(), out),
        }
        Some(choice)
    }

    fn choose(&mut self, column: &ColumnValues<'_>, hints: Hints<'_>, room: &mut Vec<u64>) -> Choice {
        if column.stats.ascending {
            self.affine.prepare(&column.with_distance(room));
            return Choice::Affine;
        }
        let mut best = (usize::MAX, Choice::Affine);
        if self.table.build(column) {
            if let Some(heads) = hints.heads
                && self.phrases.build(self.table.codes(), heads)
            {
                best = best.min_by_bytes(self.phrases.bytes(&self.table), Choice::Phrases);
                if best.0 * 8 < column.rows {
                    // Below a bit per row nothing else comes close.
                    return best.1;
                }
            }
            best = best.min_by_bytes(self.table.bytes_with_minis(), Choice::Table);
        }
        let column = column.with_distance(room);
        if let Some(by) = hints.classes {
            let table = &self.class_table;
            if let Some(bytes) = self.classes.prepare(&column, table.codes(), table.len()) {
                best = best.min_by_bytes(bytes, Choice::Classes(by));
            }
        } else if !kinds::same_kind(column.stats.min, column.stats.max)
            && let Some(bytes) = self.dense.prepare(&column)
        {
            best = best.min_by_bytes(bytes, Choice::Dense);
        }
        self.affine.prepare(&column);
        best.min_by_bytes(self.affine.bytes(), Choice::Affine).1
    }

    /// Appends any number of values: in pieces of [`BLOCK_ROWS`], each with its length in front.
    pub(crate) fn encode_long(&mut self, values: &[u64], out: &mut Vec<u8>) {
        for piece in values.chunks(BLOCK_ROWS) {
            let mut encoded = Vec::new();
            self.encode(&ColumnValues::of(piece), Hints::default(), &mut encoded);
            write_varint(out, encoded.len() as u64);
            out.extend_from_slice(&encoded);
        }
    }
}

trait MinByBytes {
    fn min_by_bytes(self, bytes: usize, choice: Choice) -> Self;
}

impl MinByBytes for (usize, Choice) {
    fn min_by_bytes(self, bytes: usize, choice: Choice) -> Self {
        if bytes < self.0 { (bytes, choice) } else { self }
    }
}
