//! The predicates, classes and graphs of the data, with how often each is used: walked along the indexes, as far as the time goes, and kept.

use crate::ask::Data;
use crate::clock::Clock;
use lode_engine::store::{Snapshot, StoreError};
use lode_engine::{Order, Reservation};
use lode_rdf::value_id::Section;
use lode_rdf::{NamedNode, Term, ValueId};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

pub(crate) const TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
/// So many of a kind are kept.
const VALUES_MAX: usize = 20_000;
/// What one of them takes, about, besides its text.
const VALUE_BYTES: usize = 96;
/// What was walked is used for versions that follow, for so many times the time that it took.
const REUSE: u32 = 100;

/// A term that is used, and how often.
#[derive(Debug, Clone)]
pub(crate) struct Used {
    pub term: Term,
    pub count: u64,
}

/// A list that may not be at its end.
#[derive(Debug, Clone, Default)]
pub(crate) struct List {
    /// The most used first.
    pub used: Vec<Used>,
    /// Where to go on.
    next: Option<ValueId>,
    pub is_all: bool,
}

/// What names stand for as well, which usually are others.
const OTHERS: [(&str, &str); 3] = [
    ("geo", "http://www.w3.org/2003/01/geo/wgs84_pos#"),
    ("schema", "https://schema.org/"),
    ("dc", "http://purl.org/dc/terms/"),
];

/// What is used in a version.
#[derive(Debug, Clone, Default)]
pub(crate) struct Schema {
    pub predicates: List,
    pub classes: List,
    pub graphs: List,
    /// The usual prefixes that IRIs of the data begin with, the most usual name of each.
    pub prefixes: Vec<(&'static str, &'static str)>,
    has_all_prefixes: bool,
}

/// What is kept between calls.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    current: Mutex<Option<KeptSchema>>,
    /// Held by who walks: others take what there is.
    walk: Mutex<()>,
}

#[derive(Debug)]
struct KeptSchema {
    schema: Arc<Schema>,
    version: u64,
    terms: u64,
    began: Instant,
    took: Duration,
    _room: Option<Reservation>,
}

impl Kept {
    /// What is used in the version of `data`, or was a moment ago.
    pub fn schema(&self, data: &Data<'_>) -> Result<Arc<Schema>, StoreError> {
        let clock = data.clock.part(2);
        let (version, terms) = (data.snapshot.state_number(), data.snapshot.terms_number());
        let (mut schema, mut took, mut began) = (Schema::default(), Duration::ZERO, Instant::now());
        let turn = self.walk.try_lock();
        if let Some(old) = self.current.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            let lists = [&old.schema.predicates, &old.schema.classes, &old.schema.graphs];
            let is_whole = old.schema.has_all_prefixes && lists.iter().all(|list| list.is_all);
            let is_fresh = old.version == version || old.began.elapsed() < old.took * REUSE;
            if is_fresh && is_whole || turn.is_err() {
                return Ok(Arc::clone(&old.schema));
            }
            // Ids are the same as long as the terms are.
            if is_fresh && old.terms == terms {
                (schema, took, began) = (Schema::clone(&old.schema), old.took, old.began);
            }
        }
        if turn.is_err() {
            return Ok(Arc::default());
        }
        let started = Instant::now();
        let walked = schema.walk(&data.snapshot, &clock);
        let schema = Arc::new(schema);
        let room = data.memory().map(|memory| memory.reserve(schema.bytes()));
        // Without room for it, it is walked again the next time.
        let kept = match room.transpose() {
            Ok(_room) => Some(KeptSchema {
                schema: Arc::clone(&schema),
                version,
                terms,
                began,
                took: took + started.elapsed(),
                _room,
            }),
            Err(_) => None,
        };
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = kept;
        walked.map(|()| schema)
    }
}

