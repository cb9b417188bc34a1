//! Members of a join that are patterns with the same subject, and what the statistics say of them together.
//!
//! A star shows in one place: where two sets of members meet at its subject, their rows are not divided by the larger number of distinct
//! subjects (as if the fewer were all among the more), but by what makes the members of both come out as the statistics say. All that
//! else is known of the sets, exact counts of constants and ranges or what conditions and further members left, stays as a factor.
//! Such factors multiply in any order, so the estimate of a star does not depend on how it was split.
//!
//! Where others come to the subject, those are taken to be about subjects that have the whole star: a review of a product is not one of
//! anything that has a type, though only a further pattern says so.

use super::bits::Bits;
use super::join_input::{Access, Input};
use crate::logical::{QuadPattern, slot_var};
use crate::plan::{GraphScope, Slot, VarId};
use crate::statistics::Statistics;
use lode_packed::{Order, Star, StarMember};
use std::cell::Cell;
use std::sync::Arc;

/// The default graph is taken for all graphs where at least this part of the quads is in it.
const DEFAULT_PART_MIN: f64 = 0.9;

/// The stars of a group.
#[derive(Default)]
pub(super) struct Stars(Vec<SubjectStar>);

/// Members of one subject, before the statistics are asked.
struct Found {
    subject: usize,
    scope: f64,
    members: Vec<usize>,
    asked: Vec<StarMember>,
}

/// By what rows are divided where two sets of members meet at a subject.
pub(super) enum Divisor {
    /// Both have a part of the star: this is known.
    Star(f64),
    /// One comes from elsewhere: a guess, like that for any variable, and with others worth less.
    Link(f64),
}

/// The patterns of one subject.
struct SubjectStar {
    /// The number of the subject's variable.
    subject: usize,
    /// The members of the group that belong to it: the first is bit 0 of the star.
    members: Vec<usize>,
    star: Arc<Star>,
    /// The part of the quads that is in the graphs asked for.
    scope: f64,
    /// For each member that asks for an object: the part of the subjects that have it, of those that the statistics have for it.
    parts: Vec<Option<f64>>,
    /// Other members of the group that have the subject's variable.
    links: Bits,
    /// Rows of each subset of the members, where they have been asked for, and rows over the subjects that have the whole star;
    /// negative where not.
    rows: [Vec<Cell<f64>>; 2],
}

impl Stars {
    /// Finds the stars among the members of a group. `number` gives the number of a variable.
    pub fn find(inputs: &[Input], number: &dyn Fn(VarId) -> Option<usize>, stats: &dyn Statistics) -> Self {
        let mut found: Vec<Found> = Vec::new();
        for (at, input) in inputs.iter().enumerate() {
            let Access::Lookup(pattern) = &input.access else { continue };
            let Some((var, member)) = star_member(pattern) else { continue };
            let (Some(subject), Some(scope)) = (number(var), scope_of(&pattern.graph, stats)) else {
                continue;
            };
            match found.iter_mut().find(|other| other.subject == subject) {
                Some(star) if star.members.len() < Star::MEMBERS_MAX => {
                    star.members.push(at);
                    star.asked.push(member);
                }
                Some(_) => {}
                None => found.push(Found { subject, scope, members: vec![at], asked: vec![member] }),
            }
        }
        found.retain(|star| star.members.len() > 1);
        let star = |Found { subject, scope, members, asked }: Found| {
            let star = stats.star(&asked)?;
            let part = |(at, (member, asked)): (usize, (&usize, &StarMember))| {
                let rows = inputs.get(*member).map(|input| input.rows)?;
                asked.object.map(|_| rows / star.subjects(1 << at).max(rows).max(1.0))
            };
            let parts = members.iter().zip(&asked).enumerate().map(part).collect();
            let has_subject = |at: &usize| inputs[*at].vars.iter().any(|var| number(var) == Some(subject));
            let links = (0..inputs.len()).filter(|at| !members.contains(at)).filter(has_subject).collect();
            let rows = [0, 1].map(|_| vec![Cell::new(-1.0); 1 << members.len()]);
            Some(SubjectStar { subject, members, star, scope, parts, links, rows })
        };
        Self(found.into_iter().filter_map(star).collect())
    }

    fn of(&self, subject: usize) -> Option<&SubjectStar> {
        self.0.iter().find(|star| star.subject == subject)
    }

