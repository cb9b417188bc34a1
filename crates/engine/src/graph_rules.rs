//! Rules for graphs: which of them somebody may read, and which may be changed. A graph that one may not read does not exist: not in the dataset of
//! a query, not for an update, not in a figure.
//!
//! What may be changed is decided by the names of graphs alone, never by what the database has, so that a refusal tells nothing of it.

use crate::EngineError;
use lode_base::cancel::CancelToken;
use lode_rdf::{GraphNameRef, NamedNode, Term, ValueId};
use lode_sparql::plan::VisibleGraphs;
use lode_store::Snapshot;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The name of the graph of inferences ([`crate::Database::materialise`]).
pub const INFERRED_GRAPH: &str = "urn:lodestore:inferred";

/// Graphs by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GraphPattern {
    /// The default graph: `default`.
    Default,
    /// One named graph: its IRI.
    Name(String),
    /// All named graphs whose IRI begins so: `http://example.org/*`. With nothing before the asterisk those named by blank nodes as well.
    Prefix(String),
}

impl GraphPattern {
    fn has(&self, graph: GraphNameRef<'_>) -> bool {
        match (self, graph) {
            (Self::Default, GraphNameRef::DefaultGraph) => true,
            (Self::Name(name), GraphNameRef::NamedNode(node)) => node.as_str() == name,
            (Self::Prefix(start), GraphNameRef::NamedNode(node)) => node.as_str().starts_with(start.as_str()),
            (Self::Prefix(start), GraphNameRef::BlankNode(_)) => start.is_empty(),
            _ => false,
        }
    }
}

impl FromStr for GraphPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "default" {
            return Ok(Self::Default);
        }
        if let Some(start) = text.strip_suffix('*') {
            let is_start = start.is_empty() || start.contains(':');
            let is_fit =
                is_start && !start.contains(|c: char| c == '*' || c.is_whitespace() || c.is_control());
            return if is_fit { Ok(Self::Prefix(start.to_owned())) } else { Err(unfit(text)) };
        }
        match NamedNode::new(text) {
            Ok(name) => Ok(Self::Name(name.into_string())),
            Err(_) => Err(unfit(text)),
        }
    }
}

fn unfit(text: &str) -> String {
    format!("{text}: expected the IRI of a graph, the beginning of one with * at its end, default or none")
}

impl fmt::Display for GraphPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Name(name) => f.write_str(name),
            Self::Prefix(start) => write!(f, "{start}*"),
        }
    }
}

/// All graphs, or those that one of some patterns has.
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash)]
pub struct GraphSet(Option<Arc<[GraphPattern]>>);

impl GraphSet {
    /// Those of the patterns, and no others.
    pub fn of(patterns: impl IntoIterator<Item = GraphPattern>) -> Self {
        Self(Some(patterns.into_iter().collect()))
    }

    /// None.
    pub fn none() -> Self {
        Self::of([])
    }

    /// What is in this or the other.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        match (&self.0, &other.0) {
            (Some(own), Some(others)) => Self::of(own.iter().chain(others.iter()).cloned()),
            _ => Self::default(),
        }
    }

    /// Its patterns; none where it is all graphs.
    pub fn patterns(&self) -> Option<&[GraphPattern]> {
        self.0.as_deref()
    }

    /// Whether it is all graphs, whatever there is.
    pub fn is_all(&self) -> bool {
        self.0.is_none()
    }

    /// Whether a graph is one of them.
    pub fn has(&self, graph: GraphNameRef<'_>) -> bool {
        self.0.as_ref().is_none_or(|patterns| patterns.iter().any(|pattern| pattern.has(graph)))
    }
}

/// What somebody may do with which graphs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash)]
pub struct GraphRules {
    /// Those that there are.
    pub read: GraphSet,
    /// Those to which quads may be added; and taken from, where they may be read as well.
    pub write: GraphSet,
}

impl GraphRules {
    /// There is no graph, and none may be made.
    pub fn nothing() -> Self {
        Self { read: GraphSet::none(), write: GraphSet::none() }
    }

    /// Whether all graphs may be read.
    pub fn reads_all(&self) -> bool {
        self.read.is_all()
    }

    /// Whether there is no rule at all.
    pub fn is_free(&self) -> bool {
        self.read.is_all() && self.write.is_all()
    }

    /// Whether a graph may be read: that of inferences by who may also read what they follow from.
    pub fn may_read(&self, graph: GraphNameRef<'_>) -> bool {
        self.read.has(graph) && (!is_inferred(graph) || self.read.has(GraphNameRef::DefaultGraph))
    }

