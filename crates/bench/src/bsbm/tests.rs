//! Tests of the generator: same bytes for the same seed, the published counts and distributions, parameters that fit the data.

use std::collections::{BTreeMap, BTreeSet};

use oxttl::{NQuadsParser, NTriplesParser, TurtleParser};
use spargebra::SparqlParser;

use super::catalogue::Catalogue;
use super::dates::Day;
use super::random::{ONE, Stream};
use super::words::{NAMES, WORDS};
use super::*;

const TYPE: &str = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";
const VOCABULARY: &str = "http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/vocabulary/";

fn generated(products: u64, seed: u64, format: Format) -> (Vec<u8>, Summary) {
    let mut bytes = Vec::new();
    let summary = generate(&Options { products, seed, format }, &mut bytes, &mut |_| {}).unwrap();
    assert_eq!(summary.bytes, bytes.len() as u64);
    (bytes, summary)
}

/// FNV-1a, the simplest hash that is the same everywhere.
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xCBF2_9CE4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3))
}

/// Subject, predicate and object of every triple, in N-Triples syntax.
type Rows = BTreeSet<[String; 3]>;

fn rows(ntriples: &[u8]) -> Rows {
    let parsed = NTriplesParser::new().for_slice(ntriples).map(|triple| {
        let triple = triple.unwrap();
        [triple.subject.to_string(), triple.predicate.to_string(), triple.object.to_string()]
    });
    parsed.collect()
}

fn objects<'a>(rows: &'a Rows, property: &'a str) -> impl Iterator<Item = &'a str> {
    let predicate = format!("<{VOCABULARY}{property}>");
    rows.iter().filter(move |row| row[1] == predicate).map(|row| row[2].as_str())
}

fn instances(rows: &Rows, class: &str) -> u64 {
    let class = format!("<{VOCABULARY}{class}>");
    rows.iter().filter(|row| row[1] == TYPE && row[2] == class).count() as u64
}

