//! What was found so far: triples, and for each the ways in which it follows from others. Backwards from what is to be proven, to what is stated.

use super::facts::Facts;
use super::report::Statement;
use crate::EngineError;
use crate::materialise::too_much;
use lode_base::memory_budget::Reservation;
use lode_rdf::ValueId;
use std::collections::HashMap;

/// Subject, predicate, object; of what sets of rules have for themselves also unknown. And the named graph that is asked, if one is.
pub(super) type Key = [ValueId; 4];

/// Bytes of a node, and of a premise of one of its ways.
const NODE_BYTES: usize = 256;
const PREMISE_BYTES: usize = 16;
/// Ways that are looked at for each of the triples that may be, on average.
const WAYS_PER_FACT: usize = 4;

/// A triple.
pub(super) struct Node {
    pub key: Key,
    pub is_stated: bool,
    pub is_expanded: bool,
    pub instances: Vec<Instance>,
}

/// One way in which it follows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Instance {
    /// The rule.
    pub rule: usize,
    /// What follows; more than the triple tells where that has unknown terms.
    pub conclusion: [ValueId; 3],
    /// From what.
    pub premises: Vec<usize>,
    /// And what else must be so.
    pub conditions: Vec<String>,
}

/// All of them; the first is what is to be proven.
pub(super) struct ProofGraph {
    pub nodes: Vec<Node>,
    places: HashMap<Key, usize>,
    held: Reservation,
    premises: usize,
    ways: usize,
}

impl ProofGraph {
    pub fn new(facts: &Facts) -> Self {
        Self {
            nodes: Vec::new(),
            places: HashMap::new(),
            held: facts.budget.reserve_empty(),
            premises: 0,
            ways: 0,
        }
    }

    /// Whether so many triples were looked at, or so many times more ways to them: in a large group of equal names each has as many ways as there are names.
    pub fn is_full(&self, facts_max: usize) -> bool {
        self.nodes.len() >= facts_max || self.ways >= facts_max.saturating_mul(WAYS_PER_FACT)
    }

    /// The place of a triple, which may be new.
    pub fn place(&mut self, key: Key, facts: &Facts) -> Result<usize, EngineError> {
        if let Some(place) = self.places.get(&key) {
            return Ok(*place);
        }
        let [s, p, o, graph] = key;
        let is_known = key[..3].iter().all(|id| !id.is_undef());
        // In named graphs there is only what is stated.
        let is_stated = !graph.is_undef() || is_known && facts.is_asserted(&[s, p, o])?;
        let node = Node { key, is_stated, is_expanded: false, instances: Vec::new() };
        self.nodes.push(node);
        self.places.insert(key, self.nodes.len() - 1);
        self.count()?;
        Ok(self.nodes.len() - 1)
    }

    /// One more way in which a triple follows.
    pub fn add(&mut self, node: usize, instance: Instance) -> Result<(), EngineError> {
        if instance.premises.contains(&node) || self.nodes[node].instances.contains(&instance) {
            return Ok(());
        }
        self.premises += instance.premises.len() + 4;
        self.ways += 1;
        self.nodes[node].instances.push(instance);
        self.count()
    }

    fn count(&mut self) -> Result<(), EngineError> {
        let bytes = self.nodes.len() * NODE_BYTES + self.premises * PREMISE_BYTES;
        let missing = bytes.saturating_sub(self.held.bytes());
        // Some at once.
        let more = if missing > 0 { missing + 64 * NODE_BYTES } else { 0 };
        self.held.grow(more).map_err(too_much)
    }

    /// The triple of a node or of an instance.
    pub fn statement(triple: [ValueId; 3], facts: &mut Facts) -> Result<Option<Statement>, EngineError> {
        if triple.iter().any(|id| id.is_undef()) {
            return Ok(None);
        }
        let [s, p, o] = triple;
        Ok(Some(Statement([facts.term(s)?, facts.term(p)?, facts.term(o)?])))
    }
}
