//! A place in a pattern's trie: for each variable a *window* on the values that come next under the values of the variables before. The
//! trie is in memory, where the window is all of them, or its values are read from the permutation, window by window.

use super::trie::Trie;
use crate::pattern::{Columns, Pattern};
use crate::profile::NodeCounters;
use crate::range_scan::open;
use crate::shared::Shared;
use lode_base::gallop::gallop;
use lode_eval::error::ExecError;
use lode_rdf::ValueId;
use lode_store::Scan;
use std::ops::Range;
use std::sync::Arc;

/// Rows of the first window.
const STEP_MIN: usize = 64;

/// The cursor.
pub(crate) struct TrieCursor {
    source: Source,
    /// By level.
    windows: Vec<Range<usize>>,
}

enum Source {
    Whole(Arc<Trie>),
    Sought(Box<SoughtTrie>),
}

impl Source {
    fn values(&self, level: usize) -> &[ValueId] {
        match self {
            Self::Whole(trie) => trie.values(level),
            Self::Sought(trie) => trie.levels.get(level).map_or(&[], |level| &level.values),
        }
    }
}

impl TrieCursor {
    /// A cursor over a trie in memory.
    pub(crate) fn whole(trie: &Arc<Trie>, pattern: &Pattern) -> Self {
        Self { source: Source::Whole(Arc::clone(trie)), windows: vec![0..0; 3 - pattern.consts] }
    }

    /// A cursor that reads what it needs.
    pub(crate) fn sought(shared: &Arc<Shared>, pattern: Pattern) -> Self {
        let windows = vec![0..0; 3 - pattern.consts];
        let levels = windows.iter().map(|_| SoughtLevel::default()).collect();
        let trie = SoughtTrie {
            shared: Arc::clone(shared),
            pattern,
            levels,
            columns: Columns::default(),
            lookups: 0,
            rows: 0,
        };
        Self { source: Source::Sought(Box::new(trie)), windows }
    }

    /// The values at hand: the next ones of this level; none at the end.
    pub(crate) fn window(&self, level: usize) -> &[ValueId] {
        &self.source.values(level)[self.windows[level].clone()]
    }

    /// The next value; `None` at the end.
    pub(crate) fn key(&self, level: usize) -> Option<ValueId> {
        self.window(level).first().copied()
    }

    /// About how many values are left of a level.
    pub(crate) fn size(&self, level: usize) -> u64 {
        let beyond = match &self.source {
            Source::Whole(_) => 0,
            Source::Sought(trie) => trie.levels[level].scan.as_ref().map_or(0, Scan::remaining),
        };
        self.window(level).len() as u64 + beyond
    }

    /// Goes to the first value of a level under the next ones of the levels before it.
    pub(crate) fn open(&mut self, level: usize) -> Result<(), ExecError> {
        self.windows[level] = match &mut self.source {
            Source::Whole(trie) => match level.checked_sub(1) {
                None => 0..trie.values(0).len(),
                Some(above) => trie.below(above, self.windows[above].start),
            },
            Source::Sought(trie) => trie.open(level, &self.windows, None)?,
        };
        Ok(())
    }

    /// The same for the first level, of which only values in `range` are wanted.
    pub(crate) fn open_within(&mut self, range: &Range<ValueId>) -> Result<(), ExecError> {
        self.windows[0] = match &mut self.source {
            Source::Whole(trie) => {
                let values = trie.values(0);
                let start = values.partition_point(|value| *value < range.start);
                start..values.partition_point(|value| *value < range.end).max(start)
            }
            Source::Sought(trie) => trie.open(0, &self.windows, Some(range))?,
        };
        Ok(())
    }

    /// Goes forward to the first value not before `key`.
    pub(crate) fn seek(&mut self, level: usize, key: ValueId) -> Result<(), ExecError> {
        let window = &mut self.windows[level];
        let values = self.source.values(level);
        let from = match &self.source {
            Source::Whole(trie) if level == 0 => trie.near(key).clamp(window.start, window.end),
            _ => window.start,
        };
        window.start = gallop(from, window.end, |at| values[at] < key);
        if window.start == window.end
            && let Source::Sought(trie) = &mut self.source
        {
            *window = trie.seek(level, key, window.end)?;
        }
        Ok(())
    }

