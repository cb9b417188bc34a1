//! Expressions: names become columns, or what they are where no column has them.

use super::names;
use super::translator::Translator;
use crate::error::PlanError;
use crate::expr::Expr;
use crate::function::Callee;
use crate::logical::{Logical, graph_var};
use crate::operands;
use crate::plan::{GraphScope, SortKey, SubPattern};
use crate::var_set::VarSet;
use lode_rdf::Term;
use spargebra::algebra::{Expression, Function, GraphPattern, OrderExpression};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Translator<'_> {
    /// Translates an expression over rows with these columns.
    pub(super) fn expr(
        &mut self,
        expr: &Expression,
        visible: &VarSet,
        graph: &GraphScope,
    ) -> Result<Expr, PlanError> {
        match expr {
            Expression::NamedNode(iri) => return Ok(Expr::Const(iri.clone().into())),
            Expression::Literal(literal) => return Ok(Expr::Const(literal.clone().into())),
            Expression::Variable(v) => return Ok(self.variable(v.as_str(), visible)),
            Expression::Bound(v) => return Ok(self.bound(v.as_str(), visible)),
            Expression::Exists(pattern) => {
                return Ok(Expr::Exists(Arc::new(self.sub_pattern_of(pattern, visible, graph))));
            }
            _ => {}
        }
        let mut operands = Vec::new();
        for operand in operands::of(expr) {
            operands.push(self.expr(operand, visible, graph)?);
        }
        if let Expression::FunctionCall(function, _) = expr {
            return Ok(Expr::Call(self.callee(function), operands));
        }
        operator(expr, operands).ok_or_else(|| PlanError::Unsupported("this expression".into()))
    }

    fn callee(&self, function: &Function) -> Callee {
        match function {
            Function::Custom(iri) => Callee::new(iri.as_str(), self.stats.function(iri.as_str())),
            keyword => {
                let name = keyword.to_string();
                Callee::new(&name, self.stats.function(&name))
            }
        }
    }

    fn variable(&mut self, name: &str, visible: &VarSet) -> Expr {
        let var = self.var(name);
        match self.constants.get(&var) {
            Some(term) => Expr::Const(term.clone()),
            None if visible.contains(var) => Expr::Var(var),
            None => Expr::error(),
        }
    }

    fn bound(&mut self, name: &str, visible: &VarSet) -> Expr {
        let var = self.var(name);
        if self.constants.contains_key(&var) {
            Expr::boolean(true)
        } else if visible.contains(var) {
            Expr::Bound(var)
        } else {
            Expr::boolean(false)
        }
    }

    /// A pattern to be planned while the query runs, for rows with these columns.
    pub(super) fn sub_pattern_of(
        &mut self,
        pattern: &GraphPattern,
        visible: &VarSet,
        graph: &GraphScope,
    ) -> SubPattern {
        let mut scope = BTreeMap::new();
        let mut constants: BTreeMap<String, Term> = BTreeMap::new();
        for name in names::mentioned(pattern) {
            let Some(var) = self.known_var(&name) else { continue };
            if let Some(term) = self.constants.get(&var) {
                constants.insert(name, term.clone());
            } else if visible.contains(var) {
                scope.insert(name, var);
            }
        }
        if let Some(var) = graph_var(graph) {
            // No name that a query can have.
            scope.insert(".graph".to_owned(), var);
        }
        let (algebra, dataset) = (pattern.clone(), Arc::clone(&self.dataset));
        SubPattern { algebra, scope, constants, graph: graph.clone(), dataset }
    }

    /// FILTER: its conjuncts, of which an EXISTS can become a semi-join.
    pub(super) fn filter(
        &mut self,
        input: Logical,
        expr: &Expression,
        graph: &GraphScope,
    ) -> Result<Logical, PlanError> {
        let input = self.with_params_of(input, expr);
        let mut plain = Vec::new();
        let mut patterns = Vec::new();
        for conjunct in conjuncts(expr) {
            match conjunct {
                Expression::Exists(pattern) => patterns.push((&**pattern, false, conjunct)),
                Expression::Not(inner) => match &**inner {
                    Expression::Exists(pattern) => patterns.push((&**pattern, true, conjunct)),
                    _ => plain.push(self.expr(conjunct, &input.vars, graph)?),
                },
                _ => plain.push(self.expr(conjunct, &input.vars, graph)?),
            }
        }
        let mut input = Logical::filter(input, plain);
        for (pattern, negated, conjunct) in patterns {
            input = match self.semi_join(&input, pattern, graph)? {
                Some((right, filter)) => Logical::exists(input, right, filter, negated),
                None => {
                    let expr = self.expr(conjunct, &input.vars, graph)?;
                    Logical::filter(input, vec![expr])
                }
            };
        }
        Ok(input)
    }

    pub(super) fn order_by(
        &mut self,
        inner: &GraphPattern,
        order: &[OrderExpression],
        graph: &GraphScope,
    ) -> Result<Logical, PlanError> {
        let mut input = self.pattern(inner, graph)?;
        for OrderExpression::Asc(expr) | OrderExpression::Desc(expr) in order {
            input = self.with_params_of(input, expr);
        }
        let input = self.confined_rows(input);
        let mut keys = Vec::with_capacity(order.len());
        for key in order {
            let (expr, descending) = match key {
                OrderExpression::Asc(expr) => (expr, false),
                OrderExpression::Desc(expr) => (expr, true),
            };
            keys.push(SortKey { expr: self.expr(expr, &input.vars, graph)?, descending });
        }
        Ok(Logical::sort(input, keys, None))
    }
}

