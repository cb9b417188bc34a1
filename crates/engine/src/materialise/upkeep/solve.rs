//! Solutions of a body, found pattern by pattern: always the one next of which fewest triples can fit.

use super::super::gather::Triple;
use super::compiled::{Body, Pattern, Slot, Step, Test};
use super::view::{Empty, Meter, Stop, View};
use lode_rdf::{Kind, ValueId};
use std::collections::HashSet;

/// What is looked at, and how.
pub(super) struct Solver<'a> {
    pub view: &'a View,
    /// Ids of constants, where they have some.
    pub ids: &'a [Option<ValueId>],
    pub meter: &'a Meter,
    pub stated_only: bool,
}

/// What variables are worth; `UNDEF`: nothing yet.
pub(super) type Bindings = Vec<ValueId>;

/// Is told of a solution; whether to go on.
pub(super) type Told<'t> = dyn FnMut(&[ValueId]) -> Result<bool, Stop> + 't;

impl Solver<'_> {
    /// The solutions in which the triple pattern `at` is this triple.
    pub fn with_triple(
        &self,
        body: &Body,
        at: usize,
        triple: &Triple,
        told: &mut Told<'_>,
    ) -> Result<bool, Stop> {
        let Some(Step::Triple(pattern)) = body.steps.get(at) else { return Ok(true) };
        let mut bindings = vec![ValueId::UNDEF; body.variables];
        if !self.unify(pattern, triple, &mut bindings) {
            return Ok(true);
        }
        self.solve(body, &mut bindings, all(body) & !(1 << at), told)
    }

    /// The solutions of which the head `at` makes this triple.
    pub fn with_head(
        &self,
        body: &Body,
        at: usize,
        triple: &Triple,
        told: &mut Told<'_>,
    ) -> Result<bool, Stop> {
        let mut bindings = vec![ValueId::UNDEF; body.variables];
        match body.heads.get(at) {
            Some(head) if self.unify(head, triple, &mut bindings) => {
                self.solve(body, &mut bindings, all(body), told)
            }
            _ => Ok(true),
        }
    }

    /// Whether some pattern has no triple at all, whatever variables are worth.
    pub fn is_dead(&self, body: &Body, empty: &mut Empty) -> Result<bool, Stop> {
        for step in &body.steps {
            let Step::Triple(pattern) = step else { continue };
            let mut known = [None; 3];
            for (known, slot) in known.iter_mut().zip(pattern) {
                if let Slot::Const(at) = slot {
                    match self.ids.get(*at).copied().flatten() {
                        Some(id) => *known = Some(id),
                        None => return Ok(true),
                    }
                }
            }
            if known != [None; 3] && empty.is(self.view, known)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn unify(&self, pattern: &Pattern, triple: &Triple, bindings: &mut [ValueId]) -> bool {
        pattern.iter().zip(triple).all(|(slot, id)| match slot {
            Slot::Const(at) => self.ids.get(*at).copied().flatten() == Some(*id),
            Slot::Var(at) => match bindings.get_mut(*at) {
                Some(bound) if bound.is_undef() => {
                    *bound = *id;
                    true
                }
                Some(bound) => *bound == *id,
                None => false,
            },
        })
    }

    fn solve(
        &self,
        body: &Body,
        bindings: &mut Bindings,
        left: u64,
        told: &mut Told<'_>,
    ) -> Result<bool, Stop> {
        if left == 0 {
            let holds = body.tests.iter().all(|test| self.holds(test, bindings));
            return if holds { told(bindings) } else { Ok(true) };
        }
        let Some(next) = self.next(body, bindings, left)? else { return Ok(true) };
        let left = left & !(1 << next);
        match &body.steps[next] {
            Step::Triple(pattern) => {
                let Some(known) = self.known(pattern, bindings) else { return Ok(true) };
                let before = bindings.clone();
                self.view.each(known, self.stated_only, self.meter, &mut |triple| {
                    bindings.clone_from(&before);
                    if self.unify(pattern, triple, bindings) {
                        return self.solve(body, bindings, left, told);
                    }
                    Ok(true)
                })
            }
            Step::Star { from, predicate, to, at_least_once } => {
                let Some(predicate) = self.ids.get(*predicate).copied().flatten() else {
                    // Nothing leads on.
                    return if *at_least_once {
                        Ok(true)
                    } else {
                        self.same(body, bindings, left, [from, to], told)
                    };
                };
                let ends = (self.value(from, bindings), self.value(to, bindings));
                let (start, end, is_forward) = match ends {
                    (None, None) => return Ok(true),
                    (Some(start), _) => (start, to, true),
                    (None, Some(start)) => (start, from, false),
                };
                let before = bindings.clone();
                for reached in self.reach(start, predicate, is_forward, *at_least_once)? {
                    bindings.clone_from(&before);
                    if self.bind(end, reached, bindings) && !self.solve(body, bindings, left, told)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }

    /// Both ends are the same.
    fn same(
        &self,
        body: &Body,
        bindings: &mut Bindings,
        left: u64,
        [from, to]: [&Slot; 2],
        told: &mut Told<'_>,
    ) -> Result<bool, Stop> {
        let before = bindings.clone();
        let is_same = match (self.value(from, &before), self.value(to, &before)) {
            (Some(id), _) => self.bind(to, id, bindings),
            (None, Some(id)) => self.bind(from, id, bindings),
            (None, None) => false,
        };
        let goes_on = !is_same || self.solve(body, bindings, left, told)?;
        bindings.clone_from(&before);
        Ok(goes_on)
    }

    /// The step of which fewest triples can fit; none where one has none.
    fn next(&self, body: &Body, bindings: &Bindings, left: u64) -> Result<Option<usize>, Stop> {
        let mut best: Option<(u64, usize)> = None;
        let mut last_star = None;
        let only = left.count_ones() == 1;
        for (at, step) in body.steps.iter().enumerate().filter(|(at, _)| left & (1 << at) != 0) {
            match step {
                Step::Triple(pattern) => {
                    let Some(known) = self.known(pattern, bindings) else { return Ok(None) };
                    if only {
                        return Ok(Some(at));
                    }
                    self.meter.take(1)?;
                    let count = self.view.count(known)?;
                    if count == 0 {
                        return Ok(None);
                    }
                    if best.is_none_or(|(least, _)| count < least) {
                        best = Some((count, at));
                    }
                }
                Step::Star { from, to, .. } => {
                    let ends = [self.value(from, bindings), self.value(to, bindings)];
                    match ends {
                        // Few, or one test.
                        [Some(_), _] | [_, Some(_)] if best.is_none_or(|(least, _)| least > STAR) => {
                            best = Some((STAR, at));
                        }
                        _ => last_star = Some(at),
                    }
                }
            }
        }
        Ok(best.map(|(_, at)| at).or(last_star))
    }

    /// What of a pattern is known; none where a constant is nowhere in the data.
    fn known(&self, pattern: &Pattern, bindings: &[ValueId]) -> Option<[Option<ValueId>; 3]> {
        let mut known = [None; 3];
        for (known, slot) in known.iter_mut().zip(pattern) {
            *known = self.value(slot, bindings);
            if known.is_none() && matches!(slot, Slot::Const(_)) {
                return None;
            }
        }
        Some(known)
    }

    fn value(&self, slot: &Slot, bindings: &[ValueId]) -> Option<ValueId> {
        match slot {
            Slot::Const(at) => self.ids.get(*at).copied().flatten(),
            Slot::Var(at) => bindings.get(*at).copied().filter(|id| !id.is_undef()),
        }
    }

    fn bind(&self, slot: &Slot, id: ValueId, bindings: &mut [ValueId]) -> bool {
        match (self.value(slot, bindings), slot) {
            (Some(known), _) => known == id,
            (None, Slot::Var(at)) => bindings.get_mut(*at).map(|bound| *bound = id).is_some(),
            (None, Slot::Const(_)) => false,
        }
    }

    fn reach(
        &self,
        start: ValueId,
        predicate: ValueId,
        is_forward: bool,
        at_least_once: bool,
    ) -> Result<Vec<ValueId>, Stop> {
        let (mut seen, mut found) = (HashSet::new(), Vec::new());
        let mut open = vec![start];
        if !at_least_once {
            seen.insert(start);
            found.push(start);
        }
        while let Some(node) = open.pop() {
            let known = if is_forward {
                [Some(node), Some(predicate), None]
            } else {
                [None, Some(predicate), Some(node)]
            };
            self.view.each(known, self.stated_only, self.meter, &mut |[s, _, o]| {
                let next = if is_forward { *o } else { *s };
                if seen.insert(next) {
                    found.push(next);
                    open.push(next);
                }
                Ok(true)
            })?;
        }
        Ok(found)
    }

    fn holds(&self, test: &Test, bindings: &[ValueId]) -> bool {
        let kind = |slot: &Slot| self.value(slot, bindings).and_then(ValueId::kind);
        match test {
            Test::Same(a, b) => self.value(a, bindings) == self.value(b, bindings),
            Test::IsIri(slot) => kind(slot) == Some(Kind::Iri),
            Test::IsBlank(slot) => kind(slot) == Some(Kind::Blank),
            Test::IsLiteral(slot) => is_literal(kind(slot)),
            Test::Not(inner) => !self.holds(inner, bindings),
        }
    }

    /// Whether all constants of a head are terms of the data.
    pub fn is_complete(&self, head: &Pattern) -> bool {
        head.iter()
            .all(|slot| !matches!(slot, Slot::Const(at) if self.ids.get(*at).copied().flatten().is_none()))
    }

    /// What a head makes of a solution; nothing where that is no triple, or has a constant that is nowhere yet.
    pub fn fill(&self, head: &Pattern, bindings: &[ValueId]) -> Option<Triple> {
        let mut triple = [ValueId::UNDEF; 3];
        for (id, slot) in triple.iter_mut().zip(head) {
            *id = self.value(slot, bindings)?;
        }
        is_triple(&triple).then_some(triple)
    }
}

/// A path is followed before patterns of more triples than this are.
const STAR: u64 = 4;

/// Whether ids make a triple: no literal as a subject.
pub(super) fn is_triple([s, p, o]: &Triple) -> bool {
    matches!(s.kind(), Some(Kind::Iri | Kind::Blank)) && p.kind() == Some(Kind::Iri) && !o.is_undef()
}

fn is_literal(kind: Option<Kind>) -> bool {
    !matches!(kind, None | Some(Kind::Iri | Kind::Blank | Kind::Special | Kind::TripleTerm))
}

fn all(body: &Body) -> u64 {
    (1 << body.steps.len()) - 1
}
