//! Product types and product features, published by two standardisation institutions.

use std::io;

use super::super::catalogue::Catalogue;
use super::super::dates::Day;
use super::super::random::Stream;
use super::super::resource::{Document, Resource};
use super::super::vocabulary as v;
use super::super::writer::Writer;
use super::{day_between, describe};

const FIRST_DAY: Day = Day::new(2000, 6, 20);
const LAST_DAY: Day = Day::new(2000, 7, 23);
const COMMENT_WORDS: (u64, u64) = (20, 50);

/// Writes both documents.
pub(in super::super) fn write(w: &mut Writer<'_>, catalogue: &Catalogue) -> io::Result<()> {
    w.document(Document::Institution(1), FIRST_DAY)?;
    for (number, node) in catalogue.types.iter() {
        product_type(w, catalogue, number, node.parent)?;
    }
    w.document(Document::Institution(2), FIRST_DAY)?;
    for number in 1..=catalogue.types.feature_count() {
        feature(w, catalogue, number)?;
    }
    Ok(())
}

fn product_type(w: &mut Writer<'_>, c: &Catalogue, number: u64, parent: Option<u64>) -> io::Result<()> {
    let random = &mut c.random(Stream::ProductType, number);
    w.subject(Resource::ProductType(number));
    match parent {
        Some(parent) => {
            describe(w, random, v::PRODUCT_TYPE, COMMENT_WORDS);
            w.resource(v::SUB_CLASS_OF, Resource::ProductType(parent));
        }
        None => {
            w.name(v::TYPE, v::PRODUCT_TYPE);
            w.literal(v::LABEL, "Thing");
            w.literal(v::COMMENT, "The type of all products");
        }
    }
    w.resource(v::DC_PUBLISHER, Resource::Institution(1));
    w.date(v::DC_DATE, day_between(random, FIRST_DAY, LAST_DAY));
    w.end_subject()
}

fn feature(w: &mut Writer<'_>, c: &Catalogue, number: u64) -> io::Result<()> {
    let random = &mut c.random(Stream::Feature, number);
    w.subject(Resource::Feature(number));
    describe(w, random, v::PRODUCT_FEATURE_CLASS, COMMENT_WORDS);
    w.resource(v::DC_PUBLISHER, Resource::Institution(2));
    w.date(v::DC_DATE, day_between(random, FIRST_DAY, LAST_DAY));
    w.end_subject()
}