/// The operands of `&&`, or the expression itself.
pub(super) fn conjuncts(expr: &Expression) -> Vec<&Expression> {
    names::spine(expr, |e| match e {
        Expression::And(a, b) => Some((a, b)),
        _ => None,
    })
}

/// Puts an operator over translated operands.
fn operator(expr: &Expression, operands: Vec<Expr>) -> Option<Expr> {
    match expr {
        Expression::Or(..) => return Some(Expr::Or(operands)),
        Expression::And(..) => return Some(Expr::And(operands)),
        Expression::Coalesce(_) => return Some(Expr::Coalesce(operands)),
        _ => {}
    }
    let mut operands = operands.into_iter();
    let first = Box::new(operands.next()?);
    let unary = match expr {
        Expression::UnaryPlus(_) => Some(Expr::UnaryPlus as fn(Box<Expr>) -> Expr),
        Expression::UnaryMinus(_) => Some(Expr::UnaryMinus as fn(Box<Expr>) -> Expr),
        Expression::Not(_) => Some(Expr::Not as fn(Box<Expr>) -> Expr),
        _ => None,
    };
    if let Some(unary) = unary {
        return Some(unary(first));
    }
    if matches!(expr, Expression::In(..)) {
        return Some(Expr::In(first, Arc::new(operands.collect())));
    }
    let second = Box::new(operands.next()?);
    if matches!(expr, Expression::If(..)) {
        return Some(Expr::If(first, second, Box::new(operands.next()?)));
    }
    let binary: fn(Box<Expr>, Box<Expr>) -> Expr = match expr {
        Expression::Equal(..) => Expr::Equal,
        Expression::SameTerm(..) => Expr::SameTerm,
        Expression::Greater(..) => Expr::Greater,
        Expression::GreaterOrEqual(..) => Expr::GreaterOrEqual,
        Expression::Less(..) => Expr::Less,
        Expression::LessOrEqual(..) => Expr::LessOrEqual,
        Expression::Add(..) => Expr::Add,
        Expression::Subtract(..) => Expr::Subtract,
        Expression::Multiply(..) => Expr::Multiply,
        Expression::Divide(..) => Expr::Divide,
        _ => return None,
    };
    Some(binary(first, second))
}
