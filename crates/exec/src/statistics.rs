//! What the planner may ask, answered by a snapshot.

use lode_base::cancel::CancelToken;
use lode_base::memory_budget::{MemoryBudget, OutOfBudget};
#[cfg(feature = "geo")]
use lode_eval::functions::{place_proximity, place_search};
use lode_eval::functions::{prepared_search, text_parts};
use lode_eval::{aggregate, functions};
use lode_packed::{Flights, Order, Star, StarMember};
use lode_rdf::key::escape;
use lode_rdf::value_id::Section;
use lode_rdf::{Kind, Term, ValueId};
#[cfg(feature = "geo")]
use lode_sparql::PlaceSearch;
use lode_sparql::{
    AggregateFunction, Function, Held, IdList, IdSet, RowsOf, Statistics, TextHits, TextScope, TextTest,
};
#[cfg(feature = "geo")]
use lode_store::Nearest;
use lode_store::{Snapshot, StoreError};
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// So many texts are a list that rows begin with; more are only tested against.
const LIST_MAX: u64 = 1 << 20;

/// Texts as plans have them, with the memory that they take there.
fn held(mut hits: lode_store::TextHits) -> Result<TextHits, OutOfBudget> {
    let (count, set_bytes) = (hits.len(), IdSet::bytes_of(hits.iter()));
    let list_bytes = if count <= LIST_MAX {
        usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(size_of::<ValueId>())
    } else {
        0
    };
    // Both, and, until they are made, what they are made of.
    let found_bytes = hits.memory.bytes();
    hits.memory.grow(set_bytes + list_bytes)?;
    let (ids, is_exact) = (IdSet::of(|| hits.iter()), hits.is_exact);
    let list = (count <= LIST_MAX).then(|| {
        let mut list: Vec<ValueId> = hits.iter().collect();
        list.sort_unstable();
        list
    });
    let mut memory = hits.memory;
    memory.shrink(found_bytes);
    let held = Held::new(memory);
    let list = list.map(|ids| IdList { ids, held: held.clone() });
    Ok(TextHits { ids: ids.holding(held), list, is_exact })
}

/// The same for the store.
fn scope_of(scope: TextScope) -> lode_store::TextScope {
    lode_store::TextScope { predicate: scope.predicate, graph: scope.graph }
}

/// A snapshot as the planner sees it. The planner is pure and knows no read errors: the first one is kept here, for
/// [`SnapshotStatistics::finish`], because a plan that was made over hidden errors (a count of 0 that is none) could answer wrongly.
/// So is the end of the query's time, after which nothing is read any more.
#[derive(Debug)]
pub struct SnapshotStatistics<'a> {
    snapshot: &'a Snapshot,
    budget: &'a MemoryBudget,
    cancel: &'a CancelToken,
    error: RefCell<Option<StoreError>>,
    /// Whether the index of words has some texts only, and a search reads others.
    reads_texts: Cell<bool>,
    began: Instant,
    /// What is on its way, because it will be asked.
    asked: RefCell<Vec<Flights>>,
}

impl<'a> SnapshotStatistics<'a> {
    /// Answers from this snapshot, until `cancel` says to stop. What plans hold is reserved of `budget`.
    pub fn new(snapshot: &'a Snapshot, budget: &'a MemoryBudget, cancel: &'a CancelToken) -> Self {
        Self {
            snapshot,
            budget,
            cancel,
            error: RefCell::new(None),
            reads_texts: Cell::new(false),
            began: Instant::now(),
            asked: RefCell::default(),
        }
    }

    /// Whether an index of words has some texts only, and not those that a search asks for: they are read.
    pub fn reads_texts(&self) -> bool {
        self.reads_texts.get()
    }

    /// The first error that an answer hid: the plan must then not be used.
    ///
    /// # Errors
    ///
    /// The first error that an answer hid.
    pub fn finish(self) -> Result<(), StoreError> {
        self.error.into_inner().map_or(Ok(()), Err)
    }

    /// Ids as plans have them, also as a set, with the memory that they take there.
    fn list(&self, ids: Vec<ValueId>) -> Option<IdList> {
        let bytes = size_of_val(ids.as_slice()) + IdSet::bytes_of(ids.iter().copied());
        let memory =
            self.or(|_| self.budget.reserve(bytes).map(Some).map_err(StoreError::OutOfMemory), None)?;
        Some(IdList { ids, held: Held::new(memory) })
    }

    fn or<T>(&self, read: impl FnOnce(&Snapshot) -> Result<T, StoreError>, fallback: T) -> T {
        let result = self.cancel.check().map_err(StoreError::from).and_then(|()| read(self.snapshot));
        result.unwrap_or_else(|error| {
            self.error.borrow_mut().get_or_insert(error);
            fallback
        })
    }
}

