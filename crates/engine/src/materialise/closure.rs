//! All pairs of a transitive property. Joins would find each pair once for each node between its ends, and a search from each node would go along each step once for each
//! of them: so nodes that reach each other are taken as one (Tarjan), and what one reaches is put together of what those after it reach.

use super::gather::too_much;
use crate::EngineError;
use lode_base::cancel::CancelToken;
use lode_base::memory_budget::{MemoryBudget, Reservation};
use lode_packed::Order;
use lode_rdf::ValueId;
use lode_store::Snapshot;

/// New steps that are looked at one by one; of more all pairs are found again. The bits of a word.
const NEW_MAX: usize = 64;
/// Bytes of a step in memory, with what is known of its ends.
const STEP_BYTES: usize = 64;
/// Rows read at once.
const ROWS: usize = 4096;
/// Steps of the search between two looks at the clock.
const PACE: usize = 1 << 14;

/// Told of each pair; some of them are there already.
pub(super) type Told<'t> = dyn FnMut(ValueId, ValueId) -> Result<(), EngineError> + 't;

/// The search.
pub(super) struct Closure<'a> {
    pub snapshot: &'a Snapshot,
    pub property: ValueId,
    /// The graphs that are read; all, where they are not given.
    pub graphs: Option<[ValueId; 2]>,
    pub cancel: &'a CancelToken,
    pub budget: &'a MemoryBudget,
}

impl Closure<'_> {
    /// All pairs.
    pub fn whole(&self, told: &mut Told<'_>) -> Result<(), EngineError> {
        let mut held = self.budget.reserve_empty();
        let steps = self.steps(&mut held)?;
        let mut pace = Pace { cancel: self.cancel, left: PACE };
        let graph = Graph::of(&steps);
        drop(steps);
        let components = graph.components(&mut pace)?;
        let reached = components.reached(&graph, &mut pace, &mut held)?;
        let (mut of, mut ends): (Option<u32>, Vec<u32>) = (None, Vec::new());
        for (node, component) in components.of.iter().copied().enumerate() {
            if of != Some(component) {
                of = Some(component);
                ends.clear();
                if components.is_circle[component as usize] {
                    ends.extend_from_slice(components.members(component));
                }
                for other in &reached[component as usize] {
                    ends.extend_from_slice(components.members(*other));
                }
                ends.sort_unstable();
            }
            pace.take(1)?;
            let from = graph.nodes[node];
            for end in &ends {
                told(from, graph.nodes[*end as usize])?;
            }
        }
        Ok(())
    }

    /// The pairs that the steps in the graph `new` make, where all other pairs are there.
    pub fn of_new(&self, new: ValueId, told: &mut Told<'_>) -> Result<(), EngineError> {
        let mut steps: Vec<[ValueId; 2]> = Vec::new();
        self.each(&[self.property], Order::Psog, &mut |step, graph| {
            if graph == new && steps.len() <= NEW_MAX && steps.last() != Some(&step) {
                steps.push(step);
            }
            Ok(())
        })?;
        if steps.len() > NEW_MAX {
            return self.whole(told);
        }
        let mut held = self.budget.reserve_empty();
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for [from, to] in &steps {
            before.push(self.ends(*from, Order::Posg, &mut held)?);
            after.push(self.ends(*to, Order::Psog, &mut held)?);
        }
        // Which new steps can follow which, after any number of others.
        let mut leads: Vec<u64> = after
            .iter()
            .map(|ends| {
                let bits = steps.iter().enumerate();
                bits.fold(0, |all, (at, [from, _])| all | u64::from(ends.binary_search(from).is_ok()) << at)
            })
            .collect();
        for (at, bits) in leads.iter_mut().enumerate() {
            *bits |= 1 << at;
        }
        for middle in 0..steps.len() {
            let through = leads[middle];
            leads.iter_mut().filter(|bits| **bits & 1 << middle != 0).for_each(|bits| *bits |= through);
        }
        for (at, bits) in leads.iter().enumerate() {
            let reached = after.iter().enumerate().filter(|(other, _)| bits & 1 << other != 0);
            let mut ends: Vec<ValueId> = reached.flat_map(|(_, ends)| ends).copied().collect();
            ends.sort_unstable();
            ends.dedup();
            for from in &before[at] {
                self.cancel.check().map_err(EngineError::Cancelled)?;
                ends.iter().try_for_each(|end| told(*from, *end))?;
            }
        }
        Ok(())
    }

    /// A node, and all that leads to it (POSG) or that it leads to (PSOG) at once. Sorted.
    fn ends(&self, node: ValueId, order: Order, held: &mut Reservation) -> Result<Vec<ValueId>, EngineError> {
        let mut ends = vec![node];
        self.each(&[self.property, node], order, &mut |[from, to], graph| {
            if self.is_read(graph) {
                ends.push(if order == Order::Psog { to } else { from });
            }
            Ok(())
        })?;
        ends.sort_unstable();
        ends.dedup();
        held.grow(ends.len() * size_of::<ValueId>()).map_err(too_much)?;
        Ok(ends)
    }

    /// All steps, sorted, each once.
    fn steps(&self, held: &mut Reservation) -> Result<Vec<[ValueId; 2]>, EngineError> {
        let mut steps: Vec<[ValueId; 2]> = Vec::new();
        self.each(&[self.property], Order::Psog, &mut |step, graph| {
            if self.is_read(graph) && steps.last() != Some(&step) {
                if steps.len().is_multiple_of(ROWS) {
                    held.grow(ROWS * STEP_BYTES).map_err(too_much)?;
                }
                steps.push(step);
            }
            Ok(())
        })?;
        Ok(steps)
    }

    fn is_read(&self, graph: ValueId) -> bool {
        self.graphs.is_none_or(|graphs| graphs.contains(&graph))
    }

    /// Subjects and objects under a prefix, with their graphs.
    fn each(
        &self,
        prefix: &[ValueId],
        order: Order,
        each: &mut dyn FnMut([ValueId; 2], ValueId) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let mut scan = self.snapshot.scan(order, prefix, 0b1110)?;
        let mut columns: [Vec<ValueId>; 4] = Default::default();
        while scan.next(ROWS, &mut columns)? > 0 {
            self.cancel.check().map_err(EngineError::Cancelled)?;
            let [_, seconds, thirds, graphs] = &mut columns;
            for ((second, third), graph) in seconds.drain(..).zip(thirds.drain(..)).zip(graphs.drain(..)) {
                let step = if order == Order::Psog { [second, third] } else { [third, second] };
                each(step, graph)?;
            }
        }
        Ok(())
    }
}

