//! From candidate pairs of rows to joined rows: the join's filter, what its kind makes of matches and of their lack, and the columns.
//!
//! All joins produce candidates in the order of their left rows and hand them here, so OPTIONAL, EXISTS and MINUS are decided in one place.

use crate::context::QueryContext;
use lode_eval::batch::{Batch, NO_ROW, gather, position, position_near};
use lode_eval::error::ExecError;
use lode_eval::expr;
use lode_rdf::ValueId;
use lode_sparql::plan::JoinCondition;
use lode_sparql::{Expr, JoinKind, VarId};
use std::sync::Arc;

/// Pairs of a left and a right row number.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    pub(crate) left: Vec<u32>,
    pub(crate) right: Vec<u32>,
}

impl Pairs {
    pub(crate) fn clear(&mut self) {
        self.left.clear();
        self.right.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.left.len()
    }

    pub(crate) fn push(&mut self, left: u32, right: u32) {
        self.left.push(left);
        self.right.push(right);
    }

    fn retain(&mut self, selection: &[u32]) {
        for list in [&mut self.left, &mut self.right] {
            for (to, from) in selection.iter().enumerate() {
                list[to] = list[*from as usize];
            }
            list.truncate(selection.len());
        }
    }
}

/// Where an output column comes from.
#[derive(Debug, Clone, Copy)]
enum Source {
    Left(usize),
    Right(usize),
    Either(usize, usize),
    Unbound,
}

/// Builds the output rows of a join.
#[derive(Debug)]
pub(crate) struct JoinOutput {
    kind: JoinKind,
    filter: Option<Expr>,
    vars: Arc<[VarId]>,
    sources: Vec<Source>,
    /// Of all columns of both sides, where there is a filter, which may look at any.
    joined_sources: Vec<Source>,
    joined: Batch,
    next: u32,
    matched: bool,
    settled: Pairs,
}

impl JoinOutput {
    /// For inputs with these columns. A variable of both sides is taken from the left; one in `condition.maybe` from whichever binds it.
    pub(crate) fn new(
        kind: JoinKind,
        condition: &JoinCondition,
        left: &[VarId],
        right: &[VarId],
        vars: &Arc<[VarId]>,
    ) -> Self {
        let joined_source = |(at, var): (usize, &VarId)| {
            let in_right = || position(right, *var);
            match position_near(left, *var, at) {
                Some(l) if condition.maybe.contains(var) => {
                    in_right().map_or(Source::Left(l), |r| Source::Either(l, r))
                }
                Some(l) => Source::Left(l),
                None => in_right().map_or(Source::Unbound, Source::Right),
            }
        };
        // Only what a join adds to its left rows can come from the right.
        let adds = matches!(kind, JoinKind::Inner | JoinKind::Left);
        let source = |(at, var): (usize, &VarId)| match position_near(left, *var, at) {
            Some(l) if !adds => Source::Left(l),
            None if !adds => Source::Unbound,
            _ => joined_source((at, var)),
        };
        let mut all = Vec::new();
        if condition.filter.is_some() {
            all.extend_from_slice(left);
            all.extend(right.iter().filter(|var| !left.contains(var)));
        }
        Self {
            kind,
            filter: condition.filter.clone(),
            vars: Arc::clone(vars),
            sources: vars.iter().enumerate().map(source).collect(),
            joined_sources: all.iter().enumerate().map(joined_source).collect(),
            joined: Batch::new(all.into()),
            next: 0,
            matched: false,
            settled: Pairs::default(),
        }
    }

    /// Whether one match per left row tells all.
    pub(crate) fn first_match_suffices(&self) -> bool {
        self.filter.is_none() && matches!(self.kind, JoinKind::Semi | JoinKind::Anti | JoinKind::Minus)
    }

    /// Whether left rows without a match are left out.
    pub(crate) fn drops_unmatched(&self) -> bool {
        matches!(self.kind, JoinKind::Inner | JoinKind::Semi)
    }

    /// Empties `out` and gives it the join's columns.
    pub(crate) fn reset(&self, out: &mut Batch) {
        out.reset(&self.vars);
    }

    /// A new batch of left rows begins.
    pub(crate) fn begin(&mut self) {
        self.next = 0;
        self.matched = false;
    }

    /// Drops the candidates that fail the join's filter.
    pub(crate) fn filter(
        &mut self,
        cx: &QueryContext,
        left: &Batch,
        right: &Batch,
        pairs: &mut Pairs,
    ) -> Result<(), ExecError> {
        let Some(filter) = &self.filter else { return Ok(()) };
        if pairs.len() == 0 {
            return Ok(());
        }
        self.joined.clear();
        fill(&self.joined_sources, left, right, pairs, &mut self.joined);
        let selection = expr::select(cx, filter, &self.joined)?;
        pairs.retain(&selection);
        Ok(())
    }

    /// Decides what becomes of left rows: `pairs` are matches that passed the filter, in the order of left rows; all rows before
    /// `complete` have no further candidates. Appends output rows.
    pub(crate) fn settle(
        &mut self,
        left: &Batch,
        right: &Batch,
        pairs: &mut Pairs,
        complete: u32,
        out: &mut Batch,
    ) {
        if self.kind != JoinKind::Inner {
            self.settle_rows(pairs, complete);
            std::mem::swap(pairs, &mut self.settled);
        }
        self.emit(left, right, pairs, out);
    }

    /// Appends the joined rows of `pairs` ([`NO_ROW`] on the right: unbound) whatever the kind.
    pub(crate) fn emit(&mut self, left: &Batch, right: &Batch, pairs: &Pairs, out: &mut Batch) {
        fill(&self.sources, left, right, pairs, out);
    }

    fn settle_rows(&mut self, pairs: &Pairs, complete: u32) {
        self.settled.clear();
        let mut i = 0;
        loop {
            while i < pairs.len() && pairs.left[i] == self.next {
                let first = !std::mem::replace(&mut self.matched, true);
                if self.kind == JoinKind::Left || (self.kind == JoinKind::Semi && first) {
                    self.settled.push(self.next, pairs.right[i]);
                }
                i += 1;
            }
            if self.next >= complete {
                return;
            }
            if !self.matched && self.kind != JoinKind::Semi {
                self.settled.push(self.next, NO_ROW);
            }
            self.next += 1;
            self.matched = false;
        }
    }
}

fn fill(sources: &[Source], left: &Batch, right: &Batch, pairs: &Pairs, out: &mut Batch) {
    for (source, to) in sources.iter().zip(&mut out.columns) {
        match *source {
            Source::Left(l) => gather(&left.columns[l], &pairs.left, to),
            Source::Right(r) => gather(&right.columns[r], &pairs.right, to),
            Source::Either(l, r) => {
                let (left, right) = (&left.columns[l], &right.columns[r]);
                to.extend(pairs.left.iter().zip(&pairs.right).map(|(l, r)| {
                    let value = left[*l as usize];
                    if value.is_undef() {
                        right.get(*r as usize).copied().unwrap_or(ValueId::UNDEF)
                    } else {
                        value
                    }
                }));
            }
            Source::Unbound => to.resize(out.rows + pairs.len(), ValueId::UNDEF),
        }
    }
    out.rows += pairs.len();
}

/// Whether two values are compatible: equal, or one unbound.
pub(crate) fn compatible(a: ValueId, b: ValueId) -> bool {
    a == b || a.is_undef() || b.is_undef()
}