    /// Whether quads may be added to a graph: to that of inferences nobody adds but rules.
    pub fn may_add(&self, graph: GraphNameRef<'_>) -> bool {
        self.write.has(graph) && !is_inferred(graph)
    }

    /// Whether quads may be taken from a graph. That tells whether they were there, so it takes both.
    pub fn may_remove(&self, graph: GraphNameRef<'_>) -> bool {
        self.write.has(graph) && self.may_read(graph)
    }

    /// Fails where quads may not be added to a graph.
    pub(crate) fn check_add(&self, graph: GraphNameRef<'_>) -> Result<(), EngineError> {
        if self.may_add(graph) { Ok(()) } else { Err(forbidden(graph)) }
    }

    /// Fails where quads may not be taken from a graph.
    pub(crate) fn check_remove(&self, graph: GraphNameRef<'_>) -> Result<(), EngineError> {
        if self.may_remove(graph) { Ok(()) } else { Err(forbidden(graph)) }
    }

    /// The graphs of a version that may be read; none where all may.
    ///
    /// # Errors
    /// Where the version cannot be read, or the work was cancelled.
    pub fn visible(
        &self,
        snapshot: &Snapshot,
        cancel: &CancelToken,
    ) -> Result<Option<VisibleGraphs>, EngineError> {
        let Some(patterns) = &self.read.0 else { return Ok(None) };
        let default = self.may_read(GraphNameRef::DefaultGraph);
        let mut named = Vec::new();
        if patterns.iter().any(|pattern| matches!(pattern, GraphPattern::Prefix(_))) {
            for graph in snapshot.named_graphs()? {
                cancel.check().map_err(EngineError::Cancelled)?;
                if self.sees(snapshot, graph)? {
                    named.push(graph);
                }
            }
        } else {
            for pattern in patterns.iter() {
                let GraphPattern::Name(name) = pattern else { continue };
                let name = NamedNode::new_unchecked(name.clone());
                if !self.may_read(name.as_ref().into()) {
                    continue;
                }
                let name = Term::NamedNode(name);
                if let Some(id) = snapshot.id_of(&name)?
                    && snapshot.count(lode_packed::Order::Gspo, &[id])? > 0
                {
                    named.push(id);
                }
            }
            named.sort_unstable();
            named.dedup();
        }
        Ok(Some(VisibleGraphs { default, named: named.into() }))
    }

    /// Whether a graph of a version may be read.
    pub(crate) fn sees(&self, snapshot: &Snapshot, graph: ValueId) -> Result<bool, EngineError> {
        if self.reads_all() {
            return Ok(true);
        }
        if graph == ValueId::DEFAULT_GRAPH {
            return Ok(self.may_read(GraphNameRef::DefaultGraph));
        }
        Ok(graph_of(&snapshot.term(graph)?).is_some_and(|graph| self.may_read(graph)))
    }
}

/// Whether it is the graph of inferences.
fn is_inferred(graph: GraphNameRef<'_>) -> bool {
    matches!(graph, GraphNameRef::NamedNode(name) if name.as_str() == INFERRED_GRAPH)
}

/// The graph that has a term as its name; none where no graph can.
pub(crate) fn graph_of(term: &Term) -> Option<GraphNameRef<'_>> {
    match term {
        Term::NamedNode(name) => Some(name.as_ref().into()),
        Term::BlankNode(node) => Some(node.as_ref().into()),
        Term::Literal(_) | Term::Triple(_) => None,
    }
}

/// A graph of an update.
pub(crate) fn named(graph: Option<&NamedNode>) -> GraphNameRef<'_> {
    graph.map_or(GraphNameRef::DefaultGraph, |name| name.as_ref().into())
}

pub(crate) fn forbidden(graph: GraphNameRef<'_>) -> EngineError {
    let graph = match graph {
        GraphNameRef::DefaultGraph => "the default graph".to_owned(),
        named => format!("the graph {named}"),
    };
    EngineError::Forbidden(format!("you may not change {graph}: nothing was changed"))
}

#[cfg(test)]
mod tests {
    //! Patterns, and rules where no query is asked: figures, statements, transactions over several requests.
    use super::{GraphPattern, GraphRules, GraphSet};
    use crate::{CancelToken, Database, EngineError, QuadPattern, QueryOptions, QueryResults, UpdateOptions};
    use lode_rdf::{BlankNode, GraphNameRef, NamedNodeRef};

    fn set(patterns: &[&str]) -> GraphSet {
        GraphSet::of(patterns.iter().map(|pattern| pattern.parse().unwrap()))
    }