    /// Steps over values at hand.
    pub(crate) fn pass(&mut self, level: usize, values: usize) -> Result<(), ExecError> {
        let window = &mut self.windows[level];
        window.start += values;
        if window.start == window.end
            && let Source::Sought(trie) = &mut self.source
        {
            *window = trie.read_on(level, window.end)?;
        }
        Ok(())
    }

    /// Tells what was read.
    pub(crate) fn count(&mut self, counters: &NodeCounters) {
        if let Source::Sought(trie) = &mut self.source {
            counters.read(std::mem::take(&mut trie.lookups), std::mem::take(&mut trie.rows));
        }
    }
}

/// A trie whose values are in the permutation.
struct SoughtTrie {
    shared: Arc<Shared>,
    pattern: Pattern,
    levels: Vec<SoughtLevel>,
    columns: Columns,
    lookups: u64,
    rows: u64,
}

/// Values of a variable under those of the variables before.
#[derive(Default)]
struct SoughtLevel {
    /// The constants, and the values of the variables before.
    prefix: Vec<ValueId>,
    scan: Option<Scan>,
    /// The values read last.
    values: Vec<ValueId>,
    /// Whether they are the first under the prefix.
    from_start: bool,
    step: usize,
    /// The last row read, for the removal of duplicates.
    last: Option<Vec<ValueId>>,
}

impl SoughtTrie {
    /// Reads the first values of a level under the first of the windows above.
    fn open(
        &mut self,
        level: usize,
        windows: &[Range<usize>],
        range: Option<&Range<ValueId>>,
    ) -> Result<Range<usize>, ExecError> {
        if self.pattern.impossible {
            return Ok(0..0);
        }
        let mut prefix = self.pattern.prefix();
        for (above, window) in self.levels.iter().zip(&windows[..level]) {
            prefix.extend(above.values.get(window.start));
        }
        let own = &mut self.levels[level];
        if own.from_start && own.prefix == prefix && range.is_none() {
            return Ok(0..own.values.len());
        }
        let range = if level == 0 { self.pattern.range(range) } else { None };
        let columns = self.pattern.mask() | (1 << (self.pattern.consts + level));
        let cx = &self.shared.cx;
        own.scan = Some(open(cx, self.pattern.order, prefix.clone(), columns, range.as_ref())?);
        self.lookups += 1;
        own.prefix = prefix;
        own.values.clear();
        own.step = STEP_MIN.min(self.shared.cx.batch_rows);
        own.last = None;
        let window = self.read_on(level, 0)?;
        self.levels[level].from_start = true;
        Ok(window)
    }

    fn seek(&mut self, level: usize, key: ValueId, end: usize) -> Result<Range<usize>, ExecError> {
        let own = &mut self.levels[level];
        if let Some(scan) = &mut own.scan {
            own.from_start = false;
            own.prefix.push(key);
            let result = scan.seek(&own.prefix);
            own.prefix.pop();
            result?;
            own.step = STEP_MIN.min(self.shared.cx.batch_rows);
            self.lookups += 1;
        }
        self.read_on(level, end)
    }

    /// Reads the next values, which then are those at hand. At the end those that were read last stay, and the window is empty, at `end`.
    fn read_on(&mut self, level: usize, end: usize) -> Result<Range<usize>, ExecError> {
        let column = self.pattern.consts + level;
        let own = &mut self.levels[level];
        let Some(scan) = &mut own.scan else { return Ok(end..end) };
        let passed = own.values.last().copied();
        let mut found: Vec<ValueId> = Vec::new();
        while found.is_empty() {
            self.shared.cx.cancel.check()?;
            self.columns.iter_mut().for_each(Vec::clear);
            let rows = scan.next(own.step, &mut self.columns)?;
            self.rows += rows as u64;
            if rows == 0 {
                own.scan = None;
                return Ok(end..end);
            }
            own.step = (own.step * 2).min(self.shared.cx.batch_rows);
            let values = &self.columns[column];
            let mut push = |value: ValueId| {
                if found.last().copied().or(passed) != Some(value) {
                    found.push(value);
                }
            };
            if self.pattern.is_plain() {
                values.iter().copied().for_each(&mut push);
            } else {
                let mut selection = Vec::new();
                self.pattern.select(&self.columns, 0, rows, &mut own.last, &mut selection);
                selection.iter().for_each(|row| push(values[*row as usize]));
            }
        }
        own.values = found;
        own.from_start = false;
        Ok(0..own.values.len())
    }
}
