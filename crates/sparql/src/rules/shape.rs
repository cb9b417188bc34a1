//! Rules that have code of their own: transitive ones. Applied like others they would find each pair once for each way between its ends.

use super::delta::in_graph;
use crate::update::{QuadTemplate, TermTemplate};
use lode_rdf::{NamedNode, Term, Variable};
use oxrdf::vocab::rdf;
use spargebra::algebra::{Expression, GraphPattern, PropertyPathExpression as Path};
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

/// How a rule is applied.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// By its queries.
    Usual,
    /// `?x P ?y . ?y P ?z` gives `?x P ?z`.
    Transitive(Transitive),
    /// The same of each property of a class.
    TransitiveOf {
        /// The class.
        class: Term,
        /// The variable that stands for the property.
        property: Variable,
        /// The ends.
        ends: Ends,
    },
}

/// A property of which one step leads to where several do.
#[derive(Debug, Clone, PartialEq)]
pub struct Transitive {
    /// The property.
    pub property: NamedNode,
    ends: Ends,
    /// The variable that a column has of it.
    column: Option<Variable>,
}

/// The variables where a path begins and ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ends {
    from: Variable,
    to: Variable,
}

impl Transitive {
    /// A property of a class.
    pub fn of(property: NamedNode, ends: &Ends, column: &Variable) -> Self {
        Self { property, ends: ends.clone(), column: Some(column.clone()) }
    }

    /// What finds all pairs.
    pub(super) fn whole(&self) -> GraphPattern {
        let Ends { from, to } = &self.ends;
        self.with_column(self.path(from, Path::OneOrMore, to))
    }

    /// What finds the pairs whose way has a new triple: new pairs that were found by this rule need not be among them.
    pub(super) fn delta(&self, new: &NamedNode) -> GraphPattern {
        let Ends { from, to } = &self.ends;
        // No text has such names.
        let [a, b] = [".a", ".b"].map(Variable::new_unchecked);
        let step = TriplePattern {
            subject: a.clone().into(),
            predicate: self.property.clone().into(),
            object: b.clone().into(),
        };
        let (before, after) = (self.path(from, Path::ZeroOrMore, &a), self.path(&b, Path::ZeroOrMore, to));
        let join = |left, right| GraphPattern::Join { left: Box::new(left), right: Box::new(right) };
        self.with_column(join(join(in_graph(vec![step], new), before), after))
    }

    fn path(&self, from: &Variable, often: fn(Box<Path>) -> Path, to: &Variable) -> GraphPattern {
        GraphPattern::Path {
            subject: from.clone().into(),
            path: often(Box::new(Path::NamedNode(self.property.clone()))),
            object: to.clone().into(),
        }
    }

    fn with_column(&self, pattern: GraphPattern) -> GraphPattern {
        match &self.column {
            None => pattern,
            Some(column) => GraphPattern::Extend {
                inner: Box::new(pattern),
                variable: column.clone(),
                expression: Expression::NamedNode(self.property.clone()),
            },
        }
    }
}

/// The shape of a rule.
pub(super) fn of(body: &GraphPattern, head: &[QuadTemplate], variables: &[Variable]) -> Shape {
    of_patterns(body, head, variables).unwrap_or(Shape::Usual)
}

fn of_patterns(body: &GraphPattern, head: &[QuadTemplate], variables: &[Variable]) -> Option<Shape> {
    let (GraphPattern::Bgp { patterns }, [head]) = (body, head) else { return None };
    let column = |term: &TermTemplate| match term {
        TermTemplate::Column(column) => variables.get(*column),
        _ => None,
    };
    let (from, to) = (column(&head.triple.subject)?, column(&head.triple.object)?);
    let is_type =
        |pattern: &TriplePattern| pattern.predicate == NamedNodePattern::NamedNode(rdf::TYPE.into());
    let (typed, steps): (Vec<_>, Vec<_>) =
        patterns.iter().partition(|pattern| patterns.len() == 3 && is_type(pattern));
    let [one, two] = steps.as_slice() else { return None };
    let (first, second) = if is_variable(&one.subject, from) { (one, two) } else { (two, one) };
    let TermPattern::Variable(middle) = &first.object else { return None };
    let is_chain = is_variable(&first.subject, from)
        && is_variable(&second.subject, middle)
        && is_variable(&second.object, to)
        && first.predicate == second.predicate
        && from != to
        && from != middle
        && to != middle;
    if !is_chain {
        return None;
    }
    let ends = Ends { from: from.clone(), to: to.clone() };
    match (&first.predicate, typed.as_slice()) {
        (NamedNodePattern::NamedNode(property), []) => {
            let same = matches!(&head.triple.predicate, TermTemplate::Const(Term::NamedNode(name)) if name == property);
            same.then(|| Shape::Transitive(Transitive { property: property.clone(), ends, column: None }))
        }
        (NamedNodePattern::Variable(property), [typed]) => {
            let TermPattern::NamedNode(class) = &typed.object else { return None };
            let same = column(&head.triple.predicate) == Some(property)
                && is_variable(&typed.subject, property)
                && ![from, to, middle].contains(&property);
            same.then(|| Shape::TransitiveOf {
                class: class.clone().into(),
                property: property.clone(),
                ends,
            })
        }
        _ => None,
    }
}

fn is_variable(term: &TermPattern, variable: &Variable) -> bool {
    matches!(term, TermPattern::Variable(other) if other == variable)
}
