//! Answers of [`Statistics`], each asked once per plan: a pattern is counted when it is simplified, again when it is read, and
//! again when it is looked up.

use crate::aggregate::AggregateFunction;
use crate::function::Function;
use crate::id_set::IdList;
use crate::place_search::PlaceSearch;
use crate::reuse::Reuse;
use crate::statistics::{RowsOf, Statistics, TextHits, TextScope};
use crate::text_condition::TextTest;
use lode_packed::{Order, Star, StarMember};
use lode_rdf::{Kind, Term, ValueId};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// An order and the first columns' ids: up to four, the rest unbound, which no quad has.
type Key = (Order, usize, [ValueId; 4]);

/// What is counted: whether among named graphs only, which positions have a constant, and these by position. So many quads there are in whichever order
/// they are read, and each order that is asked costs reads of its own.
type Counted = (bool, u8, [ValueId; 4]);

/// Remembers.
pub(crate) struct Cached<'a> {
    inner: &'a dyn Statistics,
    ids: RefCell<HashMap<Term, Option<ValueId>>>,
    counts: RefCell<HashMap<Counted, u64>>,
    distincts: RefCell<HashMap<Key, u64>>,
    stars: RefCell<HashMap<Vec<StarMember>, Option<Arc<Star>>>>,
    quads: Cell<Option<u64>>,
    named: Cell<Option<bool>>,
    reuse: Cell<Reuse>,
}

impl<'a> Cached<'a> {
    pub fn new(inner: &'a dyn Statistics) -> Self {
        Self {
            inner,
            ids: RefCell::default(),
            counts: RefCell::default(),
            distincts: RefCell::default(),
            stars: RefCell::default(),
            quads: Cell::new(None),
            named: Cell::new(None),
            reuse: Cell::default(),
        }
    }

    /// How far a plan that relies on the answers may be used again: what is not there, or of which kind terms are, is used to
    /// prove rewrites right; all other numbers are used to choose.
    pub fn reuse(&self) -> Reuse {
        self.reuse.get()
    }

    fn relies_on_data(&self) {
        if self.reuse.get() == Reuse::SameTerms {
            self.reuse.set(Reuse::SameData);
        }
    }
}

fn key(order: Order, prefix: &[ValueId]) -> Key {
    let mut ids = [ValueId::UNDEF; 4];
    ids.iter_mut().zip(prefix).for_each(|(a, b)| *a = *b);
    (order, prefix.len(), ids)
}

fn counted(order: Order, prefix: &[ValueId]) -> Counted {
    let (mut bound, mut ids) = (0, [ValueId::UNDEF; 4]);
    for (position, id) in order.positions().into_iter().zip(prefix) {
        bound |= 1 << position as u8;
        ids[position as usize] = *id;
    }
    (order == Order::Gspo, bound, ids)
}

