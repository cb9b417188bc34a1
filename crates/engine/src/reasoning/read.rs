//! A schema, read from a version.

use super::Reasoning;
use crate::EngineError;
use lode_base::cancel::CancelToken;
use lode_base::memory_budget::{MemoryBudget, Reservation};
use lode_exec::ExecError;
use lode_packed::Order;
use lode_rdf::{Term, ValueId};
use lode_sparql::plan::VisibleGraphs;
use lode_sparql::schema::vocabulary::{owl, rdf, rdfs};
use lode_sparql::schema::{Schema, SchemaFact};
use lode_store::{Snapshot, StoreError};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A schema may say so much: it is in memory while it is used, and searched for each pattern.
const FACTS_MAX: usize = 4_000_000;
/// What one takes, with its terms.
const FACT_BYTES: usize = 512;
/// Rows that are read between two looks at the clock.
const ROWS_AT_ONCE: usize = 4096;

/// The schema that a version has, of the graphs that are visible, and the memory that it takes of a budget.
pub(crate) fn read(
    snapshot: &Snapshot,
    reasoning: &Reasoning,
    visible: Option<&VisibleGraphs>,
    cancel: &CancelToken,
    budget: &MemoryBudget,
) -> Result<(Arc<Schema>, Reservation), EngineError> {
    let (graphs, memory) = (graphs(snapshot, reasoning)?, budget.reserve_empty());
    let mut reader = Reader { snapshot, graphs, visible, cancel, facts: 0, memory };
    let mut facts = Vec::new();
    reader.pairs(&rdfs("subClassOf"), &mut |a, b| facts.push(SchemaFact::SubClass(a, b)))?;
    reader.pairs(&owl("equivalentClass"), &mut |a, b| {
        facts.push(SchemaFact::SubClass(a.clone(), b.clone()));
        facts.push(SchemaFact::SubClass(b, a));
    })?;
    reader.intersections(&mut facts)?;
    reader.pairs(&rdfs("subPropertyOf"), &mut |a, b| facts.push(SchemaFact::SubProperty(a, b)))?;
    reader.pairs(&owl("equivalentProperty"), &mut |a, b| {
        facts.push(SchemaFact::SubProperty(a.clone(), b.clone()));
        facts.push(SchemaFact::SubProperty(b, a));
    })?;
    reader.pairs(&rdfs("domain"), &mut |p, class| facts.push(SchemaFact::Domain(p, class)))?;
    reader.pairs(&rdfs("range"), &mut |p, class| facts.push(SchemaFact::Range(p, class)))?;
    reader.pairs(&owl("inverseOf"), &mut |a, b| facts.push(SchemaFact::Inverse(a, b)))?;
    reader.instances(&owl("SymmetricProperty"), &mut |p| facts.push(SchemaFact::Symmetric(p)))?;
    reader.instances(&owl("TransitiveProperty"), &mut |p| facts.push(SchemaFact::Transitive(p)))?;
    let mut schema = Schema::new(reasoning.rules, facts);
    schema.find_ids(|class| {
        cancel.check().map_err(EngineError::Cancelled)?;
        Ok::<_, EngineError>(snapshot.id_of(class)?)
    })?;
    Ok((Arc::new(schema), reader.memory))
}

/// The ids of the graphs with the schema; `None`: all.
fn graphs(snapshot: &Snapshot, reasoning: &Reasoning) -> Result<Option<HashSet<ValueId>>, StoreError> {
    if reasoning.graphs.is_empty() {
        return Ok(None);
    }
    let mut graphs = HashSet::new();
    for name in &reasoning.graphs {
        graphs.extend(snapshot.id_of(&Term::from(name.clone()))?);
    }
    Ok(Some(graphs))
}

struct Reader<'a> {
    snapshot: &'a Snapshot,
    graphs: Option<HashSet<ValueId>>,
    visible: Option<&'a VisibleGraphs>,
    cancel: &'a CancelToken,
    /// Read so far.
    facts: usize,
    memory: Reservation,
}

