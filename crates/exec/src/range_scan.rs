//! Scans of a range of keys, and where the range is split so that its parts have about equally many rows.

use crate::context::QueryContext;
use crate::pattern::{Columns, Pattern};
use lode_eval::error::ExecError;
use lode_packed::Order;
use lode_rdf::ValueId;
use lode_store::{Scan, Snapshot};
use std::ops::Range;

/// Scans up to so many rows are read to be split anywhere; larger ones are split at boundaries of blocks.
const READ_TO_SPLIT_MAX: u64 = 1 << 14;
/// For parts that others run, of which there are few, and long ones: some blocks more or fewer make a difference.
const READ_TO_SPLIT_EVENLY_MAX: u64 = 1 << 17;
const READ_STEP: usize = 1 << 12;

/// Opens a scan of the rows under `key`, of which the next column is in `range`.
pub(crate) fn open(
    cx: &QueryContext,
    order: Order,
    key: Vec<ValueId>,
    columns: u8,
    range: Option<&Range<ValueId>>,
) -> Result<Scan, ExecError> {
    let mut scan = cx.snapshot.scan(order, &key, columns)?;
    if let Some(range) = range {
        limit(&mut scan, key, range)?;
    }
    Ok(scan)
}

/// How many quads the key range of a pattern holds.
pub(crate) fn rows_of(snapshot: &Snapshot, pattern: &Pattern) -> Result<u64, ExecError> {
    Ok(match &pattern.within {
        _ if pattern.impossible => 0,
        None => snapshot.count(pattern.order, &pattern.prefix())?,
        Some(within) => snapshot.count_between(pattern.order, &pattern.prefix(), within)?,
    })
}

/// Leaves the rows under `key` of which the next column is in `range`.
pub(crate) fn limit(scan: &mut Scan, mut key: Vec<ValueId>, range: &Range<ValueId>) -> Result<(), ExecError> {
    key.push(range.start);
    scan.seek(&key)?;
    key.pop();
    key.push(range.end);
    Ok(scan.limit_to(&key)?)
}

/// Values of the first free column, among `values`, at which parts but the first begin, ascending; the parts have about equally
/// many of the `rows` there are.
pub(crate) fn split(
    cx: &QueryContext,
    pattern: &Pattern,
    values: Range<ValueId>,
    rows: u64,
    parts: usize,
) -> Result<Vec<ValueId>, ExecError> {
    let values = pattern.range(Some(&values)).unwrap_or(values);
    if rows <= READ_TO_SPLIT_MAX {
        return split_read(cx, pattern, &values, parts);
    }
    let ranges = cx.snapshot.split(pattern.order, &pattern.prefix(), values, parts)?;
    Ok(ranges.iter().skip(1).map(|range| range.start).collect())
}

/// Values at which parts but the first begin, ascending, for several patterns, each with the number of its rows, whose first free columns have the same
/// values: the parts have about equally many rows of all of them together, as far as these are among `values`.
pub(crate) fn split_together(
    cx: &QueryContext,
    patterns: &[(u64, Pattern)],
    values: Range<ValueId>,
    parts: usize,
) -> Result<Vec<ValueId>, ExecError> {
    let Some((rows, largest)) = patterns.iter().max_by_key(|(rows, _)| *rows) else { return Ok(Vec::new()) };
    let read_max = if patterns.len() == 1 { READ_TO_SPLIT_EVENLY_MAX } else { READ_TO_SPLIT_MAX };
    if *rows <= read_max {
        let values = largest.range(Some(&values)).unwrap_or(values);
        return split_read(cx, largest, &values, parts);
    }
    let scan = |(_, pattern): &(u64, Pattern)| {
        let values = pattern.range(Some(&values)).unwrap_or(values.clone());
        (pattern.order, pattern.prefix(), values)
    };
    let scans: Vec<_> = patterns.iter().map(scan).collect();
    let ranges = cx.snapshot.split_together(&scans, values, parts)?;
    Ok(ranges.iter().skip(1).map(|range| range.start).collect())
}

/// The same as [`split`] from the rows themselves instead of the block index.
fn split_read(
    cx: &QueryContext,
    pattern: &Pattern,
    values: &Range<ValueId>,
    parts: usize,
) -> Result<Vec<ValueId>, ExecError> {
    let column = pattern.consts;
    let mut scan = open(cx, pattern.order, pattern.prefix(), 1 << column, Some(values))?;
    let mut columns = Columns::default();
    while scan.next(READ_STEP, &mut columns)? > 0 {}
    let ids = &columns[column];
    let step = ids.len().div_ceil(parts).max(1);
    // The rows of the first value are the first part's.
    let others = ids.iter().copied().step_by(step).filter(|id| ids.first() != Some(id));
    let mut starts: Vec<ValueId> = others.collect();
    starts.dedup();
    Ok(starts)
}
