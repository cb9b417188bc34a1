//! What a schema says of classes and properties (RDF Schema 1.1, and as much of OWL 2 as hierarchies are made of): what follows from a
//! triple by it is found when a query asks for it, and stored nowhere.

mod fact;
mod hierarchy;
mod rules;
#[cfg(test)]
mod tests;
pub mod vocabulary;

pub use fact::SchemaFact;
pub use rules::{SchemaRule, SchemaRules};

use crate::typing::ClassEdges;
use hierarchy::Hierarchy;
use lode_rdf::{Term, ValueId};
use std::collections::HashSet;
use std::hash::Hash;
use vocabulary::{owl, rdfs};

/// What a row of a table of what is above what takes, with its terms;
const ROW_BYTES: usize = 600;
/// so many rows such a table has at most,
pub(crate) const TABLE_ROWS_MAX: usize = 100_000;
/// and so many usually for each class or property.
const STEPS: usize = 16;

/// A property, or its inverse.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Directed {
    pub property: Term,
    /// Whether subject and object change places.
    pub inverse: bool,
}

impl Directed {
    pub fn forward(property: Term) -> Self {
        Self { property, inverse: false }
    }

    fn turned(&self) -> Self {
        Self { property: self.property.clone(), inverse: !self.inverse }
    }
}

/// The hierarchies of a schema.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Schema {
    classes: Hierarchy<Term>,
    properties: Hierarchy<Directed>,
    /// In the sequence of their facts, each once.
    transitive: Vec<Term>,
    domains: Vec<(Term, Term)>,
    ranges: Vec<(Term, Term)>,
    /// Of the classes, in the sequence of their numbers.
    class_ids: Vec<Option<ValueId>>,
}

impl Schema {
    /// The hierarchies that these facts make, by these rules.
    pub fn new(rules: SchemaRules, facts: impl IntoIterator<Item = SchemaFact>) -> Self {
        let mut schema = Self::default();
        schema.add_axioms(rules);
        for fact in facts {
            schema.add(rules, fact);
        }
        schema
    }

    /// Finds the ids of its classes in the version that it was read from.
    ///
    /// # Errors
    /// Those of `id_of`.
    pub fn find_ids<E>(&mut self, id_of: impl FnMut(&Term) -> Result<Option<ValueId>, E>) -> Result<(), E> {
        self.class_ids = self.classes.names().iter().map(id_of).collect::<Result<_, E>>()?;
        Ok(())
    }

    /// Whether nothing follows by it.
    pub fn is_empty(&self) -> bool {
        let has_hierarchies =
            !self.classes.is_empty() || !self.properties.is_empty() || !self.transitive.is_empty();
        !has_hierarchies && self.domains.is_empty() && self.ranges.is_empty()
    }

    /// About what a query's tables of what is above what may take, beside the schema.
    pub fn table_bytes(&self) -> usize {
        let things = self.classes.len() + self.properties.len() + self.domains.len() + self.ranges.len();
        things.saturating_mul(STEPS).min(TABLE_ROWS_MAX) * ROW_BYTES
    }

    /// What holds without being said: that hierarchies are transitive, and that equivalence is a sub-relation of both directions.
    fn add_axioms(&mut self, rules: SchemaRules) {
        let axioms = [
            (SchemaRule::SubClass, rdfs("subClassOf"), owl("equivalentClass")),
            (SchemaRule::SubProperty, rdfs("subPropertyOf"), owl("equivalentProperty")),
        ];
        for (rule, above, equivalent) in axioms {
            if rules.has(rule) {
                let (above, equivalent) = (Directed::forward(above), Directed::forward(equivalent));
                self.properties.add(equivalent.turned(), above.clone());
                self.properties.add(equivalent, above.clone());
                self.add_transitive(above.property);
            }
        }
    }

