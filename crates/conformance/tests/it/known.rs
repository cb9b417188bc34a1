//! The oracle and the engine know the same functions and aggregates, with as many arguments, and the oracle computes each.

use lode_conformance::answer::Answer;
use lode_conformance::dataset::Dataset;
use lode_conformance::engine_subject::EngineSubject;
use lode_conformance::golden;
use lode_conformance::naive::known::{AGGREGATES, CASTS, FUNCTIONS};
use lode_conformance::subject::{NaiveSubject, QuerySettings, Subject};
use lode_engine::registry;
use std::collections::BTreeMap;

const XSD: &str = "http://www.w3.org/2001/XMLSchema#";

/// Arguments for all types.
const SAMPLES: [&str; 19] = [
    "\"abc\"",
    "\"b\"",
    "\"i\"",
    "\"x\"@en",
    "\"en\"",
    "\"ltr\"",
    "1",
    "-1.5",
    "1.5E0",
    "true",
    "<http://e/a>",
    "<<( <http://e/a> <http://e/b> 1 )>>",
    "\"2020-01-02T03:04:05Z\"^^xsd:dateTime",
    "\"PT1H\"^^xsd:dayTimeDuration",
    "\"P1Y\"^^xsd:yearMonthDuration",
    "\"-01-02\"",
    "\"2020\"",
    "\"--01\"",
    "\"---02\"",
];

/// Whether the oracle has a value for a call with so many of the samples, and the parser takes one at all.
fn has_value(name: &str, count: usize) -> bool {
    let name = if name.contains(':') { format!("<{name}>") } else { name.to_owned() };
    let mut naive = NaiveSubject::default();
    let mut all = vec![Vec::new()];
    for _ in 0..count {
        // Two arguments and more: texts and IRIs do.
        let samples = if count > 1 { &SAMPLES[..11] } else { &SAMPLES[..] };
        let with = |given: &Vec<&'static str>| {
            let given = given.clone();
            samples.iter().map(move |sample| given.iter().copied().chain([*sample]).collect())
        };
        all = all.iter().flat_map(with).collect();
    }
    // All calls of one number of arguments are columns of a few queries.
    all.chunks(500).any(|calls| {
        let columns: Vec<String> = calls
            .iter()
            .enumerate()
            .map(|(at, given)| format!("({name}({}) AS ?v{at})", given.join(", ")))
            .collect();
        let text = format!("PREFIX xsd: <{XSD}> SELECT {} {{}}", columns.join(" "));
        let answer = naive.query(&text, &QuerySettings::default());
        matches!(answer, Ok(Answer::Solutions { rows, .. }) if rows.iter().flatten().any(Option::is_some))
    })
}

/// The namespace of functions of geometries.
const GEOF: &str = "http://www.opengis.net/def/function/geosparql/";
/// Those of Virtuoso's.
const BIF: [&str; 2] = ["bif:", "http://www.openlinksw.com/schemas/bif#"];

/// Functions of geometries have no second implementation here: what they have to give is from other programs, in golden queries and in the
/// tests of `lode-geo`.
fn functions_but_of_geometries() -> impl Iterator<Item = &'static registry::Function> {
    registry::functions()
        .filter(|f| !f.name.starts_with(GEOF) && !BIF.iter().any(|space| f.name.starts_with(space)))
}

