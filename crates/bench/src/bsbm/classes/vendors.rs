//! Vendors and their offers.

use std::io;

use super::super::catalogue::Catalogue;
use super::super::dates::Day;
use super::super::random::{ONE, Random, Stream};
use super::super::resource::{Document, Resource};
use super::super::vocabulary as v;
use super::super::writer::Writer;
use super::{country, day_between, describe, random_product};

/// Vendors publish within this many days before today.
const PUBLISH_DAYS: u64 = 97;
const PRICE_CENTS: (u64, u64) = (500, 1_000_000);
const DELIVERY_DAYS_MAX: u64 = 21;

/// Writes the document of every vendor.
pub(in super::super) fn write(w: &mut Writer<'_>, c: &Catalogue) -> io::Result<()> {
    for vendor in 1..=c.vendors.owners() {
        vendor_and_header(w, c, vendor)?;
        for number in c.vendors.items_of(vendor) {
            offer(w, c, number, vendor)?;
        }
    }
    Ok(())
}

fn vendor_and_header(w: &mut Writer<'_>, c: &Catalogue, number: u64) -> io::Result<()> {
    let random = &mut c.random(Stream::Vendor, number);
    let published = day_between(random, Day(Day::TODAY.0 - PUBLISH_DAYS), Day::TODAY);
    w.document(Document::Vendor(number), published)?;
    w.subject(Resource::Vendor(number));
    describe(w, random, v::VENDOR_CLASS, (20, 50));
    w.homepage("vendor", number);
    w.resource(v::COUNTRY, Resource::Country(country(random)));
    w.resource(v::DC_PUBLISHER, Resource::Vendor(number));
    w.date(v::DC_DATE, published);
    w.end_subject()
}

fn offer(w: &mut Writer<'_>, c: &Catalogue, number: u64, vendor: u64) -> io::Result<()> {
    let random = &mut c.random(Stream::Offer, number);
    let product = random_product(c, random);
    offer_of(w, random, (number, vendor), product)
}

/// Writes an offer (its number and vendor) of a product.
pub(in super::super) fn offer_of(
    w: &mut Writer<'_>,
    random: &mut Random,
    (number, vendor): (u64, u64),
    product: Resource,
) -> io::Result<()> {
    let published = day_between(random, Day(Day::TODAY.0 - PUBLISH_DAYS), Day::TODAY);

    w.subject(Resource::Offer { number, vendor });
    w.name(v::TYPE, v::OFFER_CLASS);
    w.resource(v::PRODUCT, product);
    w.resource(v::VENDOR, Resource::Vendor(vendor));
    w.price(random.between(PRICE_CENTS.0, PRICE_CENTS.1));
    w.date_time(v::VALID_FROM, Day(published.0 - random.between(0, 90)));
    w.date_time(v::VALID_TO, Day(published.0 + random.between(7, 90)));
    w.integer(v::DELIVERY_DAYS, random.normal_rank(2 * ONE, 71 * ONE / 5, DELIVERY_DAYS_MAX));
    w.offer_page(vendor, number);
    w.resource(v::DC_PUBLISHER, Resource::Vendor(vendor));
    w.date(v::DC_DATE, published);
    w.end_subject()
}
