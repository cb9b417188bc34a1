//! Rating sites: reviewers and their reviews.

use std::io;

use super::super::catalogue::Catalogue;
use super::super::dates::Day;
use super::super::random::{Random, Stream};
use super::super::resource::{Document, Resource};
use super::super::vocabulary as v;
use super::super::vocabulary::Country;
use super::super::writer::Writer;
use super::{country, day_between, random_product};

/// The chance of each of the four ratings, in per cent.
const RATING_SHARE: u64 = 70;

/// The site and person a review belongs to.
#[derive(Clone, Copy)]
pub(in super::super) struct Author {
    number: u64,
    site: u64,
    country: &'static Country,
}

/// Writes the document of every rating site; gives the number of reviewers.
pub(in super::super) fn write(w: &mut Writer<'_>, c: &Catalogue) -> io::Result<u64> {
    let mut reviewer_number = 0;
    for site in 1..=c.rating_sites.owners() {
        let random = &mut c.random(Stream::RatingSite, site);
        w.document(Document::RatingSite(site), day_between(random, Day::TODAY, Day::new(2008, 9, 23)))?;
        let reviews = c.rating_sites.items_of(site);
        let mut next = *reviews.start();
        while next <= *reviews.end() {
            reviewer_number += 1;
            let author = reviewer(w, c, reviewer_number, site)?;
            let after = (*reviews.end() + 1).min(next + c.reviews_of_reviewer(reviewer_number));
            for number in next..after {
                review(w, c, number, author)?;
            }
            next = after;
        }
    }
    Ok(reviewer_number)
}

/// Writes a reviewer.
pub(in super::super) fn reviewer(
    w: &mut Writer<'_>,
    c: &Catalogue,
    number: u64,
    site: u64,
) -> io::Result<Author> {
    let random = &mut c.random(Stream::Reviewer, number);
    let country = country(random);
    w.subject(Resource::Reviewer { number, site });
    w.name(v::TYPE, v::PERSON);
    w.person_name(random);
    w.fingerprint(random);
    w.resource(v::COUNTRY, Resource::Country(country));
    w.resource(v::DC_PUBLISHER, Resource::RatingSite(site));
    w.date(v::DC_DATE, day_between(random, Day::TODAY, Day::new(2008, 9, 23)));
    w.end_subject()?;
    Ok(Author { number, site, country })
}

fn review(w: &mut Writer<'_>, c: &Catalogue, number: u64, author: Author) -> io::Result<()> {
    let random = &mut c.random(Stream::Review, number);
    let product = random_product(c, random);
    review_of(w, random, (number, author), product)
}

/// Writes a review (its number and author) of a product.
pub(in super::super) fn review_of(
    w: &mut Writer<'_>,
    random: &mut Random,
    (number, author): (u64, Author),
    product: Resource,
) -> io::Result<()> {
    let reviewed = day_between(random, Day(Day::TODAY.0 - 365), Day::TODAY);

    w.subject(Resource::Review { number, site: author.site });
    w.name(v::TYPE, v::REVIEW);
    w.resource(v::REVIEW_FOR, product);
    w.resource(v::REVIEWER, Resource::Reviewer { number: author.number, site: author.site });
    w.date_time(v::REVIEW_DATE, reviewed);
    let words = random.between(4, 15);
    w.words(v::DC_TITLE, random, words);
    let words = random.between(50, 200);
    w.words_in(v::TEXT, random, words, author.country.language);
    for rating in v::RATINGS {
        if random.percent(RATING_SHARE) {
            w.integer(rating, random.between(1, 10));
        }
    }
    w.resource(v::DC_PUBLISHER, Resource::RatingSite(author.site));
    w.date(v::DC_DATE, day_between(random, reviewed, Day::TODAY));
    w.end_subject()
}
