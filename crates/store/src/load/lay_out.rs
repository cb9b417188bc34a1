//! How the rows of a load are packed, once all of its terms are counted.

use crate::segment_builder::{Class, ClassCounts, Layout, TermCodes, TermIndex};
use lode_rdf::value_id::Section;

/// The layout for blank nodes and inline values that are counted already, predicates and graph names (none where these are too many to list), and
/// the terms of the dictionaries: those there were before and those that were given.
pub fn lay_out(
    mut counts: ClassCounts,
    names: [Option<Vec<TermIndex>>; 2],
    old: [u64; Section::COUNT],
    given: [u64; Section::COUNT],
) -> Layout {
    for section in Section::ALL {
        let class = Class::of(section) as usize;
        counts.counts[class] = old[section as usize] + given[section as usize];
        counts.old[class] = old[section as usize];
    }
    let terms = TermCodes::new(counts);
    // Indexes and codes ascend alike.
    let [predicates, graphs] =
        names.map(|names| Some(names?.into_iter().map(|name| terms.code(name)).collect()));
    Layout::with_names(terms, predicates, graphs)
}
