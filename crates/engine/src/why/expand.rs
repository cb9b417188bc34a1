//! One step backwards: the ways in which a triple follows from others by each rule, with its head unified with the triple and its body asked of the data.

use super::facts::{Facts, Rows, Terms};
use super::graph::{Instance, Key, ProofGraph};
use super::known_rules::{KnownRule, KnownRules};
use super::known_steps::Steps;
use crate::EngineError;
use lode_rdf::{Term, Triple, ValueId};
use lode_sparql::rules::{AUXILIARY, Premise, PremiseReads, Way};
use lode_sparql::update::{QuadTemplate, TermTemplate};
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};
use std::collections::{HashMap, HashSet};

/// So many rows of a body are looked at one by one, whether or not they differ only in equal names.
const FEW: usize = 8;

/// The state of a search.
pub(super) struct Expander<'a> {
    pub facts: &'a mut Facts,
    pub rules: &'a KnownRules,
    pub graph: ProofGraph,
    /// So many rows of a body are looked at.
    pub rows_max: usize,
    /// What walks go along.
    pub steps: Steps,
    /// Whether there were more somewhere, or something could not be looked at.
    pub is_cut: bool,
}

/// What the variables of a body are in a row.
pub(super) struct Binding<'a> {
    /// By the head;
    pub given: &'a HashMap<String, ValueId>,
    /// by the row.
    pub columns: &'a HashMap<String, usize>,
    pub row: &'a [ValueId],
}

impl Binding<'_> {
    fn id(&self, name: &str) -> ValueId {
        let column = || self.columns.get(name).and_then(|at| self.row.get(*at));
        self.given.get(name).or_else(column).copied().unwrap_or_default()
    }
}

/// What a head says of its variables.
pub(super) struct Unified {
    pub ids: HashMap<String, ValueId>,
    pub terms: Terms,
}

