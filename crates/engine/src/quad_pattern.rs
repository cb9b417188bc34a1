//! Quads by pattern: what programs ask for that think in statements and not in queries.

use crate::EngineError;
use crate::graph_rules::GraphRules;
use crate::inferred::inferred_graph;
use crate::quad_cursor::{IdPattern, QuadCursor, QuadTerms, Quads};
use lode_base::cancel::CancelToken;
use lode_packed::Order;
use lode_rdf::{GraphName, Quad, Term, ValueId};
use lode_store::{Snapshot, StoreError};

/// Which quads: a term that is not given may be any.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QuadPattern {
    /// The subject.
    pub subject: Option<Term>,
    /// The predicate.
    pub predicate: Option<Term>,
    /// The object.
    pub object: Option<Term>,
    /// The graphs, of which there may be several; none: in any but the one of inferences.
    pub graphs: Vec<GraphName>,
}

impl QuadPattern {
    /// Visits the ids of the quads that match, in any order, of those that there are under the rules.
    ///
    /// # Errors
    /// Where a file cannot be read or is damaged, the work was cancelled; those of `visit`.
    pub(crate) fn for_each_id(
        &self,
        snapshot: &Snapshot,
        rules: &GraphRules,
        cancel: &CancelToken,
        mut visit: impl FnMut([ValueId; 4]) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let mut cursor = self.cursor(snapshot, rules, cancel)?;
        let mut quads = Vec::new();
        while cursor.next(&mut quads)? {
            quads.drain(..).try_for_each(&mut visit)?;
        }
        Ok(())
    }

    /// The ids of the quads that match, as they are asked for. Triples that several graphs have come one after the other.
    ///
    /// # Errors
    /// Where a file cannot be read or is damaged, or the work was cancelled.
    pub(crate) fn cursor(
        &self,
        snapshot: &Snapshot,
        rules: &GraphRules,
        cancel: &CancelToken,
    ) -> Result<QuadCursor, EngineError> {
        let Some(ids) = self.ids(snapshot)? else { return Ok(QuadCursor::empty(cancel)) };
        QuadCursor::new(ids, snapshot, rules, cancel)
    }

    /// The quads that match, of those that there are under the rules, as they are asked for. They come in any order, but those of one triple,
    /// which several graphs may have, one after the other.
    ///
    /// # Errors
    /// Where a file cannot be read or is damaged, or the work was cancelled.
    pub fn quads(
        &self,
        snapshot: &Snapshot,
        rules: &GraphRules,
        cancel: &CancelToken,
    ) -> Result<Quads, EngineError> {
        Ok(Quads::new(self.cursor(snapshot, rules, cancel)?, snapshot))
    }

    /// How many quads match, of those that there are under the rules.
    ///
    /// # Errors
    /// Where a file cannot be read or is damaged, or the work was cancelled.
    pub fn count(
        &self,
        snapshot: &Snapshot,
        rules: &GraphRules,
        cancel: &CancelToken,
    ) -> Result<u64, EngineError> {
        if *self == Self::default() && rules.reads_all() {
            let inferred = inferred_graph(snapshot)?;
            let inferred = inferred.map_or(Ok(0), |graph| snapshot.count(Order::Gspo, &[graph]))?;
            return Ok(snapshot.quad_count() - inferred);
        }
        let mut count = 0;
        self.for_each_id(snapshot, rules, cancel, |_| {
            count += 1;
            Ok(())
        })?;
        Ok(count)
    }

    /// Visits the quads that match, in any order, of those that there are under the rules.
    ///
    /// # Errors
    /// Where a file cannot be read or is damaged, the work was cancelled; those of `visit`.
    pub fn for_each(
        &self,
        snapshot: &Snapshot,
        rules: &GraphRules,
        cancel: &CancelToken,
        mut visit: impl FnMut(Quad) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let mut terms = QuadTerms::new(snapshot);
        self.for_each_id(snapshot, rules, cancel, |ids| visit(terms.quad(ids)?))
    }

