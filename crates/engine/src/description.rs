//! What is in a version, graph by graph, in the figures of the Vocabulary of Interlinked Datasets (VoID): counted, never estimated.
//!
//! Where all quads are in one graph, the indexes of a segment have its figures, and only what others changed is looked up. Else the figures
//! are answers of queries, so they take no more memory or time than queries may, and stop when they are told to.

use crate::EngineError;
use crate::database::Database;
use crate::options::{DefaultGraph, QueryOptions};
use crate::results::QueryResults;
use lode_base::cancel::CancelToken;
use lode_exec::ExecError;
use lode_packed::Order;
use lode_rdf::{Literal, NamedNodeRef, Term};
use lode_store::Snapshot;
use std::collections::BTreeMap;

/// The figures of a graph, or of all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Figures {
    /// Triples.
    pub triples: u64,
    /// Subjects that have a class.
    pub entities: u64,
    /// Classes: what is the object of an `rdf:type`.
    pub classes: u64,
    /// Distinct predicates.
    pub properties: u64,
    /// Distinct subjects.
    pub subjects: u64,
    /// Distinct objects.
    pub objects: u64,
}

/// What is in a version.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// The version's number.
    pub version: u64,
    /// The triples of all graphs, as one set.
    pub whole: Figures,
    /// The default graph.
    pub default: Figures,
    /// The named graphs, by name.
    pub named: Vec<(Term, Figures)>,
}

/// What a named graph takes in the list of all, besides its name.
const GRAPH_BYTES: usize = 160;

const TYPE: NamedNodeRef<'_> = NamedNodeRef::new_unchecked("http://www.w3.org/1999/02/22-rdf-syntax-ns#type");

/// Where more subjects, or more objects, were changed since the largest segment was made, they are not looked up one by one.
const CHANGED_MAX: usize = 30_000;

/// Counts the triples of a graph pattern's scope one by one: each is a walk along one index.
const COUNTS: [(&str, fn(&mut Figures) -> &mut u64); 4] = [
    ("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", |figures| &mut figures.triples),
    ("SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s ?p ?o }", |figures| &mut figures.subjects),
    ("SELECT (COUNT(DISTINCT ?p) AS ?n) { ?s ?p ?o }", |figures| &mut figures.properties),
    ("SELECT (COUNT(DISTINCT ?o) AS ?n) { ?s ?p ?o }", |figures| &mut figures.objects),
];
const CLASSES: &str = "SELECT (COUNT(DISTINCT ?s) AS ?n) (COUNT(DISTINCT ?c) AS ?m) { ?s a ?c }";
/// The same of all named graphs at once.
const NAMED: &str = "SELECT ?g (COUNT(*) AS ?t) (COUNT(DISTINCT ?s) AS ?n) (COUNT(DISTINCT ?p) AS ?m) (COUNT(DISTINCT ?o) AS ?k) \
                     { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g";
const NAMED_CLASSES: &str =
    "SELECT ?g (COUNT(DISTINCT ?s) AS ?n) (COUNT(DISTINCT ?c) AS ?m) { GRAPH ?g { ?s a ?c } } GROUP BY ?g";

impl Database {
    /// Counts what is in a version, within the memory and the time of a query.
    ///
    /// # Errors
    /// Where the work was cancelled or took too long, needs more memory than a query may take, or a file cannot be read.
    pub fn describe(&self, snapshot: &Snapshot, options: &QueryOptions) -> Result<Description, EngineError> {
        let separate =
            QueryOptions { default_graph: DefaultGraph::Separate, dataset: None, ..options.clone() };
        if let Some(found) = self.of_one_graph(snapshot, options)? {
            return Ok(found);
        }
        self.describe_by_queries(snapshot, &separate)
    }

    /// The figures of a version all of whose quads are in one graph, which the asker may read; none where they are not, or too much was
    /// changed since the largest segment was made.
    fn of_one_graph(
        &self,
        snapshot: &Snapshot,
        options: &QueryOptions,
    ) -> Result<Option<Description>, EngineError> {
        if !options.graphs.reads_all() {
            return Ok(None);
        }
        let (quads, in_named) = (snapshot.quad_count(), snapshot.count(Order::Gspo, &[])?);
        if in_named > 0 && in_named < quads {
            return Ok(None);
        }
        let name = match snapshot.named_graphs()?.as_slice() {
            [] => None,
            [only] => Some(snapshot.term(*only)?),
            _ => return Ok(None),
        };
        let Some(whole) = figures_in_indexes(snapshot, &options.cancel)? else { return Ok(None) };
        let default = if name.is_none() { whole } else { Figures::default() };
        let named = name.into_iter().map(|name| (name, whole)).collect();
        Ok(Some(Description { version: snapshot.state_number(), whole, default, named }))
    }

