//! The classes of the data set: one file per kind of document, each writing its resources in full.

pub(super) mod producers;
pub(super) mod rating_sites;
pub(super) mod types;
pub(super) mod vendors;

use super::catalogue::Catalogue;
use super::dates::Day;
use super::random::{ONE, Random};
use super::resource::Resource;
use super::vocabulary::{Country, country_at};
use super::writer::Writer;
use super::{vocabulary as v, vocabulary::Name};

/// A day from the first to the last, both included.
fn day_between(random: &mut Random, first: Day, last: Day) -> Day {
    Day(random.between(first.0, last.0))
}

/// A country; the United States most often.
fn country(random: &mut Random) -> &'static Country {
    country_at(random.below(100))
}

/// The product of an offer or a review; those in the middle most often.
fn random_product(c: &Catalogue, random: &mut Random) -> Resource {
    let number = random.normal_rank(2 * ONE, 4 * ONE, c.products);
    Resource::Product { number, producer: c.producers.owner_of(number) }
}

/// Class, label of one to three words and comment: what most resources begin with.
fn describe(w: &mut Writer<'_>, random: &mut Random, class: Name, comment_words: (u64, u64)) {
    w.name(v::TYPE, class);
    let words = random.between(1, 3);
    w.words(v::LABEL, random, words);
    let words = random.between(comment_words.0, comment_words.1);
    w.words(v::COMMENT, random, words);
}
