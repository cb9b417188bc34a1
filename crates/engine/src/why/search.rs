//! The search for proofs: level by level backwards, until what is to be proven follows from what is stated.
//!
//! A proof with so many steps above each other needs triples of so many levels only. So where each triple's ways were all looked at, the first proof that
//! is found has the least height. Steps are chosen by rounds, each from those of rounds before, so that no proof goes in a circle.

use super::expand::Expander;
use super::facts::Facts;
use super::graph::{Instance, Node, ProofGraph};
use super::known_rules::KnownRules;
use super::known_steps::Steps;
use super::report::{Proof, Step, WhyOptions};
use crate::EngineError;
use lode_rdf::{Term, ValueId};
use lode_sparql::rules::AUXILIARY;
use std::collections::HashMap;

/// Rows of a body that are looked at, at first and at last.
const ROWS_FIRST: usize = 64;
const ROWS_LAST: usize = 16_384;
/// And how many times more in between.
const ROWS_STEP: usize = 16;

/// How a triple is proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Choice {
    height: usize,
    /// Steps of the tree.
    size: u64,
    instance: usize,
}

/// What a search has found.
pub(super) struct Found {
    pub proofs: Vec<Proof>,
    pub is_complete: bool,
    pub facts: usize,
}

/// Searches for proofs of a triple, or of contradictions.
pub(super) fn search(
    goal: Option<[ValueId; 3]>,
    facts: &mut Facts,
    rules: &KnownRules,
    options: &WhyOptions,
) -> Result<Found, EngineError> {
    let (mut rows_max, mut steps) = (ROWS_FIRST.max(options.proofs_max), Steps::default());
    loop {
        let graph = ProofGraph::new(facts);
        let mut expander = Expander { facts: &mut *facts, rules, graph, rows_max, steps, is_cut: false };
        let choices = levels(goal, &mut expander, options)?;
        let Expander { graph, is_cut, steps: known, .. } = expander;
        steps = known;
        let is_found = choices.first().is_some_and(Option::is_some);
        if is_found || !is_cut || rows_max >= ROWS_LAST || graph.is_full(options.facts_max) {
            let proofs = proofs(&graph, &choices, facts, rules, options.proofs_max)?;
            return Ok(Found { proofs, is_complete: !is_cut, facts: graph.nodes.len() });
        }
        rows_max *= ROWS_STEP;
    }
}

fn levels(
    goal: Option<[ValueId; 3]>,
    expander: &mut Expander<'_>,
    options: &WhyOptions,
) -> Result<Vec<Option<Choice>>, EngineError> {
    let [s, p, o] = goal.unwrap_or_default();
    let root = expander.graph.place([s, p, o, ValueId::UNDEF], expander.facts)?;
    if goal.is_none() {
        let rows_max = std::mem::replace(&mut expander.rows_max, options.proofs_max);
        expander.contradictions(root)?;
        expander.rows_max = rows_max;
    }
    for level in 0.. {
        let choices = chosen(&expander.graph.nodes);
        let usable =
            |instance: &&Instance| instance.premises.iter().all(|premise| choices[*premise].is_some());
        let root = &expander.graph.nodes[root];
        let proven = root.instances.iter().filter(usable).count();
        if root.is_stated || proven >= options.proofs_max {
            return Ok(choices);
        }
        let nodes = expander.graph.nodes.iter().enumerate();
        let open: Vec<usize> =
            nodes.filter(|(_, node)| !node.is_stated && !node.is_expanded).map(|(at, _)| at).collect();
        if open.is_empty() {
            return Ok(choices);
        }
        if level >= options.depth_max {
            expander.is_cut = true;
            return Ok(choices);
        }
        for at in open {
            if expander.graph.is_full(options.facts_max) {
                expander.is_cut = true;
                return Ok(chosen(&expander.graph.nodes));
            }
            expander.expand(at)?;
        }
    }
    Ok(Vec::new())
}

/// How each triple is proven by the ways that are known, if it is: with the least height, and of those ways with the least size.
fn chosen(nodes: &[Node]) -> Vec<Option<Choice>> {
    let stated = Choice { height: 0, size: 1, instance: usize::MAX };
    let mut choices: Vec<_> = nodes.iter().map(|node| node.is_stated.then_some(stated)).collect();
    loop {
        let mut next = Vec::new();
        for (at, node) in nodes.iter().enumerate().filter(|(at, _)| choices[*at].is_none()) {
            let ways = node.instances.iter().enumerate();
            let best = ways.filter_map(|(number, way)| Some((cost(way, &choices)?, number)));
            if let Some(((height, size), instance)) = best.min() {
                next.push((at, Choice { height, size, instance }));
            }
        }
        if next.is_empty() {
            return choices;
        }
        next.into_iter().for_each(|(at, choice)| choices[at] = Some(choice));
    }
}

/// Height and size of a proof by one way; none where not all it takes is proven.
fn cost(way: &Instance, choices: &[Option<Choice>]) -> Option<(usize, u64)> {
    let (mut height, mut size) = (0, 1_u64);
    for premise in &way.premises {
        let choice = choices[*premise]?;
        height = height.max(choice.height);
        size = size.saturating_add(choice.size);
    }
    Some((height + 1, size))
}

