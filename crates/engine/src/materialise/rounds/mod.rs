//! Rounds: each applies rules to what the round before has found, until nothing is new (semi-naive evaluation).
//!
//! What is new is seen by the queries of rules as a graph of its own, which only the snapshot of the round has. There are two of them: pairs that the
//! rule of a transitive property found are complete by themselves, so such rules need not look at them again.

mod asking;
mod going_on;

use super::closure::Closure;
use super::data::{auxiliary, lists_too_long};
use super::equality::{Groups, Read};
use super::found::Found;
use super::gather::{DELETION_BYTES, Gather, Known, Triple, too_much};
use super::head::Head;
use super::report::{MaterialiseOptions, MaterialiseReport, RuleReport};
use crate::EngineError;
use crate::inferred;
use crate::options::{DefaultGraph, QueryOptions};
use crate::query::{PreparedQuery, SessionOptions, share_of};
pub(super) use going_on::only_adds;
use lode_base::memory_budget::{MemoryBudget, Reservation};
use lode_rdf::{Kind, NamedNode, Term, ValueId};
use lode_sparql::plan::{DatasetOverride, InferredGraph};
use lode_sparql::rules::{EqualityRules, Rule, Stratum, equality};
use lode_store::{Snapshot, Transaction};
use oxsdatatypes::DateTime;
use spargebra::Query;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Bytes of a triple in the transaction, besides those of the orders in which it is read.
const TRIPLE_BYTES: usize = 3 * size_of::<[ValueId; 4]>();
/// A new term is there several times until it is written.
const TERM_COPIES: usize = 3;

/// The graphs of what is new.
struct NewGraphs {
    /// What rules found, but for
    usual: (NamedNode, ValueId),
    /// what was found for transitive properties alone.
    closed: (NamedNode, ValueId),
}

/// What a round has found.
struct Round {
    usual: Vec<Triple>,
    closed: Vec<Triple>,
    _held: [Reservation; 2],
}

/// The work.
pub(super) struct Inferring<'a> {
    transaction: &'a mut Transaction,
    /// The graph of inferences.
    graph: ValueId,
    new: NewGraphs,
    rules: Vec<Rule>,
    evaluation: QueryOptions,
    options: &'a MaterialiseOptions,
    budget: MemoryBudget,
    now: DateTime,
    /// What the transaction holds.
    held: Reservation,
    rounds: u64,
    /// Rounds in which rules that make terms have found something.
    making: u64,
    triples: u64,
    /// What was inferred before, and stays.
    kept: u64,
    reports: Vec<(u64, u64, f64)>,
    /// Transitive properties whose pairs have been found, by rule.
    closed: HashSet<(usize, ValueId)>,
    /// The rules of equality, which are applied together, where all are there;
    equality: Option<EqualityRules>,
    /// and the groups that they have found.
    groups: Option<Groups>,
}

impl<'a> Inferring<'a> {
    pub fn new(
        transaction: &'a mut Transaction,
        graph: ValueId,
        rules: Vec<Rule>,
        default_graph: DefaultGraph,
        options: &'a MaterialiseOptions,
        budget: &MemoryBudget,
    ) -> Result<Self, EngineError> {
        let mut named = |name: &str| -> Result<(NamedNode, ValueId), EngineError> {
            let name = NamedNode::new_unchecked(name);
            let id = transaction.intern(&Term::from(name.clone()))?;
            Ok((name, id.unwrap_or_default()))
        };
        let new =
            NewGraphs { usual: named("urn:lodestore:new")?, closed: named("urn:lodestore:new-closed")? };
        let snapshot = transaction.snapshot()?;
        let inferred = InferredGraph {
            graph,
            is_shown: true,
            // The graph of inferences is empty, and what is new is in it.
            is_alone: !snapshot.has_named_graphs(),
            hidden: [inferred::name(), new.usual.0.clone(), new.closed.0.clone()].into(),
        };
        let evaluation = QueryOptions {
            default_graph,
            dataset: Some(DatasetOverride { inferred: Some(inferred), ..DatasetOverride::default() }),
            reasoning: None,
            rows_max: None,
            bindings: Vec::new(),
            service: None,
            ..options.evaluation.clone()
        };
        Ok(Self {
            reports: vec![(0, 0, 0.0); rules.len()],
            held: budget.reserve_empty(),
            budget: budget.clone(),
            now: DateTime::now(),
            transaction,
            graph,
            new,
            equality: equality(&rules),
            rules,
            evaluation,
            options,
            rounds: 0,
            making: 0,
            triples: 0,
            kept: 0,
            closed: HashSet::new(),
            groups: None,
        })
    }

