//! Data without structure: random identifiers, random texts, random numbers. What no dictionary or packing can make small
//! shows what the machinery itself costs.

use crate::bsbm::Random;
use std::io::{self, Write};

const PREDICATES: u64 = 50;
/// Triples a subject has on average.
const TRIPLES_PER_SUBJECT: u64 = 5;

/// Writes `triples` N-Triples (some may be equal).
///
/// # Errors
///
/// Where `out` fails.
pub fn generate(triples: u64, seed: u64, out: &mut dyn Write) -> io::Result<()> {
    let mut random = Random::new(seed);
    let subjects = (triples / TRIPLES_PER_SUBJECT).max(1);
    for _ in 0..triples {
        let (subject, predicate) = (resource(seed, random.below(subjects)), random.below(PREDICATES));
        write!(out, "<{subject}> <http://example.org/p/{predicate}> ")?;
        match random.below(10) {
            0..5 => writeln!(out, "<{}> .", resource(seed, random.below(subjects)))?,
            5..8 => writeln!(out, "\"{:016x}{:016x}\" .", random.bits(), random.bits())?,
            8 => {
                let number = random.bits() as i32;
                writeln!(out, "\"{number}\"^^<http://www.w3.org/2001/XMLSchema#integer> .")?;
            }
            _ => {
                let (digits, exponent) = (random.below(1_000_000_000), random.below(40));
                writeln!(out, "\"{digits}e{exponent}\"^^<http://www.w3.org/2001/XMLSchema#double> .")?;
            }
        }
    }
    Ok(())
}

fn resource(seed: u64, number: u64) -> String {
    let mut name = Random::new(seed ^ number.wrapping_mul(0xD6E8_FEB8_6659_FD93));
    format!("http://example.org/{:016x}{:016x}", name.bits(), name.bits())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_lines_are_triples() {
        let mut text = Vec::new();
        generate(2000, 7, &mut text).unwrap();
        assert_eq!(oxttl::NTriplesParser::new().for_slice(&text).filter(Result::is_ok).count(), 2000);
    }
}
