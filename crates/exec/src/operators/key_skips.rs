//! How a scan goes from key to key of a run-time filter.

use crate::context::QueryContext;
use crate::key_filter::{KeyFilter, first_not_before};
use crate::pattern::Columns;
use crate::profile::NodeCounters;
use lode_eval::error::ExecError;
use lode_rdf::ValueId;
use lode_store::Scan;
use std::ops::Range;
use std::sync::Arc;

/// Rows to be read for each key, below which a filter saves nothing.
const ROWS_PER_KEY_MIN: u64 = 16;
/// Rows of the first read at a key.
const STEP_MIN: usize = 32;

/// The keys that a scan has still to visit.
#[derive(Debug)]
pub(crate) struct KeySkips {
    filter: Arc<KeyFilter>,
    /// The keys that are in the range of the scan, and which of them is next.
    keys: Range<usize>,
    /// The scan's first column that is no constant.
    column: usize,
    prefix: Vec<ValueId>,
    /// Whether the next row of the scan may have the next key.
    arrived: bool,
}

impl KeySkips {
    /// Skips over the rows of `scan` that lie between the filter's keys in `column`, behind `prefix`; `None` where that does not pay.
    /// `range`: where the scan's values of that column lie, if it is confined.
    pub(crate) fn new(
        filter: &Arc<KeyFilter>,
        prefix: Vec<ValueId>,
        range: Option<&Range<ValueId>>,
        scan: &Scan,
    ) -> Option<Self> {
        let all = filter.keys()?;
        let keys = match range {
            None => 0..all.len(),
            Some(range) => first_not_before(all, 0, range.start)..first_not_before(all, 0, range.end),
        };
        // Tests filter whatever it saves.
        let pays = cfg!(test) || scan.remaining() / ROWS_PER_KEY_MIN >= keys.len() as u64;
        let (filter, column) = (Arc::clone(filter), prefix.len());
        pays.then(|| Self { filter, keys, column, prefix, arrived: false })
    }

    /// The key in the middle of those still to visit, if there are two.
    pub(crate) fn middle(&self) -> Option<ValueId> {
        let keys = self.filter.keys()?.get(self.keys.clone())?;
        keys.get(keys.len().div_ceil(2)).copied()
    }

    /// Visits no key from `end` on.
    pub(crate) fn end_before(&mut self, end: ValueId) {
        let keys = self.filter.keys().unwrap_or_default();
        self.keys.end = self.keys.end.min(first_not_before(keys, self.keys.start, end));
    }

    /// Appends about `rows_max` further rows to `columns`, among them all with keys that were reached, and returns how many; 0 at the end.
    pub(crate) fn read(
        &mut self,
        cx: &QueryContext,
        counters: &NodeCounters,
        scan: &mut Scan,
        rows_max: usize,
        columns: &mut Columns,
    ) -> Result<usize, ExecError> {
        let (mut rows, mut step) = (0, STEP_MIN);
        while rows < rows_max {
            cx.cancel.check()?;
            let keys = self.filter.keys().and_then(|keys| keys.get(..self.keys.end)).unwrap_or_default();
            let Some(key) = keys.get(self.keys.start) else { break };
            if !self.arrived {
                self.prefix.push(*key);
                let sought = scan.seek(&self.prefix);
                self.prefix.pop();
                sought?;
                counters.read(1, 0);
                self.arrived = true;
                step = STEP_MIN;
            }
            let read = scan.next(step.min(rows_max - rows), columns)?;
            counters.read(0, read as u64);
            rows += read;
            let Some(last) = columns.get(self.column).and_then(|ids| ids.last()).filter(|_| read > 0) else {
                self.keys.start = self.keys.end;
                break;
            };
            let next = first_not_before(keys, self.keys.start, *last);
            // More rows of that key may follow.
            self.arrived = keys.get(next) == Some(last);
            self.keys.start = next;
            step *= 4;
        }
        Ok(rows)
    }

    /// Leaves those of the rows of `selection` (ascending) that have one of the keys.
    pub(crate) fn retain(&self, columns: &Columns, selection: &mut Vec<u32>) {
        let (Some(ids), Some(keys)) = (columns.get(self.column), self.filter.keys()) else { return };
        let mut at = 0;
        selection.retain(|row| {
            let Some(id) = ids.get(*row as usize) else { return false };
            at = first_not_before(keys, at, *id);
            keys.get(at) == Some(id)
        });
    }
}
