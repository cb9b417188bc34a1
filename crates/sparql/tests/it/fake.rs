//! Statistics without a store.

use crate::shop::NS;
use lode_packed::characteristic_sets::gather_columns;
use lode_packed::{Order, Star, StarMember};
use lode_rdf::{Kind, NamedNode, Term, ValueId, inline};
use lode_sparql::aggregate::{AggregateFunction, Counts, InParts};
use lode_sparql::function::{Function, Meaning, ValueType, Volatility};
use lode_sparql::{Held, IdList, PlaceSearch, Statistics, TextHits, TextScope};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// A function of any name, with what the planner makes use of.
pub fn function(name: &str) -> Option<&'static Function> {
    let volatility = match name {
        "RAND" | "UUID" | "STRUUID" => Volatility::Call,
        "BNODE" => Volatility::Solution,
        "NOW" | "IRI" => Volatility::Query,
        _ => Volatility::Immutable,
    };
    let meaning = match name {
        "STR" => Meaning::Text,
        "STRSTARTS" => Meaning::StartsWith,
        "REGEX" => Meaning::Matches,
        _ => Meaning::Other,
    };
    let result = match name.rsplit('#').next() {
        Some("float" | "double") => ValueType::Floating,
        _ => ValueType::Term,
    };
    let name = String::leak(name.to_owned());
    let any = Function::new(name, &[], result, &()).rest(ValueType::Term);
    Some(Box::leak(Box::new(any.volatility(volatility).meaning(meaning))))
}

const fn entry(name: &'static str) -> AggregateFunction {
    AggregateFunction::new(name, ValueType::Term, ValueType::Term, &())
}

static COUNT_ROWS: AggregateFunction =
    entry("COUNT(*)").counting(Counts::Rows).in_parts(InParts::As(&SUM_OF_COUNTS));
static COUNT: AggregateFunction = entry("COUNT")
    .counting(Counts::Bound { rows: &COUNT_ROWS })
    .in_parts(InParts::As(&SUM_OF_COUNTS))
    .of_a_set();
static SUM_OF_COUNTS: AggregateFunction =
    entry("SUM(COUNT)").always_bound().in_parts(InParts::As(&SUM_OF_COUNTS));
static SUM: AggregateFunction = entry("SUM").of_a_set().in_parts(InParts::Sums);
static AVG: AggregateFunction = entry("AVG").of_a_set().in_parts(InParts::Mean {
    sum: &SUM,
    rows: &COUNT_ROWS,
    all_rows: &SUM_OF_COUNTS,
});
static MIN: AggregateFunction = entry("MIN").of_a_set().of_distinct_values().in_parts(InParts::Same);
static MAX: AggregateFunction = entry("MAX").of_a_set().of_distinct_values().in_parts(InParts::Same);
static SAMPLE: AggregateFunction = entry("SAMPLE").of_distinct_values().in_parts(InParts::Same);
static GROUP_CONCAT: AggregateFunction = entry("GROUP_CONCAT");

/// The aggregate of this name, with what the planner makes use of.
pub fn aggregate(name: &str) -> Option<&'static AggregateFunction> {
    let all = [&COUNT_ROWS, &COUNT, &SUM, &AVG, &MIN, &MAX, &SAMPLE, &GROUP_CONCAT];
    all.into_iter().find(|aggregate| aggregate.name == name)
}

/// Knows every term, and has some rows for every pattern: so that no part of a plan is left out as empty.
#[derive(Default)]
pub struct Everything {
    ids: RefCell<HashMap<Term, u64>>,
}

