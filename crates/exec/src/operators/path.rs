//! Property paths that need a search: alone, or from the values of an input; in one graph, or in each graph with its name as a column.

use super::path_search::{Reached, Search, number};
use super::path_starts::Starts;
use super::{BoxOp, Operator};
use crate::context::QueryContext;
use crate::key_filter::KeyFilter;
use crate::profile::NodeCounters;
use crate::reservation::cover;
use crate::shared::Shared;
use lode_base::cancel::CancelToken;
use lode_base::memory_budget::Reservation;
use lode_eval::batch::{Batch, NO_ROW, gather, position};
use lode_eval::error::ExecError;
use lode_rdf::ValueId;
use lode_scheduler::steps::steps;
use lode_sparql::plan::{Path, TermSlot};
use lode_sparql::{GraphScope, Slot, VarId};
use std::ops::Range;
use std::sync::Arc;

/// Starts searched from at once, at first.
const STARTS_FIRST: usize = 64;
/// So many result rows of a search are enough to make up for what it takes to begin one.
const ROWS_ENOUGH: usize = 1 << 16;

/// Bytes of a result row: the left row's number and both ends.
const ROW_BYTES: usize = size_of::<u32>() + 2 * size_of::<ValueId>();

/// An end of the path.
#[derive(Debug, Clone, Copy)]
enum End {
    Const(ValueId),
    Left(usize),
    Free,
}

/// What is known of the ends for a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    Subject,
    Object,
    Both,
    Neither,
}

/// Result rows: the number of the left row, and the ends as nodes of the search.
#[derive(Debug)]
struct Found {
    rows: Vec<u32>,
    subjects: Vec<ValueId>,
    objects: Vec<ValueId>,
    delivered: usize,
    reservation: Reservation,
}

impl Found {
    fn new(cx: &QueryContext) -> Result<Self, ExecError> {
        let reservation = cx.budget.reserve(0)?;
        Ok(Self { rows: Vec::new(), subjects: Vec::new(), objects: Vec::new(), delivered: 0, reservation })
    }

    fn clear(&mut self) -> Result<(), ExecError> {
        if self.reservation.bytes() > 0 {
            // They may have been many; the next ones need not be.
            (self.rows, self.subjects, self.objects) = (Vec::new(), Vec::new(), Vec::new());
            self.reservation.resize(0)?;
        }
        self.rows.clear();
        self.subjects.clear();
        self.objects.clear();
        self.delivered = 0;
        Ok(())
    }

    /// Adds `count` rows in steps between which the query can stop, once there is memory for them.
    fn extend(
        &mut self,
        row: u32,
        count: usize,
        cancel: &CancelToken,
        ends: impl Fn(usize) -> (ValueId, ValueId),
    ) -> Result<(), ExecError> {
        self.make_room(count)?;
        // Growing step by step, what there is would be copied each time, and nobody could stop that.
        self.rows.reserve(count);
        self.subjects.reserve(count);
        self.objects.reserve(count);
        for step in steps(count, cancel) {
            for at in step? {
                let (subject, object) = ends(at);
                self.push(row, subject, object);
            }
        }
        Ok(())
    }

    /// Sees to memory for `count` more rows.
    fn make_room(&mut self, count: usize) -> Result<(), ExecError> {
        Ok(cover(&mut self.reservation, (self.rows.len() + count) * ROW_BYTES)?)
    }

    fn push(&mut self, row: u32, subject: ValueId, object: ValueId) {
        self.rows.push(row);
        self.subjects.push(subject);
        self.objects.push(object);
    }
}

/// The operator.
pub(crate) struct PathOp {
    cx: Arc<QueryContext>,
    search: Search,
    path: Path,
    nullable: bool,
    input: Option<BoxOp>,
    subject: End,
    object: End,
    /// The search is in each graph: where its name comes from.
    graph: Option<End>,
    same_variable: bool,
    /// By output column.
    sources: Vec<Source>,
    vars: Arc<[VarId]>,
    left: Batch,
    row: usize,
    starts_max: usize,
    /// More needed more memory than there was.
    starts_limit: usize,
    found: Found,
    /// All nodes to start from where no end is known, and how many the current left row has done with.
    all_starts: Option<(Starts, usize)>,
}

