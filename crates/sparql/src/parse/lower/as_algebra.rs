//! Operations of an update in the terms of the algebra alone, where COPY, MOVE and ADD are what they amount to: for who compares.

use super::{Lowered, Modified};
use crate::update::{Graph, GraphTarget, Transfer, TransferKind};
use lode_rdf::Variable;
use spargebra::GraphUpdateOperation;
use spargebra::algebra::{self, GraphPattern};
use spargebra::term::{GraphName, GraphNamePattern, NamedNodePattern, QuadPattern, TriplePattern};

impl Lowered {
    /// The operations that it is.
    pub fn into_algebra(self) -> Vec<GraphUpdateOperation> {
        vec![match self {
            Self::InsertData(data) => GraphUpdateOperation::InsertData { data },
            Self::DeleteData(data) => GraphUpdateOperation::DeleteData { data },
            Self::Modify(modified) => {
                let Modified { delete, insert, using, pattern, .. } = *modified;
                GraphUpdateOperation::DeleteInsert { delete, insert, using, pattern: Box::new(pattern) }
            }
            Self::Load { silent, source, into } => {
                GraphUpdateOperation::Load { silent, source, destination: name(into) }
            }
            Self::Clear(target) => clear(target, false),
            Self::Create { silent, graph } => GraphUpdateOperation::Create { silent, graph },
            Self::Transfer(transfer) => return transferred(transfer),
            Self::Nothing => return Vec::new(),
        }]
    }
}

fn name(graph: Graph) -> GraphName {
    graph.map_or(GraphName::DefaultGraph, GraphName::NamedNode)
}

fn clear(target: GraphTarget, silent: bool) -> GraphUpdateOperation {
    let graph = match target {
        GraphTarget::One(Some(name)) => algebra::GraphTarget::NamedNode(name),
        GraphTarget::One(None) => algebra::GraphTarget::DefaultGraph,
        GraphTarget::Named => algebra::GraphTarget::NamedGraphs,
        GraphTarget::All => algebra::GraphTarget::AllGraphs,
    };
    GraphUpdateOperation::Drop { silent, graph }
}

/// SPARQL 1.1 Update, sections 3.2.3 to 3.2.5.
fn transferred(transfer: Transfer) -> Vec<GraphUpdateOperation> {
    let Transfer { kind, from, to, silent } = transfer;
    let [subject, predicate, object] = ["s", "p", "o"].map(Variable::new_unchecked);
    let triple = TriplePattern {
        subject: subject.clone().into(),
        predicate: predicate.clone().into(),
        object: object.clone().into(),
    };
    let inner = Box::new(GraphPattern::Bgp { patterns: vec![triple] });
    let pattern = match from.clone() {
        Some(from) => Box::new(GraphPattern::Graph { name: NamedNodePattern::NamedNode(from), inner }),
        None => inner,
    };
    let insert = vec![QuadPattern {
        subject: subject.into(),
        predicate: predicate.into(),
        object: object.into(),
        graph_name: GraphNamePattern::from(name(to.clone())),
    }];
    let copy = GraphUpdateOperation::DeleteInsert { delete: Vec::new(), insert, using: None, pattern };
    match kind {
        TransferKind::Add => vec![copy],
        TransferKind::Copy => vec![clear(GraphTarget::One(to), true), copy],
        TransferKind::Move => {
            vec![clear(GraphTarget::One(to), true), copy, clear(GraphTarget::One(from), silent)]
        }
    }
}
