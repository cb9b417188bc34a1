//! Made-up quads of the shape of a web shop (after the Berlin SPARQL benchmark): products, offers and reviews, with links,
//! labels, numbers, prices and dates, as ids. For measurements of size and speed that need no parser and no dictionary.

use lode_rdf::value_id::{Kind, ValueId};

/// A quad: S, P, O, G.
pub type Quad = [u64; 4];

const DAY_MILLIS: u64 = 86_400_000;
const OFFERS_PER_PRODUCT: u64 = 20;
const REVIEWS_PER_PRODUCT: u64 = 10;

/// A small generator of well-mixed numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }
}

fn id(kind: Kind, payload: u64) -> u64 {
    ValueId::new(kind, payload).to_bits()
}

fn iri(rank: u64) -> u64 {
    id(Kind::Iri, rank)
}

fn integer(value: u64) -> u64 {
    id(Kind::Integer, (1 << 55) + value)
}

fn date(day: u64) -> u64 {
    id(Kind::DateTime, (63_000_000_000_000 + day * DAY_MILLIS) << 9)
}

/// Ranges of ranks of IRIs, in the order of their text.
struct Iris {
    offers: u64,
    pages: u64,
    products: u64,
    reviews: u64,
    vendors: u64,
    people: u64,
    predicates: u64,
}

struct Shop {
    random: Random,
    iris: Iris,
    products: u64,
    quads: Vec<Quad>,
}

impl Shop {
    fn add(&mut self, subject: u64, predicate: u64, object: u64) {
        let predicate = id(Kind::Iri, self.iris.predicates + predicate);
        self.quads.push([id(Kind::Iri, subject), predicate, object, ValueId::DEFAULT_GRAPH.to_bits()]);
    }

    fn text(&mut self) -> u64 {
        id(Kind::LangString, self.random.below(self.products * 40))
    }

    fn product(&mut self, number: u64) {
        let s = self.iris.products + number;
        self.add(s, 0, iri(number % 97));
        let label = id(Kind::String, self.random.below(self.products));
        self.add(s, 1, label);
        for _ in 0..9 + self.random.below(14) {
            let feature = iri(200 + self.random.below(2000));
            self.add(s, 2, feature);
        }
        for property in 0..3 + self.random.below(3) {
            let number = integer(self.random.below(2000));
            self.add(s, 3 + property, number);
        }
        let published = date(self.random.below(300));
        self.add(s, 10, published);
    }

    fn offer(&mut self, number: u64) {
        let s = self.iris.offers + number;
        let vendor = iri(self.iris.vendors + number / 2000);
        let product = iri(self.iris.products + self.random.below(self.products));
        let price = id(Kind::TypedLiteral, self.random.below(600_000));
        let (from, length) = (self.random.below(90), self.random.below(90));
        let days = integer(1 + self.random.below(21));
        let page = iri(self.iris.pages + number);
        self.add(s, 0, iri(1));
        for (predicate, object) in
            (11..).zip([product, vendor, price, date(from), date(from + length), days, page])
        {
            self.add(s, predicate, object);
        }
        self.add(s, 18, vendor);
        self.add(s, 10, date(from));
    }

    fn review(&mut self, number: u64) {
        let s = self.iris.reviews + number;
        let product = iri(self.iris.products + self.random.below(self.products));
        let person = iri(self.iris.people + number / 20);
        let (title, text) = (self.text(), self.text());
        let day = date(self.random.below(500));
        self.add(s, 0, iri(2));
        for (predicate, object) in (20..).zip([product, person, title, text, day]) {
            self.add(s, predicate, object);
        }
        for rating in 0..4 {
            if self.random.below(10) < 7 {
                let stars = integer(1 + self.random.below(10));
                self.add(s, 30 + rating, stars);
            }
        }
    }
}

/// About 325 quads for each product, in order and without repeats.
pub fn quads(products: u64) -> Vec<Quad> {
    let (offers, reviews) = (products * OFFERS_PER_PRODUCT, products * REVIEWS_PER_PRODUCT);
    let iris = Iris {
        offers: 10_000,
        products: 10_000 + offers,
        reviews: 10_000 + offers + products,
        vendors: 9000,
        people: 10_000 + offers + products + reviews,
        pages: 20_000 + offers + products + 2 * reviews,
        predicates: 30_000 + 2 * offers + products + 2 * reviews,
    };
    let mut shop = Shop { random: Random(42), iris, products, quads: Vec::new() };
    (0..products).for_each(|number| shop.product(number));
    (0..offers).for_each(|number| shop.offer(number));
    (0..reviews).for_each(|number| shop.review(number));
    shop.quads.sort_unstable();
    shop.quads.dedup();
    shop.quads
}
