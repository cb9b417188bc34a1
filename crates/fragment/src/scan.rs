//! A scan that travels: what a process reads that has no plan but one permutation.

use crate::error::FragmentError;
use crate::fragment::Fragment;
use crate::wire::bytes::{Reader, What, Writer};
use crate::wire::patterns::order;
use lode_packed::Order;
use lode_rdf::ValueId;
use lode_store::{Scan, Snapshot};
use std::ops::Range;

/// Rows of one permutation of a version: those whose first columns are `prefix` and whose next is in `range`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanDescriptor {
    /// The random number of the database.
    pub database: u128,
    /// The number of the version.
    pub version: u64,
    /// The permutation.
    pub order: Order,
    /// Values of its first columns, three at most.
    pub prefix: Vec<ValueId>,
    /// Values of the next.
    pub range: Range<ValueId>,
    /// The columns to read: bit `i` is column `i` of the order.
    pub columns: u8,
}

/// The bits of four columns.
const COLUMNS_ALL: u8 = 0b1111;

impl ScanDescriptor {
    /// Its bytes: values are ids of the version, which every process that has it knows by these numbers.
    pub fn write(&self) -> Vec<u8> {
        let mut to = Writer::sealed(What::Scan);
        to.wide(self.database);
        to.number(self.version);
        to.byte(self.order as u8);
        to.count(self.prefix.len());
        self.prefix.iter().for_each(|id| to.fixed(id.to_bits()));
        to.range(&self.range);
        to.byte(self.columns);
        to.seal()
    }

    /// The scan of bytes.
    ///
    /// # Errors
    ///
    /// Where the bytes are of another program, or no scan.
    pub fn read(bytes: &[u8]) -> Result<Self, FragmentError> {
        let mut from = Reader::sealed(bytes, What::Scan)?;
        let (database, version) = (from.wide()?, from.number()?);
        let order = order(&mut from)?;
        let prefix = from.list(|from| Ok(ValueId::from_bits(from.fixed()?)))?;
        let (range, columns) = (from.range()?, from.byte()?);
        from.end()?;
        if prefix.len() > 3 || columns > COLUMNS_ALL {
            return Err(FragmentError::Damaged("columns that no quad has"));
        }
        Ok(Self { database, version, order, prefix, range, columns })
    }

    /// Opens it. It reads all graphs, so it is for who may.
    ///
    /// # Errors
    ///
    /// Where `snapshot` is of another version, or cannot be read.
    pub fn open(&self, snapshot: &Snapshot) -> Result<Scan, FragmentError> {
        Fragment::check_version((self.database, self.version), snapshot)?;
        let mut key = self.prefix.clone();
        let mut scan = snapshot.scan(self.order, &key, self.columns)?;
        key.push(self.range.start);
        scan.seek(&key)?;
        key.pop();
        key.push(self.range.end);
        scan.limit_to(&key)?;
        Ok(scan)
    }
}
