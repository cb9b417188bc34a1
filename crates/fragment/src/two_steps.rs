//! Groups in two steps: those of parts of the rows, and what puts these together.

use lode_exec::aggregate::{COUNT_ROWS, SUM, SUM_OF_COUNTS};
use lode_rdf::{Literal, Term};
use lode_sparql::aggregate::InParts;
use lode_sparql::{Aggregate, AggregateFunction, Expr, PlanNode, PlanOp, VarId, VarTable};
use std::sync::Arc;

/// An operator in two steps.
pub(crate) struct TwoSteps {
    /// What is run over each part.
    pub(crate) inner: PlanNode,
    outer: Outer,
}

enum Outer {
    Distinct,
    /// A group with these aggregates, and the means that follow from them.
    Group {
        keys: Vec<VarId>,
        aggregates: Vec<Aggregate>,
        means: Vec<Mean>,
    },
}

struct Mean {
    output: VarId,
    sum: VarId,
    rows: VarId,
}

impl TwoSteps {
    /// A group or a DISTINCT whose rows come in no order, in two steps. New variables are put into `vars`.
    pub(crate) fn of(node: &PlanNode, vars: &mut VarTable) -> Option<Self> {
        if !are_there(node) {
            return None;
        }
        match &node.op {
            PlanOp::Distinct(input) => {
                let inner = group(node, input, node.vars.clone(), Vec::new(), node.rows);
                Some(Self { inner, outer: Outer::Distinct })
            }
            PlanOp::Group { input, keys, aggregates, .. } if counts_once(aggregates) => {
                Some(Self::of_distinct_values(node, input, keys, aggregates))
            }
            PlanOp::Group { input, keys, aggregates, .. } => {
                Some(Self::of_parts(node, (input, keys), aggregates, vars))
            }
            _ => None,
        }
    }

    /// Each part has each row of keys and arguments once.
    fn of_distinct_values(
        node: &PlanNode,
        input: &Arc<PlanNode>,
        keys: &[VarId],
        aggregates: &[Aggregate],
    ) -> Self {
        let mut columns = keys.to_vec();
        for var in aggregates.iter().filter_map(argument) {
            if !columns.contains(&var) && input.vars.contains(&var) {
                columns.push(var);
            }
        }
        let inner = group(node, input, columns, Vec::new(), input.rows);
        let outer = Outer::Group { keys: keys.to_vec(), aggregates: aggregates.to_vec(), means: Vec::new() };
        Self { inner, outer }
    }

    /// Each part has aggregates of its own.
    fn of_parts(
        node: &PlanNode,
        (input, keys): (&Arc<PlanNode>, &[VarId]),
        aggregates: &[Aggregate],
        vars: &mut VarTable,
    ) -> Self {
        let (mut inner, mut outer, mut means) = (Vec::new(), Vec::new(), Vec::new());
        let again = |var: VarId, function: &'static AggregateFunction| {
            Aggregate::new(var, function, Some(Expr::Var(var)))
        };
        for aggregate in aggregates {
            let Aggregate { output, function, ref argument, .. } = *aggregate;
            match function.in_parts {
                InParts::Mean { sum, rows, all_rows } => {
                    let mean = Mean { output, sum: vars.add("sum"), rows: vars.add("rows") };
                    inner.push(Aggregate::new(mean.sum, sum, argument.clone()));
                    inner.push(Aggregate::new(mean.rows, rows, None));
                    outer.push(again(mean.sum, sum));
                    outer.push(again(mean.rows, all_rows));
                    means.push(mean);
                }
                InParts::As(other) => {
                    inner.push(aggregate.clone());
                    outer.push(again(output, other));
                }
                InParts::Never | InParts::Same | InParts::Sums => {
                    inner.push(aggregate.clone());
                    outer.push(again(output, function));
                }
            }
        }
        let inner = group(node, input, keys.to_vec(), inner, node.rows);
        Self { inner, outer: Outer::Group { keys: keys.to_vec(), aggregates: outer, means } }
    }

    /// Makes of `node` what puts the rows of all parts together, which come from `parts`.
    pub(crate) fn put_together(self, node: &mut PlanNode, parts: PlanNode) {
        match self.outer {
            Outer::Distinct => node.op = PlanOp::Distinct(Arc::new(parts)),
            Outer::Group { keys, aggregates, means } if means.is_empty() => {
                let input = Arc::new(parts);
                node.op = PlanOp::Group { input, keys, aggregates, sorted: false };
            }
            Outer::Group { keys, aggregates, means } => {
                let mut below = group(node, &Arc::new(parts), keys.clone(), aggregates, node.rows);
                for mean in means {
                    let expr = mean.quotient(keys.is_empty());
                    let mut vars = below.vars.clone();
                    vars.push(mean.output);
                    let certain = below.certain.clone();
                    let op = PlanOp::Extend { input: Arc::new(below), var: mean.output, expr };
                    below = PlanNode { op, vars, certain, ..bare(node) };
                }
                node.op = PlanOp::Project(Arc::new(below));
            }
        }
    }
}

