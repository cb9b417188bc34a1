//! What the index proves about the objects of a predicate: of which kinds they all are.

use crate::logical::QuadPattern;
use crate::plan::Slot;
use crate::statistics::Statistics;
use lode_packed::Order;
use lode_rdf::{Kind, ValueId};
use std::ops::Range;

/// The objects of a pattern's predicate, as the index has them: also where the pattern has a subject, since a plan may be used for
/// another subject then.
pub(super) struct Objects<'a> {
    stats: &'a dyn Statistics,
    predicate: ValueId,
    count: u64,
}

impl<'a> Objects<'a> {
    pub fn of(pattern: &QuadPattern, stats: &'a dyn Statistics) -> Option<Self> {
        let Slot::Const(predicate) = pattern.predicate else { return None };
        Some(Self { stats, predicate, count: stats.count(Order::Posg, &[predicate]) })
    }

    /// Whether they all have this kind.
    pub fn are_all(&self, kind: Kind) -> bool {
        self.are_between(kind, kind)
    }

    /// Whether they all have one of the kinds from `first` to `last`.
    pub fn are_between(&self, first: Kind, last: Kind) -> bool {
        let ids = whole(first).start..whole(last).end;
        self.stats.count_between(Order::Posg, &[self.predicate], &ids) == self.count
    }
}

/// All ids of a kind.
pub(super) fn whole(kind: Kind) -> Range<ValueId> {
    let after = ValueId::from_bits((u64::from(kind as u8) + 1) << lode_rdf::value_id::PAYLOAD_BITS);
    ValueId::new(kind, 0)..after
}
