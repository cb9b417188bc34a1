//! Parts of a group that nothing joins.

use super::found::{Counted, FOUND_MAX, Unjoined};
use super::walk::{Around, Names, Parts, Rows, Walk};
use lode_syntax::{At, Node};
use std::borrow::Cow;
use std::collections::HashMap;

impl<'t> Walk<'t> {
    /// Finds parts that are not joined.
    pub(super) fn unjoined(&mut self, parts: Parts<'t>, around: &Around<'_, 't>) {
        let count = parts.parts.len();
        if count < 2 || self.found.unjoined.len() >= FOUND_MAX {
            return;
        }
        let mut sets = Sets((0..count).collect());
        let mut first: HashMap<Cow<'_, str>, usize> = HashMap::new();
        for (place, (at, _, names)) in parts.parts.iter().enumerate() {
            let mut seen = |key| {
                let before = *first.entry(key).or_insert(place);
                sets.join(before, place);
            };
            names.iter().for_each(|name| seen(Cow::Borrowed(*name)));
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
            let places: Vec<usize> = names.iter().filter_map(|name| first.get(*name).copied()).collect();
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
    fn keys(&self, at: At<'t>, seen: &mut impl FnMut(Cow<'t, str>)) {
        match at.node() {
            // However it is spelt.
            Node::Iri | Node::Name => seen(self.iri_of(at).map_or_else(|| at.text().into(), Cow::Owned)),
            Node::Blank => seen(at.text().into()),
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
