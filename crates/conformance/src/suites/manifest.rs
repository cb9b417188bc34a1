//! Manifests in Turtle: lists of tests, each with a type, an action and a result.

use crate::rdf_files;
use anyhow::{Context, Result, anyhow};
use oxrdf::vocab::{rdf, rdfs};
use oxrdf::{Graph, NamedNode, NamedNodeRef, NamedOrBlankNode, NamedOrBlankNodeRef, Term, TermRef};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// What the IRIs of the files under a folder of suites start with.
const SITES: &[(&str, &str)] = &[
    ("w3c-rdf-tests/", "https://w3c.github.io/rdf-tests/"),
    ("w3c-rdf-canon/", "https://w3c.github.io/rdf-canon/tests/"),
];

const SD: &str = "http://www.w3.org/ns/sparql-service-description#";
const ENT: &str = "http://www.w3.org/ns/entailment/";
const MF: &str = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#";
const QT: &str = "http://www.w3.org/2001/sw/DataAccess/tests/test-query#";
const UT: &str = "http://www.w3.org/2009/sparql/tests/test-update#";
const RDFT: &str = "http://www.w3.org/ns/rdftest#";
const RDFC: &str = "https://w3c.github.io/rdf-canon/tests/vocab#";

/// What a test does.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    QueryEvaluation,
    PositiveQuerySyntax,
    NegativeQuerySyntax,
    PositiveUpdateSyntax,
    NegativeUpdateSyntax,
    UpdateEvaluation,
    PositiveRdfSyntax,
    NegativeRdfSyntax,
    RdfEvaluation,
    CanonicalLines,
    Canonicalization,
    CanonicalMap,
    PositiveEntailment,
    NegativeEntailment,
    OutOfScope(&'static str),
}

/// A file of a suite: its IRI and where it lies.
#[derive(Debug, Clone)]
pub(super) struct Document {
    pub(super) iri: String,
    pub(super) path: PathBuf,
}

/// The graphs that an update finds or leaves.
#[derive(Debug, Clone, Default)]
pub(super) struct GraphStore {
    /// The default graph, or all graphs.
    pub(super) data: Vec<Document>,
    /// Named graphs.
    pub(super) graphs: Vec<(String, Document)>,
}

/// One test.
#[derive(Debug, Clone)]
pub(super) struct TestCase {
    pub(super) iri: String,
    /// The row of the table, below the suite's name.
    pub(super) group: &'static str,
    pub(super) kind: Kind,
    /// The query, or the document to be read.
    pub(super) action: Option<Document>,
    pub(super) data: Vec<Document>,
    pub(super) graph_data: Vec<Document>,
    /// Endpoints and their data.
    pub(super) services: Vec<(String, Option<Document>)>,
    /// Whether the answer is that of the RDFS entailment regime.
    pub reasoning: bool,
    /// Whether it is that of a regime of OWL, and of none that has less.
    pub owl: bool,
    pub(super) result: Option<Document>,
    /// What an update finds.
    pub(super) before: GraphStore,
    /// What it shall leave.
    pub(super) after: GraphStore,
    /// Rows may come more or less often (REDUCED).
    pub(super) lax_cardinality: bool,
    /// The hash function of a canonicalisation.
    pub(super) hash: Option<String>,
    /// Where relative IRIs of the query's dataset clause lie.
    pub(super) folder: PathBuf,
}

/// All tests of a manifest and of those that it includes.
pub(super) fn load(folder: &Path, manifest: &str) -> Result<Vec<TestCase>> {
    let mut tests = Vec::new();
    let mut seen = HashSet::new();
    collect(folder, &iri_of(manifest)?, &mut tests, &mut seen)?;
    Ok(tests)
}

fn iri_of(manifest: &str) -> Result<String> {
    SITES
        .iter()
        .find_map(|(local, site)| Some(format!("{site}{}", manifest.strip_prefix(local)?)))
        .with_context(|| format!("{manifest}: no suite has this folder"))
}

/// Where the document of an IRI lies.
pub(super) fn path_of(folder: &Path, iri: &str) -> Option<PathBuf> {
    SITES.iter().find_map(|(local, site)| Some(folder.join(local).join(iri.strip_prefix(site)?)))
}

