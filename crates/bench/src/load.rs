//! The load benchmark: which data in which form, and how each file is made.
//!
//! The cases are data, so that the table in the documentation, `lode bench load --list` and the runs are one.

use crate::bsbm::{self, Format, Options};
use crate::{entropy, lubm};
use std::io::{self, Write};

/// What is generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Data {
    /// BSBM with so many products.
    Bsbm {
        /// The scale.
        products: u64,
        /// Selects one of the data sets of this scale.
        seed: u64,
    },
    /// Universities.
    Lubm {
        /// How many.
        universities: u64,
    },
    /// Random identifiers and texts.
    Entropy {
        /// How many triples.
        triples: u64,
    },
}

/// The syntax of the file that is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// N-Triples.
    Nt,
    /// N-Quads; for BSBM with a named graph per document.
    Nq,
    /// Turtle.
    Ttl,
    /// RDF/XML, written by `lode dump` from the N-Triples.
    Rdf,
    /// JSON-LD, written by `lode dump` from the N-Triples.
    JsonLd,
}

impl Syntax {
    /// The extension of its files.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Nt => "nt",
            Self::Nq => "nq",
            Self::Ttl => "ttl",
            Self::Rdf => "rdf",
            Self::JsonLd => "jsonld",
        }
    }
}

/// How the file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// One gzip stream.
    Gzip,
    /// One Zstandard frame.
    Zstd,
}

impl Compression {
    /// What it adds to the name of a file.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Gzip => ".gz",
            Self::Zstd => ".zst",
        }
    }
}

/// What the database holds when the measured load begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Into {
    /// Nothing.
    Empty,
    /// The BSBM data of so many products, with other triples than the ones loaded.
    Bsbm(u64),
}

/// One line of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Case {
    /// Its name, for `--cases`.
    pub name: &'static str,
    /// What is loaded.
    pub data: Data,
    /// In which syntax.
    pub syntax: Syntax,
    /// How it is compressed.
    pub compression: Compression,
    /// In how many files.
    pub files: u64,
    /// Into what.
    pub into: Into,
    /// Threads, where not all cores.
    pub threads: Option<usize>,
    /// The `--memory` option, where it is given.
    pub memory: Option<&'static str>,
}

/// The seed of the data that a database holds already.
const OTHER_SEED: u64 = 4711;
const SEED: u64 = bsbm::DEFAULT_SEED;
/// Products of the data sets of so many triples.
const ONE_MILLION: u64 = 2848;
const TEN_MILLION: u64 = 28_480;
const TWENTY_FIVE_MILLION: u64 = 70_812;
/// Data sets of growing size, and their products.
const SIZES: [(&str, u64); 6] = [
    ("bsbm-50k", 127),
    ("bsbm-250k", 676),
    ("bsbm-1m", ONE_MILLION),
    ("bsbm-5m", 14_100),
    ("bsbm-10m", TEN_MILLION),
    ("bsbm-25m", TWENTY_FIVE_MILLION),
];

/// All cases, small ones first.
pub fn cases() -> Vec<Case> {
    let base = |name, products| Case {
        name,
        data: Data::Bsbm { products, seed: SEED },
        syntax: Syntax::Nt,
        compression: Compression::None,
        files: 1,
        into: Into::Empty,
        threads: None,
        memory: None,
    };
    let ten = |name| base(name, TEN_MILLION);
    let mut cases: Vec<Case> = SIZES.iter().map(|(name, products)| base(name, *products)).collect();
    cases.extend([
        Case { memory: Some("8GiB"), ..base("bsbm-100m", 284_826) },
        Case { syntax: Syntax::Nq, ..ten("graphs-10m") },
        Case { syntax: Syntax::Ttl, ..ten("turtle-10m") },
        Case { syntax: Syntax::Rdf, ..base("rdfxml-1m", ONE_MILLION) },
        Case { syntax: Syntax::JsonLd, ..base("jsonld-1m", ONE_MILLION) },
        Case { compression: Compression::Gzip, ..ten("gzip-10m") },
        Case { compression: Compression::Zstd, ..ten("zstd-10m") },
        Case { syntax: Syntax::Ttl, compression: Compression::Gzip, ..ten("turtle-gzip-10m") },
        Case { threads: Some(1), ..ten("one-thread-10m") },
        Case { files: 10, ..ten("ten-files-10m") },
        Case { into: Into::Bsbm(TWENTY_FIVE_MILLION), ..ten("into-25m-10m") },
        Case { memory: Some("256MiB"), ..ten("memory-256m-10m") },
        Case { memory: Some("512MiB"), ..ten("memory-512m-10m") },
        Case { memory: Some("1GiB"), ..base("memory-1g-25m", TWENTY_FIVE_MILLION) },
        Case { data: Data::Lubm { universities: 75 }, ..base("lubm-10m", 0) },
        Case { data: Data::Entropy { triples: 10_000_000 }, ..base("entropy-10m", 0) },
    ]);
    cases
}