/// The number in the lexical form of a literal.
fn number(literal: &str) -> f64 {
    literal.split('"').nth(1).unwrap().parse().unwrap()
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

#[test]
fn same_seed_same_bytes() {
    let formats = [Format::NTriples, Format::Turtle, Format::NQuads];
    let hashes = [(1, 1), (120, DEFAULT_SEED)].map(|(products, seed)| {
        formats.map(|format| format!("{:016x}", fingerprint(&generated(products, seed, format).0)))
    });
    let golden = [
        ["2f364c0823e798b6", "f63e40e1cc73bcfb", "eac634ea49714164"],
        ["997f634db970d93d", "db67858cb1aaa185", "6b68bbfea7c3a1ba"],
    ];
    assert_eq!(hashes, golden, "the data changed, and with it every recorded result");
}

#[test]
fn other_seed_other_data() {
    assert_ne!(generated(5, 1, Format::NTriples).0, generated(5, 2, Format::NTriples).0);
}

#[test]
fn statements_and_instances_are_counted() {
    let (bytes, summary) = generated(150, 3, Format::NTriples);
    let rows = rows(&bytes);
    assert_eq!(summary.statements, bytes.iter().filter(|&&byte| byte == b'\n').count() as u64);
    assert_eq!(summary.statements, rows.len() as u64, "no triple is written twice");
    assert_eq!(summary.product_types, instances(&rows, "ProductType"));
    assert_eq!(summary.product_features, instances(&rows, "ProductFeature"));
    assert_eq!(summary.producers, instances(&rows, "Producer"));
    assert_eq!((summary.products, 150), (instances(&rows, "Product"), summary.products));
    assert_eq!(summary.vendors, instances(&rows, "Vendor"));
    assert_eq!((summary.offers, 3000), (instances(&rows, "Offer"), summary.offers));
    assert_eq!(summary.reviews, 1500);
    let of_class = |class: &str| rows.iter().filter(|row| row[1] == TYPE && row[2] == class).count() as u64;
    assert_eq!(summary.reviews, of_class("<http://purl.org/stuff/rev#Review>"));
    assert_eq!(summary.reviewers, of_class("<http://xmlns.com/foaf/0.1/Person>"));
}

#[test]
fn turtle_holds_the_same_triples() {
    let (turtle, summary) = generated(30, 4, Format::Turtle);
    let parsed = TurtleParser::new().for_slice(&turtle).map(|triple| {
        let triple = triple.unwrap();
        [triple.subject.to_string(), triple.predicate.to_string(), triple.object.to_string()]
    });
    let parsed: Rows = parsed.collect();
    let (ntriples, plain) = generated(30, 4, Format::NTriples);
    assert_eq!(parsed, rows(&ntriples));
    assert_eq!(summary, Summary { bytes: summary.bytes, ..plain });
}

#[test]
fn quads_hold_the_same_triples_in_documents() {
    let (nquads, _) = generated(30, 4, Format::NQuads);
    let mut triples = Rows::new();
    let mut graphs = BTreeSet::new();
    let mut described = BTreeSet::new();
    for quad in NQuadsParser::new().for_slice(&nquads) {
        let quad = quad.unwrap();
        let graph = quad.graph_name.to_string();
        if graph == "<localhost:provenanceData>" {
            described.insert(quad.subject.to_string());
            continue;
        }
        let subject = quad.subject.to_string();
        if let Some(document) = subject.split("dataFrom").nth(1) {
            let document = document.split('/').next().unwrap();
            assert!(graph.contains(&format!("/dataFrom{document}/Graph-")), "{subject} lies in {graph}");
        }
        graphs.insert(graph);
        triples.insert([subject, quad.predicate.to_string(), quad.object.to_string()]);
    }
    assert_eq!(graphs, described, "each document has its provenance");
    assert_eq!(triples, rows(&generated(30, 4, Format::NTriples).0));
}

#[test]
fn sizes_follow_the_published_rules() {
    // Products, types, features, producers, vendors and offers that the rules give on average, for 1, 25 and 100 million
    // triples.
    let expected_sizes = [
        (2785, 151, 4884, 55, 28, 55_700),
        (70_812, 731, 23_980, 1400, 708, 1_416_240),
        (284_826, 2011, 47_635, 5629, 2847, 5_696_520),
    ];
    let near = |actual: u64, expected: u64| actual.abs_diff(expected) * 100 <= expected * 10;
    for (products, types, features, producers, vendors, offers) in expected_sizes {
        let catalogue = Catalogue::new(products, DEFAULT_SEED);
        assert_eq!(catalogue.types.count(), types);
        assert_eq!(catalogue.offers(), offers);
        assert!(
            near(catalogue.types.feature_count(), features),
            "{} features",
            catalogue.types.feature_count()
        );
        assert!(near(catalogue.producers.owners(), producers), "{} producers", catalogue.producers.owners());
        assert!(near(catalogue.vendors.owners(), vendors), "{} vendors", catalogue.vendors.owners());
    }
    assert_eq!(Catalogue::new(1, 1).types.count(), 7);
}

#[test]
fn triples_per_product_and_line_length() {
    let (bytes, summary) = generated(2785, DEFAULT_SEED, Format::NTriples);
    assert!((990_000..1_010_000).contains(&summary.statements), "{} triples", summary.statements);
    let line = bytes.len() as u64 / summary.statements;
    assert!((250..270).contains(&line), "{line} bytes a line");
}

#[test]
fn values_follow_the_published_distributions() {
    let rows = rows(&generated(300, 6, Format::NTriples).0);
    let prices: Vec<f64> = objects(&rows, "price").map(number).collect();
    assert!(prices.iter().all(|price| (5.0..=10_000.0).contains(price)));
    assert!((4800.0..5200.0).contains(&mean(prices.into_iter())));
    let days: Vec<f64> = objects(&rows, "deliveryDays").map(number).collect();
    assert!(days.iter().all(|days| (1.0..=21.0).contains(days)));
    assert!((3.0..4.5).contains(&mean(days.into_iter())));
    let numeric: Vec<f64> = objects(&rows, "productPropertyNumeric1").map(number).collect();
    assert!(numeric.iter().all(|value| (1.0..=2000.0).contains(value)));
    assert!((650.0..850.0).contains(&mean(numeric.into_iter())), "half a bell leans to small values");
    assert!((0.67..0.73).contains(&(objects(&rows, "rating1").count() as f64 / 3000.0)));

    let mut countries = BTreeMap::<&str, usize>::new();
    objects(&rows, "country").for_each(|country| *countries.entry(country).or_default() += 1);
    let total = countries.values().sum::<usize>();
    let us = countries["<http://downlode.org/rdf/iso-3166/countries#US>"];
    assert!((30..50).contains(&(us * 100 / total)), "{us} of {total} in the United States");
    assert_eq!(countries.len(), 10);

    let texts = rows.iter().filter(|row| row[1] == "<http://purl.org/stuff/rev#text>");
    let languages: BTreeSet<&str> = texts.map(|row| row[2].rsplit('@').next().unwrap()).collect();
    assert_eq!(languages, BTreeSet::from(["de", "en", "es", "fr", "ja", "ko", "ru", "zh"]));
}

#[test]
fn the_bell_has_the_right_shape() {
    let random = &mut Random::new(5);
    let draws: Vec<f64> = (0..100_000).map(|_| random.normal() as f64 / ONE as f64).collect();
    assert!(mean(draws.iter().copied()).abs() < 0.02);
    assert!((mean(draws.iter().map(|x| x * x)) - 1.0).abs() < 0.02);
    let within_one = draws.iter().filter(|x| x.abs() < 1.0).count();
    assert!((67_000..69_500).contains(&within_one), "{within_one} of 100000 within one deviation");
    let sizes = mean((0..20_000).map(|_| random.group_size(2000) as f64));
    assert!((1950.0..2050.0).contains(&sizes), "{sizes}");
    for _ in 0..10_000 {
        assert!((1..=7).contains(&random.normal_rank(2 * ONE, 4 * ONE, 7)));
        assert!((10..=12).contains(&random.between(10, 12)));
    }
}

#[test]
fn streams_do_not_repeat_each_other() {
    let first = |stream, number| Random::stream(9, stream, number).bits();
    let mut seen = BTreeSet::new();
    for number in 1..2000 {
        assert!(seen.insert(first(Stream::Offer, number)));
        assert!(seen.insert(first(Stream::Review, number)));
    }
}

#[test]
fn words_are_distinct_and_need_no_escapes() {
    for list in [&*WORDS, &*NAMES] {
        let random = &mut Random::new(1);
        for _ in 0..1000 {
            let word = list.word(random);
            assert!(
                (3..=13).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_alphabetic()),
                "{word}"
            );
        }
        let mut sentence = Vec::new();
        list.put_sentence(&mut sentence, random, 9);
        assert_eq!(sentence.split(|&byte| byte == b' ').count(), 9);
        sentence.clear();
        list.put_sentence(&mut sentence, random, 0);
        assert!(sentence.is_empty());
    }
}

