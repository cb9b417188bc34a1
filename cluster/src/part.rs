//! What a worker gets to run: a fragment, and the ranges of values for each of its partitions.

use crate::bytes::{Reader, Writer};
use crate::columns::Column;
use lode_fragment::{BYTES_MAX, read_ranges, write_ranges};
use lode_rdf::ValueId;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// Partitions of a task.
const PARTITIONS_MAX: usize = 1 << 10;
const COLUMNS_MAX: usize = 1 << 10;
const RANGES_BYTES_MAX: usize = 1 << 21;
const MAGIC: u64 = u64::from_le_bytes(*b"LODELEAF");

/// Columns by which rows are spread, at most.
const BY_MAX: usize = 16;

/// How the rows of a part are spread over the tasks that take them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spread {
    /// Places of columns of ids: rows with the same in all of them meet.
    pub by: Vec<usize>,
    /// How many take them.
    pub takers: usize,
}

/// A part of a query for one worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The random number of the database.
    pub database: u128,
    /// The number of its version.
    pub version: u64,
    /// Until the query's time is up.
    pub time_left: Option<Duration>,
    /// What it delivers.
    pub columns: Arc<[Column]>,
    /// The fragment as bytes (crate `fragment`).
    pub fragment: Arc<[u8]>,
    /// Ranges of values for each partition; none: it is made of the rows of its inputs.
    pub ranges: Vec<Vec<Range<ValueId>>>,
    /// Bytes that wait on the connections of its inputs, at most: they cannot be spilled.
    pub waiting_bytes: u64,
    /// Over whom its rows are spread; none: they stay in their partition.
    pub spread: Option<Spread>,
}

impl Part {
    pub fn write(&self) -> Vec<u8> {
        let mut to = Writer::default();
        to.number(MAGIC);
        to.wide(self.database);
        to.number(self.version);
        // 0: without end. A time that is up is as good as a millisecond.
        let millis = self.time_left.map_or(0, |left| u64::try_from(left.as_millis()).unwrap_or(0).max(1));
        to.number(millis);
        to.bytes(&self.columns.iter().map(|column| column.to_byte()).collect::<Vec<_>>());
        to.bytes(&self.fragment);
        to.number(self.ranges.len() as u64);
        self.ranges.iter().for_each(|ranges| to.bytes(&write_ranges(ranges)));
        to.number(self.waiting_bytes);
        let (by, takers) =
            self.spread.as_ref().map_or((&[][..], 0), |spread| (&spread.by[..], spread.takers));
        to.number(takers as u64);
        to.number(by.len() as u64);
        by.iter().for_each(|place| to.number(*place as u64));
        to.0
    }

    /// Reads what anybody may have sent; the fragment is looked at when it is run.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut from = Reader(bytes);
        if from.number()? != MAGIC {
            return None;
        }
        let (database, version, millis) = (from.wide()?, from.number()?, from.number()?);
        let time_left = (millis > 0).then(|| Duration::from_millis(millis));
        let columns = from.bytes(COLUMNS_MAX)?.iter().map(|byte| Column::from_byte(*byte));
        let columns = columns.collect::<Option<Arc<[Column]>>>()?;
        let fragment = from.bytes(BYTES_MAX)?.into();
        let partitions = from.count(PARTITIONS_MAX)?;
        let ranges = (0..partitions).map(|_| read_ranges(from.bytes(RANGES_BYTES_MAX)?).ok());
        let ranges = ranges.collect::<Option<Vec<_>>>()?;
        let waiting_bytes = from.number()?;
        let spread = Spread::read(&mut from, &columns)?;
        from.end()?;
        Some(Self { database, version, time_left, columns, fragment, ranges, waiting_bytes, spread })
    }
}

impl Spread {
    /// By columns that there are, over some who take them; or not at all.
    fn read(from: &mut Reader<'_>, columns: &[Column]) -> Option<Option<Self>> {
        let (takers, count) = (from.count(PARTITIONS_MAX)?, from.count(BY_MAX)?);
        let by = (0..count).map(|_| from.count(COLUMNS_MAX)).collect::<Option<Vec<_>>>()?;
        let are_ids = by.iter().all(|place| columns.get(*place) == Some(&Column::Id));
        match (takers, by.is_empty()) {
            (0, true) => Some(None),
            (1.., false) if are_ids => Some(Some(Self { by, takers })),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    //! There and back, and what nobody writes.
    use super::*;

    fn part() -> Part {
        let id = ValueId::from_bits;
        Part {
            database: 3,
            version: 7,
            time_left: Some(Duration::from_millis(1500)),
            columns: vec![Column::Id, Column::Term].into(),
            fragment: vec![1, 2, 3].into(),
            ranges: vec![vec![id(0)..id(5), id(7)..id(9)], vec![]],
            waiting_bytes: 7,
            spread: Some(Spread { by: vec![0], takers: 3 }),
        }
    }

    #[test]
    fn comes_back() {
        let stays = Part { spread: None, ..part() };
        for part in [part(), stays] {
            assert_eq!(Part::read(&part.write()), Some(part));
        }
    }

    #[test]
    fn rows_are_spread_by_ids_that_there_are() {
        for (by, takers) in
            [(vec![1], 3), (vec![2], 3), (vec![], 3), (vec![0], 0), (vec![0; 17], 3), (vec![0], 1025)]
        {
            let part = Part { spread: Some(Spread { by, takers }), ..part() };
            assert_eq!(Part::read(&part.write()), None, "{:?}", part.spread);
        }
    }

    #[test]
    fn no_change_of_a_byte_and_no_cut_is_a_crash() {
        let bytes = part().write();
        for place in 0..bytes.len() {
            assert_eq!(Part::read(&bytes[..place]), None, "cut at {place}");
            for change in [1, 0x80, 0xff] {
                let mut other = bytes.clone();
                other[place] ^= change;
                let _ = Part::read(&other);
            }
        }
        let mut longer = bytes;
        longer.push(0);
        assert_eq!(Part::read(&longer), None);
    }
}
