//! The work for one commit: which triples come and go, stratum by stratum.

mod forward;

use super::super::found::Found;
use super::super::gather::Triple;
use super::compiled::{Body, Compiled, Form, Place};
use super::intersections::Intersections;
use super::limits::{TRIPLES_MAX, TooMuch, rows_before_rounds, rows_max};
use super::prove::{Proofs, Prover, may_make};
use super::queries::Queries;
use super::solve::Solver;
use super::view::{Empty, Meter, Stop, View};
use crate::EngineError;
use lode_base::memory_budget::{MemoryBudget, Reservation};
use lode_rdf::ValueId;
use lode_store::{Savepoint, Snapshot, Transaction};
use std::collections::{BTreeSet, HashSet};

/// Of more triples at once queries are faster than looking each up.
const EACH_MAX: usize = 4096;
/// Bytes of a triple that comes or goes, in sets here and in the transaction.
const TRIPLE_BYTES: usize = 320;

/// Which version is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    Before,
    Now,
}

/// The work.
pub(super) struct Work<'a> {
    transaction: &'a mut Transaction,
    compiled: &'a Compiled,
    /// The graph of inferences.
    graph: ValueId,
    /// Ids of constants.
    ids: Vec<Option<ValueId>>,
    /// Bytes of new terms when these were looked up.
    terms_known: usize,
    /// What was there before the changes;
    before: View,
    /// with its changes, and nothing of what follows from them;
    stated: View,
    /// and with what is known to follow so far.
    now: View,
    empty: [Empty; 3],
    proofs: Proofs,
    /// Triples that are there and were not before, stated or inferred;
    added: BTreeSet<Triple>,
    /// and those that were there.
    removed: BTreeSet<Triple>,
    /// Whether named graphs changed that are not among what rules read by patterns.
    graphs_changed: bool,
    /// Whether groups of equal terms lost statements: what is left of them need not be whole.
    groups_broken: bool,
    /// Whether something was done since the last look.
    is_dirty: bool,
    meter: Meter,
    queries: Queries,
    budget: MemoryBudget,
    held: Reservation,
}

impl<'a> Work<'a> {
    pub fn new(
        transaction: &'a mut Transaction,
        compiled: &'a Compiled,
        before: Snapshot,
        only_adds: bool,
        budget: &MemoryBudget,
    ) -> Result<Self, Stop> {
        let graph = super::super::graph_of(transaction)?;
        let all_graphs = compiled.all_graphs;
        let view = |snapshot| View { snapshot, inferred: graph, all_graphs };
        let queries = Queries::new(transaction, graph, all_graphs, budget);
        let now = transaction.snapshot()?;
        let quads = now.quad_count();
        let rows = if only_adds { rows_before_rounds(quads) } else { rows_max(quads) };
        let meter = Meter::new(rows, transaction.cancel().clone());
        let mut work = Self {
            compiled,
            graph,
            ids: vec![None; compiled.constants.len()],
            terms_known: 0,
            before: view(before),
            stated: view(now.clone()),
            now: view(now),
            empty: Default::default(),
            proofs: Proofs::default(),
            added: BTreeSet::new(),
            removed: BTreeSet::new(),
            graphs_changed: false,
            groups_broken: false,
            is_dirty: false,
            meter,
            queries,
            budget: budget.clone(),
            held: budget.reserve_empty(),
            transaction,
        };
        work.look_up()?;
        Ok(work)
    }

    /// Finds ids of constants that had none.
    fn look_up(&mut self) -> Result<(), EngineError> {
        for (id, term) in self.ids.iter_mut().zip(&self.compiled.constants) {
            if id.is_none() {
                *id = self.now.snapshot.id_of(term)?;
            }
        }
        self.terms_known = self.transaction.new_term_bytes();
        Ok(())
    }

    /// Looks at the state with all that was done so far.
    fn refresh(&mut self) -> Result<(), Stop> {
        if !std::mem::take(&mut self.is_dirty) {
            return Ok(());
        }
        self.now.snapshot = self.transaction.snapshot()?;
        self.empty[At::Now as usize] = Empty::default();
        if self.transaction.new_term_bytes() != self.terms_known {
            self.look_up()?;
        }
        let triples = self.added.len() + self.removed.len();
        if triples > TRIPLES_MAX {
            return Err(Stop::TooMuch(TooMuch::Work));
        }
        let missing = (triples * TRIPLE_BYTES).saturating_sub(self.held.bytes());
        self.held.grow(missing).map_err(|_| Stop::TooMuch(TooMuch::Memory))
    }

