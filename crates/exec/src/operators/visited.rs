//! Nodes with a bit for each of up to 64 searches that has reached them.

use lode_base::cancel::{CancelToken, Cancelled};
use lode_eval::hash::hash_id;
use lode_eval::merge_sort::sort_by_number;
use lode_eval::number_index::NumberIndex;
use lode_rdf::ValueId;
use lode_scheduler::steps::{append, dedup_by, steps};

/// A node, and the searches that have reached it.
pub(super) type Marked = (ValueId, u64);

/// The nodes that some searches have visited.
#[derive(Debug, Default)]
pub(super) struct Visited {
    index: NumberIndex,
    nodes: Vec<Marked>,
}

impl Visited {
    /// The nodes, in the order in which they were first visited.
    pub(super) fn into_nodes(self) -> Vec<Marked> {
        self.nodes
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.index.bytes() + self.nodes.capacity() * size_of::<Marked>()
    }

    /// Notes which searches have reached these nodes, and leaves of the marks those that are new, and of the nodes those that have some.
    pub(super) fn visit(&mut self, reached: &mut Vec<Marked>, cancel: &CancelToken) -> Result<(), Cancelled> {
        let Self { index, nodes } = self;
        let mut kept = 0;
        for step in steps(reached.len(), cancel) {
            let step = step?;
            index.make_room(step.len(), |at| hash_id(nodes[at].0), || cancel.check())?;
            for at in step {
                let (node, mask) = reached[at];
                let hash = hash_id(node);
                let new = match index.find(hash, |at| nodes[at].0 == node) {
                    Some(known) => {
                        let known = &mut nodes[known as usize].1;
                        let new = mask & !*known;
                        *known |= mask;
                        new
                    }
                    None => {
                        nodes.push((node, mask));
                        index.add(hash, |at| hash_id(nodes[at].0));
                        mask
                    }
                };
                if new != 0 {
                    reached[kept] = (node, new);
                    kept += 1;
                }
            }
        }
        reached.truncate(kept);
        Ok(())
    }
}

/// Sorted by node, each once, with all its marks.
pub(super) fn merged(mut marked: Vec<Marked>, cancel: &CancelToken) -> Result<Vec<Marked>, Cancelled> {
    sort_by_number(&mut marked, |(node, _)| node.to_bits(), &|| cancel.check())?;
    dedup_by(&mut marked, cancel, |first, later| first.0 == later.0, |first, later| first.1 |= later.1)?;
    Ok(marked)
}

/// The nodes of both.
pub(super) fn both(
    mut some: Vec<Marked>,
    more: &[Marked],
    cancel: &CancelToken,
) -> Result<Vec<Marked>, Cancelled> {
    append(&mut some, more, cancel)?;
    merged(some, cancel)
}

#[cfg(test)]
mod tests {
    use super::{Marked, Visited, both, merged};
    use lode_base::cancel::CancelToken;
    use lode_rdf::ValueId;

    fn marked(nodes: impl Iterator<Item = (u64, u64)>) -> Vec<Marked> {
        nodes.map(|(node, mask)| (ValueId::from_bits(node), mask)).collect()
    }

    #[test]
    fn marks_of_a_node_are_put_together() {
        let token = CancelToken::default();
        let twice = marked((0..500).map(|n| (n * 7 % 100, 1 << (n % 3))));
        let all = merged(twice.clone(), &token).unwrap();
        assert_eq!(all, marked((0..100).map(|n| (n, 0b111))));
        assert_eq!(both(twice, &all, &token).unwrap(), all);
    }

    #[test]
    fn only_new_marks_are_left() {
        let (token, mut visited) = (CancelToken::default(), Visited::default());
        let mut reached = marked((0..300).map(|n| (n, 0b01)));
        visited.visit(&mut reached, &token).unwrap();
        assert_eq!(reached, marked((0..300).map(|n| (n, 0b01))));
        let mut reached = marked((200..400_u64).map(|n| (n, if n.is_multiple_of(2) { 0b11 } else { 0b01 })));
        visited.visit(&mut reached, &token).unwrap();
        let new = |n: u64| match (n < 300, n.is_multiple_of(2)) {
            (true, true) => Some((n, 0b10)),
            (true, false) => None,
            (false, even) => Some((n, if even { 0b11 } else { 0b01 })),
        };
        assert_eq!(reached, marked((200..400).filter_map(new)));
        let nodes = visited.into_nodes();
        assert_eq!((nodes.len(), nodes[250].1), (400, 0b11));
    }

    #[test]
    fn nothing_goes_on_once_cancelled() {
        let token = CancelToken::default();
        token.cancel();
        let mut many = marked((0..100).map(|n| (n, 1)));
        assert!(Visited::default().visit(&mut many, &token).is_err() && merged(many, &token).is_err());
    }
}