fn collect(folder: &Path, iri: &str, tests: &mut Vec<TestCase>, seen: &mut HashSet<String>) -> Result<()> {
    if !seen.insert(iri.to_owned()) {
        return Ok(());
    }
    let path = path_of(folder, iri).with_context(|| format!("<{iri}> is in no suite"))?;
    let graph: Graph = rdf_files::read(&path, iri)?.default_graph().into_iter().collect();
    let reader = Reader { folder, graph: &graph, manifest: iri };
    let include = mf("include");
    for triple in graph.triples_for_predicate(include.as_ref()) {
        for member in reader.list(triple.object)? {
            collect(folder, &iri_text(&member)?, tests, seen)?;
        }
    }
    let entries = mf("entries");
    for triple in graph.triples_for_predicate(entries.as_ref()) {
        for member in reader.list(triple.object)? {
            tests.push(reader.test(&member).with_context(|| format!("{member}"))?);
        }
    }
    Ok(())
}

fn mf(name: &str) -> NamedNode {
    NamedNode::new_unchecked(format!("{MF}{name}"))
}

fn qt(name: &str) -> NamedNode {
    NamedNode::new_unchecked(format!("{QT}{name}"))
}

fn ut(name: &str) -> NamedNode {
    NamedNode::new_unchecked(format!("{UT}{name}"))
}

fn iri_text(term: &Term) -> Result<String> {
    match term {
        Term::NamedNode(n) => Ok(n.as_str().to_owned()),
        other => Err(anyhow!("{other} is not an IRI")),
    }
}

struct Reader<'a> {
    folder: &'a Path,
    graph: &'a Graph,
    manifest: &'a str,
}

