//! The update part of the Explore and Update use case: a new product comes with its offers and reviews, an old offer goes.

use super::ParameterPools;
use super::catalogue::{Catalogue, OFFERS_PER_PRODUCT, REVIEWS_PER_PRODUCT};
use super::classes::{producers, rating_sites, vendors};
use super::random::{Random, Stream};
use super::resource::Resource;
use super::writer::{Format, Writer};
use std::io;

impl ParameterPools {
    /// Update 1: `INSERT DATA` of the `n`-th product (from 1 on) beyond those of the data set, of a producer that there is, with 20 offers of
    /// vendors that there are, and 10 reviews, each by a new reviewer of a rating site that there is.
    pub fn insert_product(&self, n: u64) -> String {
        let mut triples = Vec::new();
        // A vector takes all that is written.
        let _ = write_product(self.catalogue(), n, &mut triples);
        format!("INSERT DATA {{\n{}}}", String::from_utf8_lossy(&triples))
    }

    /// Update 2: all triples of a random offer are deleted.
    pub fn delete_offer(&self, random: &mut Random) -> String {
        format!("DELETE WHERE {{ {} ?p ?o }}", self.random_offer(random))
    }
}

fn write_product(c: &Catalogue, n: u64, out: &mut Vec<u8>) -> io::Result<()> {
    let progress = &mut |_| {};
    let w = &mut Writer::new(Format::NTriples, out, progress);
    let number = c.products + n;
    let random = &mut c.random(Stream::NewProduct, number);
    let producer = random.between(1, c.producers.owners());
    producers::product(w, c, number, producer)?;
    let product = Resource::Product { number, producer };
    for offer in of_product(number, OFFERS_PER_PRODUCT) {
        let vendor = random.between(1, c.vendors.owners());
        vendors::offer_of(w, random, (offer, vendor), product)?;
    }
    for review in of_product(number, REVIEWS_PER_PRODUCT) {
        let site = random.between(1, c.rating_sites.owners());
        let author = rating_sites::reviewer(w, c, review, site)?;
        rating_sites::review_of(w, random, (review, author), product)?;
    }
    w.flush()
}

/// Numbers beyond those of the data set for what comes with a product that is.
fn of_product(product: u64, count: u64) -> std::ops::RangeInclusive<u64> {
    (product - 1) * count + 1..=product * count
}
