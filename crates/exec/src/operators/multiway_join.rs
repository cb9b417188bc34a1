//! Joins many patterns at once, one variable after the other: the values that a variable can have under those of the variables before
//! are what all patterns with that variable have in common.
//!
//! This is leapfrog triejoin (Veldhuizen, ICDT 2014). Where patterns make a cycle it is worst-case optimal: it takes no longer than the largest
//! result that patterns of these sizes could have, while joins of two make all paths before any of them is closed.

use super::Operator;
use super::trie::Tries;
use super::trie_cursor::TrieCursor;
use crate::pattern::{Cell, Pattern};
use crate::profile::NodeCounters;
use crate::shared::Shared;
use lode_base::gallop::gallop;
use lode_eval::batch::Batch;
use lode_eval::error::ExecError;
use lode_rdf::ValueId;
use lode_sparql::plan::TriePattern;
use lode_sparql::{PlanNode, VarId};
use std::ops::Range;
use std::sync::Arc;

/// Steps between two looks at whether the query is cancelled.
const STEPS_UNCHECKED: u32 = 1024;
/// One list so many times as long as the other is searched, not walked through.
const SEARCH_RATIO: usize = 16;

/// The operator.
pub(crate) struct MultiwayJoin {
    shared: Arc<Shared>,
    counters: Arc<NodeCounters>,
    node: u32,
    vars: Arc<[VarId]>,
    patterns: Vec<Pattern>,
    /// Which values of the first variable are asked for.
    range: Option<Range<ValueId>>,
    /// For each variable its patterns, and which level it is in each.
    depths: Vec<Vec<(usize, usize)>>,
    /// One per pattern; none before the beginning.
    cursors: Vec<TrieCursor>,
    /// The values of the variables before `depth`.
    bindings: Vec<ValueId>,
    /// The variable whose next value is looked for.
    depth: usize,
    /// Nobody wants values of the first variable before it.
    floor: Option<ValueId>,
    steps: u32,
    done: bool,
}

impl MultiwayJoin {
    /// Joins `patterns` by the variables of `node`. `range` restricts the values of the first.
    pub(crate) fn new(
        shared: &Arc<Shared>,
        node: &PlanNode,
        patterns: &[TriePattern],
        range: Option<Range<ValueId>>,
    ) -> Result<Self, ExecError> {
        let ready =
            |trie: &TriePattern| Pattern::new(&trie.pattern, |_| false, |_| false, shared.single_graph);
        let patterns: Vec<Pattern> = patterns.iter().map(ready).collect();
        let levels = |var: VarId| {
            let level = |(number, pattern): (usize, &Pattern)| {
                let columns = pattern.cells.get(pattern.consts..3)?;
                Some((number, columns.iter().position(|cell| *cell == Cell::Free(var))?))
            };
            patterns.iter().enumerate().filter_map(level).collect::<Vec<_>>()
        };
        let depths: Vec<Vec<(usize, usize)>> = node.vars.iter().map(|var| levels(*var)).collect();
        if depths.is_empty() || depths.iter().any(Vec::is_empty) {
            return Err(ExecError::Internal("a multiway join of variables that no pattern has".into()));
        }
        Ok(Self {
            shared: Arc::clone(shared),
            counters: shared.counters(node.id),
            node: node.id,
            vars: node.vars.as_slice().into(),
            patterns,
            range,
            bindings: vec![ValueId::UNDEF; depths.len()],
            depths,
            cursors: Vec::new(),
            depth: 0,
            floor: None,
            steps: 0,
            done: false,
        })
    }

    fn start(&mut self) -> Result<(), ExecError> {
        let tries = self.shared.once::<Tries>(self.node).get(&self.shared)?;
        let cursor = |(number, pattern): (usize, &Pattern)| match tries.of(number) {
            Some(trie) => TrieCursor::whole(trie, pattern),
            None => TrieCursor::sought(&self.shared, pattern.clone()),
        };
        self.cursors = self.patterns.iter().enumerate().map(cursor).collect();
        for (pattern, _) in &self.depths[0] {
            match &self.range {
                Some(range) => self.cursors[*pattern].open_within(range)?,
                None => self.cursors[*pattern].open(0)?,
            }
        }
        Ok(())
    }

    fn step(&mut self) -> Result<(), ExecError> {
        self.steps += 1;
        if self.steps >= STEPS_UNCHECKED {
            self.steps = 0;
            self.shared.cx.cancel.check()?;
        }
        Ok(())
    }

    /// Goes forward to the next value that all patterns with this variable have. Those with many values are asked only for what those with
    /// few agree on.
    fn find(&mut self) -> Result<Option<ValueId>, ExecError> {
        let depth = self.depth;
        let (first, level) = self.depths[depth][0];
        let Some(mut value) = self.cursors[first].key(level) else { return Ok(None) };
        let mut next = 1;
        while let Some((pattern, level)) = self.depths[depth].get(next).copied() {
            self.step()?;
            let cursor = &mut self.cursors[pattern];
            cursor.seek(level, value)?;
            match cursor.key(level) {
                None => return Ok(None),
                Some(same) if same == value => next += 1,
                Some(later) => (value, next) = (later, 0),
            }
        }
        Ok(Some(value))
    }

