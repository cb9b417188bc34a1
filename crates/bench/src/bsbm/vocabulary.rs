//! The names of the benchmark's vocabulary, and the countries with their languages.

/// A fixed name: as N-Triples and as a prefixed name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Name {
    pub(super) full: &'static str,
    pub(super) short: &'static str,
}

macro_rules! names {
    ($namespace:literal $prefix:literal: $($id:ident = $local:literal),* $(,)?) => {
        $(pub(super) const $id: Name = Name {
            full: concat!("<", $namespace, $local, ">"),
            short: concat!($prefix, ":", $local),
        };)*
    };
}

names!("http://www.w3.org/1999/02/22-rdf-syntax-ns#" "rdf": TYPE = "type");
names!("http://www.w3.org/2000/01/rdf-schema#" "rdfs":
    LABEL = "label", COMMENT = "comment", SUB_CLASS_OF = "subClassOf");
names!("http://www.w3.org/2001/XMLSchema#" "xsd":
    XSD_STRING = "string", XSD_INTEGER = "integer", XSD_DATE = "date", XSD_DATE_TIME = "dateTime");
names!("http://purl.org/dc/elements/1.1/" "dc": DC_PUBLISHER = "publisher", DC_DATE = "date", DC_TITLE = "title");
names!("http://xmlns.com/foaf/0.1/" "foaf":
    PERSON = "Person", NAME = "name", MBOX_SHA1SUM = "mbox_sha1sum", HOMEPAGE = "homepage");
names!("http://purl.org/stuff/rev#" "rev": REVIEW = "Review", REVIEWER = "reviewer", TEXT = "text");
names!("http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/vocabulary/" "bsbm":
    PRODUCT_TYPE = "ProductType", PRODUCT_FEATURE_CLASS = "ProductFeature", PRODUCER_CLASS = "Producer",
    PRODUCT_CLASS = "Product", VENDOR_CLASS = "Vendor", OFFER_CLASS = "Offer", USD = "USD",
    PRODUCER = "producer", PRODUCT_FEATURE = "productFeature", COUNTRY = "country", PRODUCT = "product",
    VENDOR = "vendor", PRICE = "price", VALID_FROM = "validFrom", VALID_TO = "validTo",
    DELIVERY_DAYS = "deliveryDays", OFFER_WEBPAGE = "offerWebpage", REVIEW_FOR = "reviewFor",
    REVIEW_DATE = "reviewDate",
    RATING1 = "rating1", RATING2 = "rating2", RATING3 = "rating3", RATING4 = "rating4",
    NUMERIC1 = "productPropertyNumeric1", NUMERIC2 = "productPropertyNumeric2",
    NUMERIC3 = "productPropertyNumeric3", NUMERIC4 = "productPropertyNumeric4",
    NUMERIC5 = "productPropertyNumeric5", NUMERIC6 = "productPropertyNumeric6",
    TEXTUAL1 = "productPropertyTextual1", TEXTUAL2 = "productPropertyTextual2",
    TEXTUAL3 = "productPropertyTextual3", TEXTUAL4 = "productPropertyTextual4",
    TEXTUAL5 = "productPropertyTextual5", TEXTUAL6 = "productPropertyTextual6");

pub(super) const RATINGS: [Name; 4] = [RATING1, RATING2, RATING3, RATING4];
pub(super) const NUMERIC: [Name; 6] = [NUMERIC1, NUMERIC2, NUMERIC3, NUMERIC4, NUMERIC5, NUMERIC6];
pub(super) const TEXTUAL: [Name; 6] = [TEXTUAL1, TEXTUAL2, TEXTUAL3, TEXTUAL4, TEXTUAL5, TEXTUAL6];

/// Namespace of all instances.
pub(super) const INSTANCES: &str = "http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/instances/";

/// Namespace of the countries.
pub(super) const COUNTRIES_NAMESPACE: &str = "http://downlode.org/rdf/iso-3166/countries#";

/// The graph that says who published each document (N-Quads only).
pub(super) const PROVENANCE_GRAPH: &str = "<localhost:provenanceData>";

/// The prefixes of the Turtle form. Documents add a prefix of their own.
pub(super) const PREFIXES: [(&str, &str); 9] = [
    ("rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"),
    ("rdfs", "http://www.w3.org/2000/01/rdf-schema#"),
    ("foaf", "http://xmlns.com/foaf/0.1/"),
    ("dc", "http://purl.org/dc/elements/1.1/"),
    ("xsd", "http://www.w3.org/2001/XMLSchema#"),
    ("rev", "http://purl.org/stuff/rev#"),
    ("bsbm", "http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/vocabulary/"),
    ("bsbm-inst", INSTANCES),
    ("country", COUNTRIES_NAMESPACE),
];

/// A country: code, language of its people, share in per cent.
#[derive(Debug)]
pub(super) struct Country {
    pub(super) code: &'static str,
    pub(super) language: &'static str,
    share: u64,
}

/// The countries of producers, vendors and reviewers.
pub(super) const COUNTRIES: [Country; 10] = [
    Country { code: "US", language: "en", share: 40 },
    Country { code: "GB", language: "en", share: 10 },
    Country { code: "JP", language: "ja", share: 10 },
    Country { code: "CN", language: "zh", share: 10 },
    Country { code: "DE", language: "de", share: 5 },
    Country { code: "FR", language: "fr", share: 5 },
    Country { code: "ES", language: "es", share: 5 },
    Country { code: "RU", language: "ru", share: 5 },
    Country { code: "KR", language: "ko", share: 5 },
    Country { code: "AT", language: "de", share: 5 },
];

/// The country at a place in the distribution (0 to 99).
pub(super) fn country_at(mut percentile: u64) -> &'static Country {
    for country in &COUNTRIES {
        if percentile < country.share {
            return country;
        }
        percentile -= country.share;
    }
    &COUNTRIES[0]
}
