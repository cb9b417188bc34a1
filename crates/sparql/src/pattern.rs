//! What patterns are made of: their positions, the graphs they look into, and patterns that are planned while a query runs.

use crate::schema::Schema;
use crate::variable::VarId;
use lode_rdf::{NamedNode, Term, ValueId};
use spargebra::algebra::GraphPattern;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A position of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// This term.
    Const(ValueId),
    /// Bound by the pattern. The same variable may stand in several positions: all must then be equal.
    Var(VarId),
    /// Any term, not delivered (each match still counts as one row).
    Any,
}

/// Which graphs a pattern looks into.
#[derive(Debug, Clone, PartialEq)]
pub enum GraphScope {
    /// The default graph alone.
    Default,
    /// The union of all graphs as one set of triples (`--default-graph union`): duplicates across graphs count once.
    Union,
    /// The merge of several graphs (`FROM`), as one set of triples: duplicates across graphs count once.
    Merge(Arc<[ValueId]>),
    /// One named graph, or the named graphs (not the default one): all of them, or those `among` the given (`FROM NAMED`).
    /// `slot` is a constant, a variable that receives the name, or `Any`.
    Named {
        /// The graph's name.
        slot: Slot,
        /// Sorted; `None`: all named graphs.
        among: Option<Arc<[ValueId]>>,
    },
}

/// A position of a path pattern, or of VALUES: unlike [`Slot`], its constant may be a term that the store lacks.
#[derive(Debug, Clone, PartialEq)]
pub enum TermSlot {
    /// This term.
    Const(Term),
    /// A variable.
    Var(VarId),
}

/// A pattern that is planned while the query runs: an EXISTS that is no semi-join, once for all bindings of its outer variables (see
/// [`crate::plan_dependent`]), or the body of a GRAPH with a variable in which a SERVICE is asked, once per graph.
#[derive(Debug, Clone, PartialEq)]
pub struct SubPattern {
    /// The algebra. Only the planner reads it.
    pub(crate) algebra: GraphPattern,
    /// Names in `algebra` that mean variables of the outer query. For an EXISTS: columns of the row it is tested on. For a
    /// [`PlanOp::ForEachGraph`](crate::PlanOp::ForEachGraph): the names whose columns the pattern delivers.
    pub scope: BTreeMap<String, VarId>,
    /// Names in `algebra` that stand for these terms: what an enclosing EXISTS has replaced already.
    pub constants: BTreeMap<String, Term>,
    /// Where its triple patterns look.
    pub graph: GraphScope,
    /// The query's dataset, for GRAPH inside.
    pub dataset: Arc<Dataset>,
}

impl SubPattern {
    /// The same pattern, looking elsewhere.
    pub fn in_graph(&self, graph: GraphScope) -> Self {
        Self { graph, ..self.clone() }
    }
}

/// The query's dataset after FROM, FROM NAMED and the protocol's parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// Where patterns outside GRAPH look.
    pub default: GraphScope,
    /// The named graphs; `None`: all of the store.
    pub named: Option<NamedGraphs>,
    /// Base IRI for IRI().
    pub base_iri: Option<String>,
    /// By what triples follow that are in none of its graphs, and belong to the graph of those from which they follow.
    pub schema: Option<Arc<Schema>>,
    /// Names of graphs that GRAPH with a variable leaves out: they are found by name only.
    pub hidden: Arc<[NamedNode]>,
    /// Whether relations of places hold that follow from geometries.
    pub relates_places: bool,
}

/// The named graphs that a query or the protocol lists. All of them are there, with quads or without (SPARQL 1.1 section 13.2).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NamedGraphs {
    /// Ids of the names that the store knows, sorted; without those of graphs that who asks may not read.
    pub ids: Arc<[ValueId]>,
    /// The other names, sorted: their graphs have no quads, or none for who asks.
    pub unknown: Arc<[Term]>,
}

impl NamedGraphs {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.ids.len() + self.unknown.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Graphs given by the protocol (`default-graph-uri`, `named-graph-uri`) or the command line; they override FROM and FROM NAMED.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DatasetOverride {
    /// Graphs that make up the default graph.
    pub default: Vec<NamedNode>,
    /// The named graphs.
    pub named: Vec<NamedNode>,
    /// The graphs that there are for who asks; `None`: all. Whatever is given, or named by FROM, is of these.
    pub visible: Option<VisibleGraphs>,
    /// By what further triples follow.
    pub schema: Option<Arc<Schema>>,
    /// Where those are that rules have added, if there are any.
    pub inferred: Option<InferredGraph>,
    /// Whether relations of places hold that follow from geometries.
    pub relates_places: bool,
}

/// The graph of inferences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InferredGraph {
    /// The graph.
    pub graph: ValueId,
    /// Whether the default graph has its triples as well, where the query does not say what that is made of.
    pub is_shown: bool,
    /// Whether there are no named graphs but it and hidden ones whose triples it has.
    pub is_alone: bool,
    /// Its name, and those of other graphs that GRAPH with a variable leaves out.
    pub hidden: Arc<[NamedNode]>,
}

/// The graphs of a version that somebody may read. The others do not exist.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VisibleGraphs {
    /// Whether the default graph is one of them. If not it is empty.
    pub default: bool,
    /// The named graphs that have quads, sorted.
    pub named: Arc<[ValueId]>,
}

impl VisibleGraphs {
    /// Whether a graph is one of them.
    pub fn has(&self, graph: ValueId) -> bool {
        if graph == ValueId::DEFAULT_GRAPH { self.default } else { self.named.binary_search(&graph).is_ok() }
    }

    /// All of them, sorted.
    pub fn all(&self) -> Vec<ValueId> {
        let mut all = self.named.to_vec();
        if self.default {
            all.push(ValueId::DEFAULT_GRAPH);
        }
        all.sort_unstable();
        all
    }
}
