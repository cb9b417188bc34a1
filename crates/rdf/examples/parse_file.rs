//! Parses a Turtle or TriG file and prints what a triple takes: `parse_file FILE [general]`; `general` uses oxttl alone.

use lode_rdf::parse::{BlankLabels, PieceCutter};
use lode_rdf::{ParseOptions, RdfFormat};
use std::error::Error;
use std::io::{Write, stdout};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

const ROUNDS: usize = 5;
const PIECE_BYTES: usize = 1 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let file = args.next().ok_or("usage: parse_file FILE [general]")?;
    let general = args.next().is_some();
    let format = RdfFormat::from_file_name(&file).ok_or("a .ttl or .trig file is wanted")?;
    let text = std::fs::read(&file)?;
    for _ in 0..ROUNDS {
        let (quads, cut, parsed) =
            if general { with_oxttl(format, &text)? } else { by_pieces(format, &text)? };
        let per_quad = |time: Duration| time.as_secs_f64() * 1e9 / quads.max(1) as f64;
        writeln!(
            stdout(),
            "{quads} quads, cutting {:.1} ns each, parsing {:.1} ns each",
            per_quad(cut),
            per_quad(parsed)
        )?;
    }
    Ok(())
}

type Measured = Result<(u64, Duration, Duration), Box<dyn Error>>;

fn by_pieces(format: RdfFormat, text: &[u8]) -> Measured {
    let mut cutter = PieceCutter::new(format, &ParseOptions::default(), BlankLabels::Short)?;
    let (mut rest, mut pieces) = (text, Vec::new());
    let start = Instant::now();
    while let Some((piece, length)) = cutter.cut(rest, PIECE_BYTES, true) {
        let is_last = piece.is_last();
        pieces.push((piece, rest.get(..length).unwrap_or_default()));
        rest = rest.get(length..).unwrap_or_default();
        if is_last {
            break;
        }
    }
    let cut = start.elapsed();
    let (start, mut quads) = (Instant::now(), 0);
    for (piece, text) in pieces {
        let _ = piece.parse(text, &mut |quad| {
            std::hint::black_box(quad);
            quads += 1;
            ControlFlow::Continue(())
        })?;
    }
    Ok((quads, cut, start.elapsed()))
}

fn with_oxttl(format: RdfFormat, text: &[u8]) -> Measured {
    let (start, mut quads) = (Instant::now(), 0);
    if format == RdfFormat::TriG {
        for quad in oxttl::TriGParser::new().for_slice(text) {
            std::hint::black_box(quad?);
            quads += 1;
        }
    } else {
        for triple in oxttl::TurtleParser::new().for_slice(text) {
            std::hint::black_box(triple?);
            quads += 1;
        }
    }
    Ok((quads, Duration::ZERO, start.elapsed()))
}
