//! The Lehigh University Benchmark: universities by the profile of the published generator, and its 14 queries.
//!
//! Few predicates, a deep class structure, many small neighbourhoods. How many of what a department has, who takes what from whom, and
//! the IRIs are those of UBA (Guo, Pan, Heflin: "LUBM: A benchmark for OWL knowledge base systems", 2005, appendix); random
//! numbers are our own, so counts are alike and not the same. Courses are numbered without gaps, which makes sure that those exist that the
//! queries name.
//!
//! The queries ask for what an ontology implies ([`write_ontology`]). For stores that do not reason, with [`Options::inferred`], what the univ-bench
//! ontology implies for the queries is written beside what is asserted ([`ontology`]): super-classes and super-properties, inverses, sub-organisations
//! of sub-organisations, and the classes that are defined by a property (chairs, students, assistants, employees).

mod department;
mod ontology;
#[cfg(test)]
mod tests;
mod university;
mod writer;

pub use ontology::write_ontology;

use crate::NamedQuery;
use crate::bsbm::Random;
use crate::named_query::query_set;
use department::Department;
use std::io::{self, Write};
use university::{DEGREE_UNIVERSITIES, university_iri};
use writer::Writer;

/// About how many triples are asserted of a university.
pub const TRIPLES_PER_UNIVERSITY: u64 = 135_000;

/// The seed used when none is given.
pub const DEFAULT_SEED: u64 = 0;

/// Departments of a university.
const DEPARTMENTS: (u64, u64) = (15, 25);

/// The published queries, in their order.
pub const QUERIES: [NamedQuery; 14] = query_set![
    "lubm-1", "lubm-2", "lubm-3", "lubm-4", "lubm-5", "lubm-6", "lubm-7", "lubm-8", "lubm-9", "lubm-10",
    "lubm-11", "lubm-12", "lubm-13", "lubm-14",
];

/// What to generate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// The scale.
    pub universities: u64,
    /// Selects one of the data sets of this scale.
    pub seed: u64,
    /// Whether what follows from the ontology is written, too.
    pub inferred: bool,
}

/// Writes universities as N-Triples and returns how many triples they have. Fails only if `out` does.
///
/// # Errors
///
/// Where `out` fails.
pub fn generate(options: &Options, out: &mut dyn Write) -> io::Result<u64> {
    let mut writer = Writer::new(out, options.inferred);
    let everywhere = options.universities.max(DEGREE_UNIVERSITIES);
    for university in 0..everywhere {
        writer.classes(&university_iri(university), &["University"])?;
    }
    for university in 0..options.universities {
        let mut random = Random::new(options.seed ^ (university + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        writer.text(&university_iri(university), "name", &format!("University{university}"))?;
        for number in 0..random.between(DEPARTMENTS.0, DEPARTMENTS.1) {
            Department::new(university, number, &mut random).write(&mut writer)?;
        }
    }
    writer.finish()
}
