//! What the query mixes draw their parameters from.

use super::catalogue::Catalogue;
use super::dates::Day;
use super::random::Random;
use super::resource::Resource;
use super::vocabulary::{COUNTRIES, country_at};

/// The parameters that fit the data set of a scale and seed, without generating or reading it.
///
/// Resources are given as `<IRI>`, literals in full, ready for the text of a query.
#[derive(Debug)]
pub struct ParameterPools {
    catalogue: Catalogue,
}

/// A product type with the features that its products may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProductType {
    /// The type, as `<IRI>`.
    pub iri: String,
    /// Features of the type and of its ancestors, as `<IRI>`; a product has each with a chance of one in four.
    pub features: Vec<String>,
}

impl ParameterPools {
    /// The pools of the data set with this many products (at least 1) and this seed.
    pub fn new(products: u64, seed: u64) -> Self {
        Self { catalogue: Catalogue::new(products.clamp(1, super::PRODUCTS_MAX), seed) }
    }

    pub(super) fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// The number of products.
    pub fn product_count(&self) -> u64 {
        self.catalogue.products
    }

    /// The number of offers.
    pub fn offer_count(&self) -> u64 {
        self.catalogue.offers()
    }

    /// The number of reviews.
    pub fn review_count(&self) -> u64 {
        self.catalogue.reviews()
    }

    /// The number of producers.
    pub fn producer_count(&self) -> u64 {
        self.catalogue.producers.owners()
    }

    /// The number of vendors.
    pub fn vendor_count(&self) -> u64 {
        self.catalogue.vendors.owners()
    }

    /// The number of product types on each level, from the root down.
    pub fn product_type_levels(&self) -> Vec<u64> {
        let types = &self.catalogue.types;
        (0..types.levels()).map(|level| types.level(level).count() as u64).collect()
    }

    /// The product with a number from 1 on.
    pub fn product(&self, number: u64) -> String {
        Resource::Product { number, producer: self.catalogue.producers.owner_of(number) }.text()
    }

    /// The offer with a number from 1 on.
    pub fn offer(&self, number: u64) -> String {
        Resource::Offer { number, vendor: self.catalogue.vendors.owner_of(number) }.text()
    }

    /// The review with a number from 1 on.
    pub fn review(&self, number: u64) -> String {
        Resource::Review { number, site: self.catalogue.rating_sites.owner_of(number) }.text()
    }

    /// The producer with a number from 1 on.
    pub fn producer(&self, number: u64) -> String {
        Resource::Producer(number).text()
    }

    /// The vendor with a number from 1 on.
    pub fn vendor(&self, number: u64) -> String {
        Resource::Vendor(number).text()
    }

    /// A random product.
    pub fn random_product(&self, random: &mut Random) -> String {
        self.product(random.between(1, self.product_count()))
    }

    /// A random offer.
    pub fn random_offer(&self, random: &mut Random) -> String {
        self.offer(random.between(1, self.offer_count()))
    }

    /// A random review.
    pub fn random_review(&self, random: &mut Random) -> String {
        self.review(random.between(1, self.review_count()))
    }

    /// A random producer.
    pub fn random_producer(&self, random: &mut Random) -> String {
        self.producer(random.between(1, self.producer_count()))
    }

    /// A random vendor.
    pub fn random_vendor(&self, random: &mut Random) -> String {
        self.vendor(random.between(1, self.vendor_count()))
    }

    /// A random leaf of the type hierarchy, with its features.
    pub fn random_product_type(&self, random: &mut Random) -> ProductType {
        let types = &self.catalogue.types;
        let leaves = types.leaves();
        let number = random.between(*leaves.start(), *leaves.end());
        let lineage = types.lineage(number);
        let features =
            lineage.flat_map(|(_, node)| node.features.clone().map(|f| Resource::Feature(f).text()));
        ProductType { iri: Resource::ProductType(number).text(), features: features.collect() }
    }

    /// A random type of a random level, from the given level (the root is 0) down to the leaves.
    pub fn random_product_type_below(&self, level: usize, random: &mut Random) -> String {
        let types = &self.catalogue.types;
        let last = types.levels() as u64 - 1;
        let level = random.between((level as u64).min(last), last);
        let numbers = types.level(level as usize);
        Resource::ProductType(random.between(*numbers.start(), *numbers.end())).text()
    }

    /// A random country, with the same shares as in the data.
    pub fn random_country(&self, random: &mut Random) -> String {
        Resource::Country(country_at(random.below(100))).text()
    }

    /// All countries of the data.
    pub fn countries(&self) -> Vec<String> {
        COUNTRIES.iter().map(|country| Resource::Country(country).text()).collect()
    }

    /// A bound for comparisons with numeric product properties.
    pub fn random_property_bound(&self, random: &mut Random) -> u64 {
        random.between(1, 500)
    }

    /// The benchmark's today, as an `xsd:dateTime` literal.
    pub fn current_date(&self) -> String {
        format!("\"{}T00:00:00\"^^<http://www.w3.org/2001/XMLSchema#dateTime>", Day::TODAY)
    }

    /// The bounds of two consecutive periods of four weeks within the year of the reviews, as `YYYY-MM-DD`.
    pub fn random_consecutive_months(&self, random: &mut Random) -> [String; 3] {
        let first = Day::new(2007, 6, 20).0 + random.between(0, 309);
        [0, 28, 56].map(|days| Day(first + days).to_string())
    }
}
