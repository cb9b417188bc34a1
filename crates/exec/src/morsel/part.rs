//! Morsels: what a thread takes of a sub-plan.

use lode_rdf::ValueId;
use std::ops::Range;

/// A part of the work.
#[derive(Debug, Clone, Default)]
pub(crate) struct Morsel {
    /// By the number of the scan, ascending.
    pub(crate) ranges: Vec<(u32, Range<ValueId>)>,
    pub(crate) branches: Vec<(u32, usize)>,
    pub(crate) parts: Vec<(u32, Part)>,
}

/// A part of the rows of a common sub-plan.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    /// One of so many shares, about equally large, in the order of the rows.
    Share { number: usize, of: usize },
    /// Rows whose value of the first column of the order lies in it.
    Range(Range<ValueId>),
}

impl Morsel {
    /// The rows of a scan whose values of its first free column lie in `range`.
    pub(crate) fn of_scan(scan: u32, range: Range<ValueId>) -> Self {
        Self { ranges: vec![(scan, range)], ..Self::default() }
    }

    /// The range that a scan is confined to.
    pub(crate) fn range(&self, scan: u32) -> Option<&Range<ValueId>> {
        let at = self.ranges.binary_search_by_key(&scan, |(id, _)| *id).ok()?;
        self.ranges.get(at).map(|(_, range)| range)
    }

    /// The part that is read of the rows of a common sub-plan.
    pub(crate) fn part(&self, spool: u32) -> Option<&Part> {
        self.parts.iter().find(|(id, _)| *id == spool).map(|(_, part)| part)
    }

    /// The branch of a UNION that alone is run.
    pub(crate) fn branch(&self, union: u32) -> Option<usize> {
        self.branches.iter().find(|(id, _)| *id == union).map(|(_, branch)| *branch)
    }
}

/// A sub-plan's morsels.
#[derive(Debug, Default)]
pub(crate) struct Split {
    pub(crate) morsels: Vec<Morsel>,
    pub(crate) divisible: Option<Divisible>,
}

/// The one scan that all rows come from: a morsel is a range of its values, and can be divided while it is run.
#[derive(Debug)]
pub(crate) struct Divisible {
    pub(crate) scan: u32,
    /// Fewer rows are not worth it.
    pub(crate) rows_min: u64,
    /// A thread should look up from its work after so many.
    pub(crate) read_rows_max: usize,
}

impl Split {
    /// No cut at all.
    pub(crate) fn whole() -> Self {
        Self { morsels: vec![Morsel::default()], divisible: None }
    }
}
