//! What a search has found out of steps that many proofs need: what rules relate by a property, and which names are the same.

use super::graph::Key;
use lode_base::memory_budget::Reservation;
use lode_rdf::ValueId;
use std::collections::HashMap;
use std::rc::Rc;

/// A step that follows by one rule.
#[derive(Debug, Clone)]
pub(super) struct Made {
    pub to: ValueId,
    pub rule: usize,
    pub keys: Rc<[Key]>,
}

/// What rules relate by a property, by where it begins; and where it ends.
#[derive(Debug, Default)]
pub(super) struct ByRules {
    pub next: HashMap<ValueId, Vec<Made>>,
    pub before: HashMap<ValueId, Vec<ValueId>>,
}

/// What was found out, for all rounds of a search.
#[derive(Default)]
pub(super) struct Steps {
    pub by_rules: HashMap<(ValueId, usize, bool), Rc<ByRules>>,
    /// By members.
    pub groups: HashMap<ValueId, Rc<[ValueId]>>,
    /// Memory that both take.
    pub held: Vec<Reservation>,
}
