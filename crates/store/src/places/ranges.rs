//! Which literals of a segment's dictionary are geometries: those of one datatype are beside each other.

use crate::version::OpenSegment;
use lode_geo::vocabulary::GEOMETRY_LITERALS;
use lode_packed::{Dictionary, PackedError};
use lode_rdf::TermRef;
use lode_rdf::key::{escape, with_term};
use lode_rdf::value_id::Section;
use std::ops::Range;

/// The section in which they are.
pub const LITERALS: Section = Section::TypedLiteral;
/// Keys that are read at once.
const KEYS_AT_ONCE: u64 = 1024;

/// Ranges of the places of geometries among the literals of a segment.
pub fn geometries_of(segment: &OpenSegment) -> Result<Vec<Range<u64>>, PackedError> {
    let Some(dictionary) = segment.dictionary().filter(|dictionary| dictionary.len(LITERALS) > 0) else {
        return Ok(Vec::new());
    };
    let mut ranges = Vec::new();
    for datatype in GEOMETRY_LITERALS {
        let mut key = Vec::new();
        escape(datatype.as_bytes(), &mut key);
        let start = dictionary.lower_bound(LITERALS, &[&key[..], &[0, 1]].concat())?;
        let end = dictionary.lower_bound(LITERALS, &[&key[..], &[0, 2]].concat())?;
        if start < end {
            ranges.push(start..end);
        }
    }
    Ok(ranges)
}

/// Calls `found` with the place, the text and the datatype of each of a range, as long as it is true.
pub fn each_geometry<E: From<PackedError>>(
    dictionary: &Dictionary,
    range: &Range<u64>,
    found: &mut dyn FnMut(u64, &str, &str) -> Result<(), E>,
) -> Result<(), E> {
    let mut from = range.start;
    while from < range.end {
        let numbers: Vec<u64> = (from..range.end.min(from + KEYS_AT_ONCE)).collect();
        dictionary.visit_sorted::<E>(LITERALS, &numbers, &mut |at, key| {
            with_geometry(key, |text, datatype| found(from + at as u64, text, datatype)).unwrap_or(Ok(()))
        })?;
        from += KEYS_AT_ONCE;
    }
    Ok(())
}

/// Calls `f` with the text and the datatype of a key; none for what is no literal.
pub fn with_geometry<R>(key: &[u8], f: impl FnOnce(&str, &str) -> R) -> Option<R> {
    let of_term = |term: TermRef<'_>| match term {
        TermRef::Literal(literal) => Some(f(literal.value(), literal.datatype().as_str())),
        _ => None,
    };
    with_term(LITERALS, key, of_term).ok().flatten()
}
