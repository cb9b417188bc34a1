//! The Berlin SPARQL Benchmark, version 3.1: data generator, parameter pools and query mixes.
//!
//! The benchmark models a shop portal: producers make products, vendors offer them, reviewers on rating
//! sites judge them. The generator follows the published data rules (classes, properties, counts per product,
//! distributions, value types, IRIs; class membership materialised along the type hierarchy, as in the
//! published data sets), with its own random numbers and word lists. 28,480 products give about 10 million triples.
//!
//! Every resource draws from a random stream of its own, derived from the seed, its class and its number.
//! Hence the same seed gives the same bytes everywhere, and [`ParameterPools`] knows what the
//! data contains without generating it. All arithmetic is on integers.

mod catalogue;
mod classes;
mod dates;
mod demo;
mod mix;
mod pools;
mod random;
mod resource;
#[cfg(test)]
mod tests;
mod updates;
mod vocabulary;
mod words;
mod writer;

use std::io::{self, Write};

pub use demo::demo_queries;
pub use mix::{bi_mix, bi_queries, explore_mix, explore_queries};
pub use pools::ParameterPools;
pub use random::Random;
pub use writer::Format;

use catalogue::Catalogue;
use writer::Writer;

/// The seed used when none is given.
pub const DEFAULT_SEED: u64 = 808_080;

/// About how many triples are made per product; fewer in large data sets, more in small ones.
pub const TRIPLES_PER_PRODUCT: u64 = 355;

/// More products than any machine can hold; keeps the arithmetic far from overflow.
const PRODUCTS_MAX: u64 = 100_000_000_000;

/// What to generate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// The scale: about [`TRIPLES_PER_PRODUCT`] triples are made for each.
    pub products: u64,
    /// Selects one of the data sets of this scale.
    pub seed: u64,
    /// The syntax.
    pub format: Format,
}

/// What was generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "counts of the classes that they are named after")]
pub struct Summary {
    /// Triples or, for N-Quads, quads written.
    pub statements: u64,
    /// Bytes written.
    pub bytes: u64,
    pub product_types: u64,
    pub product_features: u64,
    pub producers: u64,
    pub products: u64,
    pub vendors: u64,
    pub offers: u64,
    pub rating_sites: u64,
    pub reviewers: u64,
    pub reviews: u64,
}

/// Writes the data set that `options` describes to `out`.
///
/// Calls `progress` with the number of statements made so far, about every quarter of a megabyte.
/// Fails with [`io::ErrorKind::InvalidInput`] if the number of products is 0 or absurdly large, else only if `out` fails.
///
/// # Errors
///
/// Where `out` fails.
pub fn generate(
    options: &Options,
    out: &mut dyn Write,
    progress: &mut dyn FnMut(u64),
) -> io::Result<Summary> {
    if options.products == 0 || options.products > PRODUCTS_MAX {
        let what = format!("the number of products must be between 1 and {PRODUCTS_MAX}");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    let catalogue = Catalogue::new(options.products, options.seed);
    let mut writer = Writer::new(options.format, out, progress);
    writer.header()?;
    classes::types::write(&mut writer, &catalogue)?;
    classes::producers::write(&mut writer, &catalogue)?;
    classes::vendors::write(&mut writer, &catalogue)?;
    let reviewers = classes::rating_sites::write(&mut writer, &catalogue)?;
    let (statements, bytes) = writer.finish()?;
    Ok(Summary {
        statements,
        bytes,
        product_types: catalogue.types.count(),
        product_features: catalogue.types.feature_count(),
        producers: catalogue.producers.owners(),
        products: catalogue.products,
        vendors: catalogue.vendors.owners(),
        offers: catalogue.offers(),
        rating_sites: catalogue.rating_sites.owners(),
        reviewers,
        reviews: catalogue.reviews(),
    })
}