#[derive(Debug, Clone, Copy)]
enum Source {
    Subject,
    Object,
    Graph,
    Left(usize),
    Unbound,
}

impl PathOp {
    /// Joins `input` (without: one row without columns) with the path between `ends` in a graph.
    pub(crate) fn new(
        shared: &Arc<Shared>,
        counters: &Arc<NodeCounters>,
        input: Option<(BoxOp, &[VarId])>,
        (ends, path, graph): ((&TermSlot, &TermSlot), &Path, &GraphScope),
        vars: &Arc<[VarId]>,
    ) -> Result<Self, ExecError> {
        let cx = &shared.cx;
        let (input, left_vars) = match input {
            Some((input, vars)) => (Some(input), vars),
            None => (None, &[] as &[VarId]),
        };
        let end = |slot: &TermSlot| -> Result<End, ExecError> {
            Ok(match slot {
                TermSlot::Const(term) => End::Const(cx.intern(term)?),
                TermSlot::Var(var) => position(left_vars, *var).map_or(End::Free, End::Left),
            })
        };
        let graph_var = match graph {
            GraphScope::Named { slot: Slot::Var(var), .. } => Some(*var),
            _ => None,
        };
        let is = |slot: &TermSlot, var: &VarId| matches!(slot, TermSlot::Var(v) if v == var);
        let source = |var: &VarId| {
            if is(ends.0, var) {
                Source::Subject
            } else if is(ends.1, var) {
                Source::Object
            } else {
                let own = if graph_var == Some(*var) { Source::Graph } else { Source::Unbound };
                position(left_vars, *var).map_or(own, Source::Left)
            }
        };
        // Without input there is one row to join with.
        let mut left = Batch::new(left_vars.into());
        left.rows = usize::from(input.is_none());
        Ok(Self {
            cx: Arc::clone(cx),
            search: Search::new(cx, counters, graph, shared.single_graph)?,
            path: path.clone(),
            nullable: path.is_nullable(),
            input,
            subject: end(ends.0)?,
            object: end(ends.1)?,
            graph: graph_var.map(|var| position(left_vars, var).map_or(End::Free, End::Left)),
            same_variable: matches!(ends, (TermSlot::Var(a), TermSlot::Var(b)) if a == b),
            sources: vars.iter().map(source).collect(),
            vars: Arc::clone(vars),
            left,
            row: 0,
            starts_max: STARTS_FIRST,
            starts_limit: cx.batch_rows.max(1),
            found: Found::new(cx)?,
            all_starts: None,
        })
    }

    fn value(&self, end: End, row: usize) -> Option<ValueId> {
        match end {
            End::Const(id) => Some(id),
            End::Left(column) => Some(self.left.columns[column][row]).filter(|id| !id.is_undef()),
            End::Free => None,
        }
    }

    /// The node at an end.
    fn node(&mut self, end: End, row: usize) -> Result<ValueId, ExecError> {
        match (self.value(end, row), self.graph) {
            (None, _) => Ok(ValueId::UNDEF),
            (Some(term), Some(End::Left(column))) => self.search.node(self.left.columns[column][row], term),
            (Some(term), _) => Ok(term),
        }
    }

    fn known(&self, row: usize) -> Known {
        if matches!(self.graph, Some(End::Free)) {
            return Known::Neither;
        }
        match (self.value(self.subject, row), self.value(self.object, row)) {
            (Some(_), Some(_)) => Known::Both,
            (Some(_), None) => Known::Subject,
            (None, Some(_)) => Known::Object,
            (None, None) => Known::Neither,
        }
    }

