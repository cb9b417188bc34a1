//! Mini-blocks of values made dense over kinds: for columns in which numbers, dates and names alternate in stretches, such
//! as objects in predicate order where predicates are small. Each kind keeps its own base and stride.

use super::kinds::Kinds;
use super::minis::{self, Minis, MinisEncoder};
use super::tags::DENSE;
use super::{ColumnValues, Mini};
use crate::bytes::Reader;
use crate::error::Damage;

/// Encodes; keeps its buffers between calls.
#[derive(Debug, Default)]
pub(crate) struct DenseEncoder {
    kinds: Kinds,
    codes: Vec<u64>,
}

impl DenseEncoder {
    /// Takes in a column. Returns about how many bytes [`DenseEncoder::encode`] then appends, or `None` where it cannot.
    pub(super) fn prepare(&mut self, column: &ColumnValues<'_>) -> Option<usize> {
        self.kinds = Kinds::build(column, &mut self.codes)?;
        Some(1 + self.kinds.bytes() + minis::estimate(&self.codes))
    }

    pub(super) fn encode(&self, minis: &mut MinisEncoder, out: &mut Vec<u8>) {
        out.push(DENSE);
        self.kinds.encode(out);
        minis.encode(&self.codes, out);
    }
}

/// Kinds and codes.
#[derive(Debug)]
pub(crate) struct Dense {
    kinds: Kinds,
    minis: Minis,
}

impl Dense {
    pub(super) fn parse(reader: &mut Reader<'_>, rows: usize) -> Result<Self, Damage> {
        Ok(Self { kinds: Kinds::parse(reader)?, minis: Minis::parse(reader, rows)? })
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.kinds.memory_bytes()
    }

    pub(super) fn decode(&self, bytes: &[u8], mini: usize, out: &mut Mini) -> Result<(), Damage> {
        self.minis.decode(bytes, mini, 0, out)?;
        let rows = self.minis.rows(mini);
        let values = out.get_mut(..rows).unwrap_or_default();
        let bounds = values.iter().fold((u64::MAX, 0), |(min, max), v| (min.min(*v), max.max(*v)));
        let range = self.kinds.range(bounds.0);
        if self.kinds.range(bounds.1) == range {
            for value in values {
                *value = range.value(*value);
            }
        } else {
            for value in values {
                *value = self.kinds.value(*value);
            }
        }
        Ok(())
    }

    pub(super) fn first(&self, bytes: &[u8], mini: usize) -> Result<u64, Damage> {
        Ok(self.kinds.value(self.minis.first(bytes, mini)?))
    }
}