/// Proofs by the ways of what is to be proven, the shortest first.
fn proofs(
    graph: &ProofGraph,
    choices: &[Option<Choice>],
    facts: &mut Facts,
    rules: &KnownRules,
    proofs_max: usize,
) -> Result<Vec<Proof>, EngineError> {
    let Some(root) = graph.nodes.first() else { return Ok(Vec::new()) };
    let mut writer = Writer { graph, choices, facts, rules, steps: Vec::new(), places: HashMap::new() };
    if root.is_stated {
        writer.step(0, None)?;
        return Ok(vec![Proof { height: 0, steps: writer.steps }]);
    }
    let ways = root.instances.iter().enumerate();
    let mut ways: Vec<_> = ways.filter_map(|(number, way)| Some((cost(way, choices)?, number))).collect();
    ways.sort_unstable();
    let mut proofs = Vec::new();
    for ((height, _), number) in ways {
        if proofs.len() >= proofs_max {
            break;
        }
        writer.steps.clear();
        writer.places.clear();
        // What needs itself says nothing new.
        if writer.step(0, Some(number))?.is_some() {
            proofs.push(Proof { height, steps: std::mem::take(&mut writer.steps) });
        }
    }
    Ok(proofs)
}

struct Writer<'a> {
    graph: &'a ProofGraph,
    choices: &'a [Option<Choice>],
    facts: &'a mut Facts,
    rules: &'a KnownRules,
    steps: Vec<Step>,
    places: HashMap<usize, usize>,
}

impl Writer<'_> {
    /// Writes the proof of a triple, each step once, and gives its place; none where it goes through what is to be proven.
    fn step(&mut self, start: usize, by: Option<usize>) -> Result<Option<usize>, EngineError> {
        // Without recursion: proofs may be deep.
        let mut open = vec![start];
        self.begin(start, by)?;
        while let Some(node) = open.pop() {
            let way = self.way(node, if node == start { by } else { None });
            let Some(way) = way else { continue };
            let (mut places, mut conditions) = (Vec::new(), way.conditions.clone());
            for premise in self.flat(way, &mut conditions) {
                if premise == start {
                    return Ok(None);
                }
                let place = match self.places.get(&premise) {
                    Some(place) => *place,
                    None => {
                        open.push(premise);
                        self.begin(premise, None)?
                    }
                };
                places.push(place);
            }
            let place = self.places[&node];
            conditions.dedup();
            self.steps[place].premises = places;
            self.steps[place].conditions = conditions;
        }
        Ok(Some(0))
    }

    fn way(&self, node: usize, by: Option<usize>) -> Option<&'_ Instance> {
        let graph = self.graph;
        let number = match by {
            Some(number) => number,
            None => self.choices[node]?.instance,
        };
        graph.nodes[node].instances.get(number)
    }

    /// The premises of a way, those of what sets of rules have for themselves in its place.
    fn flat(&self, way: &Instance, conditions: &mut Vec<String>) -> Vec<usize> {
        let (mut flat, mut open) = (Vec::new(), way.premises.iter().rev().copied().collect::<Vec<_>>());
        while let Some(premise) = open.pop() {
            let own = self.way(premise, None).filter(|_| self.is_auxiliary(premise));
            match own {
                Some(way) => {
                    conditions.extend(way.conditions.iter().cloned());
                    open.extend(way.premises.iter().rev());
                }
                None if !flat.contains(&premise) => flat.push(premise),
                None => {}
            }
        }
        flat
    }

    fn is_auxiliary(&self, node: usize) -> bool {
        let predicate = self.graph.nodes[node].key[1];
        matches!(self.facts.snapshot.term(predicate), Ok(Term::NamedNode(name)) if name.as_str().starts_with(AUXILIARY))
    }

    fn begin(&mut self, node: usize, by: Option<usize>) -> Result<usize, EngineError> {
        let Node { key: [s, p, o, graph], .. } = self.graph.nodes[node];
        let way = self.way(node, by);
        let triple = way.map_or([s, p, o], |way| way.conclusion);
        let rule = way.map(|way| self.rules.rules[way.rule].name.clone());
        let asserted = match (rule.is_some(), graph.is_undef()) {
            (true, _) => Vec::new(),
            (false, true) => self.facts.graphs(&[s, p, o])?,
            (false, false) => vec![graph],
        };
        let asserted = names(&asserted, self.facts)?;
        let triple = ProofGraph::statement(triple, self.facts)?;
        self.steps.push(Step { triple, asserted, rule, premises: Vec::new(), conditions: Vec::new() });
        self.places.insert(node, self.steps.len() - 1);
        Ok(self.steps.len() - 1)
    }
}

/// What graphs are called.
pub(super) fn names(graphs: &[ValueId], facts: &mut Facts) -> Result<Vec<String>, EngineError> {
    let mut names = Vec::with_capacity(graphs.len());
    for graph in graphs {
        names.push(match *graph {
            ValueId::DEFAULT_GRAPH => "default".to_owned(),
            id => match facts.term(id)? {
                Term::NamedNode(name) => name.into_string(),
                other => other.to_string(),
            },
        });
    }
    Ok(names)
}
