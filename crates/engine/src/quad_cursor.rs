//! The quads of a pattern, some thousand at a time: who reads them may stop whenever it likes.

use crate::EngineError;
use crate::graph_rules::GraphRules;
use lode_base::cancel::CancelToken;
use lode_packed::{Order, Position};
use lode_rdf::{GraphName, NamedOrBlankNode, Quad, Term, ValueId};
use lode_sparql::plan::VisibleGraphs;
use lode_store::{Scan, Snapshot, StoreError};
use std::collections::HashMap;

/// Rows read at once.
const ROWS: usize = 4096;
/// So many terms are kept while quads are written.
const TERMS_MAX: usize = 1 << 14;
/// All columns of an order.
const ALL: u8 = 0b1111;

/// The quads of a pattern, as they are asked for.
pub struct Quads {
    cursor: QuadCursor,
    terms: QuadTerms,
    ids: Vec<[ValueId; 4]>,
}

impl Quads {
    /// Those of a cursor over this version.
    pub(crate) fn new(cursor: QuadCursor, snapshot: &Snapshot) -> Self {
        Self { cursor, terms: QuadTerms::new(snapshot), ids: Vec::new() }
    }

    /// The next ones, at most some thousand; none at the end.
    ///
    /// # Errors
    /// Where a file cannot be read or is damaged, or the work was cancelled.
    pub fn next_quads(&mut self) -> Result<Vec<Quad>, EngineError> {
        while self.ids.is_empty() {
            if !self.cursor.next(&mut self.ids)? {
                return Ok(Vec::new());
            }
        }
        self.ids.drain(..).map(|ids| self.terms.quad(ids)).collect()
    }
}

/// A pattern of ids.
pub(crate) struct IdPattern {
    /// By position: subject, predicate, object, graph.
    pub bound: [Option<ValueId>; 4],
    /// The graphs, where there are several.
    pub among: Option<Vec<ValueId>>,
    /// One that is none of them.
    pub except: Option<ValueId>,
}

/// The ids of the quads of a pattern.
pub(crate) struct QuadCursor {
    /// None where nothing matches.
    reading: Option<Reading>,
    cancel: CancelToken,
}

struct Reading {
    pattern: IdPattern,
    order: Order,
    scan: Scan,
    visible: Option<VisibleGraphs>,
}

impl QuadCursor {
    /// One of a pattern that nothing matches.
    pub fn empty(cancel: &CancelToken) -> Self {
        Self { reading: None, cancel: cancel.clone() }
    }

    /// One of a pattern in a version.
    pub fn new(
        pattern: IdPattern,
        snapshot: &Snapshot,
        rules: &GraphRules,
        cancel: &CancelToken,
    ) -> Result<Self, EngineError> {
        let visible = rules.visible(snapshot, cancel)?;
        let (order, prefix) = pattern.order();
        let scan = snapshot.scan(order, &prefix, ALL)?;
        Ok(Self { reading: Some(Reading { pattern, order, scan, visible }), cancel: cancel.clone() })
    }

    /// Appends those of the next rows that match; whether there may be more.
    pub fn next(&mut self, quads: &mut Vec<[ValueId; 4]>) -> Result<bool, EngineError> {
        self.cancel.check().map_err(EngineError::Cancelled)?;
        let Some(Reading { pattern, order, scan, visible }) = &mut self.reading else { return Ok(false) };
        let mut columns: [Vec<ValueId>; 4] = Default::default();
        let rows = scan.next(ROWS, &mut columns)?;
        for row in 0..rows {
            let mut quad = [ValueId::DEFAULT_GRAPH; 4];
            for (position, column) in order.positions().iter().zip(&columns) {
                quad[index(*position)] = column[row];
            }
            if pattern.has(&quad) && visible.as_ref().is_none_or(|visible| visible.has(quad[3])) {
                quads.push(quad);
            }
        }
        Ok(rows > 0)
    }
}

impl IdPattern {
    /// The order in which most of what is bound comes first, and that.
    fn order(&self) -> (Order, Vec<ValueId>) {
        let prefix = |order: Order| -> Vec<ValueId> {
            order.positions().iter().map_while(|position| self.bound[index(*position)]).collect()
        };
        // That of graphs has no quads of the default graph.
        let is_fit = |order: &Order| {
            *order != Order::Gspo || self.bound[3].is_some_and(|graph| graph != ValueId::DEFAULT_GRAPH)
        };
        let orders = Order::ALL.into_iter().filter(is_fit).map(|order| (order, prefix(order)));
        orders.max_by_key(|(_, prefix)| prefix.len()).unwrap_or((Order::Spog, Vec::new()))
    }

    fn has(&self, quad: &[ValueId; 4]) -> bool {
        let is_bound = |(id, bound): (&ValueId, &Option<ValueId>)| bound.is_none_or(|bound| bound == *id);
        quad.iter().zip(&self.bound).all(is_bound)
            && self.except != Some(quad[3])
            && self.among.as_ref().is_none_or(|graphs| graphs.contains(&quad[3]))
    }
}

/// The place of a position among subject, predicate, object, graph.
fn index(position: Position) -> usize {
    match position {
        Position::S => 0,
        Position::P => 1,
        Position::O => 2,
        Position::G => 3,
    }
}

/// Terms of ids, some of which are kept.
pub(crate) struct QuadTerms {
    snapshot: Snapshot,
    known: HashMap<ValueId, Term>,
}

impl QuadTerms {
    /// Of this version.
    pub fn new(snapshot: &Snapshot) -> Self {
        Self { snapshot: snapshot.clone(), known: HashMap::new() }
    }

    /// The quad of ids.
    pub fn quad(&mut self, [s, p, o, g]: [ValueId; 4]) -> Result<Quad, EngineError> {
        let graph_name = if g == ValueId::DEFAULT_GRAPH { GraphName::DefaultGraph } else { self.graph(g)? };
        Ok(Quad { subject: self.node(s)?, predicate: self.predicate(p)?, object: self.get(o)?, graph_name })
    }

    fn get(&mut self, id: ValueId) -> Result<Term, StoreError> {
        if let Some(term) = self.known.get(&id) {
            return Ok(term.clone());
        }
        let term = self.snapshot.term(id)?;
        // Long ones are not worth their memory.
        if !matches!(term, Term::Literal(_)) {
            if self.known.len() >= TERMS_MAX {
                self.known.clear();
            }
            self.known.insert(id, term.clone());
        }
        Ok(term)
    }

    fn node(&mut self, id: ValueId) -> Result<NamedOrBlankNode, EngineError> {
        match self.get(id)? {
            Term::NamedNode(name) => Ok(name.into()),
            Term::BlankNode(node) => Ok(node.into()),
            other => Err(damaged(&other)),
        }
    }

    fn predicate(&mut self, id: ValueId) -> Result<lode_rdf::NamedNode, EngineError> {
        match self.get(id)? {
            Term::NamedNode(name) => Ok(name),
            other => Err(damaged(&other)),
        }
    }

    fn graph(&mut self, id: ValueId) -> Result<GraphName, EngineError> {
        Ok(self.node(id)?.into())
    }
}

fn damaged(term: &Term) -> EngineError {
    EngineError::Update(format!("{term} is where no such term may be: lode check tells what is damaged"))
}
