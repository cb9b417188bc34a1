//! The graph that `lode dump --graph` names.

use crate::exit::wrong_usage;
use anyhow::bail;
use lode_engine::Order;
use lode_engine::store::Snapshot;
use lode_rdf::{NamedNode, Term, ValueId};

/// An IRI without its brackets.
pub fn bare(name: &str) -> &str {
    name.trim_start_matches('<').trim_end_matches('>')
}

/// Its id; an error where there is no such graph.
pub fn graph_id(snapshot: &Snapshot, name: &str) -> anyhow::Result<ValueId> {
    if name == "default" {
        return Ok(ValueId::DEFAULT_GRAPH);
    }
    let iri = NamedNode::new(bare(name)).map_err(|error| {
        wrong_usage(format!("--graph {name} is not an absolute IRI (nor `default`): {error}"))
    })?;
    let id = snapshot.id_of(&Term::NamedNode(iri))?;
    match id {
        Some(id) if snapshot.count(Order::Gspo, &[id])? > 0 => Ok(id),
        _ => bail!("there is no graph <{name}>"),
    }
}
