//! The Turtle and TriG scanner against the general parser, whole and in pieces: both accept, with the same quads but for the labels
//! of blank nodes, or both refuse. The first two bytes choose the syntax and how long pieces are.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lode_rdf::parse::{BlankLabels, ParseOptions, PieceCutter, parse_to_vec};
use lode_rdf::{Quad, RdfFormat};
use oxrdf::dataset::{CanonicalizationAlgorithm, Dataset};
use oxttl::{TriGParser, TurtleParser};
use std::ops::ControlFlow;

fuzz_target!(|data: &[u8]| {
    let [choice, wanted, text @ ..] = data else { return };
    let format = if choice % 2 == 0 { RdfFormat::Turtle } else { RdfFormat::TriG };
    let expected = general(format, text);
    let whole = parse_to_vec(format, text, &ParseOptions::default());
    // Triple terms in triple terms have a limit.
    if whole.as_ref().is_err_and(|error| error.to_string().contains("deep")) {
        return;
    }
    let whole = whole.ok().map(canonical);
    assert!(whole == expected, "the whole document");
    assert!(in_pieces(format, text, usize::from(*wanted)) == expected, "in pieces");
});

fn general(format: RdfFormat, text: &[u8]) -> Option<(usize, Dataset)> {
    let quads: Result<Vec<Quad>, _> = if format == RdfFormat::TriG {
        TriGParser::new().for_slice(text).collect()
    } else {
        let triples = TurtleParser::new().for_slice(text);
        triples.map(|item| item.map(|triple| triple.in_graph(oxrdf::GraphName::DefaultGraph))).collect()
    };
    quads.ok().map(canonical)
}

fn in_pieces(format: RdfFormat, text: &[u8], wanted: usize) -> Option<(usize, Dataset)> {
    let mut cutter = PieceCutter::new(format, &ParseOptions::default(), BlankLabels::Valid).ok()?;
    let (mut rest, mut quads) = (text, Vec::new());
    loop {
        let (piece, length) = cutter.cut(rest, wanted, true)?;
        let (text, behind) = rest.split_at(length);
        let _ = piece
            .parse(text, &mut |quad| {
                quads.extend(quad.as_ref().map(|quad| quad.into_owned()));
                ControlFlow::Continue(())
            })
            .ok()?;
        if piece.is_last() {
            return Some(canonical(quads));
        }
        rest = behind;
    }
}

fn canonical(quads: Vec<Quad>) -> (usize, Dataset) {
    let count = quads.len();
    let mut dataset: Dataset = quads.iter().collect();
    dataset.canonicalize(CanonicalizationAlgorithm::Unstable);
    (count, dataset)
}