    /// Takes in what the transaction has changed: quads.
    pub fn begin(&mut self, inserted: &[[ValueId; 4]], deleted: &[[ValueId; 4]]) -> Result<(), Stop> {
        for [s, p, o, graph] in inserted {
            let triple = [*s, *p, *o];
            if *graph == self.graph {
                // Whoever says so: what follows is there already.
                self.delete(&triple);
                continue;
            }
            self.note_graph(*graph);
            let (was_stated, was_inferred) = self.before.status(&triple)?;
            if !self.before.is_stated(*graph) || was_stated {
                continue;
            }
            if was_inferred {
                // It is stated now, and all that follows from it is there.
                self.delete(&triple);
            } else {
                self.added.insert(triple);
            }
        }
        let mut gone = BTreeSet::new();
        for [s, p, o, graph] in deleted {
            let triple = [*s, *p, *o];
            self.note_graph(*graph);
            // Whatever is taken out of what was inferred comes back, if it still follows.
            if (self.before.is_stated(*graph) || *graph == self.graph) && !self.now.status(&triple)?.0 {
                gone.insert(triple);
            }
        }
        for triple in gone {
            if self.prove(&triple)? {
                self.insert(&triple);
            } else {
                self.removed.insert(triple);
            }
        }
        self.refresh()
    }

    /// What is new after [`Self::begin`], sorted, and the transaction as it is.
    pub fn begun(&mut self) -> Result<(Vec<Triple>, Savepoint), Stop> {
        let new: Vec<Triple> = self.added.iter().copied().collect();
        Ok((new, self.transaction.savepoint()?))
    }

    fn note_graph(&mut self, graph: ValueId) {
        self.graphs_changed |= graph != ValueId::DEFAULT_GRAPH && graph != self.graph;
    }

    fn insert(&mut self, [s, p, o]: &Triple) {
        self.is_dirty = true;
        self.transaction.insert([*s, *p, *o, self.graph]);
    }

    fn delete(&mut self, [s, p, o]: &Triple) {
        self.is_dirty = true;
        self.transaction.delete([*s, *p, *o, self.graph]);
    }

    /// Brings what the rules of a stratum add up to date.
    pub fn stratum(&mut self, stratum: usize) -> Result<(), Stop> {
        let compiled = self.compiled;
        let Some(rules) = compiled.strata.get(stratum).map(|stratum| stratum.rules.as_slice()) else {
            return Ok(());
        };
        if self.added.is_empty() && self.removed.is_empty() && !self.graphs_changed {
            return Ok(());
        }
        let changed = [found(&self.added), found(&self.removed)];
        let is_about = |rule: &usize| {
            let about = &compiled.about[*rule];
            self.graphs_changed
                || changed.iter().any(|found| self.meets(found, &about.reads))
                // What another stratum removed may follow from this one as well.
                || self.meets(&changed[1], &about.writes)
        };
        if !rules.iter().any(is_about) {
            return Ok(());
        }
        let mut anew = HashSet::new();
        for rule in rules {
            if self.must_see_all(*rule, &changed) {
                anew.insert(*rule);
            }
        }
        let first_of_these = self.removed.clone();
        self.overdelete(rules, &anew)?;
        let same_as = self.same_as();
        self.groups_broken |= self.removed.iter().any(|triple| Some(triple[1]) == same_as);
        let mut delta: BTreeSet<Triple> = self.added.clone();
        if !self.removed.is_empty() {
            self.refresh()?;
            let has_new = self.removed.len() > first_of_these.len();
            let asked: Vec<usize> = match has_new {
                true => {
                    compiled.strata[..=stratum].iter().flat_map(|stratum| &stratum.rules).copied().collect()
                }
                false => rules.to_vec(),
            };
            for triple in self.derivable(&asked)? {
                self.removed.remove(&triple);
                self.insert(&triple);
                delta.insert(triple);
            }
        }
        self.insert_what_follows(rules, &anew, delta.into_iter().collect())
    }

    /// Whether what a rule reads that must be complete before has changed, so that it may have more solutions, or fewer.
    fn must_see_all(&self, rule: usize, changed: &[Found; 2]) -> bool {
        let below = &self.compiled.about[rule].below;
        (self.graphs_changed && self.compiled.rules[rule].reads_graphs())
            || changed.iter().any(|found| self.meets(found, below))
    }

    /// Removes what has a derivation through what is removed, but for what has a short proof.
    fn overdelete(&mut self, rules: &[usize], anew: &HashSet<usize>) -> Result<(), Stop> {
        let mut done: HashSet<usize> = HashSet::new();
        let mut delta: Vec<Triple> = self.removed.iter().copied().collect();
        let mut is_first = true;
        while is_first && !anew.is_empty() || !delta.is_empty() {
            let mut heads = BTreeSet::new();
            let found = Found::of(&delta);
            for rule in rules {
                if done.contains(rule) {
                    continue;
                }
                if is_first && anew.contains(rule) || self.reads_whole(*rule, &found) {
                    done.insert(*rule);
                    self.whole(*rule, At::Before, &mut heads)?;
                } else {
                    self.forward(*rule, &delta, &found, At::Before, &mut heads)?;
                }
            }
            is_first = false;
            delta.clear();
            for triple in heads {
                if self.removed.contains(&triple)
                    || !self.before.status(&triple)?.1
                    || self.stated.status(&triple)?.0
                    || self.prove(&triple)?
                {
                    continue;
                }
                delta.push(triple);
            }
            for triple in &delta {
                self.removed.insert(*triple);
                self.delete(triple);
            }
            self.count()?;
        }
        Ok(())
    }

