//! Update requests as the engine runs them: a list of operations, with templates whose variables are columns of a query.

use lode_rdf::{NamedNode, Quad, Term, Variable};
use spargebra::Query;

/// A parsed request.
#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    /// What to do, one after the other; each sees what those before it did.
    pub operations: Vec<Operation>,
}

/// A graph of the store; `None` is the default graph.
pub type Graph = Option<NamedNode>;

/// One operation.
#[derive(Debug, Clone, PartialEq)]
pub enum Operation {
    /// INSERT DATA. Blank nodes have the request's labels: each is a new one.
    InsertData(Vec<Quad>),
    /// DELETE DATA: quads without blank nodes.
    DeleteData(Vec<Quad>),
    /// DELETE, INSERT or both, WHERE.
    Modify(Box<Modify>),
    /// LOAD.
    Load {
        /// What to read.
        source: NamedNode,
        /// Where its triples go.
        into: Graph,
        /// A failure is no error, and has no effect.
        silent: bool,
    },
    /// CLEAR and DROP, which are the same where graphs without quads do not exist. They never fail, so there is no SILENT.
    Clear(GraphTarget),
    /// CREATE.
    Create {
        /// The graph.
        graph: NamedNode,
        /// That it exists is no error.
        silent: bool,
    },
    /// COPY, MOVE or ADD from one graph to another.
    Transfer(Transfer),
    /// COPY, MOVE or ADD from a graph to itself.
    Nothing,
}

/// Which graphs CLEAR and DROP empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GraphTarget {
    /// One graph.
    One(Graph),
    /// All but the default graph.
    Named,
    /// All.
    All,
}

/// COPY, MOVE or ADD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    /// Which.
    pub kind: TransferKind,
    /// The source.
    pub from: Graph,
    /// The destination, which is another graph.
    pub to: Graph,
    /// That the source does not exist is no error; nothing is changed then.
    pub silent: bool,
}

/// What a [`Transfer`] removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransferKind {
    /// Nothing.
    Add,
    /// What the destination held.
    Copy,
    /// What the destination held, and the source.
    Move,
}

/// DELETE, INSERT or both, for each solution of a pattern.
#[derive(Debug, Clone, PartialEq)]
pub struct Modify {
    /// Quads to delete. They have no blank nodes.
    pub delete: Vec<QuadTemplate>,
    /// Quads to insert.
    pub insert: Vec<QuadTemplate>,
    /// The variables of the templates: the columns of [`Modify::query`].
    pub variables: Vec<Variable>,
    /// How many blank nodes the templates make for each solution.
    pub blanks: u32,
    /// A SELECT of the variables with the pattern of WHERE and the dataset of USING or WITH. Rows that come twice may come once
    /// where that makes no difference.
    pub query: Query,
}

impl Modify {
    /// Whether the request itself says what WHERE sees (USING, USING NAMED, WITH), so that the protocol must not.
    pub fn names_dataset(&self) -> bool {
        self.query.dataset().is_some()
    }
}

/// A quad with variables.
#[derive(Debug, Clone, PartialEq)]
pub struct QuadTemplate {
    /// Subject, predicate and object.
    pub triple: TripleTemplate,
    /// The graph; `None` is the default graph.
    pub graph: Option<TermTemplate>,
}

/// A triple with variables.
#[derive(Debug, Clone, PartialEq)]
pub struct TripleTemplate {
    /// Subject.
    pub subject: TermTemplate,
    /// Predicate.
    pub predicate: TermTemplate,
    /// Object.
    pub object: TermTemplate,
}

/// A position of a template.
#[derive(Debug, Clone, PartialEq)]
pub enum TermTemplate {
    /// Always the same term.
    Const(Term),
    /// The value in a column.
    Column(usize),
    /// A blank node, new for each solution, the same for the same number within one.
    Blank(u32),
    /// A triple term.
    Triple(Box<TripleTemplate>),
}
