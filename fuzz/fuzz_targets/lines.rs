//! The N-Triples and N-Quads scanner against the general parser: both accept, with the same quads, or both refuse.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lode_rdf::format::RdfFormat;
use lode_rdf::parse::{LineChunk, ParseOptions, parse_line_chunk};
use lode_rdf::Quad;
use std::ops::ControlFlow;

fuzz_target!(|data: &[u8]| {
    for format in [RdfFormat::NTriples, RdfFormat::NQuads] {
        let mut quads: Vec<Quad> = Vec::new();
        let mut bad = 0;
        let chunk = LineChunk { bytes: data, first_line: 1, offset: 0 };
        let _ = parse_line_chunk(
            format,
            chunk,
            &mut |quad| {
                quads.push(quad.as_ref().into_owned());
                ControlFlow::Continue(())
            },
            &mut |_| {
                bad += 1;
                ControlFlow::Continue(())
            },
        );
        if let Ok(expected) = lode_rdf::parse::parse_to_vec(format, data, &ParseOptions::default()) {
            assert_eq!(bad, 0);
            assert_eq!(quads, expected);
        }
    }
});
