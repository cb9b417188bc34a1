//! Tests of the generator.

use super::Case;
use crate::rdf_files::{RdfFormat, parse};
use spargebra::SparqlParser;

#[test]
fn a_seed_means_one_case() {
    let (a, b) = (Case::new(7), Case::new(7));
    assert_eq!((a.data_text(), a.query_text()), (b.data_text(), b.query_text()));
    assert_ne!(a.query_text(), Case::new(8).query_text());
}

#[test]
fn data_and_queries_parse() {
    for seed in 0..20_000 {
        let case = Case::new(seed);
        if let Err(error) = parse(case.data_text().as_bytes(), RdfFormat::TriG, "http://e/") {
            panic!("seed {seed}: {error}\n{}", case.data_text());
        }
        if let Err(error) = SparqlParser::new().parse_query(&case.query_text()) {
            panic!("seed {seed}: {error}\n{}", case.query_text());
        }
    }
}