impl Statistics for Cached<'_> {
    fn function(&self, name: &str) -> Option<&'static Function> {
        self.inner.function(name)
    }

    fn aggregate(&self, name: &str) -> Option<&'static AggregateFunction> {
        self.inner.aggregate(name)
    }

    fn id_of(&self, term: &Term) -> Option<ValueId> {
        if let Some(known) = self.ids.borrow().get(term) {
            return *known;
        }
        let id = self.inner.id_of(term);
        if id.is_none() {
            self.reuse.set(Reuse::Never);
        }
        self.ids.borrow_mut().insert(term.clone(), id);
        id
    }

    fn count(&self, order: Order, prefix: &[ValueId]) -> u64 {
        let key = counted(order, prefix);
        let count = *self.counts.borrow_mut().entry(key).or_insert_with(|| self.inner.count(order, prefix));
        if count == 0 {
            self.reuse.set(Reuse::Never);
        }
        count
    }

    fn holds(&self, order: Order, prefix: &[ValueId]) -> bool {
        // The plan does not tell which constant that was: also over the same data it is none for another one.
        self.reuse.set(Reuse::Never);
        self.count(order, prefix) > 0
    }

    fn count_between(&self, order: Order, prefix: &[ValueId], values: &Range<ValueId>) -> u64 {
        self.relies_on_data();
        self.inner.count_between(order, prefix, values)
    }

    fn ids_with_prefix(&self, kind: Kind, start: &str) -> Option<Range<ValueId>> {
        self.relies_on_data();
        self.inner.ids_with_prefix(kind, start)
    }

    fn text_hits(&self, query: &str, scope: TextScope) -> Option<TextHits> {
        // What is found is in the plan, so it is right for this query and this version only.
        self.reuse.set(Reuse::Never);
        self.inner.text_hits(query, scope)
    }

    fn texts_with(&self, test: &TextTest<'_>, scope: TextScope, rows: f64) -> Option<IdList> {
        // A plan that has nothing of it is right for other strings, and slow where these are rare.
        if self.inner.tells_texts() {
            self.reuse.set(Reuse::Never);
        }
        self.inner.texts_with(test, scope, rows)
    }

    fn place_candidates(&self, search: &PlaceSearch<'_>) -> Option<IdList> {
        // As with texts, and an index may be made later.
        self.reuse.set(Reuse::Never);
        self.inner.place_candidates(search)
    }

    fn nearest_places(
        &self,
        search: &PlaceSearch<'_>,
        rows: u64,
        all_rows: u64,
        rows_of: &mut dyn FnMut(Range<ValueId>) -> u64,
    ) -> Option<IdList> {
        self.reuse.set(Reuse::Never);
        self.inner.nearest_places(search, rows, all_rows, rows_of)
    }

    fn best_texts(
        &self,
        query: &str,
        scope: TextScope,
        rows: u64,
        all_equals: bool,
        rows_of: &mut dyn FnMut(ValueId) -> RowsOf,
    ) -> Option<IdList> {
        self.reuse.set(Reuse::Never);
        self.inner.best_texts(query, scope, rows, all_equals, rows_of)
    }

    fn first_quads(&self, order: Order, prefix: &[ValueId], most: usize) -> Option<Vec<[ValueId; 4]>> {
        self.reuse.set(Reuse::Never);
        self.inner.first_quads(order, prefix, most)
    }

    fn distinct(&self, order: Order, prefix: &[ValueId]) -> u64 {
        let key = key(order, prefix);
        *self.distincts.borrow_mut().entry(key).or_insert_with(|| self.inner.distinct(order, prefix))
    }

    fn star(&self, members: &[StarMember]) -> Option<Arc<Star>> {
        if let Some(known) = self.stars.borrow().get(members) {
            return known.clone();
        }
        let star = self.inner.star(members);
        self.stars.borrow_mut().insert(members.to_vec(), star.clone());
        star
    }

    fn quad_count(&self) -> u64 {
        self.quads.get().unwrap_or_else(|| {
            let count = self.inner.quad_count();
            self.quads.set(Some(count));
            count
        })
    }

    fn has_named_graphs(&self) -> bool {
        self.named.get().unwrap_or_else(|| {
            let has = self.inner.has_named_graphs();
            self.named.set(Some(has));
            has
        })
    }

    fn is_far(&self) -> bool {
        self.inner.is_far()
    }

    fn expect_terms(&self, terms: &[Term]) {
        self.inner.expect_terms(terms);
    }

    fn expect_rows(&self, prefixes: &[(Order, Vec<ValueId>)]) {
        self.inner.expect_rows(prefixes);
    }

    fn elapsed(&self) -> Duration {
        self.inner.elapsed()
    }

    fn is_cancelled(&self) -> bool {
        self.inner.is_cancelled()
    }
}

#[cfg(test)]
mod tests {
    //! What is the same in two orders is asked once.
    use super::*;

    #[test]
    fn counts_of_the_same_are_known_by_any_order() {
        let [a, b] = [1, 2].map(|number| ValueId::new(Kind::Iri, number));
        assert_eq!(counted(Order::Spog, &[a]), counted(Order::Sopg, &[a]));
        assert_eq!(counted(Order::Spog, &[a, b]), counted(Order::Psog, &[b, a]));
        assert_eq!(counted(Order::Posg, &[]), counted(Order::Ospg, &[]));
        let others = [
            counted(Order::Psog, &[a]),
            counted(Order::Ospg, &[a]),
            counted(Order::Gspo, &[a]),
            counted(Order::Gspo, &[]),
            counted(Order::Spog, &[b]),
            counted(Order::Spog, &[a, b]),
            counted(Order::Psog, &[a, b]),
        ];
        let mut seen: Vec<Counted> = others.into();
        seen.push(counted(Order::Spog, &[a]));
        seen.push(counted(Order::Spog, &[]));
        let count = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), count);
    }
}
