//! The list of failures that are known, each with its reason.

use crate::rdf_files;
use anyhow::{Result, bail};
use std::collections::BTreeMap;
use std::path::Path;

/// Tests that are known to fail.
///
/// A line is `<test IRI> | which | reason`, where `which` is `all` or the name of the subject that fails it. Lines that start with `#`
/// are comments.
#[derive(Debug, Default, Clone)]
pub struct ExpectedFailures {
    reasons: BTreeMap<String, String>,
}

impl ExpectedFailures {
    /// The entries of `expected_failures.txt` for a subject.
    ///
    /// # Errors
    ///
    /// Where the file cannot be read, or as [`ExpectedFailures::parse`].
    pub fn load(subject: &str) -> Result<Self> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("expected_failures.txt");
        Self::parse(&rdf_files::read_text(&path)?, subject)
    }

    /// Reads the list.
    ///
    /// # Errors
    ///
    /// Where a line is no entry.
    pub fn parse(text: &str, subject: &str) -> Result<Self> {
        let mut reasons = BTreeMap::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let parts: Vec<_> = line.splitn(3, '|').map(str::trim).collect();
            let [iri, which, reason] = parts.as_slice() else {
                bail!("expected_failures.txt, line {}: not `<IRI> | which | reason`", number + 1);
            };
            let Some(iri) = iri.strip_prefix('<').and_then(|i| i.strip_suffix('>')) else {
                bail!("expected_failures.txt, line {}: the test's IRI is not in <>", number + 1);
            };
            if reason.is_empty() {
                bail!("expected_failures.txt, line {}: a failure needs a reason", number + 1);
            }
            if (*which == "all" || *which == subject)
                && reasons.insert(iri.to_owned(), (*reason).to_owned()).is_some()
            {
                bail!("expected_failures.txt, line {}: <{iri}> is listed twice", number + 1);
            }
        }
        Ok(Self { reasons })
    }

    /// Why a test is expected to fail.
    pub fn reason(&self, iri: &str) -> Option<&str> {
        self.reasons.get(iri).map(String::as_str)
    }

    /// All tests listed.
    pub fn tests(&self) -> impl Iterator<Item = &str> {
        self.reasons.keys().map(String::as_str)
    }
}
