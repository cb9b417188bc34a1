//! Operators, each with its inputs behind it.

use super::patterns::{In, Out};
use crate::carried;
use crate::error::FragmentError;
use crate::limits::{INPUTS_MAX, LEVELS_MAX};
use lode_sparql::plan::{JoinCondition, TriePattern};
use lode_sparql::{JoinKind, PlanNode, PlanOp, stack};
use std::sync::Arc;

const UNIT: u8 = 0;
const EMPTY: u8 = 1;
const VALUES: u8 = 2;
const INDEX_SCAN: u8 = 3;
const GRAPH_NAMES: u8 = 4;
const MERGE_JOIN: u8 = 5;
const HASH_JOIN: u8 = 6;
const LOOKUP_JOIN: u8 = 7;
const MULTIWAY_JOIN: u8 = 8;
const FILTER: u8 = 9;
const EXTEND: u8 = 10;
const UNION: u8 = 11;
const MERGE_UNION: u8 = 12;
const PROJECT: u8 = 13;
const DISTINCT: u8 = 14;
const REDUCED: u8 = 15;
const GROUP: u8 = 16;
const FRAGMENT: u8 = 17;

const KINDS: [JoinKind; 5] =
    [JoinKind::Inner, JoinKind::Left, JoinKind::Semi, JoinKind::Anti, JoinKind::Minus];

impl Out<'_> {
    pub(super) fn node(&mut self, node: &PlanNode) -> Result<(), FragmentError> {
        if let Some(reason) = carried::operator(&node.op) {
            return Err(FragmentError::Stays(reason));
        }
        self.vars(&node.vars);
        self.vars(&node.certain);
        self.vars(&node.sorted_by);
        self.to.estimate(node.rows);
        self.to.estimate(node.cost);
        self.op(&node.op)?;
        node.children().into_iter().try_for_each(|child| stack::room(|| self.node(child)))
    }

    fn op(&mut self, op: &PlanOp) -> Result<(), FragmentError> {
        match op {
            PlanOp::Unit => self.to.byte(UNIT),
            PlanOp::Empty => self.to.byte(EMPTY),
            PlanOp::Values(rows) => {
                self.to.byte(VALUES);
                self.to.count(rows.len());
                for term in rows.iter().flatten() {
                    let place = match term {
                        Some(term) => self.terms.term(term)? + 1,
                        None => 0,
                    };
                    self.to.number(place);
                }
            }
            PlanOp::IndexScan(pattern) => {
                self.to.byte(INDEX_SCAN);
                self.pattern(pattern)?;
            }
            PlanOp::GraphNames { slot, among } => {
                self.to.byte(GRAPH_NAMES);
                self.slot(*slot)?;
                self.option(among.as_ref(), Out::named_graphs)?;
            }
            PlanOp::MergeJoin { kind, condition, .. } => self.join(MERGE_JOIN, *kind, condition)?,
            PlanOp::HashJoin { kind, condition, .. } => self.join(HASH_JOIN, *kind, condition)?,
            PlanOp::LookupJoin { pattern, kind, condition, .. } => {
                self.join(LOOKUP_JOIN, *kind, condition)?;
                self.pattern(pattern)?;
            }
            PlanOp::MultiwayJoin(tries) => {
                self.to.byte(MULTIWAY_JOIN);
                self.to.count(tries.len());
                for TriePattern { pattern, whole } in tries {
                    self.pattern(pattern)?;
                    self.to.flag(*whole);
                }
            }
            PlanOp::Filter { exprs, .. } => {
                self.to.byte(FILTER);
                self.exprs(exprs)?;
            }
            PlanOp::Extend { var, expr, .. } => {
                self.to.byte(EXTEND);
                self.var(*var);
                self.expr(expr)?;
            }
            PlanOp::Union(inputs) | PlanOp::MergeUnion(inputs) => {
                self.to.byte(if matches!(op, PlanOp::Union(_)) { UNION } else { MERGE_UNION });
                self.to.count(inputs.len());
            }
            PlanOp::Project(_) => self.to.byte(PROJECT),
            PlanOp::Distinct(_) => self.to.byte(DISTINCT),
            PlanOp::Reduced(_) => self.to.byte(REDUCED),
            PlanOp::Group { keys, aggregates, sorted, .. } => {
                self.to.byte(GROUP);
                self.vars(keys);
                self.to.flag(*sorted);
                self.to.count(aggregates.len());
                aggregates.iter().try_for_each(|aggregate| self.aggregate(aggregate))?;
            }
            PlanOp::Fragment { number } => {
                self.to.byte(FRAGMENT);
                self.to.number((*number).into());
            }
            other => return Err(FragmentError::Stays(other.name())),
        }
        Ok(())
    }

    fn join(&mut self, tag: u8, kind: JoinKind, condition: &JoinCondition) -> Result<(), FragmentError> {
        self.to.byte(tag);
        self.to.count(KINDS.iter().position(|other| *other == kind).unwrap_or_default());
        self.vars(&condition.on);
        self.vars(&condition.maybe);
        self.option(condition.filter.as_ref(), Out::expr)
    }
}

