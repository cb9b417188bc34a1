//! What of plans travels and what stays at the head: a decision for each operator and each expression. There is no default: who adds one is made to
//! decide by the compiler.

use crate::limits::{LEVELS_MAX, PARTS_MAX};
use lode_sparql::aggregate::{Counts, InParts};
use lode_sparql::function::Volatility;
use lode_sparql::{AggregateFunction, Expr, PlanNode, PlanOp, stack};

/// `None`: it travels. Else why it stays at the head.
pub type Decision = Option<&'static str>;

const WHICH_ROWS: &str =
    "which rows it keeps depends on the sequence in which they come, and each process would keep others";
const TOO_MANY: &str = "it has more terms than travel";
const AT_RUN_TIME: &str = "its pattern is planned while the query runs, with the terms of the query";

/// Whether an operator may be run elsewhere, without a look at its inputs and expressions.
pub fn operator(op: &PlanOp) -> Decision {
    match op {
        PlanOp::Unit
        | PlanOp::Empty
        | PlanOp::IndexScan(_)
        | PlanOp::GraphNames { .. }
        | PlanOp::MergeJoin { .. }
        | PlanOp::HashJoin { .. }
        | PlanOp::LookupJoin { .. }
        | PlanOp::MultiwayJoin(_)
        | PlanOp::Filter { .. }
        | PlanOp::Extend { .. }
        | PlanOp::Union(_)
        | PlanOp::MergeUnion(_)
        | PlanOp::Project(_)
        | PlanOp::Distinct(_)
        | PlanOp::Reduced(_)
        | PlanOp::Fragment { .. } => None,
        PlanOp::Values(rows) => {
            let cells = rows.len().saturating_mul(rows.first().map_or(0, Vec::len) + 1);
            (cells > PARTS_MAX).then_some(TOO_MANY)
        }
        PlanOp::Group { aggregates, .. } => aggregates.iter().find_map(|own| aggregate(own.function)),
        PlanOp::Ids(_) => Some("an index of the head has found them, and there may be very many"),
        PlanOp::Domain => Some("its rows are those of a query that runs"),
        PlanOp::TripleTerm { .. } => Some("parts of triple terms may be terms that the database lacks"),
        PlanOp::Sort { .. } => {
            Some("ORDER BY compares terms, and rows of several processes would be sorted again")
        }
        PlanOp::Slice { .. } | PlanOp::LimitBy { .. } => Some(WHICH_ROWS),
        PlanOp::Path { .. } => Some("a search goes wherever edges lead, in no range of values"),
        PlanOp::ForEachGraph { .. } | PlanOp::Lateral { .. } => Some(AT_RUN_TIME),
        PlanOp::Spool { .. } => Some("its rows are made once for all of the query that reads them"),
        PlanOp::Service { .. } => Some("other endpoints are asked by the head alone"),
    }
}

/// Whether an aggregate may be computed elsewhere.
pub fn aggregate(function: &AggregateFunction) -> Decision {
    let counts = !matches!(function.counts, Counts::Nothing);
    let follows = match function.in_parts {
        InParts::As(_) | InParts::Same => true,
        InParts::Sums | InParts::Mean { .. } => function.is_of_a_set,
        InParts::Never => false,
    };
    (!(counts || follows)).then_some(
        "values of GROUP_CONCAT and of others of its kind are long texts or depend on the sequence of rows",
    )
}

/// Whether an expression may be evaluated elsewhere, without a look at its operands.
pub fn expression(expr: &Expr) -> Decision {
    match expr {
        Expr::Const(_)
        | Expr::Var(_)
        | Expr::Bound(_)
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
        | Expr::Add(..)
        | Expr::Subtract(..)
        | Expr::Multiply(..)
        | Expr::Divide(..)
        | Expr::UnaryPlus(_)
        | Expr::UnaryMinus(_)
        | Expr::If(..)
        | Expr::Coalesce(_) => None,
        Expr::Among(_, ids) => (ids.len() > PARTS_MAX).then_some(TOO_MANY),
        Expr::Call(callee, _) => match callee.volatility() {
            Volatility::Immutable | Volatility::Query => None,
            Volatility::Solution | Volatility::Call => Some("each call may give another value"),
        },
        Expr::Exists(_) => Some(AT_RUN_TIME),
    }
}

/// Whether an operator with its expressions may be run elsewhere, and how many levels these have.
pub(crate) fn node(node: &PlanNode) -> Result<usize, &'static str> {
    if let Some(reason) = operator(&node.op) {
        return Err(reason);
    }
    node.exprs().into_iter().try_fold(0, |most, expr| Ok(levels(expr, 0)?.max(most)))
}

fn levels(expr: &Expr, above: usize) -> Result<usize, &'static str> {
    if let Some(reason) = expression(expr) {
        return Err(reason);
    }
    if above >= LEVELS_MAX {
        return Err("an expression has too many levels");
    }
    let below = |expr: &&Expr| stack::room(|| levels(expr, above + 1));
    expr.children().iter().try_fold(above + 1, |most, expr| Ok(below(expr)?.max(most)))
}
