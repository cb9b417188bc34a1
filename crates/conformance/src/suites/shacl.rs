//! The suite of the W3C for SHACL, Core and SPARQL: every file with tests is run, whether or not a manifest names it.
//!
//! Reports are compared as graphs. Of messages only those count that the expected report has, as the suite says.

use super::report::{Outcome, Report};
use crate::engine_subject::load_into;
use crate::isomorphism::isomorphic;
use crate::rdf_files::{self, read_bytes};
use crate::subject::no_panic;
use anyhow::{Context, Result, bail, ensure};
use lode_engine::{Database, TableOptions};
use lode_rdf::parse::ParseOptions;
use lode_rdf::{NamedNode, NamedOrBlankNode, Term, Triple};
use lode_shacl::{ReportFormat, Shapes, ShapesGraph, ValidateOptions, validate};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const FOLDER: &str = "w3c-data-shapes/tests";
const BASE: &str = "http://example.org/data-shapes/tests/";
const MF: &str = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#";
const SHT: &str = "http://www.w3.org/ns/shacl-test#";
const SH: &str = "http://www.w3.org/ns/shacl#";
const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";

/// Runs the suite.
pub(super) fn run(folder: &Path, report: &mut Report) -> Result<()> {
    let root = folder.join(FOLDER);
    if !root.is_dir() {
        report.missing("SHACL");
        return Ok(());
    }
    let mut files = Vec::new();
    turtle_files(&root, &mut files)?;
    files.sort();
    for file in files {
        let below = file.strip_prefix(&root)?.to_string_lossy().replace('\\', "/");
        let part = below.split('/').next().unwrap_or_default().to_owned();
        let triples = rdf_files::read(&file, &format!("{BASE}{below}"))?.default_graph();
        for test in tests(&triples)? {
            let outcome = match no_panic(|| check(&root, &triples, &test)) {
                Ok(()) => Outcome::Passed,
                Err(error) => Outcome::Failed(format!("{error:#}")),
            };
            report.add(&format!("SHACL {part}"), &test.to_string(), outcome);
        }
    }
    Ok(())
}

fn turtle_files(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            turtle_files(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "ttl") {
            files.push(path);
        }
    }
    Ok(())
}

fn values(triples: &[Triple], subject: &NamedOrBlankNode, property: &str) -> Vec<Term> {
    let found = triples.iter().filter(|t| t.subject == *subject && t.predicate.as_str() == property);
    found.map(|triple| triple.object.clone()).collect()
}

fn value(triples: &[Triple], subject: &NamedOrBlankNode, property: &str) -> Result<Term> {
    values(triples, subject, property).pop().with_context(|| format!("{subject} has no {property}"))
}

fn node(term: &Term) -> Result<NamedOrBlankNode> {
    match term {
        Term::NamedNode(name) => Ok(name.clone().into()),
        Term::BlankNode(node) => Ok(node.clone().into()),
        other => bail!("{other} is no node"),
    }
}

/// The tests that a file has.
fn tests(triples: &[Triple]) -> Result<Vec<NamedOrBlankNode>> {
    let mut tests = Vec::new();
    for list in triples.iter().filter(|t| t.predicate.as_str() == format!("{MF}entries")) {
        let mut at = node(&list.object)?;
        while at.to_string() != format!("<{RDF}nil>") {
            tests.push(node(&value(triples, &at, &format!("{RDF}first"))?)?);
            at = node(&value(triples, &at, &format!("{RDF}rest"))?)?;
        }
    }
    Ok(tests)
}

