//! Small graphs in memory: what manifests say, and whether two graphs are the same up to blank nodes.

use lode_rdf::parse::parse_to_vec;
use lode_rdf::{ParseOptions, Quad, RdfFormat, Term};
use std::collections::{BTreeMap, BTreeSet};

const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";

/// Triples as texts: IRIs without brackets, blank nodes with `_:`, literals by their value.
pub struct Graph {
    quads: Vec<Quad>,
}

fn text(term: &Term) -> String {
    match term {
        Term::NamedNode(node) => node.as_str().to_owned(),
        Term::Literal(literal) => literal.value().to_owned(),
        other => other.to_string(),
    }
}

impl Graph {
    pub fn parse(format: RdfFormat, bytes: &[u8], base: &str) -> Self {
        let options = ParseOptions::default().with_base_iri(base).unwrap();
        Self { quads: parse_to_vec(format, bytes, &options).unwrap() }
    }

    /// The values of a property.
    pub fn all(&self, subject: &str, predicate: &str) -> Vec<String> {
        let found = self.quads.iter().filter(|quad| {
            quad.predicate.as_str() == predicate && text(&quad.subject.clone().into()) == subject
        });
        found.map(|quad| text(&quad.object)).collect()
    }

    /// The first value of a property.
    pub fn one(&self, subject: &str, predicate: &str) -> Option<String> {
        self.all(subject, predicate).into_iter().next()
    }

    /// The members of a list.
    pub fn list(&self, head: &str) -> Vec<String> {
        let (mut members, mut at) = (Vec::new(), head.to_owned());
        while let Some(first) = self.one(&at, &format!("{RDF}first")) {
            members.push(first);
            at = self.one(&at, &format!("{RDF}rest")).unwrap();
        }
        members
    }

    /// Whatever has a property, in the order of the text.
    pub fn subjects_with(&self, predicate: &str) -> Vec<String> {
        let found = self.quads.iter().filter(|quad| quad.predicate.as_str() == predicate);
        found.map(|quad| text(&quad.subject.clone().into())).collect()
    }

    /// The entries of a manifest.
    pub fn entries(&self, manifest_terms: &str) -> Vec<String> {
        let predicate = format!("{manifest_terms}entries");
        let lists = self.quads.iter().filter(|quad| quad.predicate.as_str() == predicate);
        lists.flat_map(|quad| self.list(&text(&quad.object))).collect()
    }

    fn blanks(&self) -> Vec<String> {
        let terms = self.quads.iter().flat_map(|quad| [quad.subject.clone().into(), quad.object.clone()]);
        let blanks: BTreeSet<String> = terms
            .filter(|term: &Term| matches!(term, Term::BlankNode(_)))
            .map(|term| term.to_string())
            .collect();
        blanks.into_iter().collect()
    }

    fn triples(&self, names: &BTreeMap<String, String>) -> BTreeSet<[String; 3]> {
        let name = |term: Term| names.get(&term.to_string()).cloned().unwrap_or_else(|| term.to_string());
        let triple = |quad: &Quad| {
            [name(quad.subject.clone().into()), quad.predicate.to_string(), name(quad.object.clone())]
        };
        self.quads.iter().map(triple).collect()
    }
}

/// Whether some renaming of blank nodes makes two graphs equal; tries all, so there must be few.
pub fn isomorphic(a: &Graph, b: &Graph) -> bool {
    let (from, to) = (a.blanks(), b.blanks());
    assert!(from.len() < 8, "too many blank nodes");
    from.len() == to.len() && tries(a, &b.triples(&BTreeMap::new()), &from, &to, &mut BTreeMap::new())
}

fn tries(
    a: &Graph,
    wanted: &BTreeSet<[String; 3]>,
    from: &[String],
    to: &[String],
    names: &mut BTreeMap<String, String>,
) -> bool {
    let Some((first, rest)) = from.split_first() else { return a.triples(names) == *wanted };
    to.iter().any(|candidate| {
        if names.values().any(|taken| taken == candidate) {
            return false;
        }
        names.insert(first.clone(), candidate.clone());
        let found = tries(a, wanted, rest, to, names);
        names.remove(first);
        found
    })
}
