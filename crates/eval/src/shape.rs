//! What can be told of an expression without evaluating it.

use lode_sparql::function::{Cost, Volatility};
use lode_sparql::{Expr, VarId};

/// The one variable of an expression that always gives the same for the same term, and that looks at texts: such an
/// expression is worth evaluating once per distinct term.
pub fn text_function_of_one_variable(expr: &Expr) -> Option<VarId> {
    if !matches!(
        expr,
        Expr::Call(..)
            | Expr::Equal(..)
            | Expr::Less(..)
            | Expr::LessOrEqual(..)
            | Expr::Greater(..)
            | Expr::GreaterOrEqual(..)
            | Expr::In(..)
            | Expr::And(_)
            | Expr::Or(_)
            | Expr::Not(_)
            | Expr::If(..)
    ) {
        return None;
    }
    let mut shape = Shape::default();
    shape.visit(expr);
    if shape.volatile || !shape.has_call { None } else { shape.variable.filter(|_| !shape.more_variables) }
}

/// Whether an expression has `BNODE(label)`, whose value depends on the solution.
pub fn makes_labelled_nodes(expr: &Expr) -> bool {
    let mut shape = Shape::default();
    shape.visit(expr);
    shape.labelled_nodes
}

/// Whether a function of one variable gives the same in every query, and may be asked for again: without constants, which would be
/// others the next time.
pub fn depends_on_the_term_only(expr: &Expr) -> bool {
    let mut shape = Shape::default();
    shape.visit(expr);
    !shape.volatile && !shape.of_the_query && !shape.has_constant
}

#[derive(Default)]
struct Shape {
    variable: Option<VarId>,
    more_variables: bool,
    has_call: bool,
    volatile: bool,
    labelled_nodes: bool,
    /// It depends on the time or the base IRI of the query.
    of_the_query: bool,
    has_constant: bool,
}

impl Shape {
    fn variable(&mut self, var: VarId) {
        match self.variable {
            None => self.variable = Some(var),
            Some(known) => self.more_variables |= known != var,
        }
    }

    fn visit(&mut self, expr: &Expr) {
        match expr {
            Expr::Const(_) => self.has_constant = true,
            Expr::Var(var) | Expr::Bound(var) => self.variable(*var),
            Expr::Or(list) | Expr::And(list) | Expr::Coalesce(list) => {
                list.iter().for_each(|expr| self.visit(expr))
            }
            Expr::Not(a) | Expr::UnaryPlus(a) | Expr::UnaryMinus(a) | Expr::Among(a, _) => self.visit(a),
            Expr::Equal(a, b)
            | Expr::SameTerm(a, b)
            | Expr::Less(a, b)
            | Expr::LessOrEqual(a, b)
            | Expr::Greater(a, b)
            | Expr::GreaterOrEqual(a, b)
            | Expr::Add(a, b)
            | Expr::Subtract(a, b)
            | Expr::Multiply(a, b)
            | Expr::Divide(a, b) => {
                self.visit(a);
                self.visit(b);
            }
            Expr::In(a, list) => {
                self.visit(a);
                list.iter().for_each(|expr| self.visit(expr));
            }
            Expr::If(a, b, c) => [a, b, c].into_iter().for_each(|expr| self.visit(expr)),
            Expr::Call(callee, arguments) => {
                self.has_call |= callee.function().is_none_or(|function| function.cost == Cost::PerTerm);
                self.volatile |= callee.is_volatile();
                self.of_the_query |= callee.volatility() == Volatility::Query;
                self.labelled_nodes |= callee.volatility() == Volatility::Solution && !arguments.is_empty();
                arguments.iter().for_each(|expr| self.visit(expr));
            }
            Expr::Exists(_) => self.volatile = true,
        }
    }
}