    fn describe_by_queries(
        &self,
        snapshot: &Snapshot,
        separate: &QueryOptions,
    ) -> Result<Description, EngineError> {
        let default = self.figures(snapshot, separate)?;
        let named = if snapshot.has_named_graphs() { self.named(snapshot, separate)? } else { Vec::new() };
        let whole = match (named.as_slice(), default.triples) {
            ([], _) => default,
            ([(_, only)], 0) => *only,
            _ => {
                let union = QueryOptions { default_graph: DefaultGraph::Union, ..separate.clone() };
                self.figures(snapshot, &union)?
            }
        };
        Ok(Description { version: snapshot.state_number(), whole, default, named })
    }

    /// Those of what is the default graph for a query.
    fn figures(&self, snapshot: &Snapshot, options: &QueryOptions) -> Result<Figures, EngineError> {
        let mut figures = Figures::default();
        for (text, place) in COUNTS {
            if let [count] = self.only_row(snapshot, text, options)?.as_slice() {
                *place(&mut figures) = *count;
            }
        }
        if let [entities, classes] = self.only_row(snapshot, CLASSES, options)?.as_slice() {
            (figures.entities, figures.classes) = (*entities, *classes);
        }
        Ok(figures)
    }

    fn named(
        &self,
        snapshot: &Snapshot,
        options: &QueryOptions,
    ) -> Result<Vec<(Term, Figures)>, EngineError> {
        let mut graphs: BTreeMap<String, (Term, Figures)> = BTreeMap::new();
        let mut room = options.budget().reserve_empty();
        self.rows(snapshot, NAMED, options, &mut |graph, counts| {
            let Some(graph) = graph else { return Ok(()) };
            let name = graph.to_string();
            let bytes = room.bytes() + 2 * name.len() + GRAPH_BYTES;
            room.resize(bytes).map_err(ExecError::OutOfMemory)?;
            if let [triples, subjects, properties, objects] = *counts {
                let figures = Figures { triples, subjects, properties, objects, ..Figures::default() };
                graphs.insert(name, (graph.clone(), figures));
            }
            Ok(())
        })?;
        self.rows(snapshot, NAMED_CLASSES, options, &mut |graph, counts| {
            let found = graph.and_then(|graph| graphs.get_mut(&graph.to_string()));
            if let (Some((_, figures)), [entities, classes]) = (found, counts) {
                (figures.entities, figures.classes) = (*entities, *classes);
            }
            Ok(())
        })?;
        Ok(graphs.into_values().collect())
    }

    fn only_row(
        &self,
        snapshot: &Snapshot,
        text: &str,
        options: &QueryOptions,
    ) -> Result<Vec<u64>, EngineError> {
        let mut row = Vec::new();
        self.rows(snapshot, text, options, &mut |_, counts| {
            row = counts.to_vec();
            Ok(())
        })?;
        Ok(row)
    }

    /// Calls `take` with each row's graph, if it has one, and its numbers.
    fn rows(
        &self,
        snapshot: &Snapshot,
        text: &str,
        options: &QueryOptions,
        take: &mut dyn FnMut(Option<&Term>, &[u64]) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let query = self.prepare_at(snapshot.clone(), text, options)?;
        let QueryResults::Solutions(mut solutions) = query.run()? else { return Ok(()) };
        let columns = solutions.variables().len();
        while let Some(batch) = solutions.next_batch()? {
            for row in 0..batch.rows() {
                let terms = (0..columns).filter_map(|column| batch.get(row, column));
                let counts: Vec<u64> = terms.filter_map(number).collect();
                let graph = batch.get(row, 0).filter(|term| !matches!(term, Term::Literal(_)));
                take(graph, &counts)?;
            }
        }
        Ok(())
    }
}

/// The figures of all quads, as if they were in one graph.
fn figures_in_indexes(snapshot: &Snapshot, cancel: &CancelToken) -> Result<Option<Figures>, EngineError> {
    let kind = snapshot.id_of(&Term::from(TYPE.into_owned()))?;
    let mut counts = [0; 5];
    let wanted = [
        (Order::Spog, None),
        (Order::Psog, None),
        (Order::Ospg, None),
        (Order::Psog, kind),
        (Order::Posg, kind),
    ];
    for (at, (count, (order, prefix))) in counts.iter_mut().zip(wanted).enumerate() {
        if at >= 3 && prefix.is_none() {
            // Nothing has a class.
            continue;
        }
        let prefix = prefix.as_slice();
        let Some(found) = snapshot.distinct_exactly(order, prefix, CHANGED_MAX, cancel)? else {
            return Ok(None);
        };
        *count = found;
    }
    let [subjects, properties, objects, entities, classes] = counts;
    Ok(Some(Figures { triples: snapshot.quad_count(), entities, classes, properties, subjects, objects }))
}

