//! The names of universities.

/// Universities where degrees come from; there are so many even if fewer are generated.
pub(super) const DEGREE_UNIVERSITIES: u64 = 1000;

pub(super) fn university_iri(number: u64) -> String {
    format!("http://www.University{number}.edu")
}
