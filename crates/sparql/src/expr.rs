//! Expressions over numbered variables, as operators evaluate them.

use crate::aggregate::AggregateFunction;
pub(crate) use crate::expr_vars::vars_of;
use crate::function::Callee;
use crate::id_set::IdSet;
use crate::pattern::SubPattern;
use crate::variable::VarId;
use lode_rdf::Term;
use std::sync::Arc;

/// A SPARQL expression (SPARQL 1.1 section 17, SPARQL 1.2). Errors are values: the unbound id.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    /// A constant.
    Const(Term),
    /// A variable's value; an error where unbound.
    Var(VarId),
    /// `BOUND(?v)`.
    Bound(VarId),
    /// Logical or, three-valued, two or more operands.
    Or(Vec<Expr>),
    /// Logical and, three-valued, two or more operands.
    And(Vec<Expr>),
    /// `!`.
    Not(Box<Expr>),
    /// `=`.
    Equal(Box<Expr>, Box<Expr>),
    /// `sameTerm`.
    SameTerm(Box<Expr>, Box<Expr>),
    /// `<`.
    Less(Box<Expr>, Box<Expr>),
    /// `<=`.
    LessOrEqual(Box<Expr>, Box<Expr>),
    /// `>`.
    Greater(Box<Expr>, Box<Expr>),
    /// `>=`.
    GreaterOrEqual(Box<Expr>, Box<Expr>),
    /// `IN`. Copies of the expression share the list, by which its set is found again.
    In(Box<Expr>, Arc<Vec<Expr>>),
    /// Whether a term is one of many that the planner has looked up; an error where unbound.
    Among(Box<Expr>, Arc<IdSet>),
    /// `+`.
    Add(Box<Expr>, Box<Expr>),
    /// `-`.
    Subtract(Box<Expr>, Box<Expr>),
    /// `*`.
    Multiply(Box<Expr>, Box<Expr>),
    /// `/`.
    Divide(Box<Expr>, Box<Expr>),
    /// Unary `+`.
    UnaryPlus(Box<Expr>),
    /// Unary `-`.
    UnaryMinus(Box<Expr>),
    /// `IF`.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `COALESCE`.
    Coalesce(Vec<Expr>),
    /// A function, a cast among them.
    Call(Callee, Vec<Expr>),
    /// `EXISTS`, where it could not become a semi-join: evaluated for many distinct bindings at once.
    Exists(Arc<SubPattern>),
}

/// One aggregate of a group. `COUNT(DISTINCT *)` is that of rows with `distinct`: distinct rows over all the input's visible variables.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregate {
    /// The variable that receives the result.
    pub output: VarId,
    /// What is computed.
    pub function: &'static AggregateFunction,
    /// What it puts between values; `None` for those that put nothing there, and where the query does not say.
    pub separator: Option<Arc<str>>,
    /// Its argument; `None` for `COUNT(*)`.
    pub argument: Option<Expr>,
    /// Whether equal terms count once.
    pub distinct: bool,
}

impl Aggregate {
    /// An aggregate of all rows, of values that are equal, too.
    pub fn new(output: VarId, function: &'static AggregateFunction, argument: Option<Expr>) -> Self {
        Self { output, function, separator: None, argument, distinct: false }
    }
}
