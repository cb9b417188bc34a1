//! What a schema says of classes, by ids, for steps along `rdf:type` inside property paths ([`crate::plan::TypeStep`]).

use lode_rdf::ValueId;
use std::collections::HashMap;

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
