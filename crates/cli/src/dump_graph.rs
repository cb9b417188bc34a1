//! The graphs that a dump is of: the one that `lode dump --graph` names, or all.

use crate::exit::wrong_usage;
use anyhow::bail;
use lode_engine::store::{DumpScope, Snapshot};
use lode_engine::{Order, inferred_graph};
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

/// All quads, or those that were stated.
pub fn whole(snapshot: &Snapshot, with_inferred: bool) -> anyhow::Result<DumpScope> {
    let inferred = if with_inferred { None } else { inferred_graph(snapshot)? };
    Ok(inferred.map_or(DumpScope::All, DumpScope::AllBut))
}

/// Whether there are named graphs to dump.
pub fn has_graphs(snapshot: &Snapshot, with_inferred: bool) -> anyhow::Result<bool> {
    let named = snapshot.count(Order::Gspo, &[])?;
    Ok(match whole(snapshot, with_inferred)? {
        DumpScope::AllBut(graph) => named > snapshot.count(Order::Gspo, &[graph])?,
        _ => named > 0,
    })
}
