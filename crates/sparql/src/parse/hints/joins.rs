//! Parts of a group that nothing joins.

use super::groups::{Around, Names};
use super::{FOUND_MAX, Walk};
use lode_rdf::Term;
use lode_syntax::{At, Node};
use std::collections::HashMap;
use std::ops::Range;

/// Parts of a group that have no variable and no constant in common with what is before them.
#[derive(Debug, Clone, PartialEq)]
pub struct Unjoined {
    /// The bytes of the first part that is not joined.
    pub span: Range<usize>,
    /// The triples of what is before, and
    pub before: Vec<Counted>,
    /// its own: of each as many as can be counted.
    pub own: Vec<Counted>,
}

/// The constants of a triple; none: a variable.
#[derive(Debug, Clone, PartialEq)]
pub struct Counted {
    /// Subject.
    pub subject: Option<Term>,
    /// Predicate.
    pub predicate: Option<Term>,
    /// Object.
    pub object: Option<Term>,
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
    parts: Vec<(At<'t>, Rows, Vec<&'t str>)>,
    /// Expressions, which compare what they have.
    links: Vec<At<'t>>,
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

/// Sets of what is joined.
struct Sets(Vec<usize>);

impl Sets {
    fn find(&mut self, mut at: usize) -> usize {
        while self.0[at] != at {
            self.0[at] = self.0[self.0[at]];
            at = self.0[at];
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b)] = a.min(b);
    }
}

impl<'t> Walk<'t> {
    /// Finds parts that are not joined.
    pub(super) fn unjoined(&mut self, parts: Parts<'t>, around: &Around<'_, 't>) {
        let count = parts.parts.len();
        if count < 2 || self.found.unjoined.len() >= FOUND_MAX {
            return;
        }
        let mut sets = Sets((0..count).collect());
        let mut first: HashMap<&str, usize> = HashMap::new();
        for (place, (at, _, names)) in parts.parts.iter().enumerate() {
            let mut seen = |key| {
                let before = *first.entry(key).or_insert(place);
                sets.join(before, place);
            };
            names.iter().for_each(|name| seen(*name));
            self.keys(*at, &mut seen);
            // What has values from around is joined by them.
            let is_around = |name: &&str| {
                around.substituted.contains(name) || around.joined.is_some_and(|names| names.contains(name))
            };
            if names.iter().any(is_around) {
                sets.join(0, place);
            }
        }
        for link in &parts.links {
            let mut names = Names::new();
            self.all_of(*link, &mut names);
            let places: Vec<usize> = names.iter().filter_map(|name| first.get(name).copied()).collect();
            places.windows(2).for_each(|pair| sets.join(pair[0], pair[1]));
        }
        let root = sets.find(0);
        let Some(other) = (1..count).find(|place| sets.find(*place) != root) else { return };
        let own = sets.find(other);
        let of = |walk: &Self, sets: &mut Sets, set: usize| {
            let mut counted = Vec::new();
            for (place, (at, rows, _)) in parts.parts.iter().enumerate() {
                match rows {
                    _ if sets.find(place) != set => {}
                    // One of these makes all few, or unknown.
                    Rows::Few | Rows::Unknown => return None,
                    Rows::Triples => walk.counted(*at, &mut counted),
                }
            }
            Some(counted).filter(|counted| !counted.is_empty())
        };
        let (Some(before), Some(mine)) = (of(self, &mut sets, root), of(self, &mut sets, own)) else {
            return;
        };
        self.found.unjoined.push(Unjoined { span: parts.parts[other].0.span(), before, own: mine });
    }

    /// What joins a part beside its variables: resources that it has in common with others, and labels.
    fn keys(&self, at: At<'t>, seen: &mut impl FnMut(&'t str)) {
        match at.node() {
            Node::Iri | Node::Name | Node::Blank => seen(at.text()),
            Node::Triples | Node::BlankProperties => {
                for child in at.children() {
                    self.keys(child, seen);
                }
            }
            Node::Property => {
                let is_class = at.first().is_some_and(|verb| self.is_type(verb));
                for child in at.children().skip(1).filter(|child| !is_class || child.node() == Node::Blank) {
                    crate::stack::room(|| self.keys(child, seen));
                }
            }
            _ => {}
        }
    }

    /// Triples of a subject that can be counted.
    fn counted(&self, at: At<'t>, counted: &mut Vec<Counted>) {
        let mut parts = at.children();
        let Some(subject) = parts.next() else { return };
        for property in parts {
            let mut parts = property.children();
            let Some(verb) = parts.next() else { continue };
            let predicate = self.iri_of(verb).map(|iri| lode_rdf::NamedNode::new_unchecked(iri).into());
            // A path may have more than its properties.
            if predicate.is_none() && verb.node() != Node::Variable {
                continue;
            }
            for object in parts.take(FOUND_MAX - counted.len().min(FOUND_MAX)) {
                let (subject, object) = (self.term_of(subject), self.term_of(object));
                counted.push(Counted { subject, predicate: predicate.clone(), object });
            }
        }
    }
}
