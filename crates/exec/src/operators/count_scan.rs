//! Counts of quads straight from the index: `COUNT(*)` over a scan, in all or by its first free column, without reading rows.

use super::Operator;
use crate::context::QueryContext;
use crate::operators::group_table::integer;
use crate::pattern::{Cell, Pattern};
use crate::profile::NodeCounters;
use lode_eval::batch::{Batch, position};
use lode_eval::error::ExecError;
use lode_rdf::ValueId;
use lode_sparql::aggregate::Counts;
use lode_sparql::{Aggregate, Expr, PlanNode, PlanOp, ScanPattern, VarId};
use lode_store::Scan;
use std::ops::Range;
use std::sync::Arc;

/// Rows that can be read in the time of a look-up: with fewer rows per group reading them all is better.
const LOOKUP_ROWS: u64 = 512;

/// A Group that only counts the rows of a scan.
pub(crate) struct Countable<'a> {
    /// The scan's number.
    pub(crate) scan: u32,
    pub(crate) pattern: &'a ScanPattern,
    key: Option<VarId>,
}

impl<'a> Countable<'a> {
    /// Whether `keys` and `aggregates` over `input` are such a Group.
    pub(crate) fn new(input: &'a PlanNode, keys: &[VarId], aggregates: &[Aggregate]) -> Option<Self> {
        let mut scan = input;
        while let PlanOp::Project(below) = &scan.op {
            scan = below;
        }
        let PlanOp::IndexScan(pattern) = &scan.op else { return None };
        if pattern.within.is_some() {
            return None;
        }
        let counts_rows = |aggregate: &Aggregate| match (aggregate.function.counts, &aggregate.argument) {
            _ if aggregate.distinct => false,
            (Counts::Rows, _) => true,
            (Counts::Bound { .. }, Some(Expr::Var(var))) => scan.certain.contains(var),
            _ => false,
        };
        let key = match keys {
            [] => None,
            [key] => Some(*key),
            _ => return None,
        };
        aggregates.iter().all(counts_rows).then_some(Self { scan: scan.id, pattern, key })
    }

    /// Whether the index can tell the counts, and faster than reading the rows would.
    pub(crate) fn pays(&self, cx: &QueryContext, pattern: &Pattern, rows: u64) -> Result<bool, ExecError> {
        if !pattern.is_plain() {
            return Ok(false);
        }
        let Some(key) = self.key else { return Ok(true) };
        if pattern.cells.get(pattern.consts) != Some(&Cell::Free(key)) {
            return Ok(false);
        }
        let groups = cx.snapshot.distinct(pattern.order, &pattern.prefix())?;
        // Tests with small batches have few rows, and shall come this way, too.
        let lookup_rows = LOOKUP_ROWS.min(cx.batch_rows as u64);
        Ok(groups.saturating_mul(lookup_rows) < rows)
    }
}

/// The operator.
pub(crate) struct CountScan {
    cx: Arc<QueryContext>,
    counters: Arc<NodeCounters>,
    pattern: Pattern,
    vars: Arc<[VarId]>,
    /// The output column of the key, if there is one.
    key: Option<usize>,
    by_key: bool,
    /// Finds the values of the key.
    scan: Option<Scan>,
    /// Of the first free column, where there are values of others as well that others count.
    range: Option<Range<ValueId>>,
    done: bool,
}

impl CountScan {
    /// Counts the rows of `pattern` whose values of its first free column are in `range`: by these values, if the Group has a key.
    pub(crate) fn new(
        cx: &Arc<QueryContext>,
        counters: Arc<NodeCounters>,
        countable: &Countable<'_>,
        pattern: Pattern,
        vars: &Arc<[VarId]>,
        range: Option<&Range<ValueId>>,
    ) -> Result<Self, ExecError> {
        let by_key = countable.key.is_some();
        let mut scan = None;
        if by_key && !pattern.impossible {
            let mut key = pattern.prefix();
            let mut open = cx.snapshot.scan(pattern.order, &key, 1 << pattern.consts)?;
            if let Some(range) = range {
                key.push(range.start);
                open.seek(&key)?;
            }
            scan = Some(open);
        }
        Ok(Self {
            cx: Arc::clone(cx),
            counters,
            key: countable.key.and_then(|key| position(vars, key)),
            by_key,
            pattern,
            vars: Arc::clone(vars),
            scan,
            range: range.cloned(),
            done: false,
        })
    }

    /// The next value of the key.
    fn next_key(&mut self) -> Result<Option<ValueId>, ExecError> {
        let Some(scan) = &mut self.scan else { return Ok(None) };
        let mut columns = crate::pattern::Columns::default();
        if scan.next(1, &mut columns)? == 0 {
            return Ok(None);
        }
        let value = columns[self.pattern.consts].first().copied().unwrap_or(ValueId::UNDEF);
        if self.range.as_ref().is_some_and(|range| value >= range.end) {
            return Ok(None);
        }
        let mut next = self.pattern.prefix();
        match value.to_bits().checked_add(1) {
            Some(bits) => {
                next.push(ValueId::from_bits(bits));
                scan.seek(&next)?;
            }
            None => self.scan = None,
        }
        Ok(Some(value))
    }

    fn push(&self, key: Option<ValueId>, count: u64, out: &mut Batch) -> Result<(), ExecError> {
        let count = integer(&self.cx, count)?;
        for (i, column) in out.columns.iter_mut().enumerate() {
            column.push(key.filter(|_| self.key == Some(i)).unwrap_or(count));
        }
        out.rows += 1;
        Ok(())
    }
}

impl Operator for CountScan {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        out.reset(&self.vars);
        let mut prefix = self.pattern.prefix();
        while !self.done && out.rows < self.cx.batch_rows {
            self.cx.cancel.check()?;
            let key = if self.by_key { self.next_key()? } else { None };
            if self.by_key && key.is_none() || !self.by_key && self.pattern.impossible {
                self.done = true;
                if !self.by_key {
                    self.push(None, 0, out)?;
                }
                break;
            }
            prefix.truncate(self.pattern.consts);
            prefix.extend(key);
            let (snapshot, order) = (&self.cx.snapshot, self.pattern.order);
            let count = match self.range.as_ref().filter(|_| !self.by_key) {
                Some(range) => snapshot.count_between(order, &prefix, range)?,
                None => snapshot.count(order, &prefix)?,
            };
            self.counters.read(1, 0);
            self.push(key, count, out)?;
            self.done = !self.by_key;
        }
        Ok(out.rows > 0)
    }
}
