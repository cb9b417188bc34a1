//! Variables of expressions: which they mention, and rewriting them.

use crate::expr::Expr;
use crate::var_set::VarSet;
use crate::variable::VarId;
use lode_rdf::{Literal, Term};
use std::sync::Arc;

impl Expr {
    /// An expression that is always an error.
    pub(crate) fn error() -> Self {
        Self::Coalesce(Vec::new())
    }

    /// `true` or `false`.
    pub(crate) fn boolean(value: bool) -> Self {
        Self::Const(Term::Literal(Literal::from(value)))
    }

    /// `a && b`, flat.
    pub(crate) fn and(exprs: Vec<Self>) -> Option<Self> {
        match exprs.len() {
            0 => None,
            1 => exprs.into_iter().next(),
            _ => Some(Self::And(exprs)),
        }
    }

    /// The operands of a conjunction (one, where it is none).
    pub(crate) fn conjuncts(self) -> Vec<Self> {
        match self {
            Self::And(parts) => parts.into_iter().flat_map(Self::conjuncts).collect(),
            other => vec![other],
        }
    }

    /// Direct operands.
    pub fn children(&self) -> Vec<&Self> {
        match self {
            Self::Const(_) | Self::Var(_) | Self::Bound(_) | Self::Exists(_) => Vec::new(),
            Self::Or(parts) | Self::And(parts) | Self::Coalesce(parts) | Self::Call(_, parts) => {
                parts.iter().collect()
            }
            Self::Not(a) | Self::UnaryPlus(a) | Self::UnaryMinus(a) | Self::Among(a, _) => vec![a],
            Self::Equal(a, b)
            | Self::SameTerm(a, b)
            | Self::Less(a, b)
            | Self::LessOrEqual(a, b)
            | Self::Greater(a, b)
            | Self::GreaterOrEqual(a, b)
            | Self::Add(a, b)
            | Self::Subtract(a, b)
            | Self::Multiply(a, b)
            | Self::Divide(a, b) => vec![a, b],
            Self::In(a, list) => std::iter::once(&**a).chain(list.iter()).collect(),
            Self::If(a, b, c) => vec![a, b, c],
        }
    }

    /// Direct operands.
    pub(crate) fn children_mut(&mut self) -> Vec<&mut Self> {
        match self {
            Self::Const(_) | Self::Var(_) | Self::Bound(_) | Self::Exists(_) => Vec::new(),
            Self::Or(parts) | Self::And(parts) | Self::Coalesce(parts) | Self::Call(_, parts) => {
                parts.iter_mut().collect()
            }
            Self::Not(a) | Self::UnaryPlus(a) | Self::UnaryMinus(a) | Self::Among(a, _) => vec![a],
            Self::Equal(a, b)
            | Self::SameTerm(a, b)
            | Self::Less(a, b)
            | Self::LessOrEqual(a, b)
            | Self::Greater(a, b)
            | Self::GreaterOrEqual(a, b)
            | Self::Add(a, b)
            | Self::Subtract(a, b)
            | Self::Multiply(a, b)
            | Self::Divide(a, b) => vec![a, b],
            // A list of constants has nothing to be changed but by who changes constants.
            Self::In(a, list) => std::iter::once(&mut **a).chain(Arc::make_mut(list)).collect(),
            Self::If(a, b, c) => vec![a, b, c],
        }
    }

    /// All variables mentioned, those that patterns inside take from outside included.
    pub(crate) fn vars(&self) -> VarSet {
        let mut found = VarSet::new();
        self.collect_vars(&mut found);
        found
    }

    pub(crate) fn collect_vars(&self, found: &mut VarSet) {
        match self {
            Self::Var(var) | Self::Bound(var) => {
                found.insert(*var);
            }
            Self::Exists(sub) => sub.scope.values().for_each(|v| {
                found.insert(*v);
            }),
            other => other.children().into_iter().for_each(|c| c.collect_vars(found)),
        }
    }

    /// Whether an EXISTS is inside.
    pub(crate) fn has_exists(&self) -> bool {
        matches!(self, Self::Exists(_)) || self.children().into_iter().any(Self::has_exists)
    }

    /// Whether two evaluations over the same row can differ (and so the number of evaluations matters).
    pub(crate) fn is_volatile(&self) -> bool {
        let own = match self {
            Self::Call(callee, _) => callee.is_volatile(),
            _ => false,
        };
        own || self.children().into_iter().any(Self::is_volatile)
    }

    /// Puts a term in for a variable (not in patterns inside).
    pub(crate) fn substitute(&mut self, var: VarId, term: &Term) {
        match self {
            Self::Var(v) if *v == var => *self = Self::Const(term.clone()),
            Self::Bound(v) if *v == var => *self = Self::boolean(true),
            other => other.children_mut().into_iter().for_each(|c| c.substitute(var, term)),
        }
    }

    /// Puts a variable in for another (not in patterns inside).
    pub fn rename(&mut self, var: VarId, to: VarId) {
        match self {
            Self::Var(v) | Self::Bound(v) if *v == var => *v = to,
            other => other.children_mut().into_iter().for_each(|c| c.rename(var, to)),
        }
    }

    /// Replaces variables that are no column of the input by what they are there: unbound.
    pub(crate) fn restrict(&mut self, available: &VarSet) {
        match self {
            Self::Var(var) if !available.contains(*var) => *self = Self::error(),
            Self::Bound(var) if !available.contains(*var) => *self = Self::boolean(false),
            Self::Exists(sub) if !sub.scope.values().all(|v| available.contains(*v)) => {
                let mut kept = (**sub).clone();
                kept.scope.retain(|_, v| available.contains(*v));
                *self = Self::Exists(std::sync::Arc::new(kept));
            }
            other => other.children_mut().into_iter().for_each(|c| c.restrict(available)),
        }
    }
}

/// Whether a literal is an `xsd:boolean`, valid or not.
pub(crate) fn is_boolean(literal: &Literal) -> bool {
    literal.datatype().as_str() == "http://www.w3.org/2001/XMLSchema#boolean"
}

/// The variables of several expressions.
pub(crate) fn vars_of<'a>(exprs: impl IntoIterator<Item = &'a Expr>) -> VarSet {
    let mut found = VarSet::new();
    for expr in exprs {
        expr.collect_vars(&mut found);
    }
    found
}
