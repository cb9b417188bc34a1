//! Expressions and aggregates.

use super::patterns::{In, Out};
use crate::carried;
use crate::error::FragmentError;
use crate::limits::LEVELS_MAX;
use lode_exec::{aggregate, functions};
use lode_sparql::id_set::IdSet;
use lode_sparql::{Aggregate, Callee, Expr, stack};
use std::sync::Arc;

const CONST: u8 = 0;
const VAR: u8 = 1;
const BOUND: u8 = 2;
const OR: u8 = 3;
const AND: u8 = 4;
const NOT: u8 = 5;
const EQUAL: u8 = 6;
const SAME_TERM: u8 = 7;
const LESS: u8 = 8;
const LESS_OR_EQUAL: u8 = 9;
const GREATER: u8 = 10;
const GREATER_OR_EQUAL: u8 = 11;
const IN: u8 = 12;
const AMONG: u8 = 13;
const ADD: u8 = 14;
const SUBTRACT: u8 = 15;
const MULTIPLY: u8 = 16;
const DIVIDE: u8 = 17;
const UNARY_PLUS: u8 = 18;
const UNARY_MINUS: u8 = 19;
const IF: u8 = 20;
const COALESCE: u8 = 21;
const CALL: u8 = 22;
const CALL_UNKNOWN: u8 = 23;

impl Out<'_> {
    pub(super) fn expr(&mut self, expr: &Expr) -> Result<(), FragmentError> {
        if let Some(reason) = carried::expression(expr) {
            return Err(FragmentError::Stays(reason));
        }
        stack::room(|| self.expr_here(expr))
    }

    fn expr_here(&mut self, expr: &Expr) -> Result<(), FragmentError> {
        let (tag, operands): (u8, &[&Expr]) = match expr {
            Expr::Const(term) => {
                self.to.byte(CONST);
                let place = self.terms.term(term)?;
                self.to.number(place);
                return Ok(());
            }
            Expr::Var(var) | Expr::Bound(var) => {
                self.to.byte(if matches!(expr, Expr::Var(_)) { VAR } else { BOUND });
                self.var(*var);
                return Ok(());
            }
            Expr::Or(parts) => return self.tagged(OR, parts),
            Expr::And(parts) => return self.tagged(AND, parts),
            Expr::Coalesce(parts) => return self.tagged(COALESCE, parts),
            Expr::In(operand, list) => {
                self.tagged(IN, list)?;
                return self.expr(operand);
            }
            Expr::Among(operand, ids) => {
                self.to.byte(AMONG);
                self.ids(ids)?;
                return self.expr(operand);
            }
            Expr::Call(callee, arguments) => {
                self.to.byte(if callee.function().is_some() { CALL } else { CALL_UNKNOWN });
                self.to.text(callee.name());
                return self.exprs(arguments);
            }
            Expr::Exists(_) => return Err(FragmentError::Stays("EXISTS")),
            Expr::Not(a) => (NOT, &[a]),
            Expr::UnaryPlus(a) => (UNARY_PLUS, &[a]),
            Expr::UnaryMinus(a) => (UNARY_MINUS, &[a]),
            Expr::Equal(a, b) => (EQUAL, &[a, b]),
            Expr::SameTerm(a, b) => (SAME_TERM, &[a, b]),
            Expr::Less(a, b) => (LESS, &[a, b]),
            Expr::LessOrEqual(a, b) => (LESS_OR_EQUAL, &[a, b]),
            Expr::Greater(a, b) => (GREATER, &[a, b]),
            Expr::GreaterOrEqual(a, b) => (GREATER_OR_EQUAL, &[a, b]),
            Expr::Add(a, b) => (ADD, &[a, b]),
            Expr::Subtract(a, b) => (SUBTRACT, &[a, b]),
            Expr::Multiply(a, b) => (MULTIPLY, &[a, b]),
            Expr::Divide(a, b) => (DIVIDE, &[a, b]),
            Expr::If(a, b, c) => (IF, &[a, b, c]),
        };
        self.to.byte(tag);
        operands.iter().try_for_each(|operand| self.expr(operand))
    }

    fn tagged(&mut self, tag: u8, parts: &[Expr]) -> Result<(), FragmentError> {
        self.to.byte(tag);
        self.exprs(parts)
    }

    pub(super) fn exprs(&mut self, exprs: &[Expr]) -> Result<(), FragmentError> {
        self.to.count(exprs.len());
        exprs.iter().try_for_each(|expr| self.expr(expr))
    }

    fn ids(&mut self, ids: &IdSet) -> Result<(), FragmentError> {
        self.to.estimate(ids.share());
        self.to.count(ids.len());
        let mut sorted: Vec<_> = ids.ids().collect();
        sorted.sort_unstable();
        for id in sorted {
            let place = self.terms.id(id)?;
            self.to.number(place);
        }
        Ok(())
    }

    pub(super) fn aggregate(&mut self, aggregate: &Aggregate) -> Result<(), FragmentError> {
        self.var(aggregate.output);
        self.to.text(aggregate.function.name);
        self.option(aggregate.separator.as_deref(), |out, separator| {
            out.to.text(separator);
            Ok(())
        })?;
        self.option(aggregate.argument.as_ref(), Out::expr)?;
        self.to.flag(aggregate.distinct);
        Ok(())
    }
}

