//! How many quads of a large set each predicate and each named graph has: by that most questions of the planner are answered without the set being sorted in another
//! order, and orders that begin with them are put together without comparing.

use crate::delta::rows::Row;
use lode_packed::{Order, Position};
use lode_rdf::ValueId;
use std::collections::HashMap;

/// More of a kind are not told apart.
const VALUES_MAX: usize = if cfg!(test) { 5 } else { 1 << 10 };
/// Values whose counts are at hand while rows are read.
const AT_HAND: usize = if cfg!(test) { 3 } else { 256 };

/// Quads by predicate, and by named graph.
#[derive(Debug, Clone)]
pub struct Summary {
    quads: usize,
    /// None where there are too many.
    predicates: Option<HashMap<u64, usize>>,
    graphs: Option<HashMap<u64, usize>>,
}

impl Summary {
    /// Of quads (S, P, O, G).
    pub fn of(quads: &[Row]) -> Self {
        let mut graphs = counts(quads, Position::G);
        if let Some(graphs) = &mut graphs {
            graphs.remove(&ValueId::DEFAULT_GRAPH.to_bits());
        }
        Self { quads: quads.len(), predicates: counts(quads, Position::P), graphs }
    }

    /// The same with other quads, none of which is among these.
    pub fn add(&mut self, other: &Self) {
        self.quads += other.quads;
        let both = [(&mut self.predicates, &other.predicates), (&mut self.graphs, &other.graphs)];
        for (counts, others) in both {
            match (counts.as_mut(), others) {
                (Some(counts), Some(others)) => {
                    for (value, count) in others {
                        *counts.entry(*value).or_default() += count;
                    }
                }
                _ => *counts = None,
            }
        }
    }

    /// How many rows of an order have a prefix, where that is known.
    pub fn count(&self, order: Order, prefix: &[u64]) -> Option<usize> {
        let Some(first) = prefix.first() else {
            return if order == Order::Gspo {
                Some(self.graphs.as_ref()?.values().sum())
            } else {
                Some(self.quads)
            };
        };
        match self.first_column(order)?.get(first).copied() {
            None => Some(0),
            count => count.filter(|_| prefix.len() == 1),
        }
    }

    /// How many rows of an order begin with each value, where that is known.
    pub fn first_column(&self, order: Order) -> Option<&HashMap<u64, usize>> {
        match order {
            Order::Psog | Order::Posg => self.predicates.as_ref(),
            Order::Gspo => self.graphs.as_ref(),
            Order::Spog | Order::Sopg | Order::Ospg | Order::Opsg => None,
        }
    }
}

/// How many quads have each value at a position.
fn counts(quads: &[Row], position: Position) -> Option<HashMap<u64, usize>> {
    let mut counts: HashMap<u64, usize> = HashMap::new();
    // Few values are most of what there is: those need no look into the table.
    let mut at_hand = [(0, 0); AT_HAND];
    for quad in quads {
        let value = quad[position as usize];
        let place = &mut at_hand[value as usize % AT_HAND];
        if place.0 == value {
            place.1 += 1;
            continue;
        }
        if place.1 > 0 {
            *counts.entry(place.0).or_default() += place.1;
            if counts.len() > VALUES_MAX {
                return None;
            }
        }
        *place = (value, 1);
    }
    for (value, count) in at_hand {
        if count > 0 {
            *counts.entry(value).or_default() += count;
        }
    }
    (counts.len() <= VALUES_MAX).then_some(counts)
}