impl Reader<'_> {
    /// Subjects and objects of a property that can be classes or properties.
    fn pairs(&mut self, property: &Term, visit: &mut dyn FnMut(Term, Term)) -> Result<(), EngineError> {
        let Some(property) = self.snapshot.id_of(property)? else { return Ok(()) };
        let rows = self.rows(Order::Psog, &[property], [1, 2])?;
        let terms = self.terms(rows.iter().flat_map(|[a, b]| [*a, *b]))?;
        for [a, b] in rows {
            if let (Some(a), Some(b)) = (terms.get(&a), terms.get(&b)) {
                visit(a.clone(), b.clone());
            }
        }
        Ok(())
    }

    /// The instances of a class of properties.
    fn instances(&mut self, class: &Term, visit: &mut dyn FnMut(Term)) -> Result<(), EngineError> {
        let (type_id, class) = (self.snapshot.id_of(&rdf("type"))?, self.snapshot.id_of(class)?);
        let (Some(type_id), Some(class)) = (type_id, class) else { return Ok(()) };
        let rows = self.rows(Order::Posg, &[type_id, class], [2, 2])?;
        let terms = self.terms(rows.iter().map(|[a, _]| *a))?;
        rows.iter().filter_map(|[a, _]| terms.get(a)).for_each(|term| visit(term.clone()));
        Ok(())
    }

    /// A class that is an intersection is below each member of it.
    fn intersections(&mut self, facts: &mut Vec<SchemaFact>) -> Result<(), EngineError> {
        let id = |term: &Term| self.snapshot.id_of(term);
        let ids = (id(&owl("intersectionOf"))?, id(&rdf("first"))?, id(&rdf("rest"))?);
        let (Some(intersection), Some(first), Some(rest)) = ids else { return Ok(()) };
        let lists = self.rows(Order::Psog, &[intersection], [1, 2])?;
        let mut pairs = Vec::new();
        for [class, list] in lists {
            let (mut at, mut seen) = (Some(list), HashSet::new());
            while let Some(list) = at.filter(|list| seen.insert(*list)) {
                let members = self.rows(Order::Psog, &[first, list], [2, 2])?;
                pairs.extend(members.into_iter().map(|[member, _]| [class, member]));
                at = self.rows(Order::Psog, &[rest, list], [2, 2])?.first().map(|[next, _]| *next);
            }
        }
        let terms = self.terms(pairs.iter().flatten().copied())?;
        let named = |id: &ValueId| terms.get(id).cloned();
        let below = pairs.iter().filter_map(|[class, member]| Some((named(class)?, named(member)?)));
        facts.extend(below.map(|(class, member)| SchemaFact::SubClass(class, member)));
        Ok(())
    }

    /// Two columns of the quads under a prefix, in the graphs of the schema.
    fn rows(
        &mut self,
        order: Order,
        prefix: &[ValueId],
        columns: [usize; 2],
    ) -> Result<Vec<[ValueId; 2]>, EngineError> {
        let mut scan = self.snapshot.scan(order, prefix, 0b1111)?;
        let mut rows = Vec::new();
        loop {
            self.cancel.check().map_err(EngineError::Cancelled)?;
            let mut read: [Vec<ValueId>; 4] = Default::default();
            scan.next(ROWS_AT_ONCE, &mut read)?;
            let [_, _, _, graphs] = &read;
            if graphs.is_empty() {
                break;
            }
            let of_schema = (0..graphs.len()).filter(|row| self.has(graphs[*row]));
            let before = rows.len();
            rows.extend(of_schema.map(|row| columns.map(|column| read[column][row])));
            let more = self.memory.grow((rows.len() - before) * FACT_BYTES);
            more.map_err(|error| EngineError::Execution(ExecError::OutOfMemory(error)))?;
            if self.facts + rows.len() > FACTS_MAX {
                return Err(EngineError::Plan(format!(
                    "the schema has more than {FACTS_MAX} statements, which is the most that is reasoned with at run time: \
                     name the graphs that have it"
                )));
            }
        }
        self.facts += rows.len();
        Ok(rows)
    }

    fn has(&self, graph: ValueId) -> bool {
        let is_named = self.graphs.as_ref().is_none_or(|graphs| graphs.contains(&graph));
        is_named && self.visible.is_none_or(|visible| visible.has(graph))
    }

    /// The IRIs and blank nodes among ids.
    fn terms(&self, ids: impl Iterator<Item = ValueId>) -> Result<HashMap<ValueId, Term>, EngineError> {
        let ids: Vec<ValueId> = ids.collect::<HashSet<_>>().into_iter().collect();
        let mut terms = HashMap::with_capacity(ids.len());
        self.snapshot.terms::<EngineError>(&ids, &mut |index, term| {
            if matches!(term, Term::NamedNode(_) | Term::BlankNode(_)) {
                terms.insert(ids[index], term);
            }
            Ok(())
        })?;
        Ok(terms)
    }
}
