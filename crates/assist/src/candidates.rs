//! Terms that may stand at a place: what the patterns around it give, what is used most, what begins as was typed; and which of them give answers.

use crate::ask::Data;
use crate::context::Patterns;
use crate::labels::Labels;
use crate::names::{Names, is_writable, local_name};
use crate::place::Fragment;
use crate::role::Role;
use crate::schema::{List, Schema, TYPE, Used};
use crate::search;
use lode_engine::Order;
use lode_engine::store::StoreError;
use lode_rdf::{NamedNode, Term, ValueId};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Of what the patterns give so many rows are looked at.
const SELECTED_MAX: usize = 4_000;
/// Of so many it is looked up how often they are used.
const COUNTED_MAX: usize = 200;
/// Terms that are looked for by how they begin.
const FOUND_MAX: usize = 100;
/// After so many of which it is not known in time whether they give answers, and none that does, no others are asked for with all patterns.
const UNDECIDED_MAX: usize = 2;
/// Longer literals are not offered.
const LITERAL_BYTES_MAX: usize = 200;
/// Labels of so many candidates are compared with what was typed.
const LABELLED_MAX: usize = 400;

/// A term that may stand at a place.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub term: Term,
    pub count: Option<u64>,
    pub label: Option<String>,
    /// How well it fits what was typed; 0 is best.
    pub rank: u8,
    /// It is not known to give an answer.
    pub is_unproven: bool,
}

/// How a candidate came to be one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// The patterns give it.
    Given,
    /// The nearest of them do.
    Near,
    /// It is used in the data.
    Other,
}

/// The candidates for a place.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    pub best: Vec<Candidate>,
    /// There may be others.
    pub is_part: bool,
}

/// What is asked for.
pub(crate) struct Wanted<'a> {
    pub role: &'a Role,
    pub patterns: Option<&'a Patterns>,
    pub fragment: &'a Fragment,
    pub names: &'a Names,
    pub limit: usize,
}

/// Where a candidate comes from.
struct Pool {
    /// With what the patterns give, which have answers by themselves.
    given: Vec<Term>,
    /// That is all there is.
    is_all: bool,
    /// What the nearest patterns give, where all of them take too long.
    near: Vec<Term>,
    /// Others, the most used first,
    others: Vec<Used>,
    /// all that there are.
    is_whole: bool,
    /// What has a label with a word that begins as was typed.
    worded: Vec<Candidate>,
    /// Whether there may be more of these.
    is_worded_part: bool,
    /// Nothing can stand at the place itself: the patterns around it exclude each other.
    is_contradiction: bool,
}

