//! Expressions as text, in the manner of SPARQL.

use super::details::{Names, term_text};
use crate::expr::Expr;

/// Items of a list that are shown.
const ITEMS_MAX: usize = 100;

impl Names<'_> {
    /// An expression; operands of operators in brackets.
    pub fn expr(&self, expr: &Expr) -> String {
        match expr {
            Expr::Const(term) => term_text(term),
            Expr::Var(var) => self.var(*var),
            Expr::Bound(var) => format!("BOUND({})", self.var(*var)),
            Expr::Or(parts) => self.joined(parts, " || "),
            Expr::And(parts) => self.joined(parts, " && "),
            Expr::Not(a) => format!("!{}", self.operand(a)),
            Expr::Equal(a, b) => self.binary(a, "=", b),
            Expr::Less(a, b) => self.binary(a, "<", b),
            Expr::LessOrEqual(a, b) => self.binary(a, "<=", b),
            Expr::Greater(a, b) => self.binary(a, ">", b),
            Expr::GreaterOrEqual(a, b) => self.binary(a, ">=", b),
            Expr::Add(a, b) => self.binary(a, "+", b),
            Expr::Subtract(a, b) => self.binary(a, "-", b),
            Expr::Multiply(a, b) => self.binary(a, "*", b),
            Expr::Divide(a, b) => self.binary(a, "/", b),
            Expr::UnaryPlus(a) => format!("+{}", self.operand(a)),
            Expr::UnaryMinus(a) => format!("-{}", self.operand(a)),
            Expr::SameTerm(a, b) => format!("sameTerm({}, {})", self.expr(a), self.expr(b)),
            Expr::In(a, list) => format!("{} IN {}", self.operand(a), self.list(list)),
            Expr::Among(a, ids) => format!("{} AMONG {}", self.operand(a), ids.len()),
            Expr::If(a, b, c) => format!("IF({}, {}, {})", self.expr(a), self.expr(b), self.expr(c)),
            Expr::Coalesce(list) if list.is_empty() => "error".to_owned(),
            Expr::Coalesce(list) => format!("COALESCE{}", self.list(list)),
            Expr::Call(function, list) => format!("{function}{}", self.list(list)),
            Expr::Exists(sub) => {
                let vars: Vec<_> = sub.scope.values().map(|v| self.var(*v)).collect();
                format!("EXISTS {{ dependent on {} }}", vars.join(" "))
            }
        }
    }

    fn operand(&self, expr: &Expr) -> String {
        let atom = matches!(
            expr,
            Expr::Const(_)
                | Expr::Var(_)
                | Expr::Bound(_)
                | Expr::Call(..)
                | Expr::SameTerm(..)
                | Expr::If(..)
                | Expr::Coalesce(_)
        );
        if atom { self.expr(expr) } else { format!("({})", self.expr(expr)) }
    }

    fn binary(&self, a: &Expr, operator: &str, b: &Expr) -> String {
        format!("{} {operator} {}", self.operand(a), self.operand(b))
    }

    fn joined(&self, parts: &[Expr], separator: &str) -> String {
        parts.iter().map(|p| self.operand(p)).collect::<Vec<_>>().join(separator)
    }

    fn list(&self, list: &[Expr]) -> String {
        let mut items: Vec<String> = list.iter().take(ITEMS_MAX).map(|item| self.expr(item)).collect();
        if list.len() > ITEMS_MAX {
            items.push(format!("{} more", list.len() - ITEMS_MAX));
        }
        format!("({})", items.join(", "))
    }
}