impl Mean {
    /// The mean of no rows at all is 0, and not the quotient of two zeros.
    fn quotient(&self, may_be_empty: bool) -> Expr {
        let (sum, rows) = (Expr::Var(self.sum), Expr::Var(self.rows));
        let quotient = Expr::Divide(Box::new(sum), Box::new(rows.clone()));
        if !may_be_empty {
            return quotient;
        }
        let zero = || Expr::Const(Term::Literal(Literal::from(0)));
        let is_zero = Expr::Equal(Box::new(rows), Box::new(zero()));
        Expr::If(Box::new(is_zero), Box::new(zero()), Box::new(quotient))
    }
}

/// Whether an operator is a group or a DISTINCT that can be made in two steps.
pub(crate) fn are_there(node: &PlanNode) -> bool {
    node.sorted_by.is_empty()
        && match &node.op {
            PlanOp::Distinct(_) => true,
            PlanOp::Group { aggregates, .. } => counts_once(aggregates) || aggregates.iter().all(has_parts),
            _ => false,
        }
}

/// Whether it makes no difference to any of them how often a value occurs, but to some how often a row does.
fn counts_once(aggregates: &[Aggregate]) -> bool {
    let once = |aggregate: &Aggregate| {
        let is_of_a_set = aggregate.function.is_of_a_set;
        is_of_a_set
            && argument(aggregate).is_some()
            && (aggregate.distinct || !aggregate.function.counts_duplicates)
    };
    aggregates.iter().any(|aggregate| aggregate.distinct && aggregate.function.counts_duplicates)
        && aggregates.iter().all(once)
}

/// The variable whose values are aggregated.
fn argument(aggregate: &Aggregate) -> Option<VarId> {
    match aggregate.argument {
        Some(Expr::Var(var)) => Some(var),
        _ => None,
    }
}

/// Whether an aggregate of all rows follows from those of parts, in whatever sequence these come.
fn has_parts(aggregate: &Aggregate) -> bool {
    let Aggregate { function, distinct, .. } = aggregate;
    match function.in_parts {
        InParts::Never => false,
        // Of SAMPLE any value will do.
        InParts::Same => true,
        InParts::As(_) => !distinct,
        InParts::Sums => !distinct && **function == SUM,
        InParts::Mean { sum, rows, all_rows } => {
            !distinct && *sum == SUM && *rows == COUNT_ROWS && *all_rows == SUM_OF_COUNTS
        }
    }
}

/// A node like this, without rows of its own.
fn bare(node: &PlanNode) -> PlanNode {
    let PlanNode { id, rows, cost, .. } = *node;
    let (vars, certain, sorted_by) = Default::default();
    PlanNode { id, op: PlanOp::Unit, vars, certain, sorted_by, rows, cost }
}

/// A group by a hash table, which costs what `node` does.
fn group(
    node: &PlanNode,
    input: &Arc<PlanNode>,
    keys: Vec<VarId>,
    aggregates: Vec<Aggregate>,
    rows: f64,
) -> PlanNode {
    let outputs = aggregates.iter().map(|aggregate| aggregate.output);
    let vars = keys.iter().copied().chain(outputs).collect();
    let bound = aggregates.iter().filter(|a| a.function.always_bound).map(|a| a.output);
    let certain_keys = keys.iter().copied().filter(|key| input.certain.contains(key));
    let mut certain: Vec<VarId> = certain_keys.chain(bound).collect();
    certain.sort_unstable();
    let op = PlanOp::Group { input: Arc::clone(input), keys, aggregates, sorted: false };
    PlanNode { op, vars, certain, rows, ..bare(node) }
}
