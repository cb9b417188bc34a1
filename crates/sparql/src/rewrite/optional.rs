//! OPTIONAL under a filter: `!bound(?v)` of a variable that the optional part binds makes it a NOT EXISTS, a condition that
//! fails for an unbound `?v` makes it a plain join.

use super::simplify::widened;
use crate::expr::Expr;
use crate::logical::Logical;
use crate::plan::VarId;
use crate::var_set::VarSet;

/// What became of an OPTIONAL under filters.
pub(super) enum Outcome {
    /// An equal operator, and the filters that are left for it.
    Replaced { by: Logical, filters: Vec<Expr> },
    /// It stays one.
    Same { left: Box<Logical>, right: Box<Logical>, condition: Option<Expr>, filters: Vec<Expr> },
}

/// Looks for an operator that is equal to an OPTIONAL under filters.
pub(super) fn strengthen(
    left: Logical,
    right: Logical,
    condition: Option<Expr>,
    mut filters: Vec<Expr>,
) -> Outcome {
    // Bound exactly where the optional part matched.
    let marks: VarSet = right.certain.minus(&left.vars);
    let vars = left.vars.union(&right.vars);
    if let Some(at) = filters.iter().position(|f| is_absence(f, &marks)) {
        filters.swap_remove(at);
        let by = widened(Logical::exists(left, right, condition, true), &vars);
        return Outcome::Replaced { by, filters };
    }
    // In a join the condition sees the joined row, as it does in an OPTIONAL.
    if filters.iter().any(|f| marks.iter().any(|v| rejects_unbound(f, v))) {
        filters.extend(condition);
        let by = Logical::join(vec![left, right], Vec::new());
        return Outcome::Replaced { by, filters };
    }
    Outcome::Same { left: Box::new(left), right: Box::new(right), condition, filters }
}

fn is_absence(expr: &Expr, marks: &VarSet) -> bool {
    matches!(expr, Expr::Not(inner) if matches!(**inner, Expr::Bound(v) if marks.contains(v)))
}

/// Whether an expression is false or an error in every row where `var` is unbound.
fn rejects_unbound(expr: &Expr, var: VarId) -> bool {
    match expr {
        Expr::Bound(v) => *v == var,
        other => fails_unbound(other, var),
    }
}

/// Whether an expression is an error where `var` is unbound: it is an operand of operators that need all their operands.
fn fails_unbound(expr: &Expr, var: VarId) -> bool {
    match expr {
        Expr::Var(v) => *v == var,
        Expr::Not(_)
        | Expr::Equal(..)
        | Expr::SameTerm(..)
        | Expr::Less(..)
        | Expr::LessOrEqual(..)
        | Expr::Greater(..)
        | Expr::GreaterOrEqual(..)
        | Expr::Add(..)
        | Expr::Subtract(..)
        | Expr::Multiply(..)
        | Expr::Divide(..)
        | Expr::UnaryPlus(_)
        | Expr::UnaryMinus(_)
        | Expr::Among(..)
        | Expr::Call(..) => expr.children().into_iter().any(|c| fails_unbound(c, var)),
        Expr::In(needle, _) => fails_unbound(needle, var),
        Expr::And(_)
        | Expr::Or(_)
        | Expr::If(..)
        | Expr::Coalesce(_)
        | Expr::Const(_)
        | Expr::Bound(_)
        | Expr::Exists(_) => false,
    }
}