impl Reader<'_> {
    fn list(&self, head: TermRef<'_>) -> Result<Vec<Term>> {
        let mut members = Vec::new();
        let mut node: NamedOrBlankNode =
            head.into_owned().try_into().map_err(|_| anyhow!("a list starts with a literal"))?;
        while node.as_ref() != NamedOrBlankNodeRef::from(rdf::NIL) {
            members.push(self.object(node.as_ref(), rdf::FIRST).context("a list without rdf:first")?);
            let rest = self.object(node.as_ref(), rdf::REST).context("a list without rdf:rest")?;
            node = rest.try_into().map_err(|_| anyhow!("a list goes on with a literal"))?;
        }
        Ok(members)
    }

    fn object(&self, subject: NamedOrBlankNodeRef<'_>, predicate: NamedNodeRef<'_>) -> Option<Term> {
        self.graph.object_for_subject_predicate(subject, predicate).map(TermRef::into_owned)
    }

    fn document(&self, term: Option<Term>) -> Result<Option<Document>> {
        let Some(Term::NamedNode(iri)) = term else { return Ok(None) };
        let path = path_of(self.folder, iri.as_str()).with_context(|| format!("{iri} is in no suite"))?;
        Ok(Some(Document { iri: iri.into_string(), path }))
    }

    fn documents(&self, subject: NamedOrBlankNodeRef<'_>, predicate: &NamedNode) -> Result<Vec<Document>> {
        let mut found = Vec::new();
        for object in self.graph.objects_for_subject_predicate(subject, predicate.as_ref()) {
            found.extend(self.document(Some(object.into_owned()))?);
        }
        found.sort_by(|a: &Document, b| a.iri.cmp(&b.iri));
        Ok(found)
    }

    fn services(&self, action: NamedOrBlankNodeRef<'_>) -> Result<Vec<(String, Option<Document>)>> {
        let mut services = Vec::new();
        let (service_data, endpoint, data) = (qt("serviceData"), qt("endpoint"), qt("data"));
        for object in self.graph.objects_for_subject_predicate(action, service_data.as_ref()) {
            let TermRef::BlankNode(node) = object else { continue };
            let name = self.object(node.into(), endpoint.as_ref()).context("serviceData without endpoint")?;
            services.push((iri_text(&name)?, self.document(self.object(node.into(), data.as_ref()))?));
        }
        Ok(services)
    }

    /// The entailment regime of a query: of those that it is right for the least is asked for.
    fn regime(&self, action: NamedOrBlankNodeRef<'_>, test: &mut TestCase) -> Result<()> {
        let name = NamedNode::new_unchecked(format!("{SD}entailmentRegime"));
        let given = self.graph.objects_for_subject_predicate(action, name.as_ref()).map(TermRef::into_owned);
        let mut regimes = Vec::new();
        for regime in given {
            match regime {
                Term::BlankNode(list) => regimes.extend(self.list(TermRef::BlankNode(list.as_ref()))?),
                regime => regimes.push(regime),
            }
        }
        let regimes: Vec<String> = regimes.iter().map(iri_text).collect::<Result<_>>()?;
        let has = |name: &str| regimes.iter().any(|regime| regime.strip_prefix(ENT) == Some(name));
        if has("RDFS") || has("D") {
            test.reasoning = true;
        } else if has("OWL-Direct") || has("OWL-RDF-Based") {
            test.owl = true;
            test.kind =
                Kind::OutOfScope("its entailment regime is OWL's: OWL 2 RL is tried in a test of its own");
        } else if has("RIF") {
            test.kind = Kind::OutOfScope(
                "its rules are in a file of RIF that the suite does not have, in a syntax that is not read",
            );
        } else if !regimes.is_empty() && !has("RDF") {
            test.kind = Kind::OutOfScope("its entailment regime is not implemented");
        }
        Ok(())
    }

    /// The regime of a test of entailment between graphs, by name.
    fn regime_of_graphs(&self, subject: NamedOrBlankNodeRef<'_>, test: &mut TestCase) {
        if let Some(Term::Literal(name)) = self.object(subject, mf("entailmentRegime").as_ref()) {
            test.reasoning = name.value() == "RDFS";
        }
    }

    /// An update's request, and the graphs before and after it.
    fn update(&self, subject: NamedOrBlankNodeRef<'_>, mut test: TestCase) -> Result<TestCase> {
        let part = |name: &str| match self.object(subject, mf(name).as_ref()) {
            Some(Term::BlankNode(node)) => Ok(NamedOrBlankNode::from(node)),
            _ => Err(anyhow!("an update without mf:{name}")),
        };
        let (action, result) = (part("action")?, part("result")?);
        test.action = self.document(self.object(action.as_ref(), ut("request").as_ref()))?;
        test.before = self.graph_store(action.as_ref())?;
        test.after = self.graph_store(result.as_ref())?;
        Ok(test)
    }

    fn graph_store(&self, node: NamedOrBlankNodeRef<'_>) -> Result<GraphStore> {
        let mut store = GraphStore { data: self.documents(node, &ut("data"))?, graphs: Vec::new() };
        for object in self.graph.objects_for_subject_predicate(node, ut("graphData").as_ref()) {
            let TermRef::BlankNode(graph) = object else { continue };
            let Some(Term::Literal(name)) = self.object(graph.into(), rdfs::LABEL) else {
                return Err(anyhow!("a graph without a name"));
            };
            let document = self.document(self.object(graph.into(), ut("graph").as_ref()))?;
            store.graphs.push((name.value().to_owned(), document.context("a graph without a file")?));
        }
        Ok(store)
    }

    fn test(&self, name: &Term) -> Result<TestCase> {
        let iri = iri_text(name)?;
        let node = NamedNode::new(&iri)?;
        let subject = NamedOrBlankNodeRef::from(node.as_ref());
        let kinds: Vec<String> = self
            .graph
            .objects_for_subject_predicate(subject, rdf::TYPE)
            .map(|t| iri_text(&t.into_owned()))
            .collect::<Result<_>>()?;
        let (kind, group) = classify(self.manifest, &kinds);
        let hash = NamedNode::new_unchecked(format!("{RDFC}hashAlgorithm"));
        let mut test = TestCase {
            group,
            kind,
            action: None,
            data: Vec::new(),
            graph_data: Vec::new(),
            services: Vec::new(),
            reasoning: false,
            owl: false,
            result: None,
            before: GraphStore::default(),
            after: GraphStore::default(),
            lax_cardinality: self.object(subject, mf("resultCardinality").as_ref())
                == Some(mf("LaxCardinality").into()),
            hash: self.object(subject, hash.as_ref()).and_then(|t| match t {
                Term::Literal(l) => Some(l.value().to_owned()),
                _ => None,
            }),
            folder: self.folder.to_owned(),
            iri,
        };
        if matches!(test.kind, Kind::OutOfScope(_)) {
            return Ok(test);
        }
        if test.kind == Kind::UpdateEvaluation {
            return self.update(subject, test);
        }
        test.result = self.document(self.object(subject, mf("result").as_ref()))?;
        self.regime_of_graphs(subject, &mut test);
        match self.object(subject, mf("action").as_ref()) {
            Some(Term::BlankNode(action)) => {
                let action = NamedOrBlankNodeRef::from(action.as_ref());
                test.action = self.document(self.object(action, qt("query").as_ref()))?;
                test.data = self.documents(action, &qt("data"))?;
                test.graph_data = self.documents(action, &qt("graphData"))?;
                test.services = self.services(action)?;
                self.regime(action, &mut test)?;
            }
            action => test.action = self.document(action)?,
        }
        Ok(test)
    }
}