impl Expander<'_> {
    /// Finds the ways in which a triple follows.
    pub fn expand(&mut self, at: usize) -> Result<(), EngineError> {
        self.graph.nodes[at].is_expanded = true;
        let (key, rules) = (self.graph.nodes[at].key, self.rules);
        if self.by_equality(at, key)? {
            return Ok(());
        }
        for (number, known) in rules.rules.iter().enumerate() {
            for head in &known.rule.head {
                let Some(unified) = self.unify(known, head, key)? else { continue };
                if self.chain(at, number, key)? || self.by_rule(at, (number, head), &unified)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Finds what is contradictory, as ways in which that follows.
    pub fn contradictions(&mut self, at: usize) -> Result<(), EngineError> {
        self.graph.nodes[at].is_expanded = true;
        let rules = self.rules;
        for (number, known) in rules.rules.iter().enumerate() {
            if !known.rule.head.is_empty() {
                continue;
            }
            for way in &known.ways {
                let rows = self.rows(way, &Terms::new())?;
                for row in &rows.rows {
                    let given = HashMap::new();
                    let binding = Binding { given: &given, columns: &rows.columns, row };
                    self.instance((at, number), [ValueId::UNDEF; 3], way, &binding, None)?;
                }
            }
        }
        Ok(())
    }

    /// The ways by one rule; whether one of them takes stated triples only, so that there is none that is shorter.
    fn by_rule(
        &mut self,
        at: usize,
        (number, head): (usize, &QuadTemplate),
        unified: &Unified,
    ) -> Result<bool, EngineError> {
        let rules = self.rules;
        let known = &rules.rules[number];
        for way in &known.ways {
            let rows = self.rows(way, &unified.terms)?;
            let mut alike = HashSet::new();
            for row in &rows.rows {
                let binding = Binding { given: &unified.ids, columns: &rows.columns, row };
                let conclusion = self.conclusion(known, head, &binding)?;
                let alike = (rows.rows.len() > FEW).then_some(&mut alike);
                if self.instance((at, number), conclusion, way, &binding, alike)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// What the head says of its variables where it gives a triple; none where it cannot give it.
    pub fn unify(
        &mut self,
        known: &KnownRule,
        head: &QuadTemplate,
        key: Key,
    ) -> Result<Option<Unified>, EngineError> {
        let mut unified = Unified { ids: HashMap::new(), terms: Terms::new() };
        let slots = [&head.triple.subject, &head.triple.predicate, &head.triple.object];
        for (slot, id) in slots.into_iter().zip(key) {
            match slot {
                TermTemplate::Const(term) => {
                    let own = self.facts.id(term)?;
                    if !id.is_undef() && own != Some(id) {
                        return Ok(None);
                    }
                }
                TermTemplate::Column(column) => {
                    let Some(variable) = known.rule.variables.get(*column).filter(|_| !id.is_undef()) else {
                        continue;
                    };
                    let name = variable.as_str().to_owned();
                    if *unified.ids.entry(name.clone()).or_insert(id) != id {
                        return Ok(None);
                    }
                    let term = self.facts.term(id)?;
                    unified.terms.insert(name, term);
                }
                TermTemplate::Blank(_) | TermTemplate::Triple(_) => return Ok(None),
            }
        }
        Ok(Some(unified))
    }

    /// What a head makes of a row.
    pub fn conclusion(
        &mut self,
        known: &KnownRule,
        head: &QuadTemplate,
        binding: &Binding<'_>,
    ) -> Result<[ValueId; 3], EngineError> {
        let mut triple = [ValueId::UNDEF; 3];
        let slots = [&head.triple.subject, &head.triple.predicate, &head.triple.object];
        for (id, slot) in triple.iter_mut().zip(slots) {
            *id = match slot {
                TermTemplate::Const(term) => self.facts.id(term)?.unwrap_or_default(),
                TermTemplate::Column(column) => known
                    .rule
                    .variables
                    .get(*column)
                    .map_or(ValueId::UNDEF, |variable| binding.id(variable.as_str())),
                TermTemplate::Blank(_) | TermTemplate::Triple(_) => ValueId::UNDEF,
            };
        }
        Ok(triple)
    }

    /// The rows of a way. Where they are too many, those of stated triples come as well.
    pub fn rows(&mut self, way: &Way, terms: &Terms) -> Result<Rows, EngineError> {
        let (terms, same) = placed(way, terms);
        let query = way.query(self.rows_max, &same);
        let mut found = match self.facts.rows(&query, &terms) {
            Ok(found) => found,
            // What cannot be planned (a schema that is too large for a variable) is left out.
            Err(EngineError::Plan(_)) => {
                self.is_cut = true;
                return Ok(Rows { columns: HashMap::new(), rows: Vec::new() });
            }
            Err(error) => return Err(error),
        };
        if found.rows.len() >= self.rows_max {
            self.is_cut = true;
            let stated = self.facts.stated_rows(&query, &terms)?;
            // The same pattern has the same columns, in whatever sequence.
            let order = |rows: &Rows| -> Vec<usize> {
                let mut columns: Vec<_> = rows.columns.iter().collect();
                columns.sort();
                columns.into_iter().map(|(_, at)| *at).collect()
            };
            let (to, from) = (order(&found), order(&stated));
            for row in stated.rows {
                let mut moved = vec![ValueId::UNDEF; row.len()];
                for (to, from) in to.iter().zip(&from) {
                    if let (Some(place), Some(id)) = (moved.get_mut(*to), row.get(*from)) {
                        *place = *id;
                    }
                }
                found.rows.insert(0, moved);
            }
        }
        Ok(found)
    }

    /// Notes a row of a body; whether all that it takes is stated. Of rows that differ only in names of a large group (`alike` are those before) one is noted.
    fn instance(
        &mut self,
        (at, rule): (usize, usize),
        conclusion: [ValueId; 3],
        way: &Way,
        binding: &Binding<'_>,
        alike: Option<&mut HashSet<Vec<Key>>>,
    ) -> Result<bool, EngineError> {
        let mut conditions = way.conditions.clone();
        let Some(keys) = self.premises(way, binding, &mut conditions)? else { return Ok(false) };
        if let Some(alike) = alike
            && let Some(canonical) = self.canonical(&keys)?
        {
            let goal = self.graph.nodes[at].key;
            let leads_round = self.canonical(&[goal])?.is_some_and(|goal| canonical.contains(&goal[0]));
            if leads_round || !alike.insert(canonical) {
                let mut is_stated = true;
                for [s, p, o, graph] in &keys {
                    let is_known = ![s, p, o].iter().any(|id| id.is_undef());
                    is_stated &= !graph.is_undef() || is_known && self.facts.is_asserted(&[*s, *p, *o])?;
                }
                if !is_stated {
                    self.is_cut = true;
                    return Ok(false);
                }
            }
        }
        self.note((at, rule), conclusion, &keys, conditions)
    }

    /// Notes one way in which a triple follows; whether all that it takes is stated.
    pub fn note(
        &mut self,
        (at, rule): (usize, usize),
        conclusion: [ValueId; 3],
        keys: &[Key],
        conditions: Vec<String>,
    ) -> Result<bool, EngineError> {
        self.facts.check()?;
        let mut premises = Vec::with_capacity(keys.len());
        for key in keys {
            let place = self.graph.place(*key, self.facts)?;
            if !premises.contains(&place) {
                premises.push(place);
            }
        }
        let is_stated = premises.iter().all(|place| self.graph.nodes[*place].is_stated);
        self.graph.add(at, Instance { rule, conclusion, premises, conditions })?;
        Ok(is_stated)
    }

    /// The triples that a row has read; none where one of them is no triple of the data.
    pub fn premises(
        &mut self,
        way: &Way,
        binding: &Binding<'_>,
        conditions: &mut Vec<String>,
    ) -> Result<Option<Vec<Key>>, EngineError> {
        let mut keys = Vec::with_capacity(way.premises.len());
        for Premise { graph, reads } in &way.premises {
            let graph = match graph {
                None => ValueId::UNDEF,
                Some(name) => self.name(name, binding)?,
            };
            match reads {
                PremiseReads::Triple(triple) => {
                    let [s, p, o] = self.triple(triple, binding)?;
                    if [s, p, o].iter().any(|id| id.is_undef()) && !is_auxiliary(triple) {
                        return Ok(None);
                    }
                    keys.push([s, p, o, graph]);
                }
                PremiseReads::Path { subject, path, object } => {
                    let (from, to) = (self.slot(subject, binding)?, self.slot(object, binding)?);
                    if !self.walk((from, path, to), graph, &mut keys)? {
                        let words = [self.facts.words(from)?, path.to_string(), self.facts.words(to)?];
                        conditions.push(words.join(" "));
                    }
                }
            }
        }
        Ok(Some(keys))
    }

    fn triple(&mut self, triple: &TriplePattern, binding: &Binding<'_>) -> Result<[ValueId; 3], EngineError> {
        Ok([
            self.slot(&triple.subject, binding)?,
            self.name(&triple.predicate, binding)?,
            self.slot(&triple.object, binding)?,
        ])
    }

    fn name(&mut self, name: &NamedNodePattern, binding: &Binding<'_>) -> Result<ValueId, EngineError> {
        match name {
            NamedNodePattern::NamedNode(name) => {
                Ok(self.facts.id(&Term::from(name.clone()))?.unwrap_or_default())
            }
            NamedNodePattern::Variable(variable) => Ok(binding.id(variable.as_str())),
        }
    }

    fn slot(&mut self, term: &TermPattern, binding: &Binding<'_>) -> Result<ValueId, EngineError> {
        let term = match term {
            TermPattern::Variable(variable) => return Ok(binding.id(variable.as_str())),
            TermPattern::BlankNode(_) => return Ok(ValueId::UNDEF),
            TermPattern::NamedNode(name) => Term::from(name.clone()),
            TermPattern::Literal(literal) => Term::from(literal.clone()),
            TermPattern::Triple(triple) => {
                let [s, p, o] = self.triple(triple, binding)?;
                if [s, p, o].iter().any(|id| id.is_undef()) {
                    return Ok(ValueId::UNDEF);
                }
                let (subject, predicate) = (self.facts.term(s)?, self.facts.term(p)?);
                match Triple::from_terms(subject, predicate, self.facts.term(o)?) {
                    Ok(triple) => Term::from(triple),
                    Err(_) => return Ok(ValueId::UNDEF),
                }
            }
        };
        Ok(self.facts.id(&term)?.unwrap_or_default())
    }
}

/// How the names begin of what variables are compared with.
const COMPARED: &str = ".is-";

/// Terms in the place of variables that a way reads, and pairs of others and what they must be: what is computed, or may be missing, is compared with it.
pub(super) fn placed(way: &Way, terms: &Terms) -> (Terms, Vec<(String, String)>) {
    let (mut placed, mut same) = (Terms::new(), Vec::new());
    for (name, term) in terms {
        if way.reads(name) {
            placed.insert(name.clone(), term.clone());
        } else {
            let compared = format!("{COMPARED}{name}");
            same.push((name.clone(), compared.clone()));
            placed.insert(compared, term.clone());
        }
    }
    (placed, same)
}

fn is_auxiliary(triple: &TriplePattern) -> bool {
    matches!(&triple.predicate, NamedNodePattern::NamedNode(name) if name.as_str().starts_with(AUXILIARY))
}