/// Looks at the clock now and then.
struct Pace<'a> {
    cancel: &'a CancelToken,
    left: usize,
}

impl Pace<'_> {
    fn take(&mut self, steps: usize) -> Result<(), EngineError> {
        self.left = match self.left.checked_sub(steps) {
            Some(left) => left,
            None => {
                self.cancel.check().map_err(EngineError::Cancelled)?;
                PACE
            }
        };
        Ok(())
    }
}

/// Steps by nodes.
struct Graph {
    /// Sorted.
    nodes: Vec<ValueId>,
    /// Where those of each node begin, and where the last ones end.
    first: Vec<usize>,
    next: Vec<u32>,
}

impl Graph {
    fn of(steps: &[[ValueId; 2]]) -> Self {
        let mut nodes: Vec<ValueId> = steps.iter().flatten().copied().collect();
        nodes.sort_unstable();
        nodes.dedup();
        let mut graph =
            Self { first: Vec::with_capacity(nodes.len() + 1), nodes, next: Vec::with_capacity(steps.len()) };
        for [from, to] in steps {
            let from = graph.at(*from) as usize;
            while graph.first.len() <= from {
                graph.first.push(graph.next.len());
            }
            graph.next.push(graph.at(*to));
        }
        graph.first.resize(graph.nodes.len() + 1, graph.next.len());
        graph
    }

    fn at(&self, node: ValueId) -> u32 {
        let at = self.nodes.binary_search(&node).unwrap_or_default();
        // Each takes more memory than there is for so many.
        u32::try_from(at).unwrap_or(u32::MAX)
    }