#[test]
fn all_functions_of_geometries_have_golden_queries() {
    let goldens = golden::load_all().unwrap();
    let missing: Vec<&str> = registry::functions()
        .map(|f| f.name)
        .chain(registry::aggregates().map(|a| a.name))
        .filter_map(|name| name.strip_prefix(GEOF))
        .filter(|name| !goldens.iter().any(|golden| golden.query.contains(&format!("geof:{name}("))))
        .chain(registry::functions().map(|f| f.name).filter(|name| {
            name.starts_with("bif:")
                && !goldens.iter().any(|golden| golden.query.contains(&format!("{name}(")))
        }))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn oracle_and_engine_know_the_same_functions() {
    let casts = CASTS.iter().map(|name| (format!("{XSD}{name}"), (1, 1)));
    let functions = FUNCTIONS.iter().map(|(name, least, most)| ((*name).to_owned(), (*least, *most)));
    let known: BTreeMap<String, (usize, usize)> = functions.chain(casts).collect();
    let most = |f: &registry::Function| match f.rest {
        Some(_) => usize::MAX,
        None => f.required.len() + f.optional.len(),
    };
    let registered: BTreeMap<String, (usize, usize)> =
        functions_but_of_geometries().map(|f| (f.name.to_owned(), (f.required.len(), most(f)))).collect();
    assert_eq!(known, registered);
    for (name, (least, most)) in &known {
        for count in *least..=(*most).min(least + 1) {
            assert!(has_value(name, count), "{name} of {count} arguments");
        }
    }
    assert!(!has_value("http://e/f", 1));
}

/// Values of all types, and texts of them.
const CAST_FROM: [&str; 34] = [
    "true",
    "0",
    "-1",
    "255",
    "256",
    "-129",
    "4294967296",
    "18446744073709551616",
    "-0.5",
    "2.50",
    "1e0",
    "1e19",
    "\"NaN\"^^xsd:double",
    "\"-INF\"^^xsd:float",
    "\"7\"^^xsd:unsignedByte",
    "\"300\"^^xsd:byte",
    "\" 12 \"",
    "\"1.0\"",
    "\"2020-02-30\"",
    "\"2020-02-29Z\"",
    "\"--02-29\"",
    "\"---31+14:00\"",
    "\"-P1Y13M2DT25H0.50S\"",
    "\"P0Y\"",
    "\"-0044-03-15T23:59:59.5-05:00\"^^xsd:dateTime",
    "\"2020-12-31T24:00:00\"^^xsd:dateTime",
    "\"12020-01-02Z\"^^xsd:date",
    "\"12:00:00\"^^xsd:time",
    "\"2020Z\"^^xsd:gYear",
    "\"--02-29\"^^xsd:gMonthDay",
    "\"-P1Y13M2DT25H0.50S\"^^xsd:duration",
    "\"P2M\"^^xsd:yearMonthDuration",
    "\"-PT36H\"^^xsd:dayTimeDuration",
    "\"x\"@en",
];

#[test]
fn oracle_and_engine_cast_alike() {
    let (mut naive, mut engine) = (NaiveSubject::default(), EngineSubject::default());
    engine.load(&Dataset::default()).unwrap();
    for name in CASTS {
        for value in CAST_FROM {
            let text = format!("PREFIX xsd: <{XSD}> SELECT (xsd:{name}({value}) AS ?v) (STR(?v) AS ?s) {{}}");
            let rows = |subject: &mut dyn Subject| match subject.query(&text, &QuerySettings::default()) {
                Ok(Answer::Solutions { rows, .. }) => rows,
                other => panic!("{text}: {other:?}"),
            };
            assert_eq!(rows(&mut naive), rows(&mut engine), "{text}");
        }
    }
}

#[test]
fn oracle_and_engine_know_the_same_aggregates() {
    let mut known = AGGREGATES.to_vec();
    let mut registered: Vec<&str> =
        registry::aggregates().map(|a| a.keyword()).filter(|name| !name.starts_with(GEOF)).collect();
    for names in [&mut known, &mut registered] {
        names.sort_unstable();
        names.dedup();
    }
    assert_eq!(known, registered);
    let mut naive = NaiveSubject::default();
    for name in known {
        let text =
            format!("SELECT ({name}(?x) AS ?v) ({name}(DISTINCT ?x) AS ?w) {{ VALUES ?x {{ 1 1 2 }} }}");
        let answer = naive.query(&text, &QuerySettings::default()).unwrap();
        assert!(
            matches!(&answer, Answer::Solutions { rows, .. } if rows[0].iter().all(Option::is_some)),
            "{name}"
        );
    }
}