    /// Applies the rules of a stratum until nothing is new.
    pub fn stratum(&mut self, stratum: &Stratum) -> Result<(), EngineError> {
        let rules = self.applied(&stratum.rules);
        if stratum.is_recursive {
            let early: Vec<usize> =
                rules.iter().copied().filter(|rule| self.rules[*rule].is_early()).collect();
            // Others then read what is complete, and not a little more in each round.
            if !early.is_empty() && early.len() < rules.len() {
                self.fixpoint(&early, true)?;
            }
        }
        self.fixpoint(&rules, stratum.is_recursive)
    }

    /// Those of some rules that are applied each by itself: those of equality are one.
    fn applied(&self, rules: &[usize]) -> Vec<usize> {
        let is_apart = |rule: &usize| {
            let equality = self.equality.as_ref();
            equality.is_some_and(|rules| rules.all.contains(rule) && rules.subject != *rule)
        };
        rules.iter().copied().filter(|rule| !is_apart(rule)).collect()
    }

    fn fixpoint(&mut self, rules: &[usize], is_recursive: bool) -> Result<(), EngineError> {
        // What the transaction has done is added to in place, so no snapshot of it may be left.
        let all = self.transaction.snapshot()?;
        let round = self.round(rules, &all, &mut |work, rule| work.whole(rule, &all))?;
        drop(all);
        if is_recursive { self.follow(rules, round, &mut |_| Ok(())) } else { self.add(&round) }
    }

    /// Adds what a round has found, and what follows from that, until nothing is new. `told` of each round.
    fn follow(
        &mut self,
        rules: &[usize],
        first: Round,
        told: &mut dyn FnMut(&Round) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let mut round = first;
        while !(round.usual.is_empty() && round.closed.is_empty()) {
            self.add(&round)?;
            told(&round)?;
            let snapshot = self.snapshot_with(&round)?;
            let found = [Found::of(&round.usual), Found::of(&round.closed)];
            drop(round);
            round = self.round(rules, &snapshot, &mut |work, rule| work.delta(rule, &found, &snapshot))?;
        }
        Ok(())
    }

    /// One round: the queries of each rule, and what they find.
    fn round(
        &mut self,
        rules: &[usize],
        snapshot: &Snapshot,
        queries: &mut dyn FnMut(&mut Self, usize) -> Result<Vec<Asked>, EngineError>,
    ) -> Result<Round, EngineError> {
        self.rounds += 1;
        if self.making > self.options.rounds_max {
            return Err(EngineError::Rules(format!(
                "after {} rounds rules that make new terms still find something new: they may have no end; nothing was changed",
                self.options.rounds_max
            )));
        }
        if let Some(progress) = &self.options.progress {
            progress.round.store(self.rounds, Ordering::Relaxed);
            progress.triples.store(self.triples, Ordering::Relaxed);
        }
        let (mut usual, mut closed) = (Gather::new(&self.budget), Gather::new(&self.budget));
        let (present, cancel) = (self.transaction.present()?, self.evaluation.cancel.clone());
        let known = Known {
            present: &present,
            inferred: self.graph,
            all_graphs: self.graphs_read().is_none().then_some(snapshot),
            cancel: &cancel,
            threads: self.evaluation.threads,
        };
        let mut makes = false;
        for rule in rules {
            let start = Instant::now();
            if let Some(progress) = &self.options.progress {
                progress.set_rule(&self.rules[*rule].name);
            }
            let asked = queries(self, *rule)?;
            self.reports[*rule].1 += asked.len() as u64;
            let mut found = 0;
            for asked in asked {
                found += match asked {
                    Asked::Query(query) => self.evaluate(*rule, &query, snapshot, (&mut usual, &known))?,
                    Asked::Pairs { property, of_new } => {
                        self.pairs(property, of_new, snapshot, (&mut closed, &known))?
                    }
                    Asked::Equals { of_new } => self.equals(of_new, snapshot, (&mut usual, &known))?,
                };
            }
            makes |= found > 0 && self.rules[*rule].makes_terms();
            self.reports[*rule].0 += found as u64;
            self.reports[*rule].2 += start.elapsed().as_secs_f64();
        }
        self.making += u64::from(makes);
        let ((usual, held), (mut closed, held_too)) = (usual.finish(), closed.finish());
        // What was found in another way as well may lead on.
        closed.retain(|triple| usual.binary_search(triple).is_err());
        Ok(Round { usual, closed, _held: [held, held_too] })
    }

