//! The rows of a pattern as a trie in memory, for a multiway join: the values of each variable lie side by side, those under one value
//! of the variable before ascending.

use crate::error::ExecError;
use crate::pattern::{Columns, Pattern};
use crate::profile::NodeCounters;
use crate::shared::{BuildOnce, Shared};
use lode_base::memory_budget::Reservation;
use lode_rdf::ValueId;
use lode_sparql::plan::TriePattern;
use lode_sparql::{PlanNode, PlanOp, ScanPattern};
use lode_store::Scan;
use std::ops::Range;
use std::sync::Arc;

/// The values of one variable.
#[derive(Debug, Default)]
struct Level {
    values: Vec<ValueId>,
    /// For each value where those under it end in the next level; empty in the last.
    ends: Vec<u32>,
}

/// The rows of a pattern by its variables.
#[derive(Debug)]
pub(crate) struct Trie {
    levels: Vec<Level>,
    reservation: Reservation,
}

impl Trie {
    /// All values of a variable, from the first row to the last.
    pub(crate) fn values(&self, level: usize) -> &[ValueId] {
        self.levels.get(level).map_or(&[], |level| &level.values)
    }

    /// Where, among the values of the variable after it, those under value number `at` of a variable are.
    pub(crate) fn below(&self, level: usize, at: usize) -> Range<usize> {
        let ends = self.levels.get(level).map_or(&[][..], |level| &level.ends);
        let end = |at: usize| ends.get(at).map_or(0, |end| *end as usize);
        let start = at.checked_sub(1).map_or(0, end);
        start..end(at).max(start)
    }

    fn bytes(&self) -> usize {
        let bytes = |level: &Level| {
            level.values.capacity() * size_of::<ValueId>() + level.ends.capacity() * size_of::<u32>()
        };
        self.levels.iter().map(bytes).sum()
    }

    /// Makes room for so many rows more; `false`: the budget lacks the memory.
    fn make_room(&mut self, rows: usize) -> bool {
        let last = self.levels.len() - 1;
        for number in 0..=last {
            let level = &self.levels[number];
            let (used, capacity) = (level.values.len(), level.values.capacity());
            if used + rows <= capacity {
                continue;
            }
            let more = (used + rows).max(capacity * 3 / 2) - capacity;
            let each = size_of::<ValueId>() + if number < last { size_of::<u32>() } else { 0 };
            if self.reservation.grow(more * each).is_err() {
                return false;
            }
            let level = &mut self.levels[number];
            level.values.reserve_exact(capacity + more - used);
            if number < last {
                level.ends.reserve_exact(capacity + more - used);
            }
        }
        true
    }

    /// Appends a row that comes after all others, or is the last one again.
    fn push(&mut self, columns: &[Vec<ValueId>], row: usize) {
        let mut is_new = false;
        for number in 0..self.levels.len() {
            let value = columns[number][row];
            let level = &mut self.levels[number];
            is_new |= level.values.last() != Some(&value);
            if !is_new {
                continue;
            }
            level.values.push(value);
            // Rows are fewer than 32 bits can number.
            #[expect(clippy::cast_possible_truncation, reason = "`read` sees to that")]
            let end = level.values.len() as u32;
            if let Some(above) = number.checked_sub(1).and_then(|above| self.levels.get_mut(above)) {
                above.ends.truncate(above.values.len() - 1);
                above.ends.push(end);
            }
        }
    }
}

/// Opens a scan of all rows of a pattern.
pub(crate) fn open(
    shared: &Shared,
    pattern: &Pattern,
    prefix: &[ValueId],
    columns: u8,
    range: Option<&Range<ValueId>>,
) -> Result<Scan, ExecError> {
    let mut scan = shared.cx.snapshot.scan(pattern.order, prefix, columns)?;
    if let Some(range) = range {
        let mut key = prefix.to_vec();
        key.push(range.start);
        scan.seek(&key)?;
        key.pop();
        key.push(range.end);
        scan.limit_to(&key)?;
    }
    Ok(scan)
}

/// Reads a pattern's rows; `None`: there are too many for the memory budget.
fn read(shared: &Shared, counters: &NodeCounters, pattern: &ScanPattern) -> Result<Option<Trie>, ExecError> {
    let cx = &shared.cx;
    let pattern = Pattern::new(pattern, |_| false, |_| true, shared.single_graph);
    let reservation = cx.budget.reserve(0)?;
    let levels = (pattern.consts..3).map(|_| Level::default()).collect();
    let mut trie = Trie { levels, reservation };
    if pattern.impossible {
        return Ok(Some(trie));
    }
    let mut scan = open(shared, &pattern, &pattern.prefix(), pattern.mask(), pattern.range(None).as_ref())?;
    counters.read(1, 0);
    if scan.remaining() >= u64::from(u32::MAX) {
        return Ok(None);
    }
    let mut columns = Columns::default();
    let (mut last, mut selection) = (None, Vec::new());
    loop {
        cx.cancel.check()?;
        columns.iter_mut().for_each(Vec::clear);
        let rows = scan.next(cx.batch_rows, &mut columns)?;
        counters.read(0, rows as u64);
        if rows == 0 {
            break;
        }
        if !trie.make_room(rows) {
            return Ok(None);
        }
        let values = &columns[pattern.consts..3];
        if pattern.is_plain() {
            (0..rows).for_each(|row| trie.push(values, row));
        } else {
            selection.clear();
            pattern.select(&columns, 0, rows, &mut last, &mut selection);
            selection.iter().for_each(|row| trie.push(values, *row as usize));
        }
    }
    for level in &mut trie.levels {
        level.values.shrink_to_fit();
        level.ends.shrink_to_fit();
    }
    trie.reservation.resize(trie.bytes())?;
    Ok(Some(trie))
}

/// The tries of a multiway join that are read before it begins, by the number of the pattern. Patterns with the same rows share one.
#[derive(Debug)]
pub(crate) struct Tries(Vec<Option<Arc<Trie>>>);

impl Tries {
    /// That of a pattern; `None`: its keys are to be sought.
    pub(crate) fn of(&self, pattern: usize) -> Option<&Arc<Trie>> {
        self.0.get(pattern)?.as_ref()
    }
}

impl BuildOnce for Tries {
    fn make(shared: &Arc<Shared>, node: &PlanNode) -> Result<Self, ExecError> {
        let PlanOp::MultiwayJoin(patterns) = &node.op else {
            return Err(ExecError::Internal("tries of no multiway join".into()));
        };
        let counters = shared.counters(node.id);
        let mut tries: Vec<Option<Arc<Trie>>> = Vec::with_capacity(patterns.len());
        for (number, TriePattern { pattern, whole }) in patterns.iter().enumerate() {
            let same =
                patterns[..number].iter().position(|other| other.whole && other.pattern.has_rows_of(pattern));
            tries.push(match same {
                _ if !whole => None,
                Some(same) => tries[same].clone(),
                None => read(shared, &counters, pattern)?.map(Arc::new),
            });
        }
        let distinct = |number: &usize| {
            let trie = tries[*number].as_ref();
            trie.filter(|trie| !tries[..*number].iter().flatten().any(|other| Arc::ptr_eq(other, trie)))
                .map(|trie| trie.bytes())
        };
        counters.hold((0..tries.len()).filter_map(|number| distinct(&number)).sum());
        Ok(Self(tries))
    }
}
