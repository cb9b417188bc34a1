//! How many distinct values a column of an order has: exactly, as long as that takes no long.

use crate::error::StoreError;
use crate::manifest::Sign;
use crate::scan_rows::RowCursor;
use crate::snapshot::{Scan, Snapshot};
use crate::version::OpenSegment;
use lode_base::cancel::CancelToken;
use lode_packed::Order;
use lode_rdf::ValueId;
use std::ops::Range;
use std::sync::Arc;

/// Rows that are read at once. Where all of them have one value, what is left of that is skipped.
const CHUNK_ROWS: usize = 256;
/// So many rows are read to count; beyond, a number is an estimate. That is some seconds at most.
pub(crate) const COUNTED_ROWS_MAX: u64 = 50_000_000;

/// A number of distinct values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Distinct {
    /// How many.
    pub values: u64,
    /// Whether that was counted; else it is an estimate.
    pub is_exact: bool,
}

impl Distinct {
    /// That of the first column of an order, for which at most so many rows are read.
    pub(crate) fn of(snapshot: &Snapshot, order: Order, rows_max: u64) -> Result<Self, StoreError> {
        let is_in_index = snapshot.segment_count() <= 1 && snapshot.delta_changes() == 0;
        if is_in_index {
            return Ok(Self { values: snapshot.distinct(order, &[])?, is_exact: true });
        }
        match counted(snapshot, order, rows_max)? {
            Some(values) => Ok(Self { values, is_exact: true }),
            None => Ok(Self { values: snapshot.distinct(order, &[])?, is_exact: false }),
        }
    }
}

impl Snapshot {
    /// The exact number of distinct values of the column after `prefix`, which has two ids at most: what the largest segment has is in its
    /// index, and of the values that other layers have each is looked up. None where these have more than `values_max`.
    ///
    /// # Errors
    /// Where a file cannot be read or is damaged, or the work was cancelled.
    pub fn distinct_exactly(
        &self,
        order: Order,
        prefix: &[ValueId],
        values_max: usize,
        cancel: &CancelToken,
    ) -> Result<Option<u64>, StoreError> {
        let mut segments = self.ranges(order, prefix)?;
        let inserted = |at: &usize| match segments.get(*at) {
            Some((segment, rows)) if segment.entry.sign == Sign::Insertions => rows.end - rows.start,
            _ => 0,
        };
        let largest = (0..segments.len()).max_by_key(inserted).filter(|at| inserted(at) > 0);
        let base = largest.map(|at| segments.swap_remove(at));
        let Some(values) = self.values_beside(order, prefix, segments, values_max, cancel)? else {
            return Ok(None);
        };
        let mut sum = 0;
        if let Some((segment, rows)) = &base {
            let permutation = segment.permutation(order);
            sum = match prefix {
                [] => permutation.distinct(&[])?,
                _ => permutation.distinct_in(prefix.len(), rows.clone())?,
            };
        }
        for value in values {
            cancel.check()?;
            let key = [prefix, &[value]].concat();
            let bits: Vec<u64> = key.iter().map(|id| id.to_bits()).collect();
            let before = match &base {
                Some((segment, _)) => !segment.permutation(order).range(&bits)?.is_empty(),
                None => false,
            };
            match (before, self.count(order, &key)? > 0) {
                (false, true) => sum += 1,
                (true, false) => sum = sum.saturating_sub(1),
                _ => {}
            }
        }
        Ok(Some(sum))
    }

    /// The distinct values of a column that the delta and some segments have, inserted or deleted; none where there are more.
    fn values_beside(
        &self,
        order: Order,
        prefix: &[ValueId],
        segments: Vec<(&OpenSegment, Range<u64>)>,
        values_max: usize,
        cancel: &CancelToken,
    ) -> Result<Option<Vec<ValueId>>, StoreError> {
        let column = prefix.len();
        let mut layers: Vec<_> =
            self.delta_layers(order, prefix)?.into_iter().map(|(_, cursor)| cursor).collect();
        layers.extend(
            segments.into_iter().map(|(segment, rows)| {
                RowCursor::Packed(segment.permutation(order).cursor(rows, 1 << column))
            }),
        );
        let mut values = Vec::new();
        for cursor in layers {
            // Whatever the layer's sign is: what it deletes is delivered, too.
            let layer = vec![(Sign::Insertions, cursor)];
            let mut scan = Scan::new(layer, 1 << column, Arc::default());
            let mut add = |value| {
                values.push(value);
                values.len() <= values_max
            };
            if !each_value(&mut scan, prefix, cancel, &mut add)? {
                return Ok(None);
            }
        }
        values.sort_unstable();
        values.dedup();
        Ok(Some(values))
    }
}

