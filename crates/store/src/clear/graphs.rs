//! Which graphs are cleared, and what of a block or a segment that is.

use crate::error::StoreError;
use crate::version::OpenSegment;
use lode_packed::Order;
use lode_rdf::ValueId;

/// The graphs that are cleared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Graphs {
    /// One; [`ValueId::DEFAULT_GRAPH`] for the default graph.
    One(ValueId),
    /// All that have names.
    Named,
    /// All.
    All,
}

/// How much of some rows is in graphs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// Nothing.
    Nothing,
    /// Nobody knows without looking.
    Some,
    /// Everything.
    Everything,
}

impl Share {
    /// What is left of the rows.
    #[must_use]
    pub fn rest(self) -> Self {
        match self {
            Self::Nothing => Self::Everything,
            Self::Some => Self::Some,
            Self::Everything => Self::Nothing,
        }
    }
}

impl Graphs {
    /// Whether a graph is among them.
    #[inline]
    pub fn contain(self, graph: u64) -> bool {
        match self {
            Self::One(one) => graph == one.to_bits(),
            Self::Named => graph != ValueId::DEFAULT_GRAPH.to_bits(),
            Self::All => true,
        }
    }

    /// What is in these graphs of rows whose graphs are between two.
    pub fn share(self, least: u64, greatest: u64) -> Share {
        // The default graph comes before all others.
        let none = match self {
            Self::One(one) => one.to_bits() < least || one.to_bits() > greatest,
            Self::Named => !self.contain(greatest),
            Self::All => false,
        };
        let all = self.contain(least) && (least == greatest || !matches!(self, Self::One(_)));
        match (none, all) {
            (true, _) => Share::Nothing,
            (false, true) => Share::Everything,
            (false, false) => Share::Some,
        }
    }

    /// How many quads of a segment are in these graphs.
    ///
    /// # Errors
    /// Where the segment's index cannot be read or is damaged.
    pub fn quads_in(self, segment: &OpenSegment) -> Result<u64, StoreError> {
        let (named, all) = (segment.permutation(Order::Gspo), segment.permutation(Order::Spog).rows());
        Ok(match self {
            Self::One(ValueId::DEFAULT_GRAPH) => all - named.rows(),
            Self::One(graph) => {
                let rows = named.range(&[graph.to_bits()])?;
                rows.end - rows.start
            }
            Self::Named => named.rows(),
            Self::All => all,
        })
    }

    /// The order in which they are read, and the columns that all their rows begin with.
    pub fn order(&self) -> (Order, &[ValueId]) {
        // The order that begins with the graph has named graphs only.
        match self {
            Self::One(ValueId::DEFAULT_GRAPH) | Self::All => (Order::Spog, &[]),
            Self::One(graph) => (Order::Gspo, std::slice::from_ref(graph)),
            Self::Named => (Order::Gspo, &[]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_of_the_rows_between() {
        let ids =
            [ValueId::DEFAULT_GRAPH, ValueId::from_bits(5), ValueId::from_bits(6), ValueId::from_bits(9)];
        let all = [Graphs::Named, Graphs::All];
        for graphs in ids.map(Graphs::One).into_iter().chain(all) {
            for (at, least) in ids.iter().enumerate() {
                for greatest in &ids[at..] {
                    let share = graphs.share(least.to_bits(), greatest.to_bits());
                    let between = |id: &&ValueId| *least <= **id && **id <= *greatest;
                    let held = ids.iter().filter(between).filter(|id| graphs.contain(id.to_bits())).count();
                    let rows = ids.iter().filter(between).count();
                    match share {
                        Share::Nothing => assert_eq!(held, 0, "{graphs:?} {least:?} {greatest:?}"),
                        Share::Everything => assert_eq!(held, rows, "{graphs:?} {least:?} {greatest:?}"),
                        Share::Some => assert!(held > 0 && held < rows, "{graphs:?} {least:?} {greatest:?}"),
                    }
                    assert_eq!(share.rest().rest(), share);
                }
            }
        }
    }
}