    /// Searches for the next left rows.
    fn advance(&mut self) -> Result<(), ExecError> {
        self.found.clear()?;
        self.search.forget_nodes();
        let known = self.known(self.row);
        if known == Known::Neither {
            return self.advance_from_all();
        }
        let end = (self.row..self.left.rows.min(self.row + self.starts_max))
            .find(|row| self.known(*row) != known)
            .unwrap_or(self.left.rows.min(self.row + self.starts_max));
        let rows = self.row..end;
        let result = match known {
            Known::Both => self.connect(rows.clone()),
            _ => self.follow(rows.clone(), known == Known::Object),
        };
        match result {
            Err(ExecError::OutOfMemory(_)) if rows.len() > 1 => self.search_from_fewer(rows.len() / 2),
            Ok(()) => {
                self.row = end;
                self.search_from_more();
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Fewer starts need less memory.
    fn search_from_fewer(&mut self, starts: usize) -> Result<(), ExecError> {
        (self.starts_max, self.starts_limit) = (starts, starts);
        self.found.clear()
    }

    fn search_from_more(&mut self) {
        if self.found.rows.len() < ROWS_ENOUGH {
            self.starts_max = (self.starts_max * 2).min(self.starts_limit);
        }
    }

    /// Rows of which one end is known.
    fn follow(&mut self, rows: Range<usize>, backward: bool) -> Result<(), ExecError> {
        let near = if backward { self.object } else { self.subject };
        let nodes: Result<Vec<_>, _> = rows.clone().map(|row| self.node(near, row)).collect();
        let (starts, places) = number(nodes?.into_iter());
        let starts = self.existing_starts(starts, near)?;
        let reached = self.search.reach(&self.path, backward, &starts)?;
        for (row, place) in rows.zip(places) {
            if starts[place].is_undef() {
                continue;
            }
            let (near, ends) = (starts[place], ends_of(&reached, place));
            let end = |at: usize| if backward { (ends[at].1, near) } else { (near, ends[at].1) };
            self.found.extend(row_number(row), ends.len(), &self.cx.cancel, end)?;
        }
        Ok(())
    }

    /// Rows of which both ends are known.
    fn connect(&mut self, rows: Range<usize>) -> Result<(), ExecError> {
        let (subject, object) = (self.subject, self.object);
        let ends: Result<Vec<_>, ExecError> =
            rows.clone().map(|row| Ok((self.node(subject, row)?, self.node(object, row)?))).collect();
        let (pairs, places) = number(ends?.into_iter());
        // A term of the input matches itself by a path of no length only if it is in the graph, or is the path's other end.
        let constant = matches!(self.subject, End::Const(_)) || matches!(self.object, End::Const(_));
        let starts: Vec<ValueId> = pairs.iter().map(|(subject, _)| *subject).collect();
        let anchor = if constant { End::Const(ValueId::UNDEF) } else { self.subject };
        let starts = self.existing_starts(starts, anchor)?;
        let searched: Vec<_> = starts.iter().zip(&pairs).map(|(start, (_, end))| (*start, *end)).collect();
        let counts = self.search.count(&self.path, &searched)?;
        for (row, place) in rows.zip(places) {
            let count = usize::try_from(counts[place]).unwrap_or(usize::MAX);
            self.found.extend(row_number(row), count, &self.cx.cancel, |_| pairs[place])?;
        }
        Ok(())
    }

    /// Replaces starts that cannot match themselves, since they are not in the graph, by the unbound id, from which nothing leads.
    fn existing_starts(&mut self, starts: Vec<ValueId>, end: End) -> Result<Vec<ValueId>, ExecError> {
        if !self.nullable || matches!(end, End::Const(_)) {
            return Ok(starts);
        }
        let mut sorted = starts.clone();
        sorted.sort_unstable();
        let existing = self.search.existing(&sorted)?;
        // An input's value equal to the constant at the other end does match it.
        let constant = match (self.subject, self.object) {
            (End::Const(id), _) | (_, End::Const(id)) => Some(id),
            _ => None,
        };
        let keep = |id: ValueId| existing.contains(&id) || Some(self.search.term(id)) == constant;
        Ok(starts.into_iter().map(|id| if keep(id) { id } else { ValueId::UNDEF }).collect())
    }

    /// The current left row knows neither end: the next of all starts are searched from.
    fn advance_from_all(&mut self) -> Result<(), ExecError> {
        // A constant is known also where the graph is not.
        let (near, far, backward) = match (self.subject, self.object) {
            (End::Const(near), End::Const(far)) => (Some(near), Some(far), false),
            (End::Const(near), _) => (Some(near), None, false),
            (_, End::Const(near)) => (Some(near), None, true),
            _ => (None, None, false),
        };
        let (starts, done) = match self.all_starts.take() {
            Some(state) => state,
            None => (self.search.starts(&self.path, backward, near)?, 0),
        };
        let end = starts.len().min(done + self.starts_max);
        let part = done..end;
        match self.reach_all(&starts, part.clone(), backward, far) {
            Ok(()) => {
                self.search_from_more();
                let finished = end == starts.len();
                self.row += usize::from(finished);
                self.all_starts = Some((starts, if finished { 0 } else { end }));
                Ok(())
            }
            Err(ExecError::OutOfMemory(_)) if part.len() > 1 => {
                let fewer = part.len() / 2;
                self.all_starts = Some((starts, done));
                self.search_from_fewer(fewer)
            }
            Err(error) => Err(error),
        }
    }

    /// All ends of the path from these starts, or those that are this term.
    fn reach_all(
        &mut self,
        starts: &Starts,
        part: Range<usize>,
        backward: bool,
        far_term: Option<ValueId>,
    ) -> Result<(), ExecError> {
        let starts = self.search.nodes(starts, part)?;
        let reached = self.search.reach(&self.path, backward, &starts)?;
        let row = row_number(self.row);
        let ends = |at: usize| {
            let (near, far) = (starts[reached[at].0 as usize], reached[at].1);
            if backward { (far, near) } else { (near, far) }
        };
        if !self.same_variable && far_term.is_none() {
            return self.found.extend(row, reached.len(), &self.cx.cancel, ends);
        }
        let fits = |at: &usize| {
            let (subject, object) = ends(*at);
            (!self.same_variable || subject == object)
                && far_term.is_none_or(|term| self.search.term(reached[*at].1) == term)
        };
        for step in steps(reached.len(), &self.cx.cancel) {
            let step = step?;
            self.found.make_room(step.len())?;
            for at in step.filter(fits) {
                let (subject, object) = ends(at);
                self.found.push(row, subject, object);
            }
        }
        Ok(())
    }

    fn deliver(&mut self, out: &mut Batch) {
        let (found, search) = (&mut self.found, &self.search);
        let terms = |nodes: &[ValueId], column: &mut Vec<ValueId>| {
            column.extend(nodes.iter().map(|node| search.term(*node)));
        };
        let end = found.rows.len().min(found.delivered + self.cx.batch_rows);
        let range = found.delivered..end;
        for (source, column) in self.sources.iter().zip(&mut out.columns) {
            match source {
                Source::Subject => terms(&found.subjects[range.clone()], column),
                Source::Object => terms(&found.objects[range.clone()], column),
                Source::Graph => {
                    column.extend(found.subjects[range.clone()].iter().map(|node| search.graph_of(*node)));
                }
                Source::Left(left) => gather(&self.left.columns[*left], &found.rows[range.clone()], column),
                Source::Unbound => column.resize(range.len(), ValueId::UNDEF),
            }
        }
        out.rows = range.len();
        found.delivered = end;
    }
}

/// The part of `reached`, sorted by start, that belongs to a start.
fn ends_of(reached: &[Reached], start: usize) -> &[Reached] {
    let first = reached.partition_point(|(s, _)| (*s as usize) < start);
    let count = reached[first..].partition_point(|(s, _)| *s as usize == start);
    &reached[first..first + count]
}

fn row_number(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(NO_ROW)
}

impl Operator for PathOp {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        out.reset(&self.vars);
        loop {
            if self.found.delivered < self.found.rows.len() {
                self.deliver(out);
                return Ok(true);
            }
            self.cx.cancel.check()?;
            if self.row < self.left.rows {
                self.advance()?;
                continue;
            }
            let Some(input) = &mut self.input else { return Ok(false) };
            self.found.clear()?;
            self.row = 0;
            if !input.next(&mut self.left)? {
                self.left.clear();
                return Ok(false);
            }
        }
    }

    fn skip_to(&mut self, vars: &[VarId], key: &[ValueId]) -> Result<(), ExecError> {
        match &mut self.input {
            Some(input) => input.skip_to(vars, key),
            None => Ok(()),
        }
    }

    fn keep_keys(&mut self, var: VarId, filter: &Arc<KeyFilter>) {
        if let Some(input) = &mut self.input {
            input.keep_keys(var, filter);
        }
    }
}
