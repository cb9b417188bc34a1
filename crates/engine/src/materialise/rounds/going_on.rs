//! What follows is gone on from: only what new triples, or rules that were not applied before, add to it is looked for, by whole rounds. That is for changes from which much
//! follows, such as a statement of an ontology; of few triples each is matched by itself (`upkeep`).

use super::super::found::Found;
use super::super::gather::{Triple, too_much};
use super::{Inferring, Round};
use crate::EngineError;
use lode_packed::Order;
use lode_sparql::rules::{AUXILIARY, Atom, Rule};
use lode_sparql::schema::vocabulary::owl;
use lode_store::Snapshot;
use std::collections::HashSet;

/// Whether what rules give only grows with what they read, so that it can be gone on from.
pub(in crate::materialise) fn only_adds(rules: &[Rule]) -> bool {
    rules.iter().all(|rule| rule.reads_below().is_empty() && !rule.reads_graphs())
}

impl Inferring<'_> {
    /// Adds what follows from `new` (sorted: stated now, and neither stated nor inferred before), and from the rules `rules` (their numbers). All that
    /// follows from what was there before by the others is there; the rules are such that [`only_adds`].
    pub fn go_on(&mut self, new: Vec<Triple>, rules: &HashSet<usize>) -> Result<(), EngineError> {
        let before = self.transaction.before();
        self.kept = self.transaction.snapshot()?.count(Order::Gspo, &[self.graph])?;
        let all: Vec<usize> = (0..self.rules.len()).collect();
        let applied = self.applied(&all);
        for rule in applied.iter().filter(|rule| !rules.contains(rule)) {
            // The pairs of these are all there.
            let transitive = self.transitive(*rule, &before)?;
            self.closed.extend(transitive.into_iter().map(|property| (*rule, property)));
        }
        drop(before);
        let early: Vec<usize> = applied.iter().copied().filter(|rule| self.rules[*rule].is_early()).collect();
        let (mut new, mut held) = (new, self.budget.reserve_empty());
        if !early.is_empty() && early.len() < applied.len() {
            let mut found = Vec::new();
            self.begin(&early, &new, rules, &mut |round| {
                let triples = round.usual.len() + round.closed.len();
                held.grow(2 * triples * size_of::<Triple>()).map_err(too_much)?;
                found.extend(round.usual.iter().chain(&round.closed).copied());
                Ok(())
            })?;
            new.extend(found);
            new.sort();
        }
        self.begin(&applied, &new, rules, &mut |_| Ok(()))
    }

    /// The first round, and those after it.
    fn begin(
        &mut self,
        applied: &[usize],
        new: &[Triple],
        rules: &HashSet<usize>,
        told: &mut dyn FnMut(&Round) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let mut held = self.budget.reserve_empty();
        held.grow(4 * new.len() * size_of::<Triple>()).map_err(too_much)?;
        let stated =
            Round { usual: new.to_vec(), closed: Vec::new(), _held: [held, self.budget.reserve_empty()] };
        let snapshot = self.snapshot_with(&stated)?;
        let found = [Found::of(&stated.usual), Found::default()];
        drop(stated);
        let round = self.round(applied, &snapshot, &mut |work, rule| match rules.contains(&rule)
            || work.is_to_begin_anew(rule, &snapshot)?
        {
            true => work.whole(rule, &snapshot),
            false => work.delta(rule, &found, &snapshot),
        })?;
        drop(snapshot);
        self.follow(applied, round, told)
    }

    /// Whether what a rule has found so far is not there: triples that rules have for themselves are not kept, and neither are groups of equal terms.
    fn is_to_begin_anew(&self, rule: usize, snapshot: &Snapshot) -> Result<bool, EngineError> {
        if self.is_equality(rule) {
            let same_as = snapshot.id_of(&owl("sameAs"))?;
            let count = same_as.map_or(Ok(0), |same_as| snapshot.count(Order::Psog, &[same_as]))?;
            return Ok(self.groups.is_none() && count > 0);
        }
        let is_own =
            |atom: &Atom| atom.predicate.as_ref().is_some_and(|name| name.as_str().starts_with(AUXILIARY));
        let rule = &self.rules[rule];
        Ok(rule.writes().iter().chain(rule.reads()).any(is_own))
    }
}
