//! Queries without the constants that may differ.

use crate::expr_vars::is_boolean;
use lode_rdf::{Literal, NamedNode, Term};
use spargebra::Query;
use spargebra::algebra::{
    AggregateExpression, Expression, GraphPattern, OrderExpression, PropertyPathExpression, QueryDataset,
};
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern, Variable};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Longer keys are not worth keeping.
const KEY_BYTES_MAX: usize = 1 << 14;
/// More parameters take longer to look up than planning does.
const PARAMETERS_MAX: usize = 32;

/// Whether literals are parameters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Literals {
    /// Those in patterns and expressions are; booleans are not.
    #[default]
    Parameters,
    /// They are part of the key: a plan has used their values.
    Fixed,
}

/// A query without its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// Equal for queries that differ in parameters only.
    pub key: Vec<u8>,
    /// The parameters, each once, in the order in which they first occur. None of them occurs as anything else.
    pub parameters: Vec<Term>,
    /// A hash of the names of its variables: names that are not those of results do not tell queries apart, but may be misspelt.
    pub names: u64,
}

impl Shape {
    /// The shape of a query; `None` for those with parts that cannot be compared so.
    pub fn new(query: &Query, literals: Literals) -> Option<Self> {
        let mut walk = Walk { literals, ..Walk::default() };
        let (form, template, dataset, pattern, base) = match query {
            Query::Select { dataset, pattern, base_iri } => (b's', None, dataset, pattern, base_iri),
            Query::Construct { template, dataset, pattern, base_iri } => {
                (b'c', Some(template), dataset, pattern, base_iri)
            }
            Query::Describe { dataset, pattern, base_iri } => (b'd', None, dataset, pattern, base_iri),
            Query::Ask { dataset, pattern, base_iri } => (b'a', None, dataset, pattern, base_iri),
        };
        walk.key.push(form);
        walk.key.push(u8::from(literals == Literals::Fixed));
        walk.text(base.as_ref().map_or("", |base| base.as_str()));
        walk.dataset(dataset.as_ref());
        walk.pattern(pattern)?;
        if let Some(template) = template {
            walk.fixed_triples(template)?;
        }
        // The names of results; all others are only names.
        projected(pattern).iter().for_each(|variable| walk.text(variable.as_str()));
        let mixed = walk.parameters.iter().any(|term| walk.fixed.contains(term));
        walk.small()?;
        let names = walk.name_hash.finish();
        (!mixed).then_some(Self { key: walk.key, parameters: walk.parameters, names })
    }
}