fn classify(manifest: &str, kinds: &[String]) -> (Kind, &'static str) {
    const UNKNOWN: (Kind, &str) = (Kind::OutOfScope("the runner does not know this type of test"), "other");
    if manifest.contains("/rdf-semantics/") {
        return (Kind::OutOfScope("entailment between graphs of RDF 1.2 is not tried"), "entailment");
    }
    for kind in kinds {
        let name =
            kind.strip_prefix(MF).or_else(|| kind.strip_prefix(RDFT)).or_else(|| kind.strip_prefix(RDFC));
        let Some(name) = name else { continue };
        return match name {
            "QueryEvaluationTest" | "CSVResultFormatTest" => {
                (Kind::QueryEvaluation, evaluation_group(manifest))
            }
            "PositiveSyntaxTest" | "PositiveSyntaxTest11" => (Kind::PositiveQuerySyntax, "syntax"),
            "NegativeSyntaxTest" | "NegativeSyntaxTest11" => (Kind::NegativeQuerySyntax, "syntax"),
            "PositiveUpdateSyntaxTest" | "PositiveUpdateSyntaxTest11" => {
                (Kind::PositiveUpdateSyntax, "update syntax")
            }
            "NegativeUpdateSyntaxTest" | "NegativeUpdateSyntaxTest11" => {
                (Kind::NegativeUpdateSyntax, "update syntax")
            }
            "UpdateEvaluationTest" => (Kind::UpdateEvaluation, "update evaluation"),
            "ProtocolTest" => (Kind::OutOfScope("needs a server; protocol tests are not run"), "protocol"),
            "GraphStoreProtocolTest" => {
                (Kind::OutOfScope("the Graph Store Protocol is not implemented"), "graph store protocol")
            }
            "ServiceDescriptionTest" => {
                (Kind::OutOfScope("service descriptions are not implemented"), "service description")
            }
            "PositiveEntailmentTest" => (Kind::PositiveEntailment, "entailment"),
            "NegativeEntailmentTest" => (Kind::NegativeEntailment, "entailment"),
            "RDFC10EvalTest" => (Kind::Canonicalization, "canonicalisation"),
            "RDFC10MapTest" => (Kind::CanonicalMap, "canonicalisation"),
            "RDFC10NegativeEvalTest" => (
                Kind::OutOfScope(
                    "wants work on poisoned graphs to be cut off; used for tests of small graphs only",
                ),
                "canonicalisation",
            ),
            name => match rdf_kind(name) {
                Some(kind) => kind,
                None => continue,
            },
        };
    }
    UNKNOWN
}

fn evaluation_group(manifest: &str) -> &'static str {
    if manifest.contains("/entailment/") {
        "entailment"
    } else if manifest.contains("/csv-tsv-res/") || manifest.contains("/json-res/") {
        "CSV, TSV and JSON results"
    } else if manifest.contains("/service/") {
        "federated query"
    } else {
        "query evaluation"
    }
}

fn rdf_kind(name: &str) -> Option<(Kind, &'static str)> {
    let rest = name.strip_prefix("Test")?;
    let (group, rest) = [
        ("NTriples", "N-Triples"),
        ("NQuads", "N-Quads"),
        ("Turtle", "Turtle"),
        ("Trig", "TriG"),
        ("XML", "RDF/XML"),
    ]
    .into_iter()
    .find_map(|(prefix, group)| Some((group, rest.strip_prefix(prefix)?)))?;
    let kind = match rest {
        "PositiveSyntax" => Kind::PositiveRdfSyntax,
        "NegativeSyntax" | "NegativeEval" => Kind::NegativeRdfSyntax,
        "Eval" => Kind::RdfEvaluation,
        "PositiveC14N" => Kind::CanonicalLines,
        _ => return None,
    };
    Some((kind, group))
}
