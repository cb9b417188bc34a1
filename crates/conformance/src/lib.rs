//! Development only: the W3C suites, golden queries, the naive oracle, and differential and damage tests of the engine.

pub mod answer;
pub mod damage;
pub mod dataset;
pub mod differential;
pub mod engine_subject;
pub mod generate;
pub mod golden;
pub mod isomorphism;
pub mod knobs;
pub mod naive;
pub mod parsers;
pub mod rdf_files;
pub mod subject;
pub mod suites;
pub mod workers;
