//! The state of the walk over a text, and what is known on the way.

use super::found::{Findings, InGraph};
use crate::parse::lower::Lowering;
use lode_syntax::{At, Node};
use std::collections::BTreeSet;
use std::ops::Range;

/// What a walk over the tree has found so far.
pub(super) struct Walk<'t> {
    pub(super) lowering: Lowering<'t>,
    pub(super) found: Findings,
    /// Variables that stand in a pattern somewhere.
    pub(super) bound: BTreeSet<&'t str>,
    /// Those of triples.
    pub(super) in_triples: BTreeSet<&'t str>,
    /// Variables without a value where they stand.
    pub(super) unbound: Vec<Unbound<'t>>,
    pub(super) is_ask: bool,
    /// The text has a dataset of its own here.
    pub(super) has_dataset: bool,
}

impl<'t> Walk<'t> {
    pub(super) fn new(lowering: Lowering<'t>) -> Self {
        let (bound, in_triples) = (BTreeSet::new(), BTreeSet::new());
        let (found, unbound) = (Findings::default(), Vec::new());
        Self { lowering, found, bound, in_triples, unbound, is_ask: false, has_dataset: false }
    }
}

/// A variable without a value.
pub(super) struct Unbound<'t> {
    pub(super) name: &'t str,
    pub(super) span: Range<usize>,
    pub(super) place: Place,
}

/// Where a variable is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Selected,
    Made,
    Deleted,
    Filter,
    Bind,
    Modifier,
}

/// Names of variables.
pub(super) type Names<'t> = BTreeSet<&'t str>;

/// What is around a group.
#[derive(Clone, Copy)]
pub(super) struct Around<'a, 't> {
    /// Variables that have values everywhere in it.
    pub substituted: &'a Names<'t>,
    /// Those that have values in its own filters, too.
    pub optional: Option<&'a Names<'t>>,
    /// Those that its solutions are joined by, or compared.
    pub joined: Option<&'a Names<'t>>,
    /// The graph that its patterns are of.
    pub graph: InGraph<At<'t>>,
    /// Without it there is no solution.
    pub is_required: bool,
}

impl<'a, 't> Around<'a, 't> {
    pub fn new(substituted: &'a Names<'t>) -> Self {
        Self { substituted, optional: None, joined: None, graph: InGraph::Default, is_required: true }
    }
}

/// How many solutions a part may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rows {
    /// Those of its triples.
    Triples,
    /// So few that it does not matter.
    Few,
    /// Nobody knows.
    Unknown,
}

/// The parts of a group, and what links them.
#[derive(Default)]
pub(super) struct Parts<'t> {
    pub(super) parts: Vec<(At<'t>, Rows, Vec<&'t str>)>,
    /// Expressions, which compare what they have.
    pub(super) links: Vec<At<'t>>,
}

impl<'t> Parts<'t> {
    pub fn push(&mut self, at: At<'t>, rows: Rows, names: &Names<'t>) {
        self.parts.push((at, rows, names.iter().copied().collect()));
    }

    pub fn link(&mut self, at: At<'t>) {
        self.links.push(at);
    }
}

/// Whether a group is a query of one solution.
pub(super) fn is_one_row(group: At<'_>) -> bool {
    let Some(select) = Some(group).filter(|first| first.node() == Node::Select) else { return false };
    let limit = select.child(Node::Limit).map(|limit| limit.token(1));
    let is_grouped = select.child(Node::GroupBy).is_some();
    matches!(limit, Some("0" | "1")) || !is_grouped && has_aggregate(select)
}

fn has_aggregate(select: At<'_>) -> bool {
    fn holds(at: At<'_>) -> bool {
        at.node() == Node::Aggregate || at.children().any(|child| crate::stack::room(|| holds(child)))
    }
    let selection = select.child(Node::Selection);
    selection.into_iter().chain(select.child(Node::Having)).any(holds)
}

/// The name of a variable.
pub(super) fn name(at: At<'_>) -> &str {
    at.text().trim_start_matches(['?', '$'])
}