impl Wanted<'_> {
    /// The best candidates.
    pub fn candidates(&self, data: &Data<'_>, schema: &Schema) -> Result<Candidates, StoreError> {
        let labels = Labels::new(&data.snapshot)?;
        let pool = self.pool(data, schema, &labels)?;
        let all_given: HashSet<Term> =
            if pool.is_all { pool.given.iter().cloned().collect() } else { HashSet::new() };
        let given = self.fitting(data, &labels, self.counted(data, schema, pool.given)?)?;
        let others = pool.others.into_iter().map(|used| (used.term, Some(used.count))).collect();
        let others = if pool.is_all { Vec::new() } else { self.fitting(data, &labels, others)? };
        // Of what is given, the index finds other words of labels, and letters without their accents.
        let is_new = |one: &Candidate| {
            !pool.is_all || all_given.contains(&one.term) && given.iter().all(|other| other.term != one.term)
        };
        let others: Vec<Candidate> =
            others.into_iter().chain(pool.worded.into_iter().filter(is_new)).collect();
        let near = self.fitting(data, &labels, self.counted(data, schema, pool.near)?)?;
        let Some(patterns) = self.patterns else {
            let best = merged(given, others);
            return Ok(Candidates {
                is_part: !(pool.is_all || pool.is_whole) || pool.is_worded_part || best.len() > self.limit,
                best,
            });
        };
        let is_all = pool.is_all || pool.is_whole;
        let of =
            |candidates: Vec<Candidate>, source: Source| candidates.into_iter().map(move |one| (one, source));
        let all = of(given, Source::Given).chain(of(near, Source::Near)).chain(of(others, Source::Other));
        let (sure, mut unknown, is_part) = self.judged(data, patterns, all, pool.is_contradiction);
        let is_part = is_part || !is_all || pool.is_worded_part;
        if sure.is_empty() {
            unknown.truncate(self.limit);
            return Ok(Candidates { best: unknown, is_part });
        }
        Ok(Candidates { best: sure, is_part })
    }

    /// Candidates before anything is asked of each.
    fn pool(&self, data: &Data<'_>, schema: &Schema, labels: &Labels<'_>) -> Result<Pool, StoreError> {
        let is_path = *self.role == Role::Predicate { in_path: true };
        let patterns = self.patterns.filter(|_| !is_path);
        let selected = patterns.filter(|_| self.is_selective()).and_then(|patterns| {
            data.select(&patterns.select(&self.filter(), SELECTED_MAX), &data.clock.part(3), SELECTED_MAX)
        });
        let selected = selected.unwrap_or_default();
        // Where nothing was found in the time, less is asked.
        let is_slow = selected.terms.is_empty() && !selected.is_all && self.is_selective();
        let near = patterns.filter(|_| is_slow).and_then(|patterns| {
            let text = patterns.near_select(&self.filter(), SELECTED_MAX)?;
            data.select(&text, &data.clock.part(3), SELECTED_MAX)
        });
        let near = near.unwrap_or_default();
        let is_contradiction =
            selected.is_all && selected.terms.is_empty() && patterns.is_some_and(Patterns::has_more);
        let is_all = selected.is_all && !is_contradiction;
        let mut others = match self.role {
            _ if is_all || near.is_all => Vec::new(),
            Role::Predicate { .. } => schema.predicates.used.clone(),
            Role::Class => schema.classes.used.clone(),
            Role::Graph { .. } => schema.graphs.used.clone(),
            Role::Object(Some(predicate)) => objects_of(data, predicate)?,
            _ => Vec::new(),
        };
        let found = if near.is_all { Vec::new() } else { self.found(data, labels)? };
        for iri in found {
            others.push(Used { term: NamedNode::new_unchecked(iri).into(), count: 0 });
        }
        let (worded, is_worded_part) =
            if near.is_all { (Vec::new(), false) } else { self.worded(data, labels) };
        let is_whole = near.is_all
            || match self.role {
                Role::Predicate { .. } => schema.predicates.is_all,
                Role::Class => schema.classes.is_all,
                Role::Graph { .. } => schema.graphs.is_all,
                _ => false,
            };
        let (given, near) = (selected.terms, near.terms);
        Ok(Pool { given, is_all, near, others, is_whole, worded, is_worded_part, is_contradiction })
    }

    /// Whether what the patterns give is worth asking for: subjects only where some of it was typed.
    fn is_selective(&self) -> bool {
        let is_typed = !matches!(self.fragment, Fragment::Nothing | Fragment::Word(_));
        !matches!(self.role, Role::Subject | Role::Value | Role::Resource) || is_typed
    }

    /// What a term must be to fit what was typed.
    fn filter(&self) -> String {
        let variable = Patterns::variable();
        let begins = |start: &str| {
            let text = Term::from(lode_rdf::Literal::new_simple_literal(start));
            format!("STRSTARTS(STR({variable}), {text})")
        };
        let is_schema = !matches!(self.role, Role::Object(_) | Role::Subject);
        match self.fragment {
            Fragment::Name(prefix, local) => match self.names.iri_of(prefix) {
                Some(iri) if is_schema => begins(iri),
                Some(iri) => format!("ISIRI({variable}) && {}", begins(&format!("{iri}{local}"))),
                None => String::new(),
            },
            Fragment::Iri(start) if !start.is_empty() => {
                format!("ISIRI({variable}) && {}", begins(start))
            }
            Fragment::Text(start) => format!("ISLITERAL({variable}) && {}", begins(start)),
            _ => String::new(),
        }
    }

    /// IRIs that begin as was typed, or have a label that does.
    fn found(&self, data: &Data<'_>, labels: &Labels<'_>) -> Result<Vec<String>, StoreError> {
        let is_term = matches!(
            self.role,
            Role::Subject | Role::Object(_) | Role::Value | Role::Resource | Role::Expression { .. }
        );
        match self.fragment {
            _ if !is_term => Ok(Vec::new()),
            Fragment::Name(prefix, local) => match self.names.iri_of(prefix) {
                Some(iri) => search::iris(&data.snapshot, &format!("{iri}{local}"), FOUND_MAX),
                None => Ok(Vec::new()),
            },
            Fragment::Iri(start) => search::iris(&data.snapshot, start, FOUND_MAX),
            Fragment::Word(start) if start.len() > 1 && !matches!(self.role, Role::Expression { .. }) => {
                search::labelled(&data.snapshot, labels, start, &data.clock.part(4), FOUND_MAX)
            }
            _ => Ok(Vec::new()),
        }
    }

    /// What has a label with a word that begins as was typed, where an index finds that, and whether there may be more.
    fn worded(&self, data: &Data<'_>, labels: &Labels<'_>) -> (Vec<Candidate>, bool) {
        let is_term =
            matches!(self.role, Role::Subject | Role::Object(_) | Role::Value | Role::Resource | Role::Class);
        let word = match self.fragment {
            Fragment::Word(word) if is_term && word.len() >= 2 => word,
            _ => return (Vec::new(), false),
        };
        let (found, is_part) = search::with_word(data, labels, word, &data.clock.part(3), FOUND_MAX);
        let candidate = |(term, label): (Term, String)| {
            // A label is behind a name, and what the index finds may be written with accents.
            let rank = beginning(&label, word).unwrap_or(2) + 1;
            Candidate { term, count: None, label: Some(label), rank, is_unproven: false }
        };
        (found.into_iter().map(candidate).collect(), is_part)
    }

    /// The same terms with how often they are used.
    fn counted(
        &self,
        data: &Data<'_>,
        schema: &Schema,
        terms: Vec<Term>,
    ) -> Result<Vec<(Term, Option<u64>)>, StoreError> {
        let known = match self.role {
            Role::Predicate { .. } => &schema.predicates,
            Role::Class => &schema.classes,
            Role::Graph { .. } => &schema.graphs,
            _ => &List::default(),
        };
        let known: BTreeMap<String, u64> =
            known.used.iter().map(|used| (used.term.to_string(), used.count)).collect();
        let id = |iri: &str| data.snapshot.id_of(&NamedNode::new_unchecked(iri).into());
        let (order, prefix): (Order, Vec<ValueId>) = match self.role {
            Role::Predicate { .. } => (Order::Psog, Vec::new()),
            Role::Class => (Order::Posg, id(TYPE)?.into_iter().collect()),
            Role::Graph { .. } => (Order::Gspo, Vec::new()),
            Role::Object(Some(predicate)) => (Order::Posg, id(predicate)?.into_iter().collect()),
            Role::Subject => (Order::Spog, Vec::new()),
            _ => (Order::Ospg, Vec::new()),
        };
        let mut counted = Vec::with_capacity(terms.len());
        for term in terms {
            let count = match known.get(&term.to_string()) {
                Some(count) => Some(*count),
                None if counted.len() >= COUNTED_MAX || data.clock.is_over() => None,
                None => match data.snapshot.id_of(&term)? {
                    Some(id) => Some(data.snapshot.count(order, &[&prefix[..], &[id]].concat())?),
                    None => None,
                },
            };
            counted.push((term, count));
        }
        Ok(counted)
    }

    /// Those that fit what was typed, the best first.
    fn fitting(
        &self,
        data: &Data<'_>,
        labels: &Labels<'_>,
        terms: Vec<(Term, Option<u64>)>,
    ) -> Result<Vec<Candidate>, StoreError> {
        let mut fitting = Vec::new();
        let namespaces = match self.fragment {
            Fragment::Word(word) => self.names.namespaces(&|name| beginning(name, word)),
            _ => Vec::new(),
        };
        let (clock, mut labelled) = (data.clock.part(4), 0);
        for (term, count) in terms {
            let mut label = None;
            let mut rank = match &term {
                Term::NamedNode(node) if is_writable(node.as_str()) => self.rank(node.as_str(), &namespaces),
                Term::Literal(literal) => self.rank_of_literal(literal.value()),
                _ => None,
            };
            if let (None, Fragment::Word(word), Term::NamedNode(node)) = (rank, self.fragment, &term)
                && labelled < LABELLED_MAX
            {
                labelled += 1;
                label = labels.of(node.as_str(), &clock)?;
                rank = label.as_deref().and_then(|label| beginning(label, word)).map(|rank| rank + 1);
            }
            if let Some(rank) = rank {
                fitting.push(Candidate { term, count, label, rank, is_unproven: false });
            }
        }
        fitting.sort_by_key(|candidate| (candidate.rank, std::cmp::Reverse(candidate.count)));
        Ok(fitting)
    }

    /// How well an IRI fits; none where it does not.
    fn rank(&self, iri: &str, namespaces: &[(String, u8)]) -> Option<u8> {
        match self.fragment {
            Fragment::Nothing => Some(0),
            Fragment::Word(word) => beginning(local_name(iri), word).or_else(|| {
                let found = namespaces.iter().find(|(namespace, _)| iri.starts_with(namespace));
                found.map(|(_, rank)| *rank)
            }),
            Fragment::Name(prefix, local) => {
                let rest = iri.strip_prefix(self.names.iri_of(prefix)?)?;
                beginning(rest, local)
            }
            Fragment::Iri(start) => iri.starts_with(start.as_str()).then_some(0),
            Fragment::Variable(_) | Fragment::Text(_) => None,
        }
    }

    fn rank_of_literal(&self, value: &str) -> Option<u8> {
        if value.len() > LITERAL_BYTES_MAX || !matches!(self.role, Role::Object(_) | Role::Value) {
            return None;
        }
        match self.fragment {
            Fragment::Nothing => Some(0),
            Fragment::Text(start) => value.starts_with(start.as_str()).then_some(0),
            Fragment::Word(word) => beginning(value, word),
            _ => None,
        }
    }

    /// Those of which it is known that they give answers, and, where none is, those that the nearest patterns have answers with: first the ones of
    /// which that is known. Whether there may be others.
    fn judged(
        &self,
        data: &Data<'_>,
        patterns: &Patterns,
        all: impl Iterator<Item = (Candidate, Source)>,
        is_contradiction: bool,
    ) -> (Vec<Candidate>, Vec<Candidate>, bool) {
        let (mut sure, mut near, mut unknown, mut is_part) = (Vec::new(), Vec::new(), Vec::new(), false);
        let mut seen = BTreeSet::new();
        for (candidate, source) in all {
            let written = candidate.term.to_string();
            if !seen.insert(written.clone()) {
                continue;
            }
            if sure.len() >= self.limit {
                is_part = true;
                break;
            }
            let undecided = near.len() + unknown.len();
            // Where the first ones could not be decided, neither could the others.
            let is_hopeless = sure.is_empty() && undecided >= UNDECIDED_MAX;
            let skip = usize::from(source == Source::Given || is_contradiction);
            match if is_hopeless { None } else { answers(data, patterns, &written, skip) } {
                Some(true) => sure.push(candidate),
                Some(false) => {}
                // The place itself has no answer with it.
                None if is_contradiction => is_part = true,
                None => {
                    is_part = true;
                    let candidate = Candidate { is_unproven: true, ..candidate };
                    if source != Source::Other {
                        near.push(candidate);
                        continue;
                    }
                    match patterns.near_ask(&written).and_then(|ask| data.ask(&ask)) {
                        Some(true) => near.push(candidate),
                        Some(false) => {}
                        None => unknown.push(candidate),
                    }
                }
            }
        }
        let order = |candidate: &Candidate| (candidate.rank, std::cmp::Reverse(candidate.count));
        sure.sort_by_key(order);
        near.sort_by_key(order);
        (sure, if near.is_empty() { unknown } else { near }, is_part)
    }
}

