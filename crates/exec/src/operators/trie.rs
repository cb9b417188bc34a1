//! The rows of a pattern as a trie in memory, for a multiway join: the values of each variable lie side by side, those under one value
//! of the variable before ascending.

use crate::pattern::{Columns, Pattern};
use crate::profile::NodeCounters;
use crate::range_scan::open;
use crate::shared::{BuildOnce, Shared};
use lode_base::memory_budget::Reservation;
use lode_eval::error::ExecError;
use lode_rdf::ValueId;
use lode_sparql::plan::TriePattern;
use lode_sparql::{PlanNode, PlanOp, ScanPattern};
use std::ops::Range;
use std::sync::Arc;

/// The values of one variable.
#[derive(Debug, Default)]
struct Level {
    values: Vec<ValueId>,
    /// For each value where those under it end in the next level; empty in the last.
    ends: Vec<u32>,
}

/// Where ascending values are: ids mostly lie evenly, so that the place of one is known from its distance to the first.
#[derive(Debug, Default)]
struct Places {
    first: u64,
    shift: u32,
    /// The number of the first value at each place or after it.
    starts: Vec<u32>,
}

impl Places {
    /// Those of `values`, about as many as there are values.
    fn new(values: &[ValueId]) -> Self {
        let (Some(first), Some(last)) = (values.first(), values.last()) else { return Self::default() };
        let (first, span) = (first.to_bits(), last.to_bits() - first.to_bits());
        let most = values.len() as u64;
        let mut shift = 0;
        while span >> shift > most {
            shift += 1;
        }
        let mut starts = Vec::with_capacity(usize::try_from(span >> shift).unwrap_or(0) + 1);
        for (number, value) in (0_u32..).zip(values) {
            let place = (value.to_bits() - first) >> shift;
            while starts.len() as u64 <= place {
                starts.push(number);
            }
        }
        Self { first, shift, starts }
    }

    /// A number before which all values come before `value`; most often that of the first that does not.
    fn near(&self, value: ValueId) -> usize {
        let place = value.to_bits().saturating_sub(self.first) >> self.shift;
        let place = usize::try_from(place).unwrap_or(usize::MAX).min(self.starts.len().saturating_sub(1));
        self.starts.get(place).map_or(0, |start| *start as usize)
    }
}

/// The rows of a pattern by its variables.
#[derive(Debug)]
pub(crate) struct Trie {
    levels: Vec<Level>,
    /// Of the first level, in which values are sought that may lie anywhere.
    places: Places,
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

    /// A number before which all values of the first variable come before `value`; most often that of the first that does not.
    pub(crate) fn near(&self, value: ValueId) -> usize {
        self.places.near(value)
    }

    fn bytes(&self) -> usize {
        let bytes = |level: &Level| {
            level.values.capacity() * size_of::<ValueId>() + level.ends.capacity() * size_of::<u32>()
        };
        self.levels.iter().map(bytes).sum::<usize>() + self.places.starts.capacity() * size_of::<u32>()
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

    /// Appends a row, of as many columns as there are levels, that comes after all others, or is the last one again.
    fn push(&mut self, columns: &[Vec<ValueId>], row: usize) {
        let mut is_new = false;
        for (number, column) in columns.iter().enumerate() {
            let value = column[row];
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

/// Reads a pattern's rows; `None`: there are too many for the memory budget.
fn read(shared: &Shared, counters: &NodeCounters, pattern: &ScanPattern) -> Result<Option<Trie>, ExecError> {
    let cx = &shared.cx;
    let pattern = Pattern::new(pattern, |_| false, |_| true, shared.single_graph);
    let reservation = cx.budget.reserve_spillable();
    let levels = (pattern.consts..3).map(|_| Level::default()).collect();
    let mut trie = Trie { levels, places: Places::default(), reservation };
    if pattern.impossible {
        return Ok(Some(trie));
    }
    let mut scan = open(cx, pattern.order, pattern.prefix(), pattern.mask(), pattern.range(None).as_ref())?;
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
    let values = trie.levels.first().map_or(&[][..], |level| &level.values);
    if trie.reservation.resize(trie.bytes() + (values.len() + 1) * size_of::<u32>()).is_err() {
        return Ok(None);
    }
    trie.places = Places::new(values);
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

#[cfg(test)]
mod tests {
    use super::Places;
    use lode_rdf::ValueId;

    #[test]
    fn places_are_never_too_far() {
        for ids in [
            vec![],
            vec![7],
            vec![3, 4, 5, 6],
            vec![1, 2, 1 << 40, u64::MAX - 1],
            (0..99).map(|i| i * i).collect(),
        ] {
            let values: Vec<ValueId> = ids.iter().map(|id| ValueId::from_bits(*id)).collect();
            let places = Places::new(&values);
            assert!(places.starts.len() <= values.len() + 1);
            for id in ids.iter().flat_map(|id| [id.saturating_sub(1), *id, id + 1]).chain([0, u64::MAX]) {
                let value = ValueId::from_bits(id);
                let least = values.partition_point(|other| *other < value);
                assert!(places.near(value) <= least, "{id} in {ids:?}");
            }
        }
        let dense: Vec<ValueId> = (50..90).map(ValueId::from_bits).collect();
        assert_eq!(Places::new(&dense).near(ValueId::from_bits(77)), 27);
    }
}
