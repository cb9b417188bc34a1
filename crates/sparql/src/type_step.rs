//! A step along `rdf:type` inside a property path, where a schema says more than the data: to the classes above those that are stated, and
//! to those that a node is an instance of by a domain or a range. Outside of repeated paths these are scans ([`crate::translate`]).

use crate::plan::Path;
use lode_rdf::ValueId;
use std::collections::HashMap;

/// What `rdf:type` relates by a schema. All of it is by ids: what has none is nowhere in the data.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeStep {
    /// What states that a node is an instance of a class.
    pub stated: Path,
    /// What types a node by being there.
    pub typing: Vec<Typing>,
    /// What is above what.
    pub classes: ClassEdges,
}

/// A property whose subjects (or objects) are instances of classes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typing {
    /// The property.
    pub property: ValueId,
    /// Whether its objects are meant.
    pub inverse: bool,
    /// The classes.
    pub classes: Vec<ValueId>,
}

/// Which classes are directly above and below which.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClassEdges {
    above: HashMap<ValueId, Vec<ValueId>>,
    below: HashMap<ValueId, Vec<ValueId>>,
}

impl ClassEdges {
    /// Adds that one class is below another.
    pub fn add(&mut self, below: ValueId, above: ValueId) {
        self.above.entry(below).or_default().push(above);
        self.below.entry(above).or_default().push(below);
    }

    /// The classes directly above one, or below it.
    pub fn next_to(&self, class: ValueId, is_above: bool) -> &[ValueId] {
        let edges = if is_above { &self.above } else { &self.below };
        edges.get(&class).map_or(&[], Vec::as_slice)
    }
}