#[test]
fn days_and_dates_agree() {
    assert_eq!(Day::new(1970, 1, 1).0, 0);
    assert_eq!(Day::new(2008, 6, 20).0, 14_050);
    for day in (Day::new(1999, 12, 1).0..Day::new(2012, 12, 31).0).map(Day) {
        let (year, month, date) = day.date();
        assert_eq!(Day::new(year, month, date), day);
        assert_eq!(day.text(), day.to_string().as_bytes());
    }
    assert_eq!(Day(Day::new(2004, 2, 28).0 + 1).to_string(), "2004-02-29");
}

#[test]
fn parameters_occur_in_the_data() {
    for (products, seed) in [(1, 1), (40, 2), (230, 7)] {
        let rows = rows(&generated(products, seed, Format::NTriples).0);
        let subjects: BTreeSet<&str> = rows.iter().map(|row| row[0].as_str()).collect();
        let pools = ParameterPools::new(products, seed);
        let random = &mut Random::new(seed);
        for number in 1..=products {
            assert!(subjects.contains(pools.product(number).as_str()), "{}", pools.product(number));
        }
        for _ in 0..200 {
            let product_type = pools.random_product_type(random);
            assert!(product_type.features.len() >= 3);
            let drawn = [
                pools.random_offer(random),
                pools.random_review(random),
                pools.random_producer(random),
                pools.random_vendor(random),
                pools.random_product(random),
                pools.random_product_type_below(1, random),
            ];
            for iri in drawn.iter().chain([&product_type.iri]).chain(&product_type.features) {
                assert!(subjects.contains(iri.as_str()), "{iri} is not in the data of {products} products");
            }
        }
        assert_eq!(pools.offer_count(), instances(&rows, "Offer"));
        assert_eq!(pools.producer_count(), instances(&rows, "Producer"));
        assert_eq!(pools.vendor_count(), instances(&rows, "Vendor"));
        assert_eq!(pools.product_type_levels().iter().sum::<u64>(), instances(&rows, "ProductType"));
        assert!(
            objects(&rows, "country").all(|country| pools.countries().iter().any(|known| known == country))
        );
    }
}

