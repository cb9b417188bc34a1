//! Operations on whole graphs: CLEAR, DROP, CREATE, COPY, MOVE, ADD.
//!
//! A graph exists as long as it has quads. So CLEAR and DROP are the same, and of a graph that does not exist they are done already;
//! CREATE changes nothing, and fails where there is the graph. COPY, MOVE and ADD from a named graph that does not exist fail: their
//! destination must not be emptied by a slip of the pen.

use super::Updater;
use crate::EngineError;
use crate::graph_rules::named;
use lode_packed::Order;
use lode_rdf::{NamedNode, Term, ValueId};
use lode_sparql::update::{Graph, GraphTarget, Transfer, TransferKind};
use lode_store::{Graphs, Snapshot, StoreError};

/// Rows that are read at once.
const BATCH_ROWS: usize = 4096;

impl Updater<'_> {
    pub(super) fn clear(&mut self, target: &GraphTarget) -> Result<(), EngineError> {
        let graphs = match target {
            GraphTarget::One(graph) => match existing(&self.draft.snapshot()?, graph)? {
                Some(graph) => Graphs::One(graph),
                None => return Ok(()),
            },
            GraphTarget::Named => return self.clear_visible(false),
            GraphTarget::All => return self.clear_visible(true),
        };
        self.clear_graphs(graphs)
    }

    pub(super) fn clear_graphs(&mut self, graphs: Graphs) -> Result<(), EngineError> {
        let snapshot = self.draft.snapshot()?;
        let quads = match graphs {
            Graphs::One(ValueId::DEFAULT_GRAPH) => {
                snapshot.quad_count() - snapshot.count(Order::Gspo, &[])?
            }
            Graphs::One(graph) => snapshot.count(Order::Gspo, &[graph])?,
            Graphs::Named => snapshot.count(Order::Gspo, &[])?,
            Graphs::All => snapshot.quad_count(),
        };
        self.draft.clear(graphs, quads)
    }

    pub(super) fn create(&mut self, graph: &NamedNode, silent: bool) -> Result<(), EngineError> {
        let snapshot = self.draft.snapshot()?;
        let is_there = || self.seen(&snapshot, &Some(graph.clone()));
        if !silent && is_there()?.is_some() {
            return Err(EngineError::Update(format!("CREATE GRAPH {graph}: there is such a graph already")));
        }
        Ok(())
    }

    pub(super) fn transfer(&mut self, transfer: &Transfer) -> Result<(), EngineError> {
        let snapshot = self.draft.snapshot()?;
        let Some(from) = self.seen(&snapshot, &transfer.from)? else {
            return match (&transfer.from, transfer.silent) {
                (Some(name), false) => {
                    let name_of = match transfer.kind {
                        TransferKind::Add => "ADD",
                        TransferKind::Copy => "COPY",
                        TransferKind::Move => "MOVE",
                    };
                    Err(EngineError::Update(format!("{name_of}: there is no graph {name}")))
                }
                _ => Ok(()),
            };
        };
        let to = match &transfer.to {
            None => ValueId::DEFAULT_GRAPH,
            Some(name) => self.graph_id(name)?,
        };
        if transfer.kind != TransferKind::Add {
            self.clear_graphs(Graphs::One(to))?;
        }
        self.adds_to(named(transfer.to.as_ref()));
        // A default graph that may not be read is there, and empty.
        if self.rules().may_read(named(transfer.from.as_ref())) {
            self.add(&snapshot, from, to)?;
        }
        if transfer.kind == TransferKind::Move {
            self.clear_graphs(Graphs::One(from))?;
        }
        Ok(())
    }

    /// The id of a graph's name, which may be a new term.
    pub(super) fn graph_id(&mut self, name: &NamedNode) -> Result<ValueId, EngineError> {
        let id = self.draft.intern(&Term::NamedNode(name.clone()))?;
        id.ok_or_else(|| EngineError::Update(format!("{name} has no place in the database")))
    }

    /// The id of a graph that has quads and may be read; the default graph always exists.
    fn seen(&self, snapshot: &Snapshot, graph: &Graph) -> Result<Option<ValueId>, StoreError> {
        match graph {
            Some(name) if !self.rules().may_read(name.as_ref().into()) => Ok(None),
            graph => existing(snapshot, graph),
        }
    }

    /// Inserts the quads of a graph into another.
    fn add(&mut self, snapshot: &Snapshot, from: ValueId, to: ValueId) -> Result<(), EngineError> {
        // The order that begins with the graph has named graphs only.
        let (order, prefix): (Order, &[ValueId]) =
            if from == ValueId::DEFAULT_GRAPH { (Order::Spog, &[]) } else { (Order::Gspo, &[from]) };
        let mut scan = snapshot.scan(order, prefix, 0b1111)?;
        let mut columns: [Vec<ValueId>; 4] = Default::default();
        loop {
            self.check()?;
            columns.iter_mut().for_each(Vec::clear);
            let rows = scan.next(BATCH_ROWS, &mut columns)?;
            if rows == 0 {
                return Ok(());
            }
            for row in 0..rows {
                let mut quad = [ValueId::UNDEF; 4];
                for (position, column) in order.positions().into_iter().zip(&columns) {
                    quad[position as usize] = column[row];
                }
                let [subject, predicate, object, graph] = quad;
                if graph == from {
                    self.insert([subject, predicate, object, to])?;
                }
            }
        }
    }
}

/// The id of a graph that has quads; the default graph always exists.
pub(super) fn existing(snapshot: &Snapshot, graph: &Graph) -> Result<Option<ValueId>, StoreError> {
    let Some(name) = graph else { return Ok(Some(ValueId::DEFAULT_GRAPH)) };
    let Some(id) = snapshot.id_of(&Term::NamedNode(name.clone()))? else { return Ok(None) };
    Ok((snapshot.count(Order::Gspo, &[id])? > 0).then_some(id))
}
