//! Shapes, as they are after reading: what is in them is right, and they refer to each other by number.

use crate::path::Path;
use lode_rdf::{Literal, NamedNode, NamedOrBlankNode, Term};
use std::fmt;

/// The place of a shape among all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ShapeId(pub(crate) usize);

/// A node shape, or, with a path, a property shape.
#[derive(Debug)]
pub struct Shape {
    /// Its name.
    pub node: NamedOrBlankNode,
    /// From a focus node to its values; of a node shape, the focus node is its only value.
    pub path: Option<Path>,
    /// Which nodes are to conform to it by themselves.
    pub targets: Vec<Target>,
    /// How bad it is if they do not.
    pub severity: NamedNode,
    /// What to say then; none: what the constraint says.
    pub messages: Vec<Literal>,
    /// Whether all nodes conform to it, whatever it says.
    pub is_deactivated: bool,
    /// What it says.
    pub constraints: Vec<Constraint>,
}

/// What are focus nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// This one.
    Node(Term),
    /// Instances of a class.
    Class(NamedNode),
    /// Subjects of a property.
    SubjectsOf(NamedNode),
    /// Objects of a property.
    ObjectsOf(NamedNode),
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(term) => write!(f, "sh:targetNode {term}"),
            Self::Class(class) => write!(f, "sh:targetClass {class}"),
            Self::SubjectsOf(property) => write!(f, "sh:targetSubjectsOf {property}"),
            Self::ObjectsOf(property) => write!(f, "sh:targetObjectsOf {property}"),
        }
    }
}

/// One thing that a shape says.
#[derive(Debug)]
pub struct Constraint {
    /// The name of its component.
    pub component: NamedNode,
    /// What is to hold.
    pub rule: Rule,
}

/// The kinds of nodes that sh:nodeKind tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeKind {
    /// Whether IRIs are allowed.
    pub iris: bool,
    /// Whether blank nodes are.
    pub blank_nodes: bool,
    /// Whether literals are.
    pub literals: bool,
}

/// How a value and a limit compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Comparison {
    /// As in SPARQL.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }
}

/// What is to hold of values, or of a focus node.
#[derive(Debug)]
pub enum Rule {
    /// Values are instances of a class.
    Class(Term),
    /// Values are literals of a datatype, and well formed.
    Datatype(NamedNode),
    /// Values are of a kind.
    NodeKind(NodeKind),
    /// There are at least so many.
    MinCount(u64),
    /// There are at most so many.
    MaxCount(u64),
    /// Values compare with a limit.
    Range(Comparison, Literal),
    /// Texts are at least so long.
    MinLength(u64),
    /// Texts are at most so long.
    MaxLength(u64),
    /// Texts match a regular expression.
    Pattern {
        /// The expression.
        pattern: String,
        /// Its flags.
        flags: String,
    },
    /// Values have one of some languages.
    LanguageIn(Vec<String>),
    /// No two values have one language.
    UniqueLang,
    /// The values are those of another property.
    Equals(NamedNode),
    /// No value is one of another property.
    Disjoint(NamedNode),
    /// Each value compares so with each of another property.
    LessThan(Comparison, NamedNode),
    /// Values do not conform to a shape.
    Not(ShapeId),
    /// Values conform to all of some shapes.
    And(Vec<ShapeId>),
    /// To at least one.
    Or(Vec<ShapeId>),
    /// To exactly one.
    Xone(Vec<ShapeId>),
    /// To this one.
    Node(ShapeId),
    /// This property shape holds for values, and says itself what does not.
    Property(ShapeId),
    /// So many values conform to a shape.
    Qualified {
        /// The shape.
        shape: ShapeId,
        /// Values that conform to one of these do not count.
        others: Vec<ShapeId>,
        /// How many.
        count: u64,
        /// Whether there may be more, or may be less.
        is_least: bool,
    },
    /// Values have no properties but these.
    Closed(Vec<NamedNode>),
    /// This is among the values.
    HasValue(Term),
    /// Values are among these.
    In(Vec<Term>),
    /// A query finds what violates.
    Sparql(SparqlRule),
}

/// A query of the shapes graph.
#[derive(Debug)]
pub struct SparqlRule {
    /// The node that has it: of sh:sparql the constraint, else the validator.
    pub node: NamedOrBlankNode,
    /// Whether reports name that node (sh:sparql), or only the component.
    pub is_constraint: bool,
    /// Its text, as in the shapes graph.
    pub text: String,
    /// Whether it is an ASK, which holds of what conforms.
    pub is_ask: bool,
    /// The IRIs of its prefixes.
    pub prefixes: Vec<(String, String)>,
    /// Its parameters, by name of their variables.
    pub parameters: Vec<(String, Term)>,
    /// What to say of what violates; with `{?variable}` in it.
    pub messages: Vec<Literal>,
}
