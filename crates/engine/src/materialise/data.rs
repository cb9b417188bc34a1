//! What is looked up in the data besides what rules ask: instances of a class of properties, triples that rules have for themselves, and lists for which there are no rules.

use crate::EngineError;
use lode_base::cancel::CancelToken;
use lode_packed::Order;
use lode_rdf::{Kind, NamedNode, Term, ValueId};
use lode_sparql::rules::{AUXILIARY, Atom, Rule};
use lode_sparql::schema::vocabulary::{owl, rdf};
use lode_store::Snapshot;
use std::collections::HashSet;

/// Rows read at once.
const ROWS: usize = 4096;
/// Lists of more members have no rule.
const LIST_MAX: usize = 4;

/// The IRIs that `graphs` (all, where they are not given) say to be of a class.
pub(super) fn instances(
    class: &Term,
    graphs: Option<[ValueId; 2]>,
    snapshot: &Snapshot,
    cancel: &CancelToken,
) -> Result<Vec<ValueId>, EngineError> {
    let ids = (snapshot.id_of(&rdf("type"))?, snapshot.id_of(class)?);
    let (Some(type_id), Some(class)) = ids else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    let mut scan = snapshot.scan(Order::Posg, &[type_id, class], 0b1100)?;
    let mut columns: [Vec<ValueId>; 4] = Default::default();
    while scan.next(ROWS, &mut columns)? > 0 {
        cancel.check().map_err(EngineError::Cancelled)?;
        let [_, _, subjects, in_graphs] = &mut columns;
        for (id, graph) in subjects.drain(..).zip(in_graphs.drain(..)) {
            if graphs.is_none_or(|graphs| graphs.contains(&graph)) {
                found.push(id);
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found.retain(|id| id.kind() == Some(Kind::Iri));
    Ok(found)
}

/// The quads of a graph that rules have made for themselves.
pub(super) fn auxiliary(
    rules: &[Rule],
    graph: ValueId,
    snapshot: &Snapshot,
    cancel: &CancelToken,
) -> Result<Vec<[ValueId; 4]>, EngineError> {
    let written = rules.iter().flat_map(Rule::writes).filter_map(|atom| atom.predicate.as_ref());
    let own: HashSet<&NamedNode> = written.filter(|name| name.as_str().starts_with(AUXILIARY)).collect();
    let mut quads = Vec::new();
    for name in own {
        let Some(predicate) = snapshot.id_of(&Term::from(name.clone()))? else { continue };
        let mut scan = snapshot.scan(Order::Psog, &[predicate], 0b1110)?;
        let mut columns: [Vec<ValueId>; 4] = Default::default();
        while scan.next(ROWS, &mut columns)? > 0 {
            cancel.check().map_err(EngineError::Cancelled)?;
            let [_, subjects, objects, graphs] = &mut columns;
            for ((s, o), g) in subjects.drain(..).zip(objects.drain(..)).zip(graphs.drain(..)) {
                if g == graph {
                    quads.push([s, predicate, o, g]);
                }
            }
        }
    }
    Ok(quads)
}

/// Chains and keys that have more members than there are rules for.
pub(super) fn lists_too_long(rules: &[Rule], snapshot: &Snapshot) -> Result<u64, EngineError> {
    let rest = snapshot.id_of(&rdf("rest"))?;
    let reads = |term: &Term| {
        let is = |atom: &Atom| atom.predicate.as_ref().is_some_and(|p| Term::from(p.clone()) == *term);
        rules.iter().any(|rule| rule.reads().any(is))
    };
    let (mut count, mut columns): (u64, [Vec<ValueId>; 4]) = (0, Default::default());
    for property in ["propertyChainAxiom", "hasKey"].map(owl) {
        let (Some(id), Some(rest), true) = (snapshot.id_of(&property)?, rest, reads(&property)) else {
            continue;
        };
        let mut scan = snapshot.scan(Order::Posg, &[id], 0b0010)?;
        while scan.next(ROWS, &mut columns)? > 0 {
            for list in std::mem::take(&mut columns[1]) {
                let mut at = Some(list);
                for _ in 0..=LIST_MAX {
                    let Some(cell) = at else { break };
                    let mut next: [Vec<ValueId>; 4] = Default::default();
                    snapshot.scan(Order::Psog, &[rest, cell], 0b0100)?.next(1, &mut next)?;
                    at = next[2].pop();
                }
                count += u64::from(at.is_some());
            }
        }
    }
    Ok(count)
}