impl Case {
    /// About how many triples are loaded.
    pub fn triples(&self) -> u64 {
        self.data.triples()
    }

    /// The data that the database holds first.
    pub const fn before(&self) -> Option<Data> {
        match self.into {
            Into::Empty => None,
            Into::Bsbm(products) => Some(Data::Bsbm { products, seed: OTHER_SEED }),
        }
    }

    /// The names of the files to load.
    pub fn file_names(&self) -> Vec<String> {
        let extension = format!("{}{}", self.syntax.extension(), self.compression.extension());
        let stem = self.data.stem();
        match self.files {
            1 => vec![format!("{stem}.{extension}")],
            count => (0..count).map(|part| format!("{stem}-{part}of{count}.{extension}")).collect(),
        }
    }
}

impl Data {
    /// About how many triples it has.
    pub fn triples(&self) -> u64 {
        match self {
            Self::Bsbm { products, .. } => products * bsbm::TRIPLES_PER_PRODUCT,
            Self::Lubm { universities } => universities * lubm::TRIPLES_PER_UNIVERSITY,
            Self::Entropy { triples } => *triples,
        }
    }

    /// How its files are called, without extension.
    pub fn stem(&self) -> String {
        match self {
            Self::Bsbm { products, seed: SEED } => format!("bsbm-{products}"),
            Self::Bsbm { products, seed } => format!("bsbm-{products}-seed-{seed}"),
            Self::Lubm { universities } => format!("lubm-{universities}"),
            Self::Entropy { triples } => format!("entropy-{triples}"),
        }
    }

    /// Writes the data. Only BSBM has syntaxes besides N-Triples, and RDF/XML and JSON-LD are made from those elsewhere.
    ///
    /// # Errors
    ///
    /// Where `out` fails.
    pub fn write(&self, syntax: Syntax, out: &mut dyn Write) -> io::Result<()> {
        match *self {
            Self::Bsbm { products, seed } => {
                let format = match syntax {
                    Syntax::Nq => Format::NQuads,
                    Syntax::Ttl => Format::Turtle,
                    Syntax::Nt | Syntax::Rdf | Syntax::JsonLd => Format::NTriples,
                };
                bsbm::generate(&Options { products, seed, format }, out, &mut |_| ()).map(|_| ())
            }
            Self::Lubm { universities } => {
                lubm::generate(&lubm::Options { universities, seed: SEED, inferred: false }, out).map(|_| ())
            }
            Self::Entropy { triples } => entropy::generate(triples, SEED, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_distinct_and_data_are_made() {
        let cases = cases();
        let names: HashSet<&str> = cases.iter().map(|case| case.name).collect();
        assert_eq!(names.len(), cases.len());
        assert!(
            cases.iter().all(|case| case.file_names().len() as u64 == case.files && case.triples() > 10_000)
        );
        let mut text = Vec::new();
        Data::Bsbm { products: 10, seed: SEED }.write(Syntax::Ttl, &mut text).unwrap();
        assert!(text.starts_with(b"@prefix"));
    }
}
