//! What is found in a text.

use lode_rdf::Term;
use std::ops::Range;

/// So many of a kind are found at most.
pub(super) const FOUND_MAX: usize = 32;

/// What a hint is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HintKind {
    /// A variable that nothing binds.
    UnboundVariable,
    /// A variable that is used once, and most likely is another one.
    MisspeltVariable,
    /// Parts of a group that have nothing in common.
    CartesianProduct,
    /// MINUS that removes nothing.
    MinusOfNothing,
    /// A comparison that is always an error, or never holds.
    ImpossibleComparison,
    /// A constant that no quad has, in its place.
    UnknownConstant,
    /// A pattern that only other graphs hold.
    OtherGraph,
    /// A class or a property that only those below it have quads of.
    OnlyBelow,
    /// A triple to delete that is not there.
    NotThere,
}

impl HintKind {
    /// Its name in reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::UnboundVariable => "unbound-variable",
            Self::MisspeltVariable => "misspelt-variable",
            Self::CartesianProduct => "cartesian-product",
            Self::MinusOfNothing => "minus-of-nothing",
            Self::ImpossibleComparison => "impossible-comparison",
            Self::UnknownConstant => "unknown-constant",
            Self::OtherGraph => "other-graph",
            Self::OnlyBelow => "only-below",
            Self::NotThere => "not-there",
        }
    }
}

/// Something that most likely is not meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// What it is about.
    pub kind: HintKind,
    /// Its bytes of the text.
    pub span: Range<usize>,
    /// What is the matter.
    pub message: String,
    /// What may be meant; empty where that is not known.
    pub help: String,
}

/// What was found in a text.
#[derive(Debug, Default)]
pub struct Findings {
    /// What needs no data.
    pub hints: Vec<Hint>,
    /// Constants of patterns.
    pub constants: Vec<Constant>,
    /// Parts that are not joined, which is harmless where they are small.
    pub unjoined: Vec<Unjoined>,
    /// Triples of DELETE DATA.
    pub deleted: Vec<Deleted>,
    /// Prefixes of the text, with what they stand for.
    pub prefixes: Vec<(String, String)>,
    /// The verb of the first pattern of the default graph that any triple may match, or any with a class, where there is no solution without one.
    pub open: Option<Range<usize>>,
}

impl Findings {
    pub(super) fn hint(&mut self, kind: HintKind, span: Range<usize>, message: String, help: String) {
        if self.hints.len() < FOUND_MAX {
            self.hints.push(Hint { kind, span, message, help });
        }
    }

    /// An IRI as the text would write it.
    pub fn short(&self, iri: &str) -> String {
        let local = |start: &str| {
            let local = iri.strip_prefix(start).filter(|_| !start.is_empty())?;
            let is_plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
            (local.chars().all(is_plain) && !local.starts_with('-')).then_some(local)
        };
        let known = self.prefixes.iter().filter_map(|(name, start)| Some((name, local(start)?)));
        match known.min_by_key(|(_, local)| local.len()) {
            Some((name, local)) => format!("{name}:{local}"),
            None => format!("<{iri}>"),
        }
    }
}

/// What a constant is in its pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A subject.
    Subject,
    /// A predicate, or a step of a path.
    Predicate,
    /// A class, behind `a`.
    Class,
    /// Another object.
    Object,
    /// A graph.
    Graph,
}

/// The graph that a pattern is of, with its name as `T`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InGraph<T> {
    /// The default graph.
    Default,
    /// One.
    Named(T),
    /// Each of the named ones.
    Any,
}

/// An IRI of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constant {
    /// The IRI.
    pub iri: String,
    /// What it is.
    pub role: Role,
    /// Its bytes of the text.
    pub span: Range<usize>,
    /// Without a match of its pattern there is no solution, and a solution is what the query asks for.
    pub is_required: bool,
    /// The graph of its pattern.
    pub graph: InGraph<String>,
    /// The text has a dataset of its own there.
    pub has_dataset: bool,
}

impl<T: Copy> InGraph<T> {
    pub(super) fn map<U>(self, of: impl FnOnce(T) -> Option<U>) -> InGraph<U> {
        match self {
            Self::Default => InGraph::Default,
            Self::Named(name) => of(name).map_or(InGraph::Any, InGraph::Named),
            Self::Any => InGraph::Any,
        }
    }
}

/// Parts of a group that have no variable and no constant in common with what is before them.
#[derive(Debug, Clone, PartialEq)]
pub struct Unjoined {
    /// The bytes of the first part that is not joined.
    pub span: Range<usize>,
    /// The triples of what is before, and
    pub before: Vec<Counted>,
    /// its own: of each as many as can be counted.
    pub own: Vec<Counted>,
}

/// The constants of a triple; none: a variable.
#[derive(Debug, Clone, PartialEq)]
pub struct Counted {
    /// Subject.
    pub subject: Option<Term>,
    /// Predicate.
    pub predicate: Option<Term>,
    /// Object.
    pub object: Option<Term>,
}

/// A triple of DELETE DATA, without blank nodes and triple terms in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Deleted {
    /// The bytes of its object.
    pub span: Range<usize>,
    /// Subject.
    pub subject: Term,
    /// Predicate.
    pub predicate: Term,
    /// Object.
    pub object: Term,
    /// The IRI of its graph; none: the default graph.
    pub graph: Option<String>,
}