    /// The graphs that patterns of rules read; all, where they are not given.
    fn graphs_read(&self) -> Option<[ValueId; 2]> {
        (self.evaluation.default_graph == DefaultGraph::Separate)
            .then_some([ValueId::DEFAULT_GRAPH, self.graph])
    }

    /// Finds pairs of a transitive property. How many triples are new.
    fn pairs(
        &mut self,
        property: ValueId,
        of_new: bool,
        snapshot: &Snapshot,
        (gather, known): (&mut Gather, &Known<'_>),
    ) -> Result<usize, EngineError> {
        let (graphs, cancel, budget) = (self.graphs_read(), known.cancel, &self.budget);
        let closure = Closure { snapshot, property, graphs, cancel, budget };
        let mut told = |from: ValueId, to: ValueId| match from.kind() {
            Some(Kind::Iri | Kind::Blank) => gather.push([from, property, to], known),
            _ => Ok(()),
        };
        match of_new {
            true => closure.of_new(self.new.usual.1, &mut told)?,
            false => closure.whole(&mut told)?,
        }
        gather.settle(known)
    }

    /// Finds what follows from what is the same. How many triples are new besides those that say what is the same.
    fn equals(
        &mut self,
        of_new: bool,
        snapshot: &Snapshot,
        (gather, known): (&mut Gather, &Known<'_>),
    ) -> Result<usize, EngineError> {
        let Some(transitive) = self.equality.as_ref().map(|rules| rules.transitive) else { return Ok(0) };
        let same_as = lode_sparql::schema::vocabulary::owl("sameAs");
        let Some(same_as) = snapshot.id_of(&same_as)? else { return Ok(0) };
        let mut groups = match self.groups.take() {
            Some(groups) if of_new => groups,
            // The name may have got its id just now: whatever says something by it is new then.
            _ => Groups::new(same_as, &self.budget),
        };
        let (graphs, cancel) = (self.graphs_read(), known.cancel);
        let read = Read { snapshot, graphs, cancel, budget: &self.budget };
        let new = of_new.then_some([self.new.usual.1, self.new.closed.1]);
        let (triples, _held) = groups.follow(&read, new)?;
        let mut found = [0, 0];
        for (is_same, found) in [true, false].into_iter().zip(&mut found) {
            for triple in triples.iter().filter(|triple| groups.is_same_as(triple) == is_same) {
                groups.write_out(triple, cancel, &mut |triple| gather.push(triple, known))?;
            }
            *found = gather.settle(known)?;
        }
        self.groups = Some(groups);
        self.reports[transitive].0 += found[0] as u64;
        self.reports[transitive].1 += 1;
        Ok(found[1])
    }

    /// Runs a query of a rule, and gathers what its head makes of the rows. How many triples are new.
    fn evaluate(
        &mut self,
        at: usize,
        query: &Query,
        snapshot: &Snapshot,
        (gather, known): (&mut Gather, &Known<'_>),
    ) -> Result<usize, EngineError> {
        let (budget, memos, share) = (self.budget.clone(), Arc::default(), share_of(&self.evaluation));
        let session = SessionOptions { budget, now: self.now, memos, share };
        let prepared = PreparedQuery::planned(query, snapshot.clone(), &self.evaluation, session, None)?;
        let mut execution = prepared.execute()?;
        let cx = Arc::clone(execution.context());
        let mut head = Head::new(&self.rules[at], self.transaction)?;
        let mut triples = Vec::new();
        while let Some(batch) = execution.next()? {
            for row in 0..batch.rows {
                head.fill((&batch, row), &cx, self.transaction, &mut triples)?;
            }
            triples.drain(..).try_for_each(|triple| gather.push(triple, known))?;
        }
        drop(execution);
        self.count_memory()?;
        gather.settle(known)
    }

    /// What the transaction holds now is taken from the budget.
    fn count_memory(&mut self) -> Result<(), EngineError> {
        let triples = usize::try_from(self.triples).unwrap_or(usize::MAX).saturating_mul(TRIPLE_BYTES);
        let bytes = triples.saturating_add(TERM_COPIES * self.transaction.new_term_bytes());
        let missing = bytes.saturating_sub(self.held.bytes());
        self.held.grow(missing).map_err(too_much)
    }

    /// Adds what a round has found to the inferences.
    fn add(&mut self, round: &Round) -> Result<(), EngineError> {
        self.triples += (round.usual.len() + round.closed.len()) as u64;
        self.count_memory()?;
        let quads = merged(round, |_| self.graph);
        self.evaluation.cancel.check().map_err(EngineError::Cancelled)?;
        Ok(self.transaction.insert_new(quads)?)
    }

    /// The state with what a round has found, which is in graphs of its own as well.
    fn snapshot_with(&mut self, round: &Round) -> Result<Snapshot, EngineError> {
        let (usual, closed) = (self.new.usual.1, self.new.closed.1);
        let quads = merged(round, |is_closed| if is_closed { closed } else { usual });
        Ok(self.transaction.snapshot_beside(quads)?)
    }

    /// Takes out what rules had for themselves, and tells what was done.
    pub fn finish(
        mut self,
        named: &[(String, Rule)],
        report: &mut MaterialiseReport,
    ) -> Result<(), EngineError> {
        let snapshot = self.transaction.snapshot()?;
        let auxiliary = auxiliary(&self.rules, self.graph, &snapshot, &self.evaluation.cancel)?;
        self.held.grow(auxiliary.len().saturating_mul(DELETION_BYTES)).map_err(too_much)?;
        self.triples -= auxiliary.len() as u64;
        auxiliary.into_iter().for_each(|quad| self.transaction.delete(quad));
        report.lists_too_long = lists_too_long(&self.rules, &snapshot)?;
        report.inferred = self.kept + self.triples;
        report.rounds = self.rounds;
        report.rules = named
            .iter()
            .zip(&self.reports)
            .map(|((source, rule), (triples, evaluations, seconds))| RuleReport {
                source: source.clone(),
                rule: rule.name.clone(),
                triples: *triples,
                evaluations: *evaluations,
                seconds: *seconds,
            })
            .collect();
        Ok(())
    }
}

/// What a rule asks.
enum Asked {
    Query(Box<Query>),
    /// All pairs of a transitive property, or those that new triples make.
    Pairs {
        property: ValueId,
        of_new: bool,
    },
    /// What follows from what is the same, or what new triples add to that.
    Equals {
        of_new: bool,
    },
}

/// The triples of a round as quads, sorted.
fn merged(round: &Round, graph: impl Fn(bool) -> ValueId) -> Vec<[ValueId; 4]> {
    let mut all = Vec::with_capacity(round.usual.len() + round.closed.len());
    for (triples, graph) in [(&round.usual, graph(false)), (&round.closed, graph(true))] {
        all.extend(triples.iter().map(|[s, p, o]| [*s, *p, *o, graph]));
    }
    // Two sorted runs: a merge.
    all.sort();
    all
}