    fn name(iri: &str) -> GraphNameRef<'_> {
        NamedNodeRef::new_unchecked(iri).into()
    }

    #[test]
    fn patterns_are_names_beginnings_and_the_default_graph() {
        let blank = BlankNode::new_unchecked("b");
        let graphs =
            [GraphNameRef::DefaultGraph, name("http://e/a"), name("http://e/ab"), blank.as_ref().into()];
        for (patterns, found) in [
            (&[][..], [false, false, false, false]),
            (&["default"], [true, false, false, false]),
            (&["http://e/a"], [false, true, false, false]),
            (&["http://e/a*"], [false, true, true, false]),
            (&["*"], [false, true, true, true]),
            (&["default", "http://e/ab"], [true, false, true, false]),
        ] {
            assert_eq!(graphs.map(|graph| set(patterns).has(graph)), found, "{patterns:?}");
            let read: Vec<GraphPattern> = set(patterns).patterns().unwrap().to_vec();
            assert!(read.iter().all(|pattern| pattern.to_string().parse() == Ok(pattern.clone())));
        }
        assert!(graphs.iter().all(|graph| GraphSet::default().has(*graph) && !GraphSet::none().has(*graph)));
        for text in ["", "g", "a b*", "**", "http://e/ a", "Default", "defaul*"] {
            assert!(text.parse::<GraphPattern>().is_err(), "{text}");
        }
    }

    const DATA: &str = "PREFIX : <http://e/> INSERT DATA { :a :p 1 GRAPH :open { :a :p 1, 2 } GRAPH :shut { :a :p 3 . :b a :C } }";

    fn database() -> Database {
        let database = Database::in_memory().unwrap();
        database.update(DATA, &UpdateOptions::default()).unwrap();
        database
    }

    fn options(read: &[&str], write: &[&str]) -> UpdateOptions {
        let graphs = GraphRules { read: set(read), write: set(write) };
        let evaluation = QueryOptions { graphs, ..QueryOptions::default() };
        UpdateOptions { evaluation, ..UpdateOptions::default() }
    }

    #[test]
    fn figures_and_statements_are_of_what_may_be_read() {
        let (database, cancel) = (database(), CancelToken::default());
        let options = options(&["http://e/o*"], &[]).evaluation;
        let described = database.describe(&database.snapshot(), &options).unwrap();
        assert_eq!((described.default.triples, described.named.len(), described.whole.triples), (0, 1, 2));
        assert_eq!(described.whole.classes, 0);
        let count = |graphs: &GraphRules| {
            QuadPattern::default().count(&database.snapshot(), graphs, &cancel).unwrap()
        };
        assert_eq!(
            (count(&options.graphs), count(&GraphRules::default()), count(&GraphRules::nothing())),
            (2, 5, 0)
        );
        let shut = lode_rdf::NamedNode::new_unchecked("http://e/shut");
        let id = |graphs: &GraphRules| database.graph_id(&database.snapshot(), Some(&shut), graphs).unwrap();
        assert!(id(&options.graphs).is_none() && id(&GraphRules::default()).is_some());
    }

    #[test]
    fn versions_of_before_have_the_rules_of_now() {
        let database = database();
        let before = database.snapshot();
        database.update("CLEAR ALL", &UpdateOptions::default()).unwrap();
        let options = options(&["http://e/open"], &[]).evaluation;
        let text = "ASK { GRAPH ?g { ?s ?p 3 } }";
        let asked = database.prepare_at(before, text, &options).unwrap();
        assert!(matches!(asked.run(), Ok(QueryResults::Boolean(false))));
    }

    #[test]
    fn a_transaction_of_several_requests_sees_and_tells_no_more() {
        let database = database();
        let options = options(&["http://e/open"], &["http://e/*"]);
        let mut open = database.begin(&options.evaluation).unwrap();
        // What is refused by its text leaves the transaction as it is.
        let refused = open.update("INSERT DATA { <http://e/a> <http://e/p> 9 }", &options);
        assert!(matches!(refused, Err(EngineError::Forbidden(_))), "{refused:?}");
        open.update(
            "INSERT { GRAPH <http://e/shut> { ?s ?p 3 } } WHERE { GRAPH ?g { ?s ?p 1 } } ; \
             DELETE WHERE { GRAPH ?g { ?s ?p 2 } }",
            &options,
        )
        .unwrap();
        open.remove(&QuadPattern::default(), &options).unwrap();
        let commit = open.commit().unwrap();
        // The one that was added was there: that is not told.
        assert_eq!((commit.inserted, commit.deleted), (1, 2));
        let left = QuadPattern::default().count(
            &database.snapshot(),
            &GraphRules::default(),
            &CancelToken::default(),
        );
        assert_eq!(left.unwrap(), 3);
    }
}
