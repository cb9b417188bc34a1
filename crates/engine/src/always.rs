//! What a plan and the indexes prove of a column, before its rows are known: that all of its values are terms of one kind.

use crate::EngineError;
use lode_packed::Order;
use lode_rdf::value_id::PAYLOAD_MAX;
use lode_rdf::{Kind, Term, ValueId};
use lode_sparql::expr::{Aggregate, Expr};
use lode_sparql::plan::{GraphScope, JoinKind, PlanNode, PlanOp, ScanPattern, Slot, VarId};
use lode_sparql::{Plan, stack};
use lode_store::Snapshot;

/// Whether it is certain that all values of a column of the plan's rows are terms of this kind (IRIs that the query has made have other ids).
/// What is unbound is of no kind.
pub(crate) fn are_always(
    plan: &Plan,
    snapshot: &Snapshot,
    column: usize,
    kind: Kind,
) -> Result<bool, EngineError> {
    let Some(var) = plan.root.vars.get(column) else { return Ok(false) };
    let proof = Proof { snapshot, kind };
    stack::deep(plan.depth, || proof.of_node(&plan.root, *var))
}

struct Proof<'a> {
    snapshot: &'a Snapshot,
    kind: Kind,
}

impl Proof<'_> {
    /// Whether what a node says of a variable proves it. A node without the variable proves it: it gives it no value.
    fn of_node(&self, node: &PlanNode, var: VarId) -> Result<bool, EngineError> {
        if !node.vars.contains(&var) {
            return Ok(true);
        }
        match &node.op {
            PlanOp::Unit | PlanOp::Empty => Ok(true),
            PlanOp::Values(rows) => Ok(self.of_values(node, var, rows)),
            PlanOp::IndexScan(pattern) => self.of_scan(pattern, var),
            PlanOp::MergeJoin { left, right, kind, .. } | PlanOp::HashJoin { left, right, kind, .. } => {
                self.of_join(&[left, right], *kind, var)
            }
            PlanOp::LookupJoin { input, pattern, kind, .. } => {
                let right = |var| self.of_scan(pattern, var);
                match kind {
                    JoinKind::Inner if !is_in(pattern, var) => self.of_node(input, var),
                    // A row of both has the value of both.
                    JoinKind::Inner if !input.vars.contains(&var) => right(var),
                    JoinKind::Inner => Ok(right(var)? || self.of_node(input, var)?),
                    JoinKind::Left => Ok(self.of_node(input, var)? && (!is_in(pattern, var) || right(var)?)),
                    JoinKind::Semi | JoinKind::Anti | JoinKind::Minus => self.of_node(input, var),
                }
            }
            PlanOp::MultiwayJoin(patterns) => {
                let mut with = patterns.iter().filter(|trie| is_in(&trie.pattern, var));
                with.try_fold(false, |proven, trie| Ok(proven || self.of_scan(&trie.pattern, var)?))
            }
            PlanOp::Extend { input, var: made, expr } if *made == var => self.of_expr(input, expr),
            PlanOp::Group { input, keys, aggregates, .. } => match keys.contains(&var) {
                true => self.of_node(input, var),
                false => self.of_aggregates(aggregates, var),
            },
            PlanOp::Union(inputs) | PlanOp::MergeUnion(inputs) => {
                inputs.iter().try_fold(true, |proven, input| Ok(proven && self.of_node(input, var)?))
            }
            PlanOp::Filter { input, .. }
            | PlanOp::Extend { input, .. }
            | PlanOp::Project(input)
            | PlanOp::Distinct(input)
            | PlanOp::Reduced(input)
            | PlanOp::Sort { input, .. }
            | PlanOp::Slice { input, .. }
            | PlanOp::LimitBy { input, .. } => self.of_node(input, var),
            // Nothing is said of what comes from elsewhere, or from plans that are made later.
            _ => Ok(false),
        }
    }

    /// Values come from both sides; where a side may leave the variable unbound, the other one's are taken.
    fn of_join(
        &self,
        [left, right]: &[&PlanNode; 2],
        kind: JoinKind,
        var: VarId,
    ) -> Result<bool, EngineError> {
        match kind {
            JoinKind::Semi | JoinKind::Anti | JoinKind::Minus => self.of_node(left, var),
            JoinKind::Left => Ok(self.of_node(left, var)? && self.of_node(right, var)?),
            JoinKind::Inner => {
                // Where both bind it in each row, their values are the same.
                let certain = |node: &PlanNode| node.certain.contains(&var);
                if certain(left) && certain(right) {
                    return Ok(self.of_node(left, var)? || self.of_node(right, var)?);
                }
                Ok(self.of_node(left, var)? && self.of_node(right, var)?)
            }
        }
    }

    fn of_values(&self, node: &PlanNode, var: VarId, rows: &[Vec<Option<Term>>]) -> bool {
        let Some(at) = node.vars.iter().position(|other| *other == var) else { return true };
        rows.iter().filter_map(|row| row.get(at)?.as_ref()).all(|term| self.is_of(term))
    }

    /// Whether the term is of this kind, as far as that is told without its id.
    fn is_of(&self, term: &Term) -> bool {
        matches!((term, self.kind), (Term::NamedNode(_), Kind::Iri))
    }

    fn of_scan(&self, pattern: &ScanPattern, var: VarId) -> Result<bool, EngineError> {
        let is_here = |slot: &Slot| *slot == Slot::Var(var);
        if is_here(&pattern.predicate) {
            return Ok(self.kind == Kind::Iri);
        }
        if is_here(&pattern.subject) && self.are_all(Order::Spog, &[])? {
            return Ok(true);
        }
        if is_here(&pattern.object) {
            return match pattern.predicate {
                Slot::Const(predicate) => self.are_all(Order::Posg, &[predicate]),
                Slot::Var(_) | Slot::Any => self.are_all(Order::Ospg, &[]),
            };
        }
        let GraphScope::Named { slot: Slot::Var(graph), .. } = &pattern.graph else { return Ok(false) };
        Ok(*graph == var && self.are_all(Order::Gspo, &[])?)
    }

    /// Whether all quads under the prefix of an order have an id of the kind in the next column; quads of all graphs, so that none is left out.
    fn are_all(&self, order: Order, prefix: &[ValueId]) -> Result<bool, EngineError> {
        let first = ValueId::new(self.kind, 0);
        let last = ValueId::new(self.kind, PAYLOAD_MAX);
        let Some(end) = last.to_bits().checked_add(1) else { return Ok(false) };
        let of_kind = self.snapshot.count_between(order, prefix, &(first..ValueId::from_bits(end)))?;
        let all = self.snapshot.count(order, prefix)?;
        Ok(of_kind == all)
    }

    fn of_aggregates(&self, aggregates: &[Aggregate], var: VarId) -> Result<bool, EngineError> {
        let of_var = |aggregate: &&Aggregate| aggregate.output == var;
        // Counts of rows that fit into memory or on a disk are small integers.
        let counts = |aggregate: &Aggregate| matches!(aggregate.function.name, "COUNT" | "COUNT(*)");
        Ok(self.kind == Kind::Integer && aggregates.iter().filter(of_var).all(counts))
    }

    fn of_expr(&self, input: &PlanNode, expr: &Expr) -> Result<bool, EngineError> {
        match expr {
            Expr::Const(term) => Ok(self.is_of(term)),
            Expr::Var(var) => self.of_node(input, *var),
            Expr::Bound(_)
            | Expr::Or(_)
            | Expr::And(_)
            | Expr::Not(_)
            | Expr::Equal(..)
            | Expr::SameTerm(..)
            | Expr::Less(..)
            | Expr::LessOrEqual(..)
            | Expr::Greater(..)
            | Expr::GreaterOrEqual(..)
            | Expr::In(..)
            | Expr::Among(..)
            | Expr::Exists(_) => Ok(self.kind == Kind::Boolean),
            _ => Ok(false),
        }
    }
}

/// Whether the pattern binds the variable.
fn is_in(pattern: &ScanPattern, var: VarId) -> bool {
    let slots = [pattern.subject, pattern.predicate, pattern.object];
    let graph = match &pattern.graph {
        GraphScope::Named { slot, .. } => *slot == Slot::Var(var),
        _ => false,
    };
    graph || slots.contains(&Slot::Var(var))
}