/// A count.
fn number(term: &Term) -> Option<u64> {
    let Term::Literal(literal) = term else { return None };
    Literal::value(literal).parse().ok()
}

#[cfg(test)]
mod tests {
    //! Figures of databases with graphs of all kinds.
    use crate::{Database, Description, Figures, QueryOptions, UpdateOptions};
    use lode_rdf::Term;
    use lode_store::{CompactOptions, compact};
    use std::sync::Arc;

    fn described(update: &str) -> Description {
        let database = Database::in_memory().unwrap();
        database.update(update, &UpdateOptions::default()).unwrap();
        database.describe(&database.snapshot(), &QueryOptions::default()).unwrap()
    }

    fn figures(numbers: [u64; 6]) -> Figures {
        let [triples, entities, classes, properties, subjects, objects] = numbers;
        Figures { triples, entities, classes, properties, subjects, objects }
    }

    #[test]
    fn an_empty_database_has_nothing() {
        let found = described("CLEAR ALL");
        assert_eq!(
            (found.whole, found.default, found.named),
            (Figures::default(), Figures::default(), vec![])
        );
    }

    #[test]
    fn each_graph_has_its_own_and_the_whole_is_a_set() {
        let found = described(
            "PREFIX : <http://e/> INSERT DATA { :a a :C ; :p 1 , 2 . :b a :C , :D . \
             GRAPH :g { :a a :C . :c :q :a } GRAPH :h { :x :y :z } }",
        );
        assert_eq!(found.default, figures([5, 2, 2, 2, 2, 4]));
        let name = |term: &Term| term.to_string();
        let named: Vec<_> = found.named.iter().map(|(graph, figures)| (name(graph), *figures)).collect();
        assert_eq!(
            named,
            [
                ("<http://e/g>".to_owned(), figures([2, 1, 1, 2, 2, 2])),
                ("<http://e/h>".to_owned(), figures([1, 0, 0, 1, 1, 1])),
            ]
        );
        // :a a :C is in two graphs.
        assert_eq!(found.whole, figures([7, 2, 2, 4, 4, 6]));
    }

    /// Numbers that look random.
    fn next(seed: &mut u64) -> u64 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *seed >> 33
    }

    #[test]
    fn after_random_updates_the_indexes_tell_what_queries_count() {
        for graph in ["", "GRAPH <http://e/g>"] {
            let database = Database::in_memory().unwrap();
            let (mut seed, mut in_indexes) = (7, 0);
            for round in 0..60 {
                let triples: Vec<String> = (0..6)
                    .map(|_| {
                        let [s, p, o] = [8, 4, 8].map(|of| next(&mut seed) % of);
                        let predicate = if p == 0 { "a".to_owned() } else { format!("<http://e/p{p}>") };
                        format!("<http://e/{s}> {predicate} <http://e/{o}>")
                    })
                    .collect();
                let what = if next(&mut seed).is_multiple_of(2) { "INSERT" } else { "DELETE" };
                let triples = triples.join(" . ");
                let update = match graph {
                    "" => format!("{what} DATA {{ {triples} }}"),
                    graph => format!("{what} DATA {{ {graph} {{ {triples} }} }}"),
                };
                database.update(&update, &UpdateOptions::default()).unwrap();
                if round % 7 == 6 {
                    let options = CompactOptions::default();
                    compact(database.store(), &options, &Arc::default()).unwrap();
                }
                let (snapshot, options) = (database.snapshot(), QueryOptions::default());
                let counted = database.describe_by_queries(&snapshot, &options).unwrap();
                assert_eq!(database.describe(&snapshot, &options).unwrap(), counted, "{graph} {round}");
                in_indexes += usize::from(database.of_one_graph(&snapshot, &options).unwrap().is_some());
            }
            assert_eq!(in_indexes, 60);
        }
    }

    #[test]
    fn one_named_graph_alone_is_the_whole() {
        let found = described("INSERT DATA { GRAPH <http://e/g> { <http://e/a> a <http://e/C> } }");
        assert_eq!(found.whole, figures([1, 1, 1, 1, 1, 1]));
        assert_eq!((found.default, found.named.len()), (Figures::default(), 1));
    }
}
