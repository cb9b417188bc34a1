//! Instances of intersections: whoever is an instance of all members of a list, of each list that a class is the intersection of.
//!
//! The rules of OWL 2 RL for that walk lists by triples of their own, which are not kept; here lists are walked.

use super::super::gather::Triple;
use super::compiled::{Compiled, INTERSECTION, RDF_FIRST, RDF_NIL, RDF_REST, RDF_TYPE};
use super::limits::TooMuch;
use super::view::{Meter, Stop, View};
use lode_rdf::ValueId;
use std::collections::{BTreeSet, HashSet};

/// A list that is none, since cells have several members or go on in several ways, stands for so many lists at most.
const LISTS_MAX: usize = 256;

/// What is looked at.
pub(super) struct Intersections<'a> {
    pub view: &'a View,
    pub meter: &'a Meter,
    ids: Ids,
}

#[derive(Clone, Copy)]
struct Ids {
    a: ValueId,
    first: ValueId,
    rest: ValueId,
    nil: ValueId,
    intersection: ValueId,
}

impl<'a> Intersections<'a> {
    /// None where the data have no such class.
    pub fn of(
        compiled: &Compiled,
        ids: &[Option<ValueId>],
        view: &'a View,
        meter: &'a Meter,
    ) -> Option<Self> {
        let id = |name| ids.get(compiled.constant(name)?).copied().flatten();
        let ids = Ids {
            a: id(RDF_TYPE)?,
            first: id(RDF_FIRST)?,
            rest: id(RDF_REST)?,
            nil: id(RDF_NIL)?,
            intersection: id(INTERSECTION)?,
        };
        Some(Self { view, meter, ids })
    }

    /// What follows in which one of these triples has a part.
    pub fn forward(&self, delta: &[Triple], heads: &mut BTreeSet<Triple>) -> Result<(), Stop> {
        for [x, p, class] in delta {
            if *p == self.ids.a {
                for (whole, lists) in self.with_member(*class)? {
                    if self.is_in_one(*x, &lists)? {
                        heads.insert([*x, self.ids.a, whole]);
                    }
                }
            }
        }
        Ok(())
    }

    /// All that follows.
    pub fn whole(&self, heads: &mut BTreeSet<Triple>) -> Result<(), Stop> {
        for (class, lists) in self.classes(self.rows([None, Some(self.ids.intersection), None])?)? {
            for list in &lists {
                let counted = list.iter().map(|member| {
                    let count = self.view.count([None, Some(self.ids.a), Some(*member)])?;
                    Ok((count, *member))
                });
                let counted = counted.collect::<Result<Vec<_>, Stop>>()?;
                let Some((_, least)) = counted.into_iter().min() else { continue };
                for [x, ..] in self.rows([None, Some(self.ids.a), Some(least)])? {
                    if self.is_in_one(x, std::slice::from_ref(list))? {
                        heads.insert([x, self.ids.a, class]);
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether a triple follows.
    pub fn makes(&self, [x, p, class]: &Triple) -> Result<bool, Stop> {
        if *p != self.ids.a {
            return Ok(false);
        }
        let rows = self.rows([Some(*class), Some(self.ids.intersection), None])?;
        for (_, lists) in self.classes(rows)? {
            if self.is_in_one(*x, &lists)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The classes that are intersections of a class and others, and all that they are intersections of.
    fn with_member(&self, member: ValueId) -> Result<Vec<(ValueId, Vec<Vec<ValueId>>)>, Stop> {
        let cells = self.rows([None, Some(self.ids.first), Some(member)])?;
        let (mut seen, mut open) = (HashSet::new(), Vec::new());
        for [cell, ..] in cells {
            if seen.insert(cell) {
                open.push(cell);
            }
        }
        let mut rows = Vec::new();
        while let Some(cell) = open.pop() {
            rows.extend(self.rows([None, Some(self.ids.intersection), Some(cell)])?);
            for [before, ..] in self.rows([None, Some(self.ids.rest), Some(cell)])? {
                if seen.insert(before) {
                    open.push(before);
                }
            }
        }
        self.classes(rows)
    }

    fn classes(&self, rows: Vec<Triple>) -> Result<Vec<(ValueId, Vec<Vec<ValueId>>)>, Stop> {
        rows.into_iter().map(|[class, _, list]| Ok((class, self.lists(list)?))).collect()
    }

    /// The members of a list: one list, but where cells have several members, or go on in several ways. A way that comes back to a cell asks for no less
    /// than the one that does not.
    fn lists(&self, head: ValueId) -> Result<Vec<Vec<ValueId>>, Stop> {
        let (mut found, mut steps) = (Vec::new(), 0);
        let mut open = vec![(head, Vec::new(), vec![head])];
        while let Some((cell, members, way)) = open.pop() {
            steps += 1;
            if steps > LISTS_MAX * LISTS_MAX || found.len() > LISTS_MAX {
                return Err(Stop::TooMuch(TooMuch::Lists));
            }
            let nexts = self.rows([Some(cell), Some(self.ids.rest), None])?;
            for [_, _, member] in self.rows([Some(cell), Some(self.ids.first), None])? {
                for [_, _, next] in &nexts {
                    let mut members = members.clone();
                    members.push(member);
                    if *next == self.ids.nil {
                        found.push(members.clone());
                    }
                    if !way.contains(next) {
                        let mut way = way.clone();
                        way.push(*next);
                        open.push((*next, members, way));
                    }
                }
            }
        }
        Ok(found)
    }

    fn is_in_one(&self, x: ValueId, lists: &[Vec<ValueId>]) -> Result<bool, Stop> {
        for list in lists {
            let mut is_in_all = true;
            for member in list {
                let (stated, inferred) = self.view.status(&[x, self.ids.a, *member])?;
                if !stated && !inferred {
                    is_in_all = false;
                    break;
                }
            }
            if is_in_all {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn rows(&self, known: [Option<ValueId>; 3]) -> Result<Vec<Triple>, Stop> {
        let mut rows = Vec::new();
        self.view.each(known, false, self.meter, &mut |triple| {
            rows.push(*triple);
            Ok(true)
        })?;
        Ok(rows)
    }
}
