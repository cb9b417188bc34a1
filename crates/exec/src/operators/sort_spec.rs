//! By what rows are sorted: shared by those that sort them and those that merge what was sorted.

use crate::context::QueryContext;
use crate::profile::NodeCounters;
use crate::spill_area::SpillArea;
use lode_eval::expr;
use lode_rdf::{Kind, ValueId};
use lode_sparql::VarId;
use std::cmp::Ordering;
use std::sync::Arc;

/// How key columns compare.
#[derive(Debug, Clone)]
pub(crate) enum KeyOrder {
    /// As numbers, ascending.
    Bits,
    /// As terms; `true`: descending.
    Terms(Vec<bool>),
}

/// What all runs of one sort share.
#[derive(Clone)]
pub(crate) struct SortSpec {
    pub(crate) cx: Arc<QueryContext>,
    pub(crate) area: Arc<SpillArea>,
    pub(crate) counters: Arc<NodeCounters>,
    pub(crate) vars: Arc<[VarId]>,
    /// How many leading columns are keys.
    pub(crate) keys: usize,
    pub(crate) order: KeyOrder,
    /// Only the first so many rows matter.
    pub(crate) limit: Option<usize>,
}

/// The order of two terms where their ids tell.
pub(super) fn compare_known(cx: &QueryContext, a: ValueId, b: ValueId) -> Option<Ordering> {
    match (a.kind(), b.kind()) {
        _ if a == b => Some(Ordering::Equal),
        (Some(x), Some(y)) if x == y && compare_by_id(cx, x, a, b) => Some(a.cmp(&b)),
        _ => expr::compare_ids(a, b, &cx.snapshot),
    }
}

/// Whether two ids of this kind compare like their terms.
pub(super) fn compare_by_id(cx: &QueryContext, kind: Kind, a: ValueId, b: ValueId) -> bool {
    match kind {
        Kind::Integer => true,
        Kind::Iri | Kind::String => cx.snapshot.are_ordered(a, b),
        _ => false,
    }
}