impl Statistics for SnapshotStatistics<'_> {
    fn function(&self, name: &str) -> Option<&'static Function> {
        functions::find(name)
    }

    fn aggregate(&self, name: &str) -> Option<&'static AggregateFunction> {
        aggregate::find(name)
    }

    fn id_of(&self, term: &Term) -> Option<ValueId> {
        self.or(|snapshot| snapshot.id_of(term), None)
    }

    fn count(&self, order: Order, prefix: &[ValueId]) -> u64 {
        self.or(|snapshot| snapshot.count(order, prefix), 0)
    }

    fn count_between(&self, order: Order, prefix: &[ValueId], values: &Range<ValueId>) -> u64 {
        self.or(|snapshot| snapshot.count_between(order, prefix, values), 0)
    }

    fn ids_with_prefix(&self, kind: Kind, start: &str) -> Option<Range<ValueId>> {
        let section = kind.section()?;
        let mut key = Vec::new();
        match section {
            Section::Iri | Section::String => key.extend_from_slice(start.as_bytes()),
            Section::LangString => escape(start.as_bytes(), &mut key),
            Section::TypedLiteral | Section::TripleTerm => return None,
        }
        self.or(|snapshot| snapshot.ids_with_prefix(section, &key), None)
    }

    fn text_hits(&self, query: &str, scope: TextScope) -> Option<TextHits> {
        let prepared = prepared_search(query)?;
        let found = |snapshot: &Snapshot| {
            let hits = snapshot.text_hits(&prepared, scope_of(scope), self.budget, self.cancel)?;
            // The index of some texts was of no help, and nobody would know why.
            self.reads_texts.set(self.reads_texts.get() || hits.is_none() && snapshot.has_words_of_some());
            Ok(hits)
        };
        let hits = self.or(found, None)?;
        self.or(|_| held(hits).map(Some).map_err(StoreError::OutOfMemory), None)
    }

    fn best_texts(
        &self,
        query: &str,
        scope: TextScope,
        rows: u64,
        all_equals: bool,
        rows_of: &mut dyn FnMut(ValueId) -> RowsOf,
    ) -> Option<IdList> {
        let (prepared, scope) = (prepared_search(query)?, scope_of(scope));
        let mut rows_of = |id| match rows_of(id) {
            RowsOf::None => lode_store::RowsOf::None,
            RowsOf::AtLeast(rows) => lode_store::RowsOf::AtLeast(rows),
        };
        let best = |snapshot: &Snapshot| {
            snapshot.best_texts(&prepared, scope, rows, &mut rows_of, self.budget, self.cancel)
        };
        let best = self.or(best, None)?;
        if all_equals && !best.has_all_equals {
            return None;
        }
        self.list(best.ids)
    }

    fn tells_texts(&self) -> bool {
        self.snapshot.has_words()
    }

    fn texts_with(&self, test: &TextTest<'_>, scope: TextScope, rows: f64) -> Option<IdList> {
        if !self.snapshot.has_words() {
            return None;
        }
        let parts = text_parts(test)?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rows of the data")]
        let rows = rows as u64;
        let ids =
            self.or(|snapshot| snapshot.texts_with(&parts, scope_of(scope), rows, self.cancel), None)?;
        // Without these all is answered, too.
        let memory =
            self.budget.reserve(size_of_val(ids.as_slice()) + IdSet::bytes_of(ids.iter().copied())).ok()?;
        Some(IdList { ids, held: Held::new(memory) })
    }

    #[cfg(feature = "geo")]
    fn place_candidates(&self, search: &PlaceSearch<'_>) -> Option<IdList> {
        let search = place_search(search)?;
        let ids = self.or(|snapshot| snapshot.place_candidates(&search, self.cancel), None)?;
        self.list(ids)
    }

    #[cfg(feature = "geo")]
    fn nearest_places(
        &self,
        search: &PlaceSearch<'_>,
        rows: u64,
        all_rows: u64,
        rows_of: &mut dyn FnMut(Range<ValueId>) -> u64,
    ) -> Option<IdList> {
        let from = place_proximity(search)?;
        let nearest = Nearest { from: &from, rows, rows_of, all_rows };
        let ids = self.or(|snapshot| snapshot.nearest_places(nearest, self.cancel), None)?;
        self.list(ids)
    }

    fn first_quads(&self, order: Order, prefix: &[ValueId], most: usize) -> Option<Vec<[ValueId; 4]>> {
        let read = |snapshot: &Snapshot| {
            let mut columns: [Vec<ValueId>; 4] = Default::default();
            let mut scan = snapshot.scan(order, prefix, 0b1111)?;
            while columns[0].len() < most && scan.next(most - columns[0].len(), &mut columns)? > 0 {}
            let rows = (0..columns[0].len()).map(|row| {
                columns.each_ref().map(|column| column.get(row).copied().unwrap_or(ValueId::UNDEF))
            });
            Ok(Some(rows.collect()))
        };
        self.or(read, None)
    }

    fn distinct(&self, order: Order, prefix: &[ValueId]) -> u64 {
        self.or(|snapshot| snapshot.distinct(order, prefix), 1)
    }

    fn star(&self, members: &[StarMember]) -> Option<Arc<Star>> {
        self.or(|snapshot| snapshot.star(members), None).map(Arc::new)
    }

    fn quad_count(&self) -> u64 {
        self.snapshot.quad_count()
    }

    fn has_named_graphs(&self) -> bool {
        self.snapshot.has_named_graphs()
    }

    fn is_far(&self) -> bool {
        self.snapshot.is_far()
    }

    fn expect_terms(&self, terms: &[Term]) {
        // What cannot be asked for is an error once it is wanted.
        self.asked.borrow_mut().extend(self.snapshot.ask_for_ids_of(terms));
    }

    fn expect_rows(&self, prefixes: &[(Order, Vec<ValueId>)]) {
        self.asked.borrow_mut().extend(self.snapshot.ask_for_rows(prefixes));
    }

    fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    fn is_cancelled(&self) -> bool {
        let cancelled = self.cancel.check().err();
        if let Some(cancelled) = cancelled {
            self.error.borrow_mut().get_or_insert(cancelled.into());
        }
        cancelled.is_some()
    }
}
