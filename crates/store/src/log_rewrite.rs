//! A delta as the first records of a new log: all its terms, then all its quads, as if a few transactions had brought them.

use crate::delta::{Delta, QuadSet, Row};
use crate::error::StoreError;
use crate::log::Changes;
use lode_packed::Order;

/// About how many bytes of terms and quads go into one record.
const RECORD_BYTES: usize = if cfg!(test) { 200 } else { 64 << 20 };

/// Gives the records' payloads to `append`; the version of the first is `first`, each next one's is one more. Returns how many
/// there are: none for an empty delta.
pub fn for_each_record(
    delta: &Delta,
    first: u64,
    next_blank: u64,
    append: &mut dyn FnMut(&[u8]) -> Result<(), StoreError>,
) -> Result<u64, StoreError> {
    let mut records =
        Records { changes: Changes { version: first, next_blank, ..Changes::default() }, bytes: 0, append };
    delta.terms().for_each_from(0, |section, key| {
        records.changes.terms.push((section, key.into()));
        records.add_bytes(key.len())
    })?;
    let net = delta.net();
    records.add_quads(&net.inserts, |changes| &mut changes.inserts)?;
    records.add_quads(&net.deletes, |changes| &mut changes.deletes)?;
    if records.bytes > 0 {
        records.end()?;
    }
    Ok(records.changes.version - first)
}

struct Records<'a> {
    /// The record that is being filled.
    changes: Changes,
    bytes: usize,
    append: &'a mut dyn FnMut(&[u8]) -> Result<(), StoreError>,
}

impl Records<'_> {
    fn add_quads(
        &mut self,
        quads: &QuadSet,
        list: impl Fn(&mut Changes) -> &mut Vec<Row>,
    ) -> Result<(), StoreError> {
        for quad in quads.rows(Order::Spog).iter() {
            list(&mut self.changes).push(*quad);
            self.add_bytes(size_of::<Row>())?;
        }
        Ok(())
    }

    /// Something has come to the record.
    fn add_bytes(&mut self, bytes: usize) -> Result<(), StoreError> {
        self.bytes += bytes + 1;
        if self.bytes < RECORD_BYTES { Ok(()) } else { self.end() }
    }

    fn end(&mut self) -> Result<(), StoreError> {
        let mut payload = Vec::new();
        self.changes.encode(&mut payload);
        (self.append)(&payload)?;
        let Changes { version, next_blank, first_term, terms, .. } = &self.changes;
        let first_term = first_term + terms.len() as u64;
        self.changes =
            Changes { version: version + 1, next_blank: *next_blank, first_term, ..Changes::default() };
        self.bytes = 0;
        Ok(())
    }
}
