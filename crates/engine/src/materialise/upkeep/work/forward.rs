//! What a rule makes: of all that there is, or of some triples.

use super::super::super::found::Found;
use super::super::super::gather::Triple;
use super::super::compiled::{Body, Form, SAME_AS, Slot, Step};
use super::super::equals::Equals;
use super::super::intersections::Intersections;
use super::super::limits::{TRIPLES_MAX, TooMuch};
use super::super::solve::Solver;
use super::super::view::Stop;
use super::{At, EACH_MAX, Work};
use lode_rdf::ValueId;
use lode_sparql::rules::Rule;
use std::collections::BTreeSet;

impl Work<'_> {
    /// All that a rule makes.
    pub fn whole(&mut self, rule: usize, at: At, heads: &mut BTreeSet<Triple>) -> Result<(), Stop> {
        let compiled = self.compiled;
        match &compiled.forms[rule] {
            Form::Nothing => Ok(()),
            Form::Intersections => {
                let of = Intersections::of(compiled, &self.ids, self.view(at), &self.meter);
                of.map_or(Ok(()), |of| of.whole(heads))
            }
            Form::Body(_) | Form::Queries => {
                let snapshot = self.view(at).snapshot.clone();
                let rule = &compiled.rules[rule];
                self.queries.run(rule, &rule.query(), self.transaction, snapshot, heads)
            }
        }
    }

    /// What a rule makes of solutions of which one of these triples is part.
    pub fn forward(
        &mut self,
        at_rule: usize,
        delta: &[Triple],
        found: &Found,
        at: At,
        heads: &mut BTreeSet<Triple>,
    ) -> Result<(), Stop> {
        let compiled = self.compiled;
        if let Some(rules) = compiled.equality.as_ref().filter(|rules| rules.all.contains(&at_rule)) {
            // One of them does the work of all.
            return if at_rule == rules.subject { self.equals(delta, at, heads) } else { Ok(()) };
        }
        match &compiled.forms[at_rule] {
            Form::Nothing => Ok(()),
            Form::Intersections => {
                let of = Intersections::of(compiled, &self.ids, self.view(at), &self.meter);
                of.map_or(Ok(()), |of| of.forward(delta, heads))
            }
            Form::Body(body) if delta.len() <= EACH_MAX => self.forward_each(body, delta, at, heads),
            Form::Body(_) | Form::Queries => {
                let rule: &Rule = &compiled.rules[at_rule];
                let snapshot = self.view(at).snapshot.clone();
                self.queries.forward(rule, self.transaction, &snapshot, delta, found, heads)
            }
        }
    }

    pub fn same_as(&self) -> Option<ValueId> {
        self.compiled.constant(SAME_AS).and_then(|at| self.ids.get(at).copied().flatten())
    }

    /// What the rules of equality make of triples.
    fn equals(&mut self, delta: &[Triple], at: At, heads: &mut BTreeSet<Triple>) -> Result<(), Stop> {
        let Some(same_as) = self.same_as() else { return Ok(()) };
        let view = match at {
            At::Before => &self.before,
            At::Now => &self.now,
        };
        if self.empty[at as usize].is(view, [None, Some(same_as), None])? {
            return Ok(());
        }
        let equals = Equals { view, meter: &self.meter, budget: &self.budget, same_as };
        match at {
            At::Before => equals.in_question(delta, heads),
            At::Now => equals.follows(delta, !self.groups_broken, heads),
        }
    }

    fn forward_each(
        &mut self,
        body: &Body,
        delta: &[Triple],
        at: At,
        heads: &mut BTreeSet<Triple>,
    ) -> Result<(), Stop> {
        let view = match at {
            At::Before => &self.before,
            At::Now => &self.now,
        };
        let solver = Solver { view, ids: &self.ids, meter: &self.meter, stated_only: false };
        if solver.is_dead(body, &mut self.empty[at as usize])? {
            return Ok(());
        }
        // Of heads with a constant that no term of the data is yet.
        let mut late: Vec<(usize, Vec<ValueId>)> = Vec::new();
        for step in 0..body.steps.len() {
            if !matches!(body.steps[step], Step::Triple(_)) {
                continue;
            }
            for triple in delta {
                self.meter.take(1)?;
                solver.with_triple(body, step, triple, &mut |bindings| {
                    if heads.len() > TRIPLES_MAX {
                        return Err(Stop::TooMuch(TooMuch::Work));
                    }
                    for (number, head) in body.heads.iter().enumerate() {
                        if solver.is_complete(head) {
                            heads.extend(solver.fill(head, bindings));
                        } else if at == At::Now {
                            late.push((number, bindings.to_vec()));
                        }
                    }
                    Ok(true)
                })?;
            }
        }
        if late.is_empty() {
            return Ok(());
        }
        for slot in body.heads.iter().flatten() {
            if let Slot::Const(at) = slot
                && self.ids[*at].is_none()
            {
                self.ids[*at] = self.transaction.intern(&self.compiled.constants[*at])?;
            }
        }
        let solver = Solver { view: &self.now, ids: &self.ids, meter: &self.meter, stated_only: false };
        for (number, bindings) in late {
            heads.extend(solver.fill(&body.heads[number], &bindings));
        }
        Ok(())
    }
}