    fn count(&self) -> Result<(), Stop> {
        match self.added.len() + self.removed.len() > TRIPLES_MAX {
            true => Err(Stop::TooMuch(TooMuch::Work)),
            false => Ok(()),
        }
    }

    /// Those of the removed that follow from what is there.
    fn derivable(&mut self, rules: &[usize]) -> Result<Vec<Triple>, Stop> {
        let wanted: Vec<Triple> = self.removed.iter().copied().collect();
        let all = found(&self.removed);
        let mut held = BTreeSet::new();
        for rule in rules {
            let compiled = self.compiled;
            if !self.meets(&all, &compiled.about[*rule].writes) {
                continue;
            }
            match &compiled.forms[*rule] {
                Form::Nothing => {}
                Form::Intersections => {
                    let of = Intersections::of(compiled, &self.ids, &self.now, &self.meter);
                    let Some(of) = of else { continue };
                    for triple in &wanted {
                        if !held.contains(triple) && of.makes(triple)? {
                            held.insert(*triple);
                        }
                    }
                }
                Form::Body(body) if wanted.len() <= EACH_MAX => {
                    let solver =
                        Solver { view: &self.now, ids: &self.ids, meter: &self.meter, stated_only: false };
                    if solver.is_dead(body, &mut self.empty[At::Now as usize])? {
                        continue;
                    }
                    for triple in &wanted {
                        self.meter.take(1)?;
                        if !held.contains(triple) && follows(&solver, body, triple)? {
                            held.insert(*triple);
                        }
                    }
                }
                Form::Body(_) | Form::Queries => {
                    let rule = &compiled.rules[*rule];
                    self.queries.wanted(rule, self.transaction, &self.now.snapshot, &wanted, &mut held)?;
                }
            }
        }
        Ok(wanted.into_iter().filter(|triple| held.contains(triple)).collect())
    }

    /// Adds what follows, until nothing is new.
    fn insert_what_follows(
        &mut self,
        rules: &[usize],
        anew: &HashSet<usize>,
        mut delta: Vec<Triple>,
    ) -> Result<(), Stop> {
        let mut is_first = true;
        while is_first && !anew.is_empty() || !delta.is_empty() {
            self.refresh()?;
            let found = Found::of(&delta);
            let mut heads = BTreeSet::new();
            for rule in rules {
                if is_first && anew.contains(rule) || self.reads_whole(*rule, &found) {
                    self.whole(*rule, At::Now, &mut heads)?;
                } else {
                    self.forward(*rule, &delta, &found, At::Now, &mut heads)?;
                }
            }
            is_first = false;
            delta.clear();
            for triple in heads {
                if self.now.status(&triple)? == (false, false) {
                    delta.push(triple);
                }
            }
            for triple in &delta {
                if !self.removed.remove(triple) {
                    self.added.insert(*triple);
                }
                self.insert(triple);
            }
        }
        self.refresh()
    }

    fn prove(&mut self, triple: &Triple) -> Result<bool, Stop> {
        let mut prover = Prover {
            compiled: self.compiled,
            view: &self.stated,
            ids: &self.ids,
            meter: &self.meter,
            empty: &mut self.empty[2],
            proofs: &mut self.proofs,
        };
        prover.prove(triple)
    }

    fn reads_whole(&self, rule: usize, found: &Found) -> bool {
        !matches!(self.compiled.forms[rule], Form::Nothing)
            && self.meets(found, &self.compiled.about[rule].whole)
    }

    /// Whether there are triples of some of these.
    fn meets(&self, found: &Found, places: &[Place]) -> bool {
        places.iter().any(|place| {
            let id = |at: usize| self.ids.get(at).copied().flatten();
            // A term that is nowhere is in no triple.
            let is_known = place.iter().flatten().all(|at| id(*at).is_some());
            is_known && found.has_ids(place.map(|at| id(at?)))
        })
    }

    fn view(&self, at: At) -> &View {
        match at {
            At::Before => &self.before,
            At::Now => &self.now,
        }
    }
}

/// Whether a rule makes a triple.
fn follows(solver: &Solver<'_>, body: &Body, triple: &Triple) -> Result<bool, Stop> {
    if !may_make(body, triple, solver.ids) {
        return Ok(false);
    }
    for head in 0..body.heads.len() {
        // It stops at the first.
        if !solver.with_head(body, head, triple, &mut |_| Ok(false))? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn found(triples: &BTreeSet<Triple>) -> Found {
    Found::of(&triples.iter().copied().collect::<Vec<_>>())
}
