//! Random data and queries for the differential test: small vocabularies, so that joins find something; all kinds of terms; all
//! operators, nested. The same seed gives the same case, whatever the machine.

pub mod ast;
mod data;
mod expressions;
mod queries;
mod random;
pub mod shrink;
#[cfg(test)]
mod tests;
pub mod updates;

pub use random::Random;

use ast::Query;

/// The prefixes of all generated texts.
pub const PREFIXES: &str = "PREFIX : <http://e/>\nPREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n\
    PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>\n";

/// One case of the differential test.
#[derive(Debug, Clone)]
pub struct Case {
    /// Quads, each as TriG without prefixes.
    pub data: Vec<String>,
    /// The query.
    pub query: Query,
    /// Whether the default graph is the union of all graphs.
    pub union_default_graph: bool,
}

/// So many seeds in a row have the same data, so that it is loaded once for all of them.
const CASES_PER_DATASET: u64 = 16;

/// The number of the data of a seed's case.
pub fn dataset_of(seed: u64) -> u64 {
    seed / CASES_PER_DATASET
}

impl Case {
    /// The case of a seed.
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(dataset_of(seed));
        let vocabulary = data::Vocabulary::new(&mut random);
        let data = vocabulary.quads(&mut random);
        let mut random = Random::new(!seed);
        let query = queries::Generator::new(&mut random, &vocabulary).query();
        Self { data, query, union_default_graph: random.chance(10) }
    }

    /// The data as TriG.
    pub fn data_text(&self) -> String {
        format!("{PREFIXES}{}\n", self.data.join("\n"))
    }

    /// The query as SPARQL.
    pub fn query_text(&self) -> String {
        format!("{PREFIXES}{}\n", self.query)
    }
}