#[test]
fn features_of_products_fit_their_type() {
    let rows = rows(&generated(60, 8, Format::NTriples).0);
    let pools = ParameterPools::new(60, 8);
    let random = &mut Random::new(1);
    for product_type in (0..100).map(|_| pools.random_product_type(random)) {
        let products =
            rows.iter().filter(|row| row[1] == TYPE && row[2] == product_type.iri).map(|row| &row[0]);
        let products: BTreeSet<&String> = products.collect();
        let predicate = format!("<{VOCABULARY}productFeature>");
        for row in rows.iter().filter(|row| row[1] == predicate && products.contains(&row[0])) {
            assert!(product_type.features.contains(&row[2]), "{row:?}");
        }
    }
}

#[test]
fn queries_parse_and_have_all_their_parameters() {
    let pools = ParameterPools::new(500, 1);
    let random = &mut Random::new(2);
    assert_eq!((explore_queries(&pools, random).len(), bi_queries(&pools, random).len()), (11, 8));
    assert_eq!((explore_mix(&pools, random).len(), bi_mix(&pools, random).len()), (25, 15));
    for _ in 0..20 {
        let queries = explore_mix(&pools, random).into_iter().chain(bi_mix(&pools, random));
        for (name, text) in queries {
            assert!(!text.contains('%'), "{name} lacks a parameter:\n{text}");
            if let Err(error) = SparqlParser::new().parse_query(&text) {
                panic!("{name}: {error}\n{text}");
            }
        }
    }
    for (title, text) in demo_queries() {
        if let Err(error) = SparqlParser::new().parse_query(text) {
            panic!("{title}: {error}\n{text}");
        }
    }
}

#[test]
fn absurd_sizes_are_refused() {
    for products in [0, u64::MAX] {
        let options = Options { products, seed: 1, format: Format::NTriples };
        let error = generate(&options, &mut Vec::new(), &mut |_| {}).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
    }
}

#[test]
fn progress_grows_up_to_the_total() {
    let mut seen = Vec::new();
    let options = Options { products: 20, seed: 1, format: Format::NTriples };
    let summary = generate(&options, &mut Vec::new(), &mut |statements| seen.push(statements)).unwrap();
    assert!(seen.len() > 1 && seen.is_sorted());
    assert_eq!(seen.last(), Some(&summary.statements));
}

#[test]
fn a_new_product_comes_with_offers_and_reviews_of_its_own() {
    let (data, summary) = generated(100, 7, Format::NTriples);
    let before = rows(&data);
    let pools = ParameterPools::new(100, 7);
    let insert = pools.insert_product(1);
    assert_eq!(insert, pools.insert_product(1), "the same each time");
    SparqlParser::new().parse_update(&insert).unwrap();
    let triples = insert.strip_prefix("INSERT DATA {\n").and_then(|text| text.strip_suffix('}')).unwrap();
    let new = rows(triples.as_bytes());
    assert!(new.is_disjoint(&before));
    let counts = ["Product", "Offer"].map(|class| instances(&new, class));
    assert_eq!((counts, objects(&new, "reviewFor").count()), ([1, 20], 10));
    let product = format!("Product{}>", summary.products + 1);
    assert!(objects(&new, "product").all(|object| object.ends_with(&product)));
    assert!(objects(&new, "reviewFor").all(|object| object.ends_with(&product)));
    // What it refers to is there.
    let subjects: BTreeSet<&str> = before.iter().chain(&new).map(|row| row[0].as_str()).collect();
    for property in ["producer", "vendor", "reviewer", "productFeature"] {
        let missing = objects(&new, property).find(|object| !subjects.contains(object));
        assert_eq!(missing, None, "{property}");
    }
    assert_ne!(insert, pools.insert_product(2));
}

#[test]
fn an_offer_to_be_deleted_is_there() {
    let (data, _) = generated(100, 7, Format::NTriples);
    let subjects: BTreeSet<String> = rows(&data).into_iter().map(|row| row[0].clone()).collect();
    let delete = ParameterPools::new(100, 7).delete_offer(&mut Random::new(3));
    SparqlParser::new().parse_update(&delete).unwrap();
    assert!(subjects.contains(delete.split(' ').nth(3).unwrap()), "{delete}");
}