/// Calls `take` with each value of the column after a prefix, from value to value, until it returns `false`.
fn each_value(
    scan: &mut Scan,
    prefix: &[ValueId],
    cancel: &CancelToken,
    take: &mut dyn FnMut(ValueId) -> bool,
) -> Result<bool, StoreError> {
    let mut columns: [Vec<ValueId>; 4] = Default::default();
    let mut last = None;
    loop {
        cancel.check()?;
        columns.iter_mut().for_each(Vec::clear);
        if scan.next(CHUNK_ROWS, &mut columns)? == 0 {
            return Ok(true);
        }
        let Some(values) = columns.get(prefix.len()) else { return Ok(true) };
        for value in values {
            if last != Some(*value) {
                last = Some(*value);
                if !take(*value) {
                    return Ok(false);
                }
            }
        }
        if values.first() == last.as_ref() {
            let Some(next) = last.and_then(|value| value.to_bits().checked_add(1)) else { return Ok(true) };
            scan.seek(&[prefix, &[ValueId::from_bits(next)]].concat())?;
        }
    }
}

/// Counts over all layers, from value to value; none where that takes more rows.
fn counted(snapshot: &Snapshot, order: Order, rows_max: u64) -> Result<Option<u64>, StoreError> {
    let mut scan = snapshot.scan(order, &[], 1)?;
    let mut columns: [Vec<ValueId>; 4] = Default::default();
    let (mut values, mut rows, mut last) = (0, 0, None);
    while rows <= rows_max {
        columns.iter_mut().for_each(Vec::clear);
        let read = scan.next(CHUNK_ROWS, &mut columns)?;
        let [first, ..] = &columns;
        if read == 0 {
            return Ok(Some(values));
        }
        rows += read as u64;
        for value in first {
            if last != Some(*value) {
                values += 1;
                last = Some(*value);
            }
        }
        if first.first() == last.as_ref() {
            let Some(next) = last.and_then(|value| value.to_bits().checked_add(1)) else {
                return Ok(Some(values));
            };
            scan.seek(&[ValueId::from_bits(next)])?;
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    //! Counts over overlapping segments, against all rows, and estimates where there is less patience.
    use super::Distinct;
    use crate::LoadOptions;
    use crate::test_data::{load_files, open, rows};
    use lode_base::mem_vfs::MemVfs;
    use lode_packed::Order;
    use lode_rdf::{GraphName, NamedNode, Quad};

    fn quads(range: std::ops::Range<u32>) -> Vec<Quad> {
        let iri = |text: String| NamedNode::new(format!("http://e/{text}")).unwrap();
        let quad = |number: u32| {
            let predicate = iri(format!("p{}", number % 3));
            Quad::new(
                iri(format!("s{}", number / 2)),
                predicate,
                iri(format!("o{number}")),
                GraphName::DefaultGraph,
            )
        };
        range.map(quad).collect()
    }

    #[test]
    fn counted_over_segments_or_told_to_be_an_estimate() {
        let store = open(&MemVfs::default());
        for (name, range) in [("a", 0..6000), ("b", 3000..9000)] {
            let options = LoadOptions { threads: 1, ..LoadOptions::default() };
            load_files(&store, &[(name.to_owned(), quads(range))], options).unwrap();
        }
        let snapshot = store.snapshot();
        for (order, expected) in [(Order::Spog, 4500), (Order::Psog, 3), (Order::Ospg, 9000)] {
            let all = rows(&snapshot, order, &[]);
            assert_eq!(all.chunk_by(|a, b| a[0] == b[0]).count() as u64, expected, "{order:?}");
            let exact = Distinct::of(&snapshot, order, 10_000).unwrap();
            assert_eq!(exact, Distinct { values: expected, is_exact: true }, "{order:?}");
        }
        // From value to value: three predicates take few rows.
        assert!(Distinct::of(&snapshot, Order::Psog, 2000).unwrap().is_exact);
        assert!(!Distinct::of(&snapshot, Order::Spog, 2000).unwrap().is_exact);
    }
}
