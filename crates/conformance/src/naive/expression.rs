//! Expressions: variables, logic with its three values, comparisons, arithmetic, EXISTS (SPARQL 1.1 sections 17.2 to 17.4.1).

use super::arithmetic::{Operator, calculate, negate, plus};
use super::compare::{equal, less};
use super::datatypes::{Value, boolean, value_of};
use super::evaluator::Evaluator;
use super::scope::{At, Evaluated, Problem, Scope};
use super::solution::is_hidden;
use oxrdf::Term;
use spargebra::algebra::{Expression, GraphPattern};
use std::cmp::Ordering;

impl Evaluator<'_> {
    /// The effective boolean value (section 17.2.2).
    pub(super) fn condition(&self, expr: &Expression, at: &At<'_>) -> Evaluated<bool> {
        effective_boolean(&self.expression(expr, at)?).ok_or(Problem::Type)
    }

    pub(super) fn expression(&self, expr: &Expression, at: &At<'_>) -> Evaluated {
        self.step()?;
        match expr {
            Expression::NamedNode(n) => Ok(n.clone().into()),
            Expression::Literal(l) => Ok(l.clone().into()),
            Expression::Variable(v) => at.get(v).cloned().ok_or(Problem::Type),
            Expression::Bound(v) => Ok(boolean(at.get(v).is_some())),
            Expression::Or(a, b) => self.logical(a, b, at, true),
            Expression::And(a, b) => self.logical(a, b, at, false),
            Expression::Not(e) => Ok(boolean(!self.condition(e, at)?)),
            Expression::Equal(a, b) => {
                equal(&self.expression(a, at)?, &self.expression(b, at)?).map(boolean).ok_or(Problem::Type)
            }
            Expression::SameTerm(a, b) => Ok(boolean(self.expression(a, at)? == self.expression(b, at)?)),
            Expression::Less(a, b) => self.ordered(a, b, at, Ordering::is_lt),
            Expression::LessOrEqual(a, b) => self.ordered(a, b, at, Ordering::is_le),
            Expression::Greater(a, b) => self.ordered(a, b, at, Ordering::is_gt),
            Expression::GreaterOrEqual(a, b) => self.ordered(a, b, at, Ordering::is_ge),
            Expression::In(e, list) => self.member(e, list, at),
            Expression::Add(a, b) => self.arithmetic(Operator::Add, a, b, at),
            Expression::Subtract(a, b) => self.arithmetic(Operator::Subtract, a, b, at),
            Expression::Multiply(a, b) => self.arithmetic(Operator::Multiply, a, b, at),
            Expression::Divide(a, b) => self.arithmetic(Operator::Divide, a, b, at),
            Expression::UnaryPlus(e) => plus(&self.expression(e, at)?).ok_or(Problem::Type),
            Expression::UnaryMinus(e) => negate(&self.expression(e, at)?).ok_or(Problem::Type),
            Expression::If(c, a, b) => {
                if self.condition(c, at)? {
                    self.expression(a, at)
                } else {
                    self.expression(b, at)
                }
            }
            Expression::Coalesce(list) => self.coalesce(list, at),
            Expression::Exists(pattern) => self.exists(pattern, at),
            Expression::FunctionCall(function, arguments) => self.call(function, arguments, at),
        }
    }

    /// `||` (`decisive` is true) and `&&` (false): one decisive operand decides, even where the other is an error.
    fn logical(&self, a: &Expression, b: &Expression, at: &At<'_>, decisive: bool) -> Evaluated {
        let mut failed = false;
        for operand in [a, b] {
            match self.condition(operand, at) {
                Ok(value) if value == decisive => return Ok(boolean(decisive)),
                Ok(_) => {}
                Err(Problem::Type) => failed = true,
                Err(fatal) => return Err(fatal),
            }
        }
        if failed { Err(Problem::Type) } else { Ok(boolean(!decisive)) }
    }

    fn ordered(
        &self,
        a: &Expression,
        b: &Expression,
        at: &At<'_>,
        wanted: fn(Ordering) -> bool,
    ) -> Evaluated {
        less(&self.expression(a, at)?, &self.expression(b, at)?, wanted).map(boolean).ok_or(Problem::Type)
    }

    /// `IN`: a disjunction of `=`.
    fn member(&self, e: &Expression, list: &[Expression], at: &At<'_>) -> Evaluated {
        let value = self.expression(e, at)?;
        let mut failed = false;
        for candidate in list {
            let same = match self.expression(candidate, at) {
                Ok(candidate) => equal(&value, &candidate),
                Err(Problem::Type) => None,
                Err(fatal) => return Err(fatal),
            };
            match same {
                Some(true) => return Ok(boolean(true)),
                Some(false) => {}
                None => failed = true,
            }
        }
        if failed { Err(Problem::Type) } else { Ok(boolean(false)) }
    }

    fn arithmetic(&self, operator: Operator, a: &Expression, b: &Expression, at: &At<'_>) -> Evaluated {
        calculate(operator, &self.expression(a, at)?, &self.expression(b, at)?).ok_or(Problem::Type)
    }

    fn coalesce(&self, list: &[Expression], at: &At<'_>) -> Evaluated {
        for e in list {
            match self.expression(e, at) {
                Err(Problem::Type) => {}
                decided => return decided,
            }
        }
        Err(Problem::Type)
    }

    /// EXISTS: the pattern, with the solution substituted into it, has a solution over the active graph.
    fn exists(&self, pattern: &GraphPattern, at: &At<'_>) -> Evaluated {
        let mut outer = at.scope.outer.clone();
        for (variable, term) in at.solution.iter().filter(|(v, _)| !is_hidden(v)) {
            outer.insert(variable.clone(), term.clone());
        }
        let found = self.pattern(pattern, &Scope { graph: at.scope.graph, outer: &outer })?;
        Ok(boolean(!found.is_empty()))
    }
}

/// SPARQL 1.2's table: literals with a language and ill-typed ones have none (SPARQL 1.1 called the latter false; a FILTER cannot
/// tell).
fn effective_boolean(term: &Term) -> Option<bool> {
    let Term::Literal(literal) = term else { return None };
    match value_of(literal)? {
        Value::Boolean(b) => Some(b),
        Value::Integer(i) => Some(i != 0.into()),
        Value::Decimal(d) => Some(d != 0),
        Value::Float(f) => Some(!f.is_nan() && f != oxsdatatypes::Float::from(0.)),
        Value::Double(f) => Some(!f.is_nan() && f != oxsdatatypes::Double::from(0.)),
        Value::String => Some(!literal.value().is_empty()),
        _ => None,
    }
}