    /// Takes a value of the present variable and goes on to the next one.
    fn descend(&mut self, value: ValueId) -> Result<(), ExecError> {
        self.bindings[self.depth] = value;
        self.depth += 1;
        for (pattern, level) in &self.depths[self.depth] {
            self.cursors[*pattern].open(*level)?;
        }
        let cursors = &self.cursors;
        self.depths[self.depth].sort_unstable_by_key(|(pattern, level)| cursors[*pattern].size(*level));
        self.step()
    }

    /// Goes back to the variable before and on to its next value; `false`: there is none before.
    fn ascend(&mut self) -> Result<bool, ExecError> {
        let Some(depth) = self.depth.checked_sub(1) else { return Ok(false) };
        self.depth = depth;
        let (pattern, level) = self.depths[depth][0];
        self.cursors[pattern].pass(level, 1)?;
        Ok(true)
    }

    /// Appends rows with the values of the last variable, until there are no more (`true`) or the batch is full.
    fn deliver(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        let Some(mut last) = out.columns.pop() else { return Ok(true) };
        let ended = self.last_values(&mut last);
        for (column, value) in out.columns.iter_mut().zip(&self.bindings) {
            column.resize(last.len(), *value);
        }
        out.rows = last.len();
        out.columns.push(last);
        ended
    }

    fn last_values(&mut self, out: &mut Vec<ValueId>) -> Result<bool, ExecError> {
        let rows_max = self.shared.cx.batch_rows;
        while out.len() < rows_max {
            self.step()?;
            let room = rows_max - out.len();
            match *self.depths[self.depth].as_slice() {
                [(pattern, level)] => {
                    let cursor = &mut self.cursors[pattern];
                    let window = cursor.window(level);
                    let values = window.len().min(room);
                    if values == 0 {
                        return Ok(true);
                    }
                    out.extend_from_slice(&window[..values]);
                    cursor.pass(level, values)?;
                }
                [(a, a_level), (b, b_level)] => {
                    let (left, right) = (self.cursors[a].window(a_level), self.cursors[b].window(b_level));
                    if left.is_empty() || right.is_empty() {
                        return Ok(true);
                    }
                    let (passed_left, passed_right) = intersect(left, right, room, out);
                    self.cursors[a].pass(a_level, passed_left)?;
                    self.cursors[b].pass(b_level, passed_right)?;
                }
                _ => {
                    let Some(value) = self.find()? else { return Ok(true) };
                    out.push(value);
                    let (pattern, level) = self.depths[self.depth][0];
                    self.cursors[pattern].pass(level, 1)?;
                }
            }
        }
        Ok(false)
    }

    /// Leaves values of the first variable out that nobody wants.
    fn skip(&mut self) -> Result<(), ExecError> {
        let Some(floor) = self.floor.take() else { return Ok(()) };
        if self.depth > 0 && self.bindings[0] >= floor {
            return Ok(());
        }
        self.depth = 0;
        let (pattern, level) = self.depths[0][0];
        self.cursors[pattern].seek(level, floor)
    }

    fn fill(&mut self, out: &mut Batch) -> Result<(), ExecError> {
        let last = self.depths.len() - 1;
        while !self.done && out.rows < self.shared.cx.batch_rows {
            let ended = if self.depth == last {
                self.deliver(out)?
            } else {
                match self.find()? {
                    Some(value) => {
                        self.descend(value)?;
                        false
                    }
                    None => true,
                }
            };
            if ended && !self.ascend()? {
                self.done = true;
            }
        }
        Ok(())
    }
}

/// Appends up to `room` values that two ascending lists have in common, and tells how many of each are done with: all of one, or up to
/// where the room ended.
fn intersect(left: &[ValueId], right: &[ValueId], room: usize, out: &mut Vec<ValueId>) -> (usize, usize) {
    let end = out.len() + room;
    let (mut l, mut r) = (0, 0);
    if left.len() / SEARCH_RATIO > right.len() || right.len() / SEARCH_RATIO > left.len() {
        while l < left.len() && r < right.len() && out.len() < end {
            r = gallop(r, right.len(), |at| right[at] < left[l]);
            let Some(value) = right.get(r) else { break };
            l = gallop(l, left.len(), |at| left[at] < *value);
            if left.get(l) == Some(value) {
                out.push(*value);
                (l, r) = (l + 1, r + 1);
            }
        }
    } else {
        while l < left.len() && r < right.len() && out.len() < end {
            // Which list goes on is anybody's guess, so no branch depends on it.
            let (a, b) = (left[l].to_bits(), right[r].to_bits());
            if a == b {
                out.push(left[l]);
            }
            l += usize::from(a <= b);
            r += usize::from(b <= a);
        }
    }
    (l, r)
}

impl Operator for MultiwayJoin {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        out.reset(&self.vars);
        self.shared.cx.cancel.check()?;
        if self.cursors.is_empty() {
            self.start()?;
        }
        if !self.done {
            self.skip()?;
        }
        let result = self.fill(out);
        self.cursors.iter_mut().for_each(|cursor| cursor.count(&self.counters));
        result?;
        Ok(out.rows > 0)
    }

    fn skip_to(&mut self, vars: &[VarId], key: &[ValueId]) -> Result<(), ExecError> {
        if vars.first() == self.vars.first() {
            self.floor = self.floor.max(key.first().copied());
        }
        Ok(())
    }
}
