//! Expressions.

use super::chain::together;
use super::{Lowering, Result, Wrong};
use crate::parse::functions::{Callee, callee};
use lode_syntax::{At, Node};
use spargebra::algebra::{Expression, Function};

type Binary = fn(Box<Expression>, Box<Expression>) -> Expression;

impl<'t> Lowering<'t> {
    pub(super) fn expression(&mut self, at: At<'t>) -> Result<Expression> {
        match at.node() {
            Node::Parentheses => self.inner(at),
            Node::Or => self.joined(at, Expression::Or),
            Node::And => self.joined(at, Expression::And),
            Node::Comparison => self.comparison(at),
            Node::In => self.list(at),
            Node::Sum | Node::Product => self.arithmetic(at),
            Node::Unary => {
                let operand = Box::new(self.inner(at)?);
                Ok(match at.token(0) {
                    "!" => Expression::Not(operand),
                    "-" => Expression::UnaryMinus(operand),
                    _ => Expression::UnaryPlus(operand),
                })
            }
            Node::Variable => Ok(Self::variable(at).into()),
            Node::Iri | Node::Name => Ok(self.iri(at)?.into()),
            Node::Literal | Node::Number | Node::Boolean => Ok(self.literal(at)?.into()),
            Node::Call => self.call(at),
            Node::IriCall => {
                let name = at.first().ok_or_else(|| Wrong::at(at, "a call without a function"))?;
                let written = name.text();
                let name = self.iri(name)?;
                // `f(DISTINCT ?x)` is for aggregates of others, which there are none of.
                if at.has_word(2, "DISTINCT") {
                    let message =
                        format!("{written} is a function and no aggregate, so it takes no DISTINCT");
                    return Err(Wrong::at(at, message)
                        .help("aggregates are COUNT, SUM, MIN, MAX, AVG, SAMPLE and GROUP_CONCAT"));
                }
                self.check_query(&name, at)?;
                let arguments = self.operands(at.children().skip(1))?;
                Ok(Expression::FunctionCall(Function::Custom(name), arguments))
            }
            Node::Aggregate => Ok(self.aggregate(at)?.into()),
            Node::Exists => {
                let group = at.first().ok_or_else(|| Wrong::at(at, "EXISTS without a pattern"))?;
                let exists = Expression::Exists(Box::new(self.nested(group)?));
                Ok(if at.has_word(0, "NOT") { Expression::Not(Box::new(exists)) } else { exists })
            }
            Node::TripleTerm => self.triple_value(at),
            _ => Err(Wrong::at(at, "this is no expression")),
        }
    }

    /// The only expression in a node.
    pub(super) fn inner(&mut self, at: At<'t>) -> Result<Expression> {
        let inner = at.first().ok_or_else(|| Wrong::at(at, "an expression is missing"))?;
        self.expression(inner)
    }

    pub(super) fn operands(&mut self, all: impl Iterator<Item = At<'t>>) -> Result<Vec<Expression>> {
        all.map(|at| self.expression(at)).collect()
    }

    fn joined(&mut self, at: At<'t>, join: Binary) -> Result<Expression> {
        let operands = self.operands(at.children())?;
        together(operands, join).ok_or_else(|| Wrong::at(at, "an expression is missing"))
    }

    fn comparison(&mut self, at: At<'t>) -> Result<Expression> {
        let mut operands = at.children();
        let (Some(left), Some(right)) = (operands.next(), operands.next()) else {
            return Err(Wrong::at(at, "a comparison has two sides"));
        };
        let operator = at.tree().token_text(left.tokens().end);
        let (left, right) = (Box::new(self.expression(left)?), Box::new(self.expression(right)?));
        Ok(match operator {
            "=" => Expression::Equal(left, right),
            "!=" => Expression::Not(Box::new(Expression::Equal(left, right))),
            ">" => Expression::Greater(left, right),
            ">=" => Expression::GreaterOrEqual(left, right),
            "<" => Expression::Less(left, right),
            _ => Expression::LessOrEqual(left, right),
        })
    }

    fn list(&mut self, at: At<'t>) -> Result<Expression> {
        let first = at.first().ok_or_else(|| Wrong::at(at, "an expression is missing"))?;
        let is_not = at.tree().token_text(first.tokens().end).eq_ignore_ascii_case("NOT");
        let value = Box::new(self.expression(first)?);
        let list = Expression::In(value, self.operands(at.children().skip(1))?);
        Ok(if is_not { Expression::Not(Box::new(list)) } else { list })
    }

    /// Sums and products lean to the left whatever their length: in another sequence they may be others.
    fn arithmetic(&mut self, at: At<'t>) -> Result<Expression> {
        let mut value = None;
        for operand in at.children() {
            let before = operand.tokens().start.checked_sub(1);
            let operator = before.map_or("", |before| at.tree().token_text(before));
            let operand = self.expression(operand)?;
            value = Some(match value {
                None => operand,
                Some(left) => {
                    let join: Binary = match operator {
                        "+" => Expression::Add,
                        "-" => Expression::Subtract,
                        "*" => Expression::Multiply,
                        _ => Expression::Divide,
                    };
                    join(Box::new(left), Box::new(operand))
                }
            });
        }
        value.ok_or_else(|| Wrong::at(at, "an expression is missing"))
    }

    fn call(&mut self, at: At<'t>) -> Result<Expression> {
        let name = at.token(0);
        let callee = callee(name).ok_or_else(|| Wrong::at(at, format!("there is no function {name}")))?;
        let function = match callee {
            Callee::Bound => {
                let variable =
                    at.child(Node::Variable).ok_or_else(|| Wrong::at(at, "BOUND takes a variable"))?;
                return Ok(Expression::Bound(Self::variable(variable)));
            }
            Callee::Function(function) => function.clone(),
            Callee::Coalesce => return Ok(Expression::Coalesce(self.operands(at.children())?)),
            Callee::If | Callee::SameTerm => return self.special(at),
        };
        Ok(Expression::FunctionCall(function, self.operands(at.children())?))
    }

    /// IF and SAMETERM.
    fn special(&mut self, at: At<'t>) -> Result<Expression> {
        let mut arguments = self.operands(at.children())?.into_iter().map(Box::new);
        match (arguments.next(), arguments.next(), arguments.next()) {
            (Some(a), Some(b), Some(c)) => Ok(Expression::If(a, b, c)),
            (Some(a), Some(b), None) => Ok(Expression::SameTerm(a, b)),
            _ => Err(Wrong::at(at, "arguments are missing")),
        }
    }

    /// A triple term of an expression is a call of TRIPLE.
    fn triple_value(&mut self, at: At<'t>) -> Result<Expression> {
        let mut parts = Vec::with_capacity(3);
        for part in at.children() {
            parts.push(match part.node() {
                Node::Type => self.iri(part)?.into(),
                _ => self.expression(part)?,
            });
        }
        Ok(Expression::FunctionCall(Function::Triple, parts))
    }
}