    fn next(&self, node: u32) -> &[u32] {
        let node = node as usize;
        &self.next[self.first[node]..self.first[node + 1]]
    }

    /// The strongly connected components (Tarjan), each after all that it leads to.
    fn components(&self, pace: &mut Pace<'_>) -> Result<Components, EngineError> {
        let count = self.nodes.len();
        let mut found =
            Components { of: vec![NONE; count], first: vec![0], nodes: Vec::new(), is_circle: Vec::new() };
        let (mut seen, mut low) = (vec![NONE; count], vec![NONE; count]);
        let (mut numbers, mut waiting): (u32, Vec<u32>) = (0, Vec::new());
        let mut open: Vec<(u32, usize)> = Vec::new();
        for start in 0..count {
            if seen[start] == NONE {
                open.push((u32::try_from(start).unwrap_or(NONE), 0));
            }
            while let Some((node, step)) = open.pop() {
                pace.take(1)?;
                let at = node as usize;
                if step == 0 {
                    (seen[at], low[at]) = (numbers, numbers);
                    numbers += 1;
                    waiting.push(node);
                } else {
                    // Back from the step before.
                    let before = self.next(node)[step - 1] as usize;
                    if found.of[before] == NONE {
                        low[at] = low[at].min(low[before]);
                    }
                }
                match self.next(node).get(step) {
                    Some(next) => {
                        open.push((node, step + 1));
                        if seen[*next as usize] == NONE {
                            open.push((*next, 0));
                        }
                    }
                    None if low[at] == seen[at] => found.take(node, &mut waiting, self),
                    None => {}
                }
            }
        }
        Ok(found)
    }
}

/// No component, or none yet.
const NONE: u32 = u32::MAX;

/// Nodes by components.
struct Components {
    of: Vec<u32>,
    /// Where the nodes of each begin, and where the last ones end.
    first: Vec<usize>,
    nodes: Vec<u32>,
    /// Whether its nodes reach themselves.
    is_circle: Vec<bool>,
}

impl Components {
    /// One more: what waits from `root` on.
    fn take(&mut self, root: u32, waiting: &mut Vec<u32>, graph: &Graph) {
        let number = u32::try_from(self.is_circle.len()).unwrap_or(NONE);
        let mut size = 0;
        while let Some(node) = waiting.pop() {
            self.of[node as usize] = number;
            self.nodes.push(node);
            size += 1;
            if node == root {
                break;
            }
        }
        self.first.push(self.nodes.len());
        self.is_circle.push(size > 1 || graph.next(root).contains(&root));
    }

    fn members(&self, component: u32) -> &[u32] {
        let at = component as usize;
        &self.nodes[self.first[at]..self.first[at + 1]]
    }

    /// Of each component the others that it reaches.
    fn reached(
        &self,
        graph: &Graph,
        pace: &mut Pace<'_>,
        held: &mut Reservation,
    ) -> Result<Vec<Vec<u32>>, EngineError> {
        let count = self.is_circle.len();
        let mut reached: Vec<Vec<u32>> = Vec::with_capacity(count);
        let mut seen = vec![NONE; count];
        for number in 0..u32::try_from(count).unwrap_or(NONE) {
            let mut next: Vec<u32> = Vec::new();
            for node in self.members(number) {
                pace.take(graph.next(*node).len())?;
                next.extend(graph.next(*node).iter().map(|to| self.of[*to as usize]));
            }
            // Those that come after others have higher numbers: what they reach need not be looked at again.
            next.sort_unstable_by(|a, b| b.cmp(a));
            next.dedup();
            let mut all = Vec::new();
            for other in next.into_iter().filter(|other| *other != number) {
                if seen[other as usize] == number {
                    continue;
                }
                seen[other as usize] = number;
                all.push(other);
                let further = &reached[other as usize];
                pace.take(further.len())?;
                for one in further {
                    if std::mem::replace(&mut seen[*one as usize], number) != number {
                        all.push(*one);
                    }
                }
            }
            held.grow(all.capacity() * size_of::<u32>()).map_err(too_much)?;
            reached.push(all);
        }
        Ok(reached)
    }
}