impl In<'_> {
    /// An expression below so many levels.
    pub(super) fn expr(&mut self, above: usize) -> Result<Expr, FragmentError> {
        if above >= LEVELS_MAX {
            return Err(FragmentError::TooLarge("an expression has too many levels"));
        }
        self.from.part()?;
        stack::room(|| self.expr_here(above + 1))
    }

    fn expr_here(&mut self, level: usize) -> Result<Expr, FragmentError> {
        let tag = self.from.byte()?;
        Ok(match tag {
            CONST => {
                let place = self.from.number()?;
                Expr::Const(self.terms.term(place)?)
            }
            VAR => Expr::Var(self.var()?),
            BOUND => Expr::Bound(self.var()?),
            OR => Expr::Or(self.exprs(level)?),
            AND => Expr::And(self.exprs(level)?),
            COALESCE => Expr::Coalesce(self.exprs(level)?),
            IN => {
                let list = self.exprs(level)?;
                Expr::In(self.boxed(level)?, Arc::new(list))
            }
            AMONG => {
                let ids = self.ids()?;
                Expr::Among(self.boxed(level)?, Arc::new(ids))
            }
            CALL | CALL_UNKNOWN => self.call(tag == CALL, level)?,
            NOT => Expr::Not(self.boxed(level)?),
            UNARY_PLUS => Expr::UnaryPlus(self.boxed(level)?),
            UNARY_MINUS => Expr::UnaryMinus(self.boxed(level)?),
            IF => Expr::If(self.boxed(level)?, self.boxed(level)?, self.boxed(level)?),
            _ => {
                let pair: fn(Box<Expr>, Box<Expr>) -> Expr = match tag {
                    EQUAL => Expr::Equal,
                    SAME_TERM => Expr::SameTerm,
                    LESS => Expr::Less,
                    LESS_OR_EQUAL => Expr::LessOrEqual,
                    GREATER => Expr::Greater,
                    GREATER_OR_EQUAL => Expr::GreaterOrEqual,
                    ADD => Expr::Add,
                    SUBTRACT => Expr::Subtract,
                    MULTIPLY => Expr::Multiply,
                    DIVIDE => Expr::Divide,
                    _ => return Err(FragmentError::Damaged("an expression that is none")),
                };
                pair(self.boxed(level)?, self.boxed(level)?)
            }
        })
    }

    fn boxed(&mut self, level: usize) -> Result<Box<Expr>, FragmentError> {
        self.expr(level).map(Box::new)
    }

    pub(super) fn exprs(&mut self, level: usize) -> Result<Vec<Expr>, FragmentError> {
        self.list(|read| read.expr(level))
    }

    fn call(&mut self, is_known: bool, level: usize) -> Result<Expr, FragmentError> {
        let name = self.from.text()?;
        let function = functions::find(name);
        if is_known != function.is_some() {
            return Err(FragmentError::Damaged(
                "a function that this program does not know as its sender does",
            ));
        }
        let call = Expr::Call(Callee::new(name, function), self.exprs(level)?);
        match carried::expression(&call) {
            None => Ok(call),
            Some(_) => Err(FragmentError::Damaged("a function that stays at the head")),
        }
    }

    fn ids(&mut self) -> Result<IdSet, FragmentError> {
        let share = self.from.estimate()?;
        let ids = self.list(|read| {
            let place = read.from.number()?;
            read.terms.id(place)
        })?;
        Ok(ids.into_iter().collect::<IdSet>().keeping(share))
    }

    pub(super) fn aggregate(&mut self) -> Result<Aggregate, FragmentError> {
        let output = self.var()?;
        let function = aggregate::find(self.from.text()?);
        let function = function.filter(|function| carried::aggregate(function).is_none());
        let function = function.ok_or(FragmentError::Damaged("an aggregate that stays at the head"))?;
        let separator = self.option(|read| Ok(read.from.text()?.into()))?;
        let argument = self.option(|read| read.expr(0))?;
        if argument.is_some() != function.argument.is_some() {
            return Err(FragmentError::Damaged("an aggregate without its argument"));
        }
        Ok(Aggregate { output, function, separator, argument, distinct: self.from.flag()? })
    }
}
