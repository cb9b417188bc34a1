//! Every RDF parser: any bytes give quads or an error. The first byte chooses the syntax.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lode_rdf::format::RdfFormat;
use lode_rdf::parse::{ParseOptions, parse_to_vec};

fuzz_target!(|data: &[u8]| {
    let Some((choice, text)) = data.split_first() else { return };
    let formats = [RdfFormat::Turtle, RdfFormat::TriG, RdfFormat::RdfXml, RdfFormat::JsonLd];
    let format = formats[usize::from(*choice) % formats.len()];
    let _ = parse_to_vec(format, text, &ParseOptions::default());
});
