//! The triples that rules see in one version: those that are stated and those that were inferred, looked up by what is known of them.

use super::super::gather::Triple;
use super::limits::{LOOK_ROWS, TooMuch};
use crate::EngineError;
use lode_base::cancel::CancelToken;
use lode_packed::Order;
use lode_rdf::ValueId;
use lode_store::Snapshot;
use std::cell::Cell;
use std::collections::HashMap;

/// Rows read at once at first, and at most.
const ROWS_FIRST: usize = 16;
const ROWS_MAX: usize = 1024;

/// How much may be looked at.
pub(super) struct Meter {
    left: Cell<u64>,
    pub cancel: CancelToken,
}

impl Meter {
    pub fn new(rows: u64, cancel: CancelToken) -> Self {
        Self { left: Cell::new(rows), cancel }
    }

    /// Counts rows; fails where they are too many, or the work is to stop.
    pub fn take(&self, rows: usize) -> Result<(), Stop> {
        self.cancel.check().map_err(|reason| Stop::Failed(EngineError::Cancelled(reason)))?;
        match self.left.get().checked_sub(rows as u64) {
            Some(left) => self.left.set(left),
            None => return Err(Stop::TooMuch(TooMuch::Work)),
        }
        Ok(())
    }
}

/// Why the work ends early.
#[derive(Debug)]
pub(super) enum Stop {
    /// It is left to who materialises all.
    TooMuch(TooMuch),
    Failed(EngineError),
}

impl<E: Into<EngineError>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// One version.
pub(super) struct View {
    pub snapshot: Snapshot,
    /// The graph of inferences.
    pub inferred: ValueId,
    pub all_graphs: bool,
}

impl View {
    /// Whether what a graph has is stated, and read by the patterns of rules.
    pub fn is_stated(&self, graph: ValueId) -> bool {
        graph != self.inferred && (self.all_graphs || graph == ValueId::DEFAULT_GRAPH)
    }

    fn has(&self, graph: ValueId, stated_only: bool) -> bool {
        self.is_stated(graph) || (!stated_only && graph == self.inferred)
    }

    /// Whether a triple is stated, and whether it was inferred.
    pub fn status(&self, [s, p, o]: &Triple) -> Result<(bool, bool), EngineError> {
        let (mut stated, mut inferred) = (false, false);
        let mut scan = self.snapshot.scan(Order::Spog, &[*s, *p, *o], 0b1000)?;
        let mut columns: [Vec<ValueId>; 4] = Default::default();
        while !(stated && inferred) && scan.next(ROWS_FIRST, &mut columns)? > 0 {
            for graph in columns[3].drain(..) {
                stated |= self.is_stated(graph);
                inferred |= graph == self.inferred;
            }
        }
        Ok((stated, inferred))
    }

    /// Calls `each` with the triples of a pattern until it says false. False where it did.
    pub fn each(
        &self,
        known: [Option<ValueId>; 3],
        stated_only: bool,
        meter: &Meter,
        each: &mut dyn FnMut(&Triple) -> Result<bool, Stop>,
    ) -> Result<bool, Stop> {
        meter.take(LOOK_ROWS)?;
        let (order, prefix) = order(known);
        let mut scan = self.snapshot.scan(order, &prefix, 0b1111)?;
        let (mut columns, mut last, mut rows_max): ([Vec<ValueId>; 4], Option<Triple>, _) =
            (Default::default(), None, ROWS_FIRST);
        let places = order.positions();
        loop {
            columns.iter_mut().for_each(Vec::clear);
            let rows = scan.next(rows_max, &mut columns)?;
            if rows == 0 {
                return Ok(true);
            }
            meter.take(rows)?;
            rows_max = (rows_max * 4).min(ROWS_MAX);
            for row in 0..rows {
                let mut quad = [ValueId::UNDEF; 4];
                for (place, column) in places.into_iter().zip(&columns) {
                    quad[place as usize] = column[row];
                }
                let [s, p, o, graph] = quad;
                // The graph comes last in these orders: the same triple in several graphs is there in rows that lie side by side.
                if self.has(graph, stated_only) && last != Some([s, p, o]) {
                    last = Some([s, p, o]);
                    if !each(&[s, p, o])? {
                        return Ok(false);
                    }
                }
            }
        }
    }

    /// How many triples a pattern has at most.
    pub fn count(&self, known: [Option<ValueId>; 3]) -> Result<u64, EngineError> {
        let (order, prefix) = order(known);
        Ok(self.snapshot.count(order, &prefix)?)
    }
}

/// The order in which what is known comes first.
fn order([s, p, o]: [Option<ValueId>; 3]) -> (Order, Vec<ValueId>) {
    let order = match (s.is_some(), p.is_some(), o.is_some()) {
        (true, true, _) | (true, false, false) | (false, false, false) => Order::Spog,
        (true, false, true) => Order::Sopg,
        (false, true, false) => Order::Psog,
        (false, true, true) => Order::Posg,
        (false, false, true) => Order::Opsg,
    };
    let places = order.positions().into_iter();
    let known = [s, p, o];
    (order, places.filter_map(|place| known.get(place as usize).copied().flatten()).collect())
}

/// Patterns of which one version has no triple at all.
#[derive(Debug, Default)]
pub(super) struct Empty(HashMap<[Option<ValueId>; 3], bool>);

impl Empty {
    pub fn is(&mut self, view: &View, known: [Option<ValueId>; 3]) -> Result<bool, Stop> {
        if let Some(is_empty) = self.0.get(&known) {
            return Ok(*is_empty);
        }
        let is_empty = view.count(known)? == 0;
        self.0.insert(known, is_empty);
        Ok(is_empty)
    }
}