impl Statistics for Everything {
    fn function(&self, name: &str) -> Option<&'static Function> {
        function(name)
    }

    fn aggregate(&self, name: &str) -> Option<&'static AggregateFunction> {
        aggregate(name)
    }

    fn id_of(&self, term: &Term) -> Option<ValueId> {
        let mut ids = self.ids.borrow_mut();
        let next = ids.len() as u64;
        let number = *ids.entry(term.clone()).or_insert(next);
        let kind = match term {
            Term::NamedNode(_) => Kind::Iri,
            Term::BlankNode(_) => Kind::Blank,
            Term::Literal(_) => Kind::String,
            Term::Triple(_) => Kind::TripleTerm,
        };
        Some(ValueId::new(kind, number))
    }

    fn count(&self, order: Order, prefix: &[ValueId]) -> u64 {
        let all = if order == Order::Gspo { 100_000 } else { 1_000_000 };
        prefix.iter().fold(all, |rows, _| (rows / 100_u64).max(1))
    }

    fn count_between(&self, order: Order, prefix: &[ValueId], _: &Range<ValueId>) -> u64 {
        self.count(order, prefix).div_ceil(10)
    }

    fn ids_with_prefix(&self, _: Kind, _: &str) -> Option<Range<ValueId>> {
        None
    }

    fn distinct(&self, order: Order, prefix: &[ValueId]) -> u64 {
        self.count(order, prefix).div_ceil(10)
    }

    fn star(&self, _: &[StarMember]) -> Option<Arc<Star>> {
        None
    }

    fn quad_count(&self) -> u64 {
        1_000_000
    }

    fn has_named_graphs(&self) -> bool {
        true
    }
}

/// Quads in memory, in all orders.
pub struct Quads {
    ids: HashMap<Term, ValueId>,
    terms: Vec<Term>,
    orders: Vec<Vec<[ValueId; 4]>>,
}

impl Quads {
    /// Quads of `(subject, predicate, object, graph)`; the default graph has no name.
    pub fn new(quads: &[(Term, Term, Term, Option<Term>)]) -> Self {
        let mut all = Self { ids: HashMap::new(), terms: Vec::new(), orders: vec![Vec::new(); Order::COUNT] };
        for (s, p, o, g) in quads {
            let ids = [all.add(s), all.add(p), all.add(o)];
            let graph = g.as_ref().map_or(ValueId::DEFAULT_GRAPH, |g| all.add(g));
            let quad = [ids[0], ids[1], ids[2], graph];
            for order in Order::ALL {
                if order != Order::Gspo || g.is_some() {
                    all.orders[order as usize].push(order.positions().map(|p| quad[p as usize]));
                }
            }
        }
        for rows in &mut all.orders {
            rows.sort_unstable();
            rows.dedup();
        }
        all
    }

    fn add(&mut self, term: &Term) -> ValueId {
        if let Some(id) = self.ids.get(term) {
            return *id;
        }
        if let Term::Literal(literal) = term
            && let Some(id) = inline::encode_literal(literal.value(), literal.datatype().as_str())
        {
            self.ids.insert(term.clone(), id);
            return id;
        }
        let kind = match term {
            Term::NamedNode(_) => Kind::Iri,
            Term::BlankNode(_) => Kind::Blank,
            Term::Literal(_) => Kind::String,
            Term::Triple(_) => Kind::TripleTerm,
        };
        let id = ValueId::new(kind, self.terms.len() as u64);
        self.terms.push(term.clone());
        self.ids.insert(term.clone(), id);
        id
    }

    /// The text of an id.
    pub fn text(&self, id: ValueId) -> String {
        let stored = || self.terms.get(id.payload() as usize).map_or("?".into(), Term::to_string);
        inline::decode(id).map_or_else(stored, |literal| literal.to_string())
    }

    fn range(&self, order: Order, prefix: &[ValueId]) -> &[[ValueId; 4]] {
        let rows = &self.orders[order as usize];
        let start = rows.partition_point(|r| r[..prefix.len()] < *prefix);
        let end = rows.partition_point(|r| r[..prefix.len()] <= *prefix);
        &rows[start..end]
    }
}