    /// By what to divide the product of the rows of two sets of members where they meet at `variable`, if it is the subject of members
    /// of one of them. `distinct`: how many values each has there.
    pub fn divisor(&self, variable: usize, sets: [Bits; 2], distinct: [f64; 2]) -> Option<Divisor> {
        let star = self.of(variable)?;
        let ([a, b], [bits_a, bits_b]) = (sets, sets.map(|set| star.bits(set)));
        let (rows_a, rows_b) = (star.rows(bits_a, star.is_linked(a)), star.rows(bits_b, star.is_linked(b)));
        if bits_a != 0 && bits_b != 0 {
            let both = star.rows(bits_a | bits_b, star.is_linked(a.union(b)));
            // What nobody had when the statistics were made may be there now.
            return (rows_a > 0.0 && rows_b > 0.0).then(|| Divisor::Star(rows_a * rows_b / both.max(1.0)));
        }
        let (set, bits, rows, [own, other]) = match (bits_a, bits_b) {
            (0, 0) => return None,
            (_, 0) => (a, bits_a, rows_a, distinct),
            _ => (b, bits_b, rows_b, [distinct[1], distinct[0]]),
        };
        // Of the star's side only what has the whole star meets the others.
        let (subjects, left) = (star.subjects(bits, star.is_linked(set)), star.subjects(bits, true));
        let kept = star.rows(bits, true) / rows;
        let divisor = other.max(own * left / subjects).max(1.0) / kept;
        (kept > 0.0 && kept.is_finite()).then_some(Divisor::Link(divisor))
    }

    /// Distinct values of `variable` in the join of these members, if it is the subject of some.
    pub fn subjects(&self, variable: usize, members: Bits) -> Option<f64> {
        let star = self.of(variable)?;
        let bits = star.bits(members);
        (bits != 0).then(|| star.subjects(bits, star.is_linked(members)))
    }

    /// The variables that are subjects.
    pub fn variables(&self) -> impl Iterator<Item = usize> {
        self.0.iter().map(|star| star.subject)
    }
}

impl SubjectStar {
    /// The star's bits for those of its members that are among these.
    fn bits(&self, members: Bits) -> u32 {
        let has = |(at, member): (usize, &usize)| u32::from(members.contains(*member)) << at;
        self.members.iter().enumerate().map(has).sum()
    }

    /// Whether these members have the subject from others, too.
    fn is_linked(&self, members: Bits) -> bool {
        !members.intersect(self.links).is_empty()
    }

    /// The members that subjects must have for these members to be joined.
    fn needed(&self, bits: u32, linked: bool) -> u32 {
        let all = (1 << self.members.len()) - 1;
        // Where nobody has the whole star, that says nothing.
        if linked && self.star.subjects(all) >= 1.0 { all } else { bits }
    }

    fn subjects(&self, bits: u32, linked: bool) -> f64 {
        (self.star.subjects(self.needed(bits, linked)) * self.scope).max(1.0)
    }

    fn rows(&self, bits: u32, linked: bool) -> f64 {
        let Some(known) = self.rows.get(usize::from(linked)).and_then(|rows| rows.get(bits as usize)) else {
            return 0.0;
        };
        if known.get() < 0.0 {
            let rows = self.star.rows_where(self.needed(bits, linked), bits);
            known.set(rows * self.scope * self.likeness(bits));
        }
        known.get()
    }

    /// By what several objects asked for are more likely to come together than by chance: each counts as the square root, the fourth
    /// root... of what it would leave by itself, the one that leaves most last.
    fn likeness(&self, bits: u32) -> f64 {
        let asked = self.parts.iter().enumerate().filter(|(at, _)| bits & (1 << at) != 0);
        let mut parts: Vec<f64> = asked.filter_map(|(_, part)| *part).filter(|part| *part > 0.0).collect();
        parts.sort_by(f64::total_cmp);
        (0..).zip(parts).map(|(i, part)| part.powf(0.5_f64.powi(i) - 1.0)).product()
    }
}

/// The part of the quads that is in these graphs, if it is most of them: the statistics are about all graphs.
fn scope_of(graph: &GraphScope, stats: &dyn Statistics) -> Option<f64> {
    match graph {
        GraphScope::Union => Some(1.0),
        GraphScope::Default if !stats.has_named_graphs() => Some(1.0),
        GraphScope::Default => {
            let named = stats.count(Order::Gspo, &[]) as f64;
            Some(1.0 - named / stats.quad_count().max(1) as f64).filter(|part| *part >= DEFAULT_PART_MIN)
        }
        GraphScope::Merge(_) | GraphScope::Named { .. } => None,
    }
}

/// The subject and the rest of a pattern that can be part of a star.
fn star_member(pattern: &QuadPattern) -> Option<(VarId, StarMember)> {
    let subject = slot_var(&pattern.subject)?;
    let Slot::Const(predicate) = pattern.predicate else { return None };
    let object = match pattern.object {
        Slot::Const(id) => Some(id.to_bits()),
        Slot::Var(var) if var == subject => return None,
        Slot::Var(_) | Slot::Any => None,
    };
    Some((subject, StarMember { predicate: predicate.to_bits(), object }))
}
