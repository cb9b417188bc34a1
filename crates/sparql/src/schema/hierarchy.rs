//! What is below what: a graph, in which cycles are equivalences.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

/// Things, and which are directly below which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hierarchy<T: Eq + Hash> {
    names: Vec<T>,
    numbers: HashMap<T, usize>,
    above: Vec<BTreeSet<usize>>,
    below: Vec<BTreeSet<usize>>,
}

impl<T: Eq + Hash> Default for Hierarchy<T> {
    fn default() -> Self {
        Self { names: Vec::new(), numbers: HashMap::new(), above: Vec::new(), below: Vec::new() }
    }
}

impl<T: Eq + Hash + Clone> Hierarchy<T> {
    /// Adds that one thing is below another.
    pub fn add(&mut self, below: T, above: T) {
        if below == above {
            return;
        }
        let (below, above) = (self.number(below), self.number(above));
        self.above[below].insert(above);
        self.below[above].insert(below);
    }

    fn number(&mut self, name: T) -> usize {
        if let Some(number) = self.numbers.get(&name) {
            return *number;
        }
        let number = self.names.len();
        self.numbers.insert(name.clone(), number);
        self.names.push(name);
        self.above.push(BTreeSet::new());
        self.below.push(BTreeSet::new());
        number
    }

    /// How many things there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether nothing is below anything.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// All, in the sequence of their numbers.
    pub fn names(&self) -> &[T] {
        &self.names
    }

    /// What is below `name`, itself first, each once.
    pub fn below(&self, name: &T) -> Vec<T> {
        self.named(name, self.reached(name, &self.below))
    }

    /// What is above `name`, itself first, each once.
    pub fn above(&self, name: &T) -> Vec<T> {
        self.named(name, self.reached(name, &self.above))
    }

    /// What is below `name`, itself first, each once with its number; `None` where nothing is said of it.
    pub fn reached_below(&self, name: &T) -> Option<impl Iterator<Item = (&T, usize)>> {
        let reached = self.reached(name, &self.below)?;
        Some(reached.into_iter().map(|number| (&self.names[number], number)))
    }

    fn named(&self, name: &T, reached: Option<Vec<usize>>) -> Vec<T> {
        match reached {
            Some(reached) => reached.into_iter().map(|number| self.names[number].clone()).collect(),
            None => vec![name.clone()],
        }
    }

    /// The numbers of things that are directly below others, each with the other's.
    pub fn edges(&self) -> impl Iterator<Item = (usize, usize)> {
        self.above
            .iter()
            .enumerate()
            .flat_map(|(below, above)| above.iter().map(move |above| (below, *above)))
    }

    /// Those that have something above them.
    pub fn lower(&self) -> impl Iterator<Item = &T> {
        self.names.iter().zip(&self.above).filter(|(_, above)| !above.is_empty()).map(|(name, _)| name)
    }

    fn reached(&self, name: &T, edges: &[BTreeSet<usize>]) -> Option<Vec<usize>> {
        let start = *self.numbers.get(name)?;
        let mut seen = vec![false; self.names.len()];
        seen[start] = true;
        let mut reached = vec![start];
        let mut next = 0;
        while let Some(at) = reached.get(next).copied() {
            next += 1;
            for other in &edges[at] {
                if !std::mem::replace(&mut seen[*other], true) {
                    reached.push(*other);
                }
            }
        }
        Some(reached)
    }
}