    fn add(&mut self, rules: SchemaRules, fact: SchemaFact) {
        if !rules.has(fact.rule()) {
            return;
        }
        match fact {
            SchemaFact::SubClass(below, above) => self.classes.add(below, above),
            SchemaFact::SubProperty(below, above) => {
                self.add_property(Directed::forward(below), Directed::forward(above));
            }
            SchemaFact::Inverse(a, b) => {
                let (a, b) = (Directed::forward(a), Directed::forward(b).turned());
                self.add_property(a.clone(), b.clone());
                self.add_property(b, a);
            }
            SchemaFact::Symmetric(property) => {
                let property = Directed::forward(property);
                self.add_property(property.clone(), property.turned());
            }
            SchemaFact::Transitive(property) => self.add_transitive(property),
            SchemaFact::Domain(property, class) => self.domains.push((property, class)),
            SchemaFact::Range(property, class) => self.ranges.push((property, class)),
        }
    }

    fn add_transitive(&mut self, property: Term) {
        if !self.transitive.contains(&property) {
            self.transitive.push(property);
        }
    }

    fn add_property(&mut self, below: Directed, above: Directed) {
        self.properties.add(below.turned(), above.turned());
        self.properties.add(below, above);
    }

    /// The class and all below it, each once, the class first: with their ids, where they are known.
    pub(crate) fn sub_classes<'a>(&'a self, class: &'a Term) -> Vec<(&'a Term, Option<ValueId>)> {
        match self.classes.reached_below(class) {
            Some(below) => {
                below.map(|(class, number)| (class, self.class_ids.get(number).copied().flatten())).collect()
            }
            None => vec![(class, None)],
        }
    }

    /// The class and all above it, each once, the class first.
    pub(crate) fn classes_above(&self, class: &Term) -> Vec<Term> {
        self.classes.above(class)
    }

    /// Classes that have others above them.
    pub(crate) fn lower_classes(&self) -> impl Iterator<Item = &Term> {
        self.classes.lower()
    }

    /// What is directly above what, of the classes whose ids are known.
    pub(crate) fn class_edges(&self) -> ClassEdges {
        let id = |number: usize| self.class_ids.get(number).copied().flatten();
        let mut edges = ClassEdges::default();
        for (below, above) in self.classes.edges() {
            if let (Some(below), Some(above)) = (id(below), id(above)) {
                edges.add(below, above);
            }
        }
        edges
    }

    /// The property and all below it, each once, the property first.
    pub(crate) fn properties_below(&self, property: &Term) -> Vec<Directed> {
        self.properties.below(&Directed::forward(property.clone()))
    }

    /// The same above it.
    pub(crate) fn properties_above(&self, property: &Directed) -> Vec<Directed> {
        self.properties.above(property)
    }

    /// Properties that have others above them, in each direction.
    pub(crate) fn lower_properties(&self) -> impl Iterator<Item = &Directed> {
        self.properties.lower()
    }

    /// Whether a property is transitive.
    pub(crate) fn is_transitive(&self, property: &Term) -> bool {
        self.transitive.contains(property)
    }

    /// The properties that are transitive.
    pub(crate) fn transitive(&self) -> impl Iterator<Item = &Term> {
        self.transitive.iter()
    }

    /// Properties in the direction in which their subjects are instances of a class by a domain or a range, each with that class.
    pub(crate) fn typing(&self) -> Vec<(Directed, Term)> {
        let domains = self.domains.iter().map(|(p, class)| (Directed::forward(p.clone()), class));
        let ranges = self.ranges.iter().map(|(p, class)| (Directed::forward(p.clone()).turned(), class));
        let below = |(property, class): (Directed, &Term)| {
            self.properties.below(&property).into_iter().map(|p| (p, class.clone())).collect::<Vec<_>>()
        };
        unique(domains.chain(ranges).flat_map(below))
    }
}

/// Things in their sequence, each once.
pub(crate) fn unique<T: Eq + Hash + Clone>(things: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut seen = HashSet::new();
    things.into_iter().filter(|thing| seen.insert(thing.clone())).collect()
}
