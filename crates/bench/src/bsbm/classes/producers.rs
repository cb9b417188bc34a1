//! Producers and their products.

use std::io;

use super::super::catalogue::Catalogue;
use super::super::dates::Day;
use super::super::random::{ONE, Random, Stream};
use super::super::resource::{Document, Resource};
use super::super::vocabulary as v;
use super::super::writer::Writer;
use super::{country, day_between, describe};

/// The largest value of a numeric product property.
const NUMERIC_MAX: u64 = 2000;

/// Writes the document of every producer.
pub(in super::super) fn write(w: &mut Writer<'_>, c: &Catalogue) -> io::Result<()> {
    for producer in 1..=c.producers.owners() {
        producer_and_header(w, c, producer)?;
        for number in c.producers.items_of(producer) {
            product(w, c, number, producer)?;
        }
    }
    Ok(())
}

fn producer_and_header(w: &mut Writer<'_>, c: &Catalogue, number: u64) -> io::Result<()> {
    let random = &mut c.random(Stream::Producer, number);
    let published = day_between(random, Day::new(2000, 8, 20), Day::new(2005, 7, 23));
    w.document(Document::Producer(number), published)?;
    w.subject(Resource::Producer(number));
    describe(w, random, v::PRODUCER_CLASS, (20, 50));
    w.homepage("Producer", number);
    w.resource(v::COUNTRY, Resource::Country(country(random)));
    w.resource(v::DC_PUBLISHER, Resource::Producer(number));
    w.date(v::DC_DATE, published);
    w.end_subject()
}

/// Writes a product.
pub(in super::super) fn product(
    w: &mut Writer<'_>,
    c: &Catalogue,
    number: u64,
    producer: u64,
) -> io::Result<()> {
    let random = &mut c.random(Stream::Product, number);
    let leaves = c.types.leaves();
    let leaf = leaves.start() - 1 + random.normal_rank(0, 2 * ONE, leaves.end() + 1 - leaves.start());

    w.subject(Resource::Product { number, producer });
    describe(w, random, v::PRODUCT_CLASS, (50, 150));
    for (product_type, _) in c.types.lineage(leaf) {
        w.resource(v::TYPE, Resource::ProductType(product_type));
    }
    w.resource(v::PRODUCER, Resource::Producer(producer));
    properties(w, random);
    features(w, c, random, leaf);
    w.resource(v::DC_PUBLISHER, Resource::Producer(producer));
    w.date(v::DC_DATE, day_between(random, Day::new(2000, 10, 20), Day::new(2007, 1, 23)));
    w.end_subject()
}

/// Three numeric and three textual properties always; of the fourth to sixth, those that the product's kind brings.
fn properties(w: &mut Writer<'_>, random: &mut Random) {
    let shares: [u64; 3] = match random.below(100) {
        0..40 => [100, 100, 0],
        40..60 => [50, 25, 0],
        _ => [0, 25, 50],
    };
    let mut numeric = [true; 6];
    let mut textual = [true; 6];
    for (index, share) in (3..).zip(shares) {
        numeric[index] = random.percent(share);
        textual[index] = random.percent(share);
    }
    for (predicate, _) in v::NUMERIC.into_iter().zip(numeric).filter(|(_, present)| *present) {
        w.integer(predicate, random.normal_rank(0, 2 * ONE, NUMERIC_MAX));
    }
    for (predicate, _) in v::TEXTUAL.into_iter().zip(textual).filter(|(_, present)| *present) {
        let count = random.between(3, 15);
        w.words_typed(predicate, random, count);
    }
}

/// Each feature of the type and its ancestors with a chance of one in four.
fn features(w: &mut Writer<'_>, c: &Catalogue, random: &mut Random, leaf: u64) {
    for (_, node) in c.types.lineage(leaf) {
        for feature in node.features.clone() {
            if random.percent(25) {
                w.resource(v::PRODUCT_FEATURE, Resource::Feature(feature));
            }
        }
    }
}