/// Whether all that must have an answer has one with a term; none where that is not known in time. The first `skip` are known to.
fn answers(data: &Data<'_>, patterns: &Patterns, written: &str, skip: usize) -> Option<bool> {
    let asks = patterns.asks(written);
    let mut answers = asks.iter().skip(skip).map(|ask| data.ask(ask));
    answers.find(|answer| *answer != Some(true)).unwrap_or(Some(true))
}

/// The objects of a predicate with how often each is used, as far as the time goes.
fn objects_of(data: &Data<'_>, predicate: &str) -> Result<Vec<Used>, StoreError> {
    let predicate = data.snapshot.id_of(&NamedNode::new_unchecked(predicate).into())?;
    let Some(predicate) = predicate else { return Ok(Vec::new()) };
    let mut list = List::default();
    list.walk(&data.snapshot, Order::Posg, &[predicate], &data.clock.part(6))?;
    list.used.truncate(SELECTED_MAX);
    Ok(list.used)
}

/// All of both, each once.
fn merged(first: Vec<Candidate>, second: Vec<Candidate>) -> Vec<Candidate> {
    let mut seen = BTreeMap::new();
    let both = first.into_iter().chain(second);
    both.filter(|candidate| seen.insert(candidate.term.to_string(), ()).is_none()).collect()
}

/// How well a text fits what was typed, in any case of letters: 0 where it begins so, 2 where it has it inside.
fn beginning(text: &str, typed: &str) -> Option<u8> {
    let (text, typed) = (text.to_lowercase(), typed.to_lowercase());
    if text.starts_with(&typed) {
        return Some(0);
    }
    text.contains(&typed).then_some(2)
}
