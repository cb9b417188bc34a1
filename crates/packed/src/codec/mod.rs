//! How one column of a block (or of an index) is encoded. One file per codec; the smallest wins.
//!
//! A column is a codec byte and the codec's own bytes. All codecs but [`Constant`] and [`Runs`] are made of
//! mini-blocks of 128 rows, each decodable alone.

mod affine;
mod classes;
mod constant;
mod dense;
mod encoder;
mod kinds;
mod minis;
mod phrases;
mod runs;
mod table;
mod tags;
mod values;

pub(crate) mod mini;

use crate::bytes::Reader;
use crate::error::Damage;
use crate::format::{BLOCK_ROWS, MINI_ROWS};
use affine::Affine;
pub(crate) use classes::ClassScratch;
use classes::Classes;
use constant::Constant;
use dense::Dense;
pub(crate) use encoder::{ColumnEncoder, Hints};
pub(crate) use mini::Mini;
use phrases::Phrases;
use runs::Runs;
use table::Table;
use tags::{AFFINE, CLASSES, CONSTANT, DENSE, PHRASES, RUNS, TABLE};
pub(crate) use values::{ColumnStats, ColumnValues, Numbers};

/// An encoded column whose header was read and checked; decodes from the same bytes it was parsed from.
#[derive(Debug)]
pub(crate) enum Column {
    /// One value.
    Constant(Constant),
    /// Few long runs.
    Runs(Runs),
    /// Mini-blocks of `(value - base) / stride`.
    Affine(Affine),
    /// Mini-blocks of indexes into a table of the distinct values.
    Table(Table),
    /// Sequences of such indexes.
    Phrases(Phrases),
    /// A frame for each code of another column.
    Classes(Box<Classes>),
    /// Mini-blocks of numbers that are dense over kinds.
    Dense(Dense),
}

impl Column {
    pub(crate) fn parse(bytes: &[u8], rows: usize) -> Result<Self, Damage> {
        if rows == 0 || rows > BLOCK_ROWS {
            return Err(Damage("a block has no rows or too many"));
        }
        let mut reader = Reader::new(bytes);
        Ok(match reader.u8()? {
            CONSTANT => Self::Constant(Constant::parse(&mut reader)?),
            RUNS => Self::Runs(Runs::parse(&mut reader, rows)?),
            AFFINE => Self::Affine(Affine::parse(&mut reader, rows)?),
            TABLE => Self::Table(Table::parse(&mut reader, rows)?),
            PHRASES => Self::Phrases(Phrases::parse(&mut reader, rows)?),
            CLASSES => Self::Classes(Box::new(Classes::parse(&mut reader, rows)?)),
            DENSE => Self::Dense(Dense::parse(&mut reader, rows)?),
            _ => return Err(Damage("unknown codec")),
        })
    }

    /// Memory taken beside the value itself.
    pub(crate) fn memory_bytes(&self) -> usize {
        match self {
            Self::Constant(_) | Self::Runs(_) | Self::Affine(_) => 0,
            Self::Table(codec) => codec.memory_bytes(),
            Self::Phrases(codec) => codec.memory_bytes(),
            Self::Classes(codec) => codec.memory_bytes(),
            Self::Dense(codec) => codec.memory_bytes(),
        }
    }

    /// Decodes mini-block `mini` (all 128 values, or the last one's fewer) into the front of `out`.
    #[inline]
    pub(crate) fn decode(&self, bytes: &[u8], mini: usize, out: &mut Mini) -> Result<(), Damage> {
        match self {
            Self::Constant(codec) => codec.decode(out),
            Self::Runs(codec) => codec.decode(bytes, mini, out),
            Self::Affine(codec) => codec.decode(bytes, mini, out),
            Self::Table(codec) => codec.decode(bytes, mini, out),
            Self::Phrases(codec) => codec.decode(bytes, mini, out),
            Self::Dense(codec) => codec.decode(bytes, mini, out),
            Self::Classes(_) => Err(NEEDS_CLASSES),
        }
    }

    /// The codes of a mini-block of a column that has a table.
    pub(crate) fn codes(&self, bytes: &[u8], mini: usize, out: &mut Mini) -> Result<(), Damage> {
        match self {
            Self::Table(codec) => codec.codes(bytes, mini, out),
            Self::Phrases(codec) => codec.codes(bytes, mini, out),
            _ => Err(Damage("the class column has no codes")),
        }
    }

    /// The first of [`Column::codes`].
    pub(crate) fn first_code(&self, bytes: &[u8], mini: usize) -> Result<u64, Damage> {
        match self {
            Self::Table(codec) => codec.first_code(bytes, mini),
            Self::Phrases(codec) => codec.first_code(bytes, mini),
            _ => Err(Damage("the class column has no codes")),
        }
    }

    /// The first value of a mini-block, without decoding the others where that is possible.
    #[inline]
    pub(crate) fn first(&self, bytes: &[u8], mini: usize) -> Result<u64, Damage> {
        match self {
            Self::Constant(codec) => Ok(codec.value()),
            Self::Runs(codec) => codec.first(bytes, mini),
            Self::Affine(codec) => codec.first(bytes, mini),
            Self::Table(codec) => codec.first(bytes, mini),
            Self::Phrases(codec) => codec.first(bytes, mini),
            Self::Dense(codec) => codec.first(bytes, mini),
            Self::Classes(_) => Err(NEEDS_CLASSES),
        }
    }
}

const NEEDS_CLASSES: Damage = Damage("a column by class outside a block");

/// Reads `count` values written by [`ColumnEncoder::encode_long`].
pub(crate) fn decode_long(reader: &mut Reader<'_>, count: usize) -> Result<Vec<u64>, Damage> {
    let mut values = Vec::new();
    let mut mini: Mini = [0; _];
    while values.len() < count {
        let rows = (count - values.len()).min(BLOCK_ROWS);
        let length = reader.count(usize::MAX)?;
        let bytes = reader.take(length)?;
        let column = Column::parse(bytes, rows)?;
        for (i, start) in (0..rows).step_by(MINI_ROWS).enumerate() {
            column.decode(bytes, i, &mut mini)?;
            values.extend_from_slice(mini.get(..rows - start).unwrap_or(&mini));
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests;
