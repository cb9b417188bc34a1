//! Which variables stand where: what BIND and AS must not use again, and what an aggregate leaves.

use std::collections::BTreeSet;
use std::ops::Range;

/// Variables of the groups around the present place, without `?` and `$`.
#[derive(Debug)]
pub(super) struct Scope<'a> {
    /// Nothing is followed otherwise.
    follows: bool,
    groups: Vec<BTreeSet<&'a str>>,
    /// Variables of an expression that stand outside of aggregates, while they are gathered.
    outside: Option<Vec<(&'a str, Range<usize>)>>,
    pub(super) aggregates: usize,
}

impl<'a> Scope<'a> {
    /// One that follows variables, or does nothing.
    pub fn new(follows: bool) -> Self {
        Self { follows, groups: Vec::new(), outside: None, aggregates: 0 }
    }

    /// A group begins.
    pub fn open(&mut self) {
        self.groups.push(BTreeSet::new());
    }

    /// It ends; its variables.
    pub fn close(&mut self) -> BTreeSet<&'a str> {
        self.groups.pop().unwrap_or_default()
    }

    /// Variables are in scope in the present group.
    pub fn add(&mut self, names: impl IntoIterator<Item = &'a str>) {
        if let Some(group) = self.groups.last_mut().filter(|_| self.follows) {
            group.extend(names);
        }
    }

    /// Whether a variable was used before in the present group.
    pub fn has(&self, name: &str) -> bool {
        self.groups.last().is_some_and(|group| group.contains(name))
    }

    /// From now on variables of expressions are gathered.
    pub fn gather(&mut self) -> Option<Vec<(&'a str, Range<usize>)>> {
        self.outside.replace(Vec::new()).filter(|_| self.follows)
    }

    /// What was gathered; what was before goes on.
    pub fn gathered(&mut self, before: Option<Vec<(&'a str, Range<usize>)>>) -> Vec<(&'a str, Range<usize>)> {
        std::mem::replace(&mut self.outside, before).unwrap_or_default()
    }

    /// A variable of an expression.
    pub fn mention(&mut self, name: &'a str, span: Range<usize>) {
        if let Some(outside) = self.outside.as_mut().filter(|_| self.follows) {
            outside.push((name, span));
        }
    }

    /// Nothing is gathered inside; what [`Scope::resume`] takes.
    pub fn pause(&mut self) -> Option<Vec<(&'a str, Range<usize>)>> {
        self.outside.take()
    }

    /// Gathering goes on.
    pub fn resume(&mut self, outside: Option<Vec<(&'a str, Range<usize>)>>) {
        self.outside = outside;
    }
}

/// A variable's name without its mark.
pub(super) fn bare(variable: &str) -> &str {
    variable.trim_start_matches(['?', '$'])
}