impl Statistics for Quads {
    fn function(&self, name: &str) -> Option<&'static Function> {
        function(name)
    }

    fn aggregate(&self, name: &str) -> Option<&'static AggregateFunction> {
        aggregate(name)
    }

    fn id_of(&self, term: &Term) -> Option<ValueId> {
        self.ids.get(term).copied()
    }

    fn count(&self, order: Order, prefix: &[ValueId]) -> u64 {
        self.range(order, prefix).len() as u64
    }

    fn count_between(&self, order: Order, prefix: &[ValueId], values: &Range<ValueId>) -> u64 {
        self.range(order, prefix).iter().filter(|row| values.contains(&row[prefix.len()])).count() as u64
    }

    fn ids_with_prefix(&self, kind: Kind, start: &str) -> Option<Range<ValueId>> {
        let begins = |term: &Term| match term {
            Term::NamedNode(node) => kind == Kind::Iri && node.as_str().starts_with(start),
            Term::Literal(literal) => kind == Kind::String && literal.value().starts_with(start),
            _ => false,
        };
        let found: Vec<u64> =
            (0..).zip(&self.terms).filter(|(_, term)| begins(term)).map(|(n, _)| n).collect();
        // Here terms are numbered as they came, so that the ids of others may lie between.
        let (first, last) = (*found.first()?, *found.last()?);
        (last - first + 1 == found.len() as u64)
            .then(|| ValueId::new(kind, first)..ValueId::new(kind, last + 1))
    }

    /// Texts that have the constant in them, as geometries are near each other.
    fn place_candidates(&self, search: &PlaceSearch<'_>) -> Option<IdList> {
        let [None, Some(Term::Literal(constant))] = search.arguments.as_slice() else { return None };
        let is_near = |term: &&Term| matches!(term, Term::Literal(literal) if literal.value().contains(constant.value()));
        let is_asked = search.function.ends_with("/geosparql/sfWithin");
        is_asked.then(|| {
            let near = self.terms.iter().filter(is_near).filter_map(|term| self.id_of(term));
            let mut ids: Vec<ValueId> = near.collect();
            ids.sort_unstable();
            IdList { ids, held: Held::default() }
        })
    }

    fn text_hits(&self, query: &str, _scope: TextScope) -> Option<TextHits> {
        let (query, is_exact) = (query.trim_end_matches('~'), !query.ends_with('~'));
        let has = |term: &Term| matches!(term, Term::Literal(literal) if literal.value().contains(query));
        let found: Vec<&Term> = self.terms.iter().filter(|term| has(term)).collect();
        let mut ids: Vec<ValueId> = found.iter().filter_map(|term| self.id_of(term)).collect();
        ids.sort_unstable();
        let list = IdList { ids: ids.clone(), held: Held::default() };
        Some(TextHits { ids: ids.into_iter().collect(), list: Some(list), is_exact })
    }

    fn distinct(&self, order: Order, prefix: &[ValueId]) -> u64 {
        let rows = self.range(order, prefix);
        let values = rows.chunk_by(|a, b| a[prefix.len()] == b[prefix.len()]).count();
        values as u64
    }

    fn star(&self, members: &[StarMember]) -> Option<Arc<Star>> {
        let column = |at: usize| -> Vec<u64> {
            self.orders[Order::Spog as usize].iter().map(|row| row[at].to_bits()).collect()
        };
        let (subjects, predicates, objects) = (column(0), column(1), column(2));
        let class = NamedNode::new_unchecked(format!("{NS}type"));
        let class_predicate = self.id_of(&class.into()).map(ValueId::to_bits);
        let mut star = Star::new(members.len());
        gather_columns(class_predicate, [&subjects, &predicates, &objects]).add_to(members, &mut star);
        Some(Arc::new(star))
    }

    fn quad_count(&self) -> u64 {
        self.orders[0].len() as u64
    }

    fn has_named_graphs(&self) -> bool {
        !self.orders[Order::Gspo as usize].is_empty()
    }
}