impl Schema {
    fn walk(&mut self, snapshot: &Snapshot, clock: &Clock) -> Result<(), StoreError> {
        self.predicates.walk(snapshot, Order::Psog, &[], clock)?;
        self.graphs.walk(snapshot, Order::Gspo, &[], clock)?;
        self.graphs.used.retain(|used| matches!(used.term, Term::NamedNode(_)));
        match snapshot.id_of(&Term::from(NamedNode::new_unchecked(TYPE)))? {
            Some(class) => self.classes.walk(snapshot, Order::Posg, &[class], clock)?,
            None => self.classes.is_all = true,
        }
        self.find_prefixes(snapshot, clock)
    }

    /// Looks each usual namespace up in the dictionaries: there its IRIs are a range.
    fn find_prefixes(&mut self, snapshot: &Snapshot, clock: &Clock) -> Result<(), StoreError> {
        if self.has_all_prefixes {
            return Ok(());
        }
        self.prefixes.clear();
        for (name, iri) in lode_syntax::usual_prefixes() {
            if clock.is_over() {
                return Ok(());
            }
            // Of several names for one namespace the first by the alphabet is offered.
            let is_known = self.prefixes.iter().any(|(_, known)| *known == iri);
            if !is_known && !snapshot.some_ids_with_prefix(Section::Iri, iri.as_bytes(), 1)?.is_empty() {
                self.prefixes.push((name, iri));
            }
        }
        // A name that two vocabularies have is that of the one that the data uses, where it uses one of them.
        for (name, iri) in OTHERS {
            let has_name = self.prefixes.iter().any(|(known, _)| *known == name);
            if !has_name && !snapshot.some_ids_with_prefix(Section::Iri, iri.as_bytes(), 1)?.is_empty() {
                self.prefixes.push((name, iri));
            }
        }
        self.has_all_prefixes = true;
        Ok(())
    }

    fn bytes(&self) -> usize {
        let lists = [&self.predicates, &self.classes, &self.graphs];
        lists.into_iter().flat_map(|list| &list.used).map(|used| text_bytes(&used.term) + VALUE_BYTES).sum()
    }
}

fn text_bytes(term: &Term) -> usize {
    match term {
        Term::NamedNode(node) => node.as_str().len(),
        Term::Literal(literal) => literal.value().len(),
        _ => 0,
    }
}

impl List {
    /// Walks along the distinct values of the column behind a prefix, until the time is over.
    pub fn walk(
        &mut self,
        snapshot: &Snapshot,
        order: Order,
        prefix: &[ValueId],
        clock: &Clock,
    ) -> Result<(), StoreError> {
        if self.is_all {
            return Ok(());
        }
        let column = prefix.len();
        let key = |value: ValueId| [prefix, &[value]].concat();
        let mut scan = snapshot.scan(order, prefix, 1 << column)?;
        if let Some(next) = self.next {
            scan.seek(&key(next))?;
        }
        let (mut found, mut counts) = (Vec::new(), Vec::new());
        let mut columns: [Vec<ValueId>; 4] = Default::default();
        self.is_all = true;
        while scan.next(1, &mut columns)? > 0 {
            let Some(value) = columns.get_mut(column).and_then(Vec::pop) else { break };
            columns.iter_mut().for_each(Vec::clear);
            found.push(value);
            counts.push(snapshot.count(order, &key(value))?);
            let Some(next) = value.to_bits().checked_add(1).map(ValueId::from_bits) else { break };
            if clock.is_over() || self.used.len() + found.len() >= VALUES_MAX {
                self.is_all = self.used.len() + found.len() >= VALUES_MAX;
                self.next = Some(next);
                break;
            }
            scan.seek(&key(next))?;
        }
        let ids: Vec<ValueId> = found;
        let used = &mut self.used;
        snapshot.terms::<StoreError>(&ids, &mut |place, term| {
            let count = counts.get(place).copied().unwrap_or(0);
            if !matches!(term, Term::BlankNode(_)) {
                used.push(Used { term, count });
            }
            Ok(())
        })?;
        self.used.sort_by_key(|used| std::cmp::Reverse(used.count));
        Ok(())
    }
}