    /// None where a term is in no quad.
    fn ids(&self, snapshot: &Snapshot) -> Result<Option<IdPattern>, StoreError> {
        let mut bound = [None; 4];
        for (id, term) in bound.iter_mut().zip([&self.subject, &self.predicate, &self.object]) {
            if let Some(term) = term {
                *id = snapshot.id_of(term)?;
                if id.is_none() {
                    return Ok(None);
                }
            }
        }
        let mut graphs = Vec::new();
        for graph in &self.graphs {
            graphs.extend(match graph {
                GraphName::DefaultGraph => Some(ValueId::DEFAULT_GRAPH),
                GraphName::NamedNode(name) => snapshot.id_of(&name.clone().into())?,
                GraphName::BlankNode(node) => snapshot.id_of(&node.clone().into())?,
            });
        }
        Ok(match (self.graphs.is_empty(), graphs.as_slice()) {
            // What was inferred is in a graph that has to be named.
            (true, _) => Some(IdPattern { bound, among: None, except: inferred_graph(snapshot)? }),
            (false, []) => None,
            (false, [one]) => {
                bound[3] = Some(*one);
                Some(IdPattern { bound, among: None, except: None })
            }
            (false, _) => Some(IdPattern { bound, among: Some(graphs), except: None }),
        })
    }
}

#[cfg(test)]
mod tests {
    //! All patterns over a few quads, against a list of them.
    use super::{GraphRules, QuadPattern};
    use crate::update::UpdateOptions;
    use crate::{CancelToken, Database};
    use lode_rdf::{GraphName, NamedNode, Quad, Term};

    #[test]
    fn every_pattern_finds_what_a_list_has() {
        let database = Database::in_memory().unwrap();
        let name = |text: &str| NamedNode::new_unchecked(format!("http://e/{text}"));
        let (mut all, mut text) = (Vec::new(), String::new());
        for (i, (s, p, o)) in ["a", "b"]
            .iter()
            .flat_map(|s| ["p", "q"].iter().flat_map(move |p| ["a", "c"].map(|o| (s, p, o))))
            .enumerate()
        {
            for (graph, at) in [(None, 0), (Some("g"), 1), (Some("h"), 2)] {
                if i % 3 == at {
                    continue;
                }
                let graph_name = graph.map_or(GraphName::DefaultGraph, |graph| name(graph).into());
                let triple = format!("<http://e/{s}> <http://e/{p}> <http://e/{o}> . ");
                text += &graph
                    .map_or(triple.clone(), |graph| format!("GRAPH <http://e/{graph}> {{ {triple} }} "));
                all.push(Quad {
                    subject: name(s).into(),
                    predicate: name(p),
                    object: name(o).into(),
                    graph_name,
                });
            }
        }
        database.update(&format!("INSERT DATA {{ {text} }}"), &UpdateOptions::default()).unwrap();
        let terms = || [None, Some("a"), Some("p"), Some("c"), Some("none")];
        let term = |text: Option<&str>| text.map(|text| Term::from(name(text)));
        let graphs: [&[&str]; 7] = [&[], &[""], &["g"], &["", "h"], &["g", "h"], &["none"], &["none", "g"]];
        let snapshot = database.snapshot();
        for (s, p, o) in terms()
            .iter()
            .flat_map(|s| terms().map(move |p| (s, p)))
            .flat_map(|(s, p)| terms().map(|o| (s, p, o)))
        {
            for graphs in graphs {
                let named = |text: &&str| {
                    if text.is_empty() { GraphName::DefaultGraph } else { name(text).into() }
                };
                let graphs: Vec<GraphName> = graphs.iter().map(named).collect();
                let pattern = QuadPattern { subject: term(*s), predicate: term(p), object: term(o), graphs };
                let is = |quad: &&Quad| {
                    let fits = |given: &Option<Term>, found: Term| {
                        given.as_ref().is_none_or(|given| *given == found)
                    };
                    fits(&pattern.subject, quad.subject.clone().into())
                        && fits(&pattern.predicate, quad.predicate.clone().into())
                        && fits(&pattern.object, quad.object.clone())
                        && (pattern.graphs.is_empty() || pattern.graphs.contains(&quad.graph_name))
                };
                let mut expected: Vec<String> = all.iter().filter(is).map(Quad::to_string).collect();
                let mut found = Vec::new();
                pattern
                    .for_each(&snapshot, &GraphRules::default(), &CancelToken::default(), |quad| {
                        found.push(quad.to_string());
                        Ok(())
                    })
                    .unwrap();
                expected.sort();
                found.sort();
                assert_eq!(found, expected, "{pattern:?}");
            }
        }
    }
}
