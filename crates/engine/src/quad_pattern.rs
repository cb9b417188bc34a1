//! Quads by pattern: what programs ask for that think in statements and not in queries.

use crate::EngineError;
use crate::graph_rules::GraphRules;
use lode_base::cancel::CancelToken;
use lode_packed::{Order, Position};
use lode_rdf::{GraphName, NamedOrBlankNode, Quad, Term, ValueId};
use lode_store::{Snapshot, StoreError};
use std::collections::HashMap;

/// Which quads: a term that is not given may be any.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QuadPattern {
    /// The subject.
    pub subject: Option<Term>,
    /// The predicate.
    pub predicate: Option<Term>,
    /// The object.
    pub object: Option<Term>,
    /// The graphs, of which there may be several; none: in any.
    pub graphs: Vec<GraphName>,
}

/// A pattern of ids.
struct Ids {
    /// By position: subject, predicate, object, graph.
    bound: [Option<ValueId>; 4],
    /// The graphs, where there are several.
    among: Option<Vec<ValueId>>,
}

/// Rows read at once.
const ROWS: usize = 4096;
/// So many terms are kept while quads are written.
const TERMS_MAX: usize = 1 << 14;
/// All columns of an order.
const ALL: u8 = 0b1111;

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
        let Some(ids) = self.ids(snapshot)? else { return Ok(()) };
        let visible = rules.visible(snapshot, cancel)?;
        let is_visible = |graph| visible.as_ref().is_none_or(|visible| visible.has(graph));
        let (order, prefix) = ids.order();
        let mut scan = snapshot.scan(order, &prefix, ALL)?;
        let mut columns: [Vec<ValueId>; 4] = Default::default();
        loop {
            cancel.check().map_err(EngineError::Cancelled)?;
            columns.iter_mut().for_each(Vec::clear);
            let rows = scan.next(ROWS, &mut columns)?;
            if rows == 0 {
                return Ok(());
            }
            for row in 0..rows {
                let mut quad = [ValueId::DEFAULT_GRAPH; 4];
                for (position, column) in order.positions().iter().zip(&columns) {
                    quad[index(*position)] = column[row];
                }
                if ids.has(&quad) && is_visible(quad[3]) {
                    visit(quad)?;
                }
            }
        }
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
            return Ok(snapshot.quad_count());
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
        let mut terms = Terms { snapshot, known: HashMap::new() };
        self.for_each_id(snapshot, rules, cancel, |[s, p, o, g]| {
            let graph_name =
                if g == ValueId::DEFAULT_GRAPH { GraphName::DefaultGraph } else { terms.graph(g)? };
            visit(Quad {
                subject: terms.node(s)?,
                predicate: terms.predicate(p)?,
                object: terms.get(o)?,
                graph_name,
            })
        })
    }

    /// None where a term is in no quad.
    fn ids(&self, snapshot: &Snapshot) -> Result<Option<Ids>, StoreError> {
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
            (true, _) => Some(Ids { bound, among: None }),
            (false, []) => None,
            (false, [one]) => {
                bound[3] = Some(*one);
                Some(Ids { bound, among: None })
            }
            (false, _) => Some(Ids { bound, among: Some(graphs) }),
        })
    }
}

impl Ids {
    /// The order in which most of what is bound comes first, and that.
    fn order(&self) -> (Order, Vec<ValueId>) {
        let prefix = |order: Order| -> Vec<ValueId> {
            order.positions().iter().map_while(|position| self.bound[index(*position)]).collect()
        };
        // That of graphs has no quads of the default graph.
        let is_fit = |order: &Order| {
            *order != Order::Gspo || self.bound[3].is_some_and(|graph| graph != ValueId::DEFAULT_GRAPH)
        };
        let orders = Order::ALL.into_iter().filter(is_fit).map(|order| (order, prefix(order)));
        orders.max_by_key(|(_, prefix)| prefix.len()).unwrap_or((Order::Spog, Vec::new()))
    }

    fn has(&self, quad: &[ValueId; 4]) -> bool {
        let is_bound = |(id, bound): (&ValueId, &Option<ValueId>)| bound.is_none_or(|bound| bound == *id);
        quad.iter().zip(&self.bound).all(is_bound)
            && self.among.as_ref().is_none_or(|graphs| graphs.contains(&quad[3]))
    }
}

/// The place of a position among subject, predicate, object, graph.
fn index(position: Position) -> usize {
    match position {
        Position::S => 0,
        Position::P => 1,
        Position::O => 2,
        Position::G => 3,
    }
}

/// Terms of ids, some of which are kept.
struct Terms<'a> {
    snapshot: &'a Snapshot,
    known: HashMap<ValueId, Term>,
}

impl Terms<'_> {
    fn get(&mut self, id: ValueId) -> Result<Term, StoreError> {
        if let Some(term) = self.known.get(&id) {
            return Ok(term.clone());
        }
        let term = self.snapshot.term(id)?;
        // Long ones are not worth their memory.
        if !matches!(term, Term::Literal(_)) {
            if self.known.len() >= TERMS_MAX {
                self.known.clear();
            }
            self.known.insert(id, term.clone());
        }
        Ok(term)
    }

    fn node(&mut self, id: ValueId) -> Result<NamedOrBlankNode, EngineError> {
        match self.get(id)? {
            Term::NamedNode(name) => Ok(name.into()),
            Term::BlankNode(node) => Ok(node.into()),
            other => Err(damaged(&other)),
        }
    }

    fn predicate(&mut self, id: ValueId) -> Result<lode_rdf::NamedNode, EngineError> {
        match self.get(id)? {
            Term::NamedNode(name) => Ok(name),
            other => Err(damaged(&other)),
        }
    }

    fn graph(&mut self, id: ValueId) -> Result<GraphName, EngineError> {
        Ok(self.node(id)?.into())
    }
}

fn damaged(term: &Term) -> EngineError {
    EngineError::Update(format!("{term} is where no such term may be: lode check tells what is damaged"))
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
