//! What the planner may ask about the data, and about functions.

use crate::aggregate::AggregateFunction;
use crate::function::Function;
use crate::id_set::{IdList, IdSet};
use crate::place_search::PlaceSearch;
use crate::text_condition::TextTest;
use lode_packed::{Order, Star, StarMember};
use lode_rdf::{Kind, Term, ValueId};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// Texts of the data that match a query for words.
#[derive(Debug, Clone, PartialEq)]
pub struct TextHits {
    /// Their ids: all that match.
    pub ids: IdSet,
    /// The same as a list, where they are few enough to begin with.
    pub list: Option<IdList>,
    /// Whether all of them match: else there may be others among them.
    pub is_exact: bool,
}

/// The quads in which texts are searched: those with this property, if any, in this graph, if any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TextScope {
    /// The property.
    pub predicate: Option<ValueId>,
    /// The graph.
    pub graph: Option<ValueId>,
}

/// How many rows a text makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowsOf {
    /// None.
    None,
    /// As many or more; 0 where nobody knows.
    AtLeast(u64),
}

/// Facts about one version of a database, and the functions that queries may call. All calls are cheap (block index and a few decoded rows).
pub trait Statistics {
    /// The id of a constant; `None` where no quad can contain it.
    fn id_of(&self, term: &Term) -> Option<ValueId>;
    /// Exact number of quads under a prefix of an order.
    fn count(&self, order: Order, prefix: &[ValueId]) -> u64;
    /// Whether there are quads under a prefix: for plans that would be wrong if there were none.
    fn holds(&self, order: Order, prefix: &[ValueId]) -> bool {
        self.count(order, prefix) > 0
    }
    /// Exact number of quads under a prefix (at most three columns) whose next column lies in `values`.
    fn count_between(&self, order: Order, prefix: &[ValueId], values: &Range<ValueId>) -> u64;
    /// The ids of IRIs, of strings, or of strings with a language (by `kind`) whose text begins with `start`; `None` where ids do not
    /// tell.
    fn ids_with_prefix(&self, kind: Kind, start: &str) -> Option<Range<ValueId>>;
    /// The texts of such quads that match a query for words, by an index; `None` where there is none that helps, or the query is none.
    fn text_hits(&self, _query: &str, _scope: TextScope) -> Option<TextHits> {
        None
    }
    /// The texts of such quads that may pass a test, by an index, ascending, and perhaps others, where otherwise so many would be read; `None` where there is none that helps, or it is
    /// better to read them.
    fn texts_with(&self, _test: &TextTest<'_>, _scope: TextScope, _rows: f64) -> Option<IdList> {
        None
    }
    /// Whether there is an index for these.
    fn tells_texts(&self) -> bool {
        false
    }
    /// The geometries of the data that may pass a condition, by an index, ascending, and perhaps others; `None` where there is none that helps, or the condition is none on
    /// geometries.
    fn place_candidates(&self, _search: &PlaceSearch<'_>) -> Option<IdList> {
        None
    }
    /// The geometries that have the least distances of those that make `all_rows` rows by `rows_of`, by an index: as many as make `rows` rows, those that are as near as the
    /// last of them, those without a distance, and perhaps others. `None` where an index does not tell, or some of the rows have none of its geometries.
    fn nearest_places(
        &self,
        _search: &PlaceSearch<'_>,
        _rows: u64,
        _all_rows: u64,
        _rows_of: &mut dyn FnMut(Range<ValueId>) -> u64,
    ) -> Option<IdList> {
        None
    }
    /// The texts of such quads that match a query for words best: as many as make `rows` rows by `rows_of`, and those as good as the worst of these, all of
    /// them if `all_equals`. `None` where an index does not tell, or it is better to look at all.
    fn best_texts(
        &self,
        _query: &str,
        _scope: TextScope,
        _rows: u64,
        _all_equals: bool,
        _rows_of: &mut dyn FnMut(ValueId) -> RowsOf,
    ) -> Option<IdList> {
        None
    }
    /// The first quads under a prefix, no more than so many, their columns as the order has them; `None` where nobody tells.
    fn first_quads(&self, _order: Order, _prefix: &[ValueId], _most: usize) -> Option<Vec<[ValueId; 4]>> {
        None
    }
    /// Distinct values of the next column under a prefix, exact or estimated.
    fn distinct(&self, order: Order, prefix: &[ValueId]) -> u64;
    /// How many subjects have which of these members of a star (patterns with the same subject, constant predicates, and perhaps
    /// constant objects), over all graphs: an estimate; `None` where nothing is known.
    fn star(&self, members: &[StarMember]) -> Option<Arc<Star>>;
    /// Quads in all graphs.
    fn quad_count(&self) -> u64;
    /// Whether any quad is in a named graph.
    fn has_named_graphs(&self) -> bool;
    /// The function of this name, a keyword or an IRI; `None`: there is none, and each call is an error.
    fn function(&self, name: &str) -> Option<&'static Function>;
    /// The aggregate of this name; `None`: there is none.
    fn aggregate(&self, name: &str) -> Option<&'static AggregateFunction>;
    /// Whether answers come from so far away that it pays to tell what will be asked: see the next two.
    fn is_far(&self) -> bool {
        false
    }
    /// The ids of these terms will be asked for.
    fn expect_terms(&self, _terms: &[Term]) {}
    /// What is under these prefixes will be counted, or read.
    fn expect_rows(&self, _prefixes: &[(Order, Vec<ValueId>)]) {}
    /// The time since some moment, for who wants to know how long planning took: it has no clock of its own.
    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }
    /// Whether nobody waits for the plan any more: what is planned from then on is dropped, so that any plan does.
    fn is_cancelled(&self) -> bool {
        false
    }
}
