//! RDF files of the test suites: their formats by file name, and reading them with the parsers that the workspace builds on.

use crate::dataset::Dataset;
use anyhow::{Context, Result, bail};
use oxjsonld::{JsonLdParser, JsonLdProfile, JsonLdRemoteDocument};
use oxrdf::{BlankNode, GraphName, NamedOrBlankNode, Quad, Term, Triple};
use oxrdfxml::RdfXmlParser;
use oxttl::{NQuadsParser, NTriplesParser, TriGParser, TurtleParser};
use std::path::{Path, PathBuf};

/// The syntaxes in the suites.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RdfFormat {
    /// `.nt`
    NTriples,
    /// `.nq`
    NQuads,
    /// `.ttl`
    Turtle,
    /// `.trig`
    TriG,
    /// `.rdf`
    RdfXml,
    /// `.jsonld`
    JsonLd,
}

impl RdfFormat {
    /// The format that a file's name promises.
    pub fn of(path: &Path) -> Option<Self> {
        Some(match path.extension()?.to_str()? {
            "nt" => Self::NTriples,
            "nq" => Self::NQuads,
            "ttl" => Self::Turtle,
            "trig" => Self::TriG,
            "rdf" | "xml" => Self::RdfXml,
            "jsonld" => Self::JsonLd,
            _ => return None,
        })
    }

    /// The file name extension, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::NTriples => "nt",
            Self::NQuads => "nq",
            Self::Turtle => "ttl",
            Self::TriG => "trig",
            Self::RdfXml => "rdf",
            Self::JsonLd => "jsonld",
        }
    }
}

/// Parses a document with the reference parsers.
///
/// # Errors
///
/// Where the document is wrong.
pub fn parse(bytes: &[u8], format: RdfFormat, base: &str) -> Result<Dataset> {
    let triple = |t: Triple| t.in_graph(GraphName::DefaultGraph);
    let mut dataset = Dataset::new();
    match format {
        RdfFormat::NTriples => {
            for t in NTriplesParser::new().for_slice(bytes) {
                dataset.insert(triple(t?));
            }
        }
        RdfFormat::NQuads => {
            for q in NQuadsParser::new().for_slice(bytes) {
                dataset.insert(q?);
            }
        }
        RdfFormat::Turtle => {
            for t in TurtleParser::new().with_base_iri(base)?.for_slice(bytes) {
                dataset.insert(triple(t?));
            }
        }
        RdfFormat::TriG => {
            for q in TriGParser::new().with_base_iri(base)?.for_slice(bytes) {
                dataset.insert(q?);
            }
        }
        RdfFormat::RdfXml => {
            for t in RdfXmlParser::new().with_base_iri(base)?.for_slice(bytes) {
                dataset.insert(triple(t?));
            }
        }
        RdfFormat::JsonLd => {
            for q in JsonLdParser::new().with_base_iri(base)?.for_slice(bytes) {
                dataset.insert(q?);
            }
        }
    }
    Ok(dataset)
}

/// Parses JSON-LD, taking remote contexts from files: `site` is what the IRIs of the files under `folder` start with.
///
/// # Errors
///
/// Where the document or one of its contexts is wrong or cannot be read.
pub fn parse_json_ld(
    bytes: &[u8],
    base: &str,
    version_1_0: bool,
    site: &'static str,
    folder: PathBuf,
) -> Result<Dataset> {
    let mode = if version_1_0 {
        oxjsonld::JsonLdProcessingMode::JsonLd1_0
    } else {
        oxjsonld::JsonLdProcessingMode::JsonLd1_1
    };
    let parser = JsonLdParser::new()
        .with_processing_mode(mode)
        .with_profile(JsonLdProfile::Expanded)
        .with_base_iri(base)?
        .for_slice(bytes)
        .with_load_document_callback(move |iri, _| {
            let path = iri.strip_prefix(site).ok_or_else(|| format!("<{iri}> is not part of the suite"))?;
            Ok(JsonLdRemoteDocument {
                document: read_bytes(&folder.join(path)).map_err(|e| e.to_string())?,
                document_url: iri.to_owned(),
            })
        });
    let mut dataset = Dataset::new();
    for quad in parser {
        dataset.insert(quad?);
    }
    Ok(dataset)
}

/// Reads and parses a file whose name tells its format.
///
/// # Errors
///
/// Where the file cannot be read, its name tells no format, or its content is wrong.
pub fn read(path: &Path, base: &str) -> Result<Dataset> {
    let Some(format) = RdfFormat::of(path) else { bail!("{}: not an RDF file", path.display()) };
    parse(&read_bytes(path)?, format, base).with_context(|| format!("{}", path.display()))
}

/// A file's bytes; the error names it.
///
/// # Errors
///
/// Where the file cannot be read.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("{}", path.display()))
}

/// A file's text; the error names it.
///
/// # Errors
///
/// Where the file cannot be read, or is not UTF-8.
pub fn read_text(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("{}", path.display()))
}

/// The same quads with blank nodes that start with `prefix`, so that documents can be put together.
pub fn with_blank_prefix(dataset: &Dataset, prefix: &str) -> Dataset {
    let node = |b: &BlankNode| BlankNode::new_unchecked(format!("{prefix}{}", b.as_str()));
    dataset
        .quads()
        .iter()
        .map(|q| {
            let graph_name = match &q.graph_name {
                GraphName::BlankNode(b) => GraphName::BlankNode(node(b)),
                other => other.clone(),
            };
            let triple = rename_triple(&Triple::from(q.clone()), &node);
            Quad { subject: triple.subject, predicate: triple.predicate, object: triple.object, graph_name }
        })
        .collect()
}

fn rename_triple(triple: &Triple, node: &impl Fn(&BlankNode) -> BlankNode) -> Triple {
    let subject = match &triple.subject {
        NamedOrBlankNode::BlankNode(b) => NamedOrBlankNode::BlankNode(node(b)),
        named => named.clone(),
    };
    let object = match &triple.object {
        Term::BlankNode(b) => node(b).into(),
        Term::Triple(t) => rename_triple(t, node).into(),
        other => other.clone(),
    };
    Triple { subject, predicate: triple.predicate.clone(), object }
}