impl In<'_> {
    /// An operator below so many levels, with its inputs.
    pub(super) fn node(&mut self, above: usize) -> Result<PlanNode, FragmentError> {
        if above >= LEVELS_MAX {
            return Err(FragmentError::TooLarge("it has too many levels"));
        }
        self.from.part()?;
        let (vars, certain, sorted_by) = (self.vars()?, self.vars()?, self.vars()?);
        let (rows, cost) = (self.from.estimate()?, self.from.estimate()?);
        let columns = vars.len();
        let op = stack::room(|| self.op(columns, above + 1))?;
        Ok(PlanNode { id: 0, op, vars, certain, sorted_by, rows, cost })
    }

    fn input(&mut self, level: usize) -> Result<Arc<PlanNode>, FragmentError> {
        self.node(level).map(Arc::new)
    }

    fn op(&mut self, columns: usize, level: usize) -> Result<PlanOp, FragmentError> {
        let tag = self.from.byte()?;
        Ok(match tag {
            UNIT => PlanOp::Unit,
            EMPTY => PlanOp::Empty,
            VALUES => self.values(columns)?,
            INDEX_SCAN => PlanOp::IndexScan(self.pattern()?),
            GRAPH_NAMES => PlanOp::GraphNames { slot: self.slot()?, among: self.option(Self::named_graphs)? },
            MERGE_JOIN | HASH_JOIN => {
                let (kind, condition) = self.join()?;
                let (left, right) = (self.input(level)?, self.input(level)?);
                match tag {
                    MERGE_JOIN => PlanOp::MergeJoin { left, right, kind, condition },
                    _ => PlanOp::HashJoin { left, right, kind, condition },
                }
            }
            LOOKUP_JOIN => {
                let (kind, condition) = self.join()?;
                let pattern = self.pattern()?;
                PlanOp::LookupJoin { input: self.input(level)?, pattern, kind, condition }
            }
            MULTIWAY_JOIN => PlanOp::MultiwayJoin(
                self.list(|read| Ok(TriePattern { pattern: read.pattern()?, whole: read.from.flag()? }))?,
            ),
            FILTER => {
                let exprs = self.exprs(0)?;
                PlanOp::Filter { input: self.input(level)?, exprs }
            }
            EXTEND => {
                let (var, expr) = (self.var()?, self.expr(0)?);
                PlanOp::Extend { input: self.input(level)?, var, expr }
            }
            UNION => PlanOp::Union(self.list(|read| read.node(level))?),
            MERGE_UNION => PlanOp::MergeUnion(self.list(|read| read.node(level))?),
            PROJECT => PlanOp::Project(self.input(level)?),
            DISTINCT => PlanOp::Distinct(self.input(level)?),
            REDUCED => PlanOp::Reduced(self.input(level)?),
            GROUP => {
                let (keys, sorted) = (self.vars()?, self.from.flag()?);
                let aggregates = self.list(Self::aggregate)?;
                PlanOp::Group { input: self.input(level)?, keys, aggregates, sorted }
            }
            FRAGMENT => {
                let number = self.from.small()?;
                if number != self.inputs || number >= INPUTS_MAX {
                    return Err(FragmentError::Damaged(
                        "inputs that are not one after the other, or too many",
                    ));
                }
                self.inputs += 1;
                PlanOp::Fragment { number }
            }
            _ => return Err(FragmentError::Damaged("an operator that is none, or stays at the head")),
        })
    }

    fn values(&mut self, columns: usize) -> Result<PlanOp, FragmentError> {
        let count = self.from.count(columns + 1)?;
        let mut rows = Vec::new();
        for _ in 0..count {
            let mut row = Vec::new();
            for _ in 0..columns {
                row.push(match self.from.number()?.checked_sub(1) {
                    Some(place) => Some(self.terms.term(place)?),
                    None => None,
                });
            }
            rows.push(row);
        }
        Ok(PlanOp::Values(rows))
    }

    fn join(&mut self) -> Result<(JoinKind, JoinCondition), FragmentError> {
        let kind = KINDS.get(self.from.size()?).ok_or(FragmentError::Damaged("a join that is none"))?;
        let (on, maybe) = (self.vars()?, self.vars()?);
        let filter = self.option(|read| read.expr(0))?;
        Ok((*kind, JoinCondition { on, maybe, filter }))
    }
}
