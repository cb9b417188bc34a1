//! A step along `rdf:type` with what a schema says ([`TypeStep`]), from many nodes at once.

use super::path_edges::CHECK_EVERY;
use super::path_search::{Reached, Search};
use super::path_starts::Starts;
use lode_eval::error::ExecError;
use lode_eval::hash::IdHash;
use lode_eval::merge_sort::sort_in_steps;
use lode_packed::Order;
use lode_rdf::{Kind, ValueId};
use lode_scheduler::steps::{append, collect, dedup_by};
use lode_sparql::Slot;
use lode_sparql::plan::TypeStep;
use lode_sparql::typing::{ClassEdges, Typing};
use std::collections::{HashMap, HashSet};

impl Search {
    /// The classes of which each of `nodes` (sorted, distinct) is an instance, or (`backward`) the instances of each: once each, by the
    /// number of the node.
    pub(super) fn type_ends(
        &mut self,
        step: &TypeStep,
        backward: bool,
        nodes: &[ValueId],
    ) -> Result<Vec<Reached>, ExecError> {
        let cancel = self.cx.cancel.clone();
        let from = collect(nodes.len(), &cancel, |at| (number(at), nodes[at]))?;
        let mut reached;
        if backward {
            let classes = self.class_ends(&step.classes, false, from)?;
            let mut copy = Vec::new();
            append(&mut copy, &classes, &cancel)?;
            reached = self.expand(&step.stated, true, copy)?;
            self.typed_nodes(&step.typing, &classes, &mut reached)?;
        } else {
            reached = self.expand(&step.stated, false, from)?;
            self.typed_classes(&step.typing, nodes, &mut reached)?;
            reached = self.class_ends(&step.classes, true, reached)?;
        }
        sort_in_steps(&mut reached, Reached::cmp, || cancel.check())?;
        dedup_by(&mut reached, &cancel, PartialEq::eq, |_, _| ())?;
        Ok(reached)
    }

    /// Adds the classes of which `nodes` are instances by a domain or a range.
    fn typed_classes(
        &mut self,
        typing: &[Typing],
        nodes: &[ValueId],
        reached: &mut Vec<Reached>,
    ) -> Result<(), ExecError> {
        let mut looked_at = 0;
        for Typing { property, inverse, classes } in typing {
            let order = self.edge_order(true, *inverse);
            let pattern = self.edge(Slot::Const(*property), order, *inverse);
            for at in self.with_edge(&pattern, nodes)? {
                if !can_be_subject(self.term(nodes[at])) {
                    continue;
                }
                self.look(reached, &mut looked_at)?;
                let graph = self.graph_of(nodes[at]);
                for class in classes {
                    reached.push((number(at), self.node(graph, *class)?));
                }
            }
        }
        self.hold(size_of_val(reached.as_slice()))
    }

    /// Adds the nodes that are instances of `classes` by a domain or a range.
    fn typed_nodes(
        &mut self,
        typing: &[Typing],
        classes: &[Reached],
        reached: &mut Vec<Reached>,
    ) -> Result<(), ExecError> {
        let mut searches: HashMap<ValueId, Vec<(ValueId, u32)>, IdHash> = HashMap::default();
        for (search, class) in classes {
            searches.entry(self.term(*class)).or_default().push((self.graph_of(*class), *search));
        }
        let mut looked_at = 0;
        for typing in typing {
            let wanted = typing.classes.iter().filter_map(|class| searches.get(class)).flatten();
            let mut wanted: Vec<(ValueId, u32)> = wanted.copied().collect();
            if wanted.is_empty() {
                continue;
            }
            wanted.sort_unstable();
            wanted.dedup();
            for (graph, node) in self.typed_ends(typing)?.terms() {
                if !can_be_subject(node) {
                    continue;
                }
                self.look(reached, &mut looked_at)?;
                let first = wanted.partition_point(|(known, _)| *known < graph);
                for (_, search) in wanted[first..].iter().take_while(|(known, _)| *known == graph) {
                    reached.push((*search, self.node(graph, node)?));
                }
            }
        }
        self.hold(size_of_val(reached.as_slice()))
    }

    /// What has a property that types it.
    fn typed_ends(&mut self, typing: &Typing) -> Result<Starts, ExecError> {
        let mut ends = self.no_starts();
        self.edge_ends(Slot::Const(typing.property), typed_order(typing), None, &mut ends)?;
        Ok(ends)
    }

    /// Classes with all above (or below) them, by the same searches.
    fn class_ends(
        &mut self,
        edges: &ClassEdges,
        is_above: bool,
        from: Vec<Reached>,
    ) -> Result<Vec<Reached>, ExecError> {
        let classes = self.distinct_nodes(&from)?;
        let (mut reached, mut looked_at) = (Vec::new(), 0);
        for (at, class) in classes.iter().enumerate() {
            let graph = self.graph_of(*class);
            for near in self.class_and_next(edges, is_above, self.term(*class))? {
                self.look(&reached, &mut looked_at)?;
                reached.push((number(at), self.node(graph, near)?));
            }
        }
        self.spread(&from, &classes, reached)
    }

    /// A class, and all above (or below) it.
    fn class_and_next(
        &self,
        edges: &ClassEdges,
        is_above: bool,
        class: ValueId,
    ) -> Result<Vec<ValueId>, ExecError> {
        let mut reached = vec![class];
        let mut seen: HashSet<ValueId, IdHash> = HashSet::default();
        seen.insert(class);
        let mut next = 0;
        while let Some(at) = reached.get(next).copied() {
            if next % CHECK_EVERY == 0 {
                self.cx.cancel.check()?;
            }
            next += 1;
            reached.extend(edges.next_to(at, is_above).iter().filter(|class| seen.insert(**class)));
        }
        Ok(reached)
    }

    /// The nodes from which such a step may lead somewhere, as [`Search::starts`] finds them.
    pub(super) fn type_starts(
        &mut self,
        step: &TypeStep,
        backward: bool,
        only: Option<ValueId>,
        starts: &mut Starts,
    ) -> Result<(), ExecError> {
        if !backward {
            self.first_nodes(&step.stated, false, only, starts)?;
            for typing in &step.typing {
                self.edge_ends(Slot::Const(typing.property), typed_order(typing), only, starts)?;
            }
            return Ok(());
        }
        let mut classes = self.no_starts();
        self.first_nodes(&step.stated, true, None, &mut classes)?;
        for typing in &step.typing {
            let ends = self.typed_ends(typing)?;
            let graphs: HashSet<ValueId, IdHash> = ends.terms().map(|(graph, _)| graph).collect();
            for (graph, class) in
                graphs.iter().flat_map(|graph| typing.classes.iter().map(move |c| (*graph, *c)))
            {
                classes.push(Some(graph), class);
            }
        }
        self.settle(&mut classes)?;
        for (graph, class) in classes.terms() {
            let above = self.class_and_next(&step.classes, true, class)?;
            for class in above.into_iter().filter(|class| only.is_none_or(|only| only == *class)) {
                starts.push(Some(graph), class);
            }
            self.hold(classes.bytes() + starts.bytes())?;
        }
        Ok(())
    }
}

/// The order in which those that have the property are next to each other.
fn typed_order(typing: &Typing) -> Order {
    if typing.inverse { Order::Posg } else { Order::Psog }
}

/// Literals are instances of no class here: no triple could say so.
fn can_be_subject(term: ValueId) -> bool {
    matches!(term.kind(), Some(Kind::Iri | Kind::Blank))
}

fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