fn check(root: &Path, triples: &[Triple], test: &NamedOrBlankNode) -> Result<()> {
    let action = node(&value(triples, test, &format!("{MF}action"))?)?;
    let graph = |local: &str| -> Result<(Vec<u8>, String)> {
        let Term::NamedNode(name) = value(triples, &action, &format!("{SHT}{local}"))? else {
            bail!("no IRI")
        };
        let below = name.as_str().strip_prefix(BASE).context("a file elsewhere")?;
        Ok((read_bytes(&root.join(below))?, name.into_string()))
    };
    let (data, data_base) = graph("dataGraph")?;
    let (shapes, shapes_name) = graph("shapesGraph")?;
    let got = validated(data, &data_base, &shapes, &shapes_name);
    let wanted = value(triples, test, &format!("{MF}result"))?;
    if wanted.to_string() == format!("<{SHT}Failure>") {
        ensure!(got.is_err(), "the shapes should be refused");
        return Ok(());
    }
    let mut wanted = closure(triples, &node(&wanted)?);
    let messages: BTreeSet<String> =
        wanted.iter().filter(|t| is_message(t)).map(|triple| triple.object.to_string()).collect();
    let mut got = got?;
    got.retain(|triple| !is_message(triple) || messages.contains(&triple.object.to_string()));
    wanted.sort_by_key(ToString::to_string);
    got.sort_by_key(ToString::to_string);
    let rows = |triples: &[Triple]| triples.iter().map(row).collect::<Vec<_>>();
    let show = |triples: &[Triple]| triples.iter().map(|t| format!("    {t}\n")).collect::<String>();
    ensure!(isomorphic(&rows(&wanted), &rows(&got)), "expected\n{}  got\n{}", show(&wanted), show(&got));
    Ok(())
}

fn is_message(triple: &Triple) -> bool {
    triple.predicate.as_str() == format!("{SH}resultMessage")
}

fn row(triple: &Triple) -> Vec<Option<Term>> {
    let Triple { subject, predicate, object } = triple.clone();
    vec![Some(subject.into()), Some(predicate.into()), Some(object)]
}

/// What a report says: of itself, of its results, and of their paths.
fn closure(triples: &[Triple], report: &NamedOrBlankNode) -> Vec<Triple> {
    let mut open = vec![report.clone()];
    let mut found: Vec<Triple> = Vec::new();
    while let Some(at) = open.pop() {
        for triple in triples.iter().filter(|triple| triple.subject == at) {
            let local = triple.predicate.as_str().strip_prefix(SH).unwrap_or_default();
            let is_list = triple.predicate.as_str().starts_with(&format!("{RDF}first"))
                || triple.predicate.as_str().starts_with(&format!("{RDF}rest"));
            let follows = is_list || local == "result" || local == "resultPath" || local.ends_with("Path");
            if follows && let Term::BlankNode(node) = &triple.object {
                open.push(node.clone().into());
            }
            found.push(triple.clone());
        }
    }
    found
}

/// The report of a validation of one document against another.
fn validated(data: Vec<u8>, base: &str, shapes: &[u8], name: &str) -> Result<Vec<Triple>> {
    let database = Database::in_memory()?;
    load_into(&database, data, lode_rdf::RdfFormat::Turtle, Some(base), 1)?;
    let mut graph = ShapesGraph::default();
    let options = ParseOptions::default().with_base_iri(name)?;
    graph.add_document(name, lode_rdf::RdfFormat::Turtle, shapes, &options)?;
    into_graph(&database, shapes, name)?;
    let shapes = Shapes::read(graph)?;
    let options = ValidateOptions {
        results_max: u64::MAX,
        shapes_graph: Some(NamedNode::new(name)?),
        ..ValidateOptions::default()
    };
    let turtle = ReportFormat::Rdf(lode_rdf::RdfFormat::Turtle);
    let mut report = lode_shacl::Report::start(turtle, TableOptions::default(), Vec::new())?;
    let summary = validate(&database.snapshot(), &shapes, &options, &mut |result| report.push(result))?;
    let text = report.finish(&summary)?;
    Ok(rdf_files::parse(&text, rdf_files::RdfFormat::Turtle, BASE)?.default_graph())
}

/// Shapes are also a graph of the database, for queries that ask for it.
fn into_graph(database: &Database, shapes: &[u8], name: &str) -> Result<()> {
    let triples = rdf_files::parse(shapes, rdf_files::RdfFormat::Turtle, name)?.default_graph();
    let graph = NamedNode::new(name)?;
    let lines: String = triples.into_iter().map(|t| format!("{} .\n", t.in_graph(graph.clone()))).collect();
    load_into(database, lines.into_bytes(), lode_rdf::RdfFormat::NQuads, None, 1)
}
