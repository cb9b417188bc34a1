//! The names by which schemas say what they say.

use lode_rdf::{NamedNode, Term};

const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
const RDFS: &str = "http://www.w3.org/2000/01/rdf-schema#";
const OWL: &str = "http://www.w3.org/2002/07/owl#";

fn term(namespace: &str, name: &str) -> Term {
    NamedNode::new_unchecked(format!("{namespace}{name}")).into()
}

/// A name of RDF.
pub fn rdf(name: &str) -> Term {
    term(RDF, name)
}

/// A name of RDF Schema.
pub fn rdfs(name: &str) -> Term {
    term(RDFS, name)
}

/// A name of OWL.
pub fn owl(name: &str) -> Term {
    term(OWL, name)
}