fn projected(pattern: &GraphPattern) -> &[Variable] {
    match pattern {
        GraphPattern::Project { variables, .. } => variables,
        GraphPattern::Slice { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::OrderBy { inner, .. } => projected(inner),
        _ => &[],
    }
}

#[derive(Default)]
struct Walk {
    literals: Literals,
    key: Vec<u8>,
    parameters: Vec<Term>,
    fixed: Vec<Term>,
    /// Variables and blank nodes, numbered as they come: the parser makes up names.
    names: HashMap<String, u32>,
    /// Of the names of variables that the text may have.
    name_hash: DefaultHasher,
}

impl Walk {
    fn tag(&mut self, tag: u8) {
        self.key.push(tag);
    }

    fn number(&mut self, number: usize) {
        self.key.extend_from_slice(&(number as u64).to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len());
        self.key.extend_from_slice(text.as_bytes());
    }

    fn name(&mut self, tag: u8, name: &str) {
        let next = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        let number = match self.names.get(name) {
            Some(number) => *number,
            None => {
                self.names.insert(name.to_owned(), next);
                next
            }
        };
        self.tag(tag);
        self.number(number as usize);
    }

    fn variable(&mut self, variable: &Variable) {
        self.name(b'?', variable.as_str());
        variable.as_str().hash(&mut self.name_hash);
    }

    fn fixed(&mut self, term: Term) {
        self.tag(b'=');
        let text = term.to_string();
        self.text(&text);
        self.fixed.push(term);
    }

    /// IRIs and literals are told apart: `?x = <a>` is a pattern with `<a>` in it, `?x = 5` a comparison.
    fn parameter(&mut self, term: Term) {
        let tag = if term.is_literal() { b'l' } else { b'i' };
        let known = self.parameters.iter().position(|other| *other == term);
        let number = known.unwrap_or_else(|| {
            self.parameters.push(term);
            self.parameters.len() - 1
        });
        self.tag(tag);
        self.number(number);
    }

    fn literal(&mut self, literal: &Literal) {
        let boolean = is_boolean(literal);
        let term = Term::Literal(literal.clone());
        if boolean || self.literals == Literals::Fixed { self.fixed(term) } else { self.parameter(term) }
    }

    fn iri(&mut self, iri: &NamedNode) {
        self.parameter(Term::NamedNode(iri.clone()));
    }

    fn dataset(&mut self, dataset: Option<&QueryDataset>) {
        let mut text = String::new();
        if let Some(dataset) = dataset {
            // Writing to a string cannot fail.
            let _ = write!(text, "{dataset:?}");
            let graphs = dataset.default.iter().chain(dataset.named.iter().flatten());
            self.fixed.extend(graphs.cloned().map(Term::NamedNode));
        }
        self.text(&text);
    }

    /// Parts of a path become patterns and conditions.
    fn path(&mut self, path: &PropertyPathExpression) {
        use PropertyPathExpression as Path;
        match path {
            Path::NamedNode(iri) => self.fixed.push(Term::NamedNode(iri.clone())),
            Path::NegatedPropertySet(iris) => self.fixed.extend(iris.iter().cloned().map(Term::NamedNode)),
            Path::Reverse(inner)
            | Path::ZeroOrMore(inner)
            | Path::OneOrMore(inner)
            | Path::ZeroOrOne(inner) => self.path(inner),
            Path::Sequence(a, b) | Path::Alternative(a, b) => {
                self.path(a);
                self.path(b);
            }
        }
    }

    /// Nothing once there is more than a key may have.
    fn small(&self) -> Option<()> {
        (self.key.len() <= KEY_BYTES_MAX && self.parameters.len() <= PARAMETERS_MAX).then_some(())
    }

    fn pattern(&mut self, pattern: &GraphPattern) -> Option<()> {
        self.small()?;
        match pattern {
            GraphPattern::Bgp { patterns } => {
                self.tag(b'B');
                self.number(patterns.len());
                patterns.iter().try_for_each(|pattern| self.triple(pattern))
            }
            GraphPattern::Path { subject, path, object } => {
                self.tag(b'P');
                self.fixed_term(subject)?;
                self.text(&path.to_string());
                self.path(path);
                self.fixed_term(object)
            }
            GraphPattern::Join { left, right } => self.two(b'J', left, right),
            GraphPattern::Union { left, right } => self.two(b'U', left, right),
            GraphPattern::Minus { left, right } => self.two(b'M', left, right),
            GraphPattern::Lateral { left, right } => self.two(b'A', left, right),
            GraphPattern::LeftJoin { left, right, expression } => {
                self.two(b'L', left, right)?;
                self.tag(u8::from(expression.is_some()));
                expression.iter().try_for_each(|expression| self.expression(expression))
            }
            GraphPattern::Filter { expr, inner } => {
                self.tag(b'F');
                self.expression(expr)?;
                self.pattern(inner)
            }
            GraphPattern::Graph { name, inner } => {
                self.tag(b'G');
                self.fixed_name(name);
                self.pattern(inner)
            }
            GraphPattern::Extend { inner, variable, expression } => {
                self.tag(b'E');
                self.pattern(inner)?;
                self.variable(variable);
                self.expression(expression)
            }
            GraphPattern::Values { variables, bindings } => {
                self.tag(b'V');
                self.variables(variables);
                self.number(bindings.len());
                for term in bindings.iter().flatten() {
                    self.small()?;
                    match term {
                        None => self.tag(b'-'),
                        Some(term) => self.fixed(term.clone().into()),
                    }
                }
                Some(())
            }
            other => self.modifier(other),
        }
    }

    fn modifier(&mut self, pattern: &GraphPattern) -> Option<()> {
        match pattern {
            GraphPattern::OrderBy { inner, expression } => {
                self.tag(b'O');
                self.number(expression.len());
                expression.iter().try_for_each(|key| match key {
                    OrderExpression::Asc(expression) => {
                        self.tag(b'<');
                        self.expression(expression)
                    }
                    OrderExpression::Desc(expression) => {
                        self.tag(b'>');
                        self.expression(expression)
                    }
                })?;
                self.pattern(inner)
            }
            GraphPattern::Project { inner, variables } => {
                self.tag(b'p');
                self.variables(variables);
                self.pattern(inner)
            }
            GraphPattern::Distinct { inner } => {
                self.tag(b'D');
                self.pattern(inner)
            }
            GraphPattern::Reduced { inner } => {
                self.tag(b'R');
                self.pattern(inner)
            }
            GraphPattern::Slice { inner, start, length } => {
                self.tag(b'S');
                self.number(*start);
                self.tag(u8::from(length.is_some()));
                self.number(length.unwrap_or(0));
                self.pattern(inner)
            }
            GraphPattern::Group { inner, variables, aggregates } => {
                self.tag(b'g');
                self.pattern(inner)?;
                self.variables(variables);
                self.number(aggregates.len());
                aggregates.iter().try_for_each(|(variable, aggregate)| {
                    self.variable(variable);
                    self.aggregate(aggregate)
                })
            }
            // SERVICE carries text, and what else there may be is not known here.
            _ => None,
        }
    }

    fn two(&mut self, tag: u8, left: &GraphPattern, right: &GraphPattern) -> Option<()> {
        self.tag(tag);
        self.pattern(left)?;
        self.pattern(right)
    }

    fn variables(&mut self, variables: &[Variable]) {
        self.number(variables.len());
        variables.iter().for_each(|variable| self.variable(variable));
    }

    fn aggregate(&mut self, aggregate: &AggregateExpression) -> Option<()> {
        match aggregate {
            AggregateExpression::CountSolutions { distinct } => {
                self.tag(b'*');
                self.tag(u8::from(*distinct));
                Some(())
            }
            AggregateExpression::FunctionCall { name, expr, distinct } => {
                self.tag(b'f');
                self.text(&format!("{name:?}"));
                self.tag(u8::from(*distinct));
                self.expression(expr)
            }
        }
    }

    fn triple(&mut self, pattern: &TriplePattern) -> Option<()> {
        self.small()?;
        self.term(&pattern.subject)?;
        self.fixed_name(&pattern.predicate);
        self.term(&pattern.object)
    }

    fn fixed_triples(&mut self, patterns: &[TriplePattern]) -> Option<()> {
        self.number(patterns.len());
        patterns.iter().try_for_each(|pattern| {
            self.fixed_term(&pattern.subject)?;
            self.fixed_name(&pattern.predicate);
            self.fixed_term(&pattern.object)
        })
    }

    fn term(&mut self, term: &TermPattern) -> Option<()> {
        match term {
            TermPattern::NamedNode(iri) => self.iri(iri),
            TermPattern::Literal(literal) => self.literal(literal),
            other => return self.fixed_term(other),
        }
        Some(())
    }

    fn fixed_term(&mut self, term: &TermPattern) -> Option<()> {
        match term {
            TermPattern::NamedNode(iri) => self.fixed(Term::NamedNode(iri.clone())),
            TermPattern::Literal(literal) => self.fixed(Term::Literal(literal.clone())),
            TermPattern::BlankNode(node) => self.name(b'_', &format!("_:{}", node.as_str())),
            TermPattern::Variable(variable) => self.variable(variable),
            TermPattern::Triple(_) => return None,
        }
        Some(())
    }

    fn fixed_name(&mut self, name: &NamedNodePattern) {
        match name {
            NamedNodePattern::NamedNode(iri) => self.fixed(Term::NamedNode(iri.clone())),
            NamedNodePattern::Variable(variable) => self.variable(variable),
        }
    }

    fn expression(&mut self, expression: &Expression) -> Option<()> {
        self.small()?;
        let (tag, operands): (u8, Vec<&Expression>) = match expression {
            Expression::NamedNode(iri) => {
                self.iri(iri);
                return Some(());
            }
            Expression::Literal(literal) => {
                self.literal(literal);
                return Some(());
            }
            Expression::Variable(variable) => {
                self.variable(variable);
                return Some(());
            }
            Expression::Bound(variable) => {
                self.name(b'b', variable.as_str());
                return Some(());
            }
            Expression::Or(a, b) => (1, vec![a, b]),
            Expression::And(a, b) => (2, vec![a, b]),
            Expression::Equal(a, b) => (3, vec![a, b]),
            Expression::SameTerm(a, b) => (4, vec![a, b]),
            Expression::Greater(a, b) => (5, vec![a, b]),
            Expression::GreaterOrEqual(a, b) => (6, vec![a, b]),
            Expression::Less(a, b) => (7, vec![a, b]),
            Expression::LessOrEqual(a, b) => (8, vec![a, b]),
            Expression::In(a, list) => (9, std::iter::once(&**a).chain(list).collect()),
            Expression::Add(a, b) => (10, vec![a, b]),
            Expression::Subtract(a, b) => (11, vec![a, b]),
            Expression::Multiply(a, b) => (12, vec![a, b]),
            Expression::Divide(a, b) => (13, vec![a, b]),
            Expression::UnaryPlus(a) => (14, vec![a]),
            Expression::UnaryMinus(a) => (15, vec![a]),
            Expression::Not(a) => (16, vec![a]),
            Expression::If(a, b, c) => (17, vec![a, b, c]),
            Expression::Coalesce(list) => (18, list.iter().collect()),
            Expression::FunctionCall(function, arguments) => {
                self.text(&function.to_string());
                (19, arguments.iter().collect())
            }
            Expression::Exists(pattern) => {
                self.tag(20);
                return self.pattern(pattern);
            }
        };
        self.tag(tag);
        self.number(operands.len());
        operands.into_iter().try_for_each(|operand| self.expression(operand))
    }
}
