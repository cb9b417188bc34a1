//! Random shapes over random data: what is found is what the naive evaluator finds.

use crate::naive::{Found, Graph, Naive};
use crate::support::{PREFIXES, database, results, shapes};
use lode_engine::QueryOptions;
use lode_rdf::parse::{ParseOptions, parse_to_vec};
use lode_rdf::{RdfFormat, Triple};
use lode_shacl::ValidateOptions;

/// Cases of a run, and of a long one.
const CASES: u64 = 120;
const CASES_LONG: u64 = 5_000;

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len() as u64) as usize]
    }
}

const NODES: [&str; 5] = [":a", ":b", ":c", ":d", ":e"];
const PROPERTIES: [&str; 3] = [":p", ":q", ":r"];
const CLASSES: [&str; 3] = [":A", ":B", ":C"];
const LITERALS: [&str; 9] =
    ["1", "2", "3", "\"x\"", "\"yy\"", "\"x\"@en", "\"z\"@en", "\"x\"@de", "\"w\"^^xsd:integer"];

fn data(random: &mut Random) -> String {
    let mut text = String::from(":B rdfs:subClassOf :A .\n");
    for _ in 0..random.below(14) {
        let object = if random.below(2) == 0 { random.of(&NODES) } else { random.of(&LITERALS) };
        text += &format!("{} {} {object} .\n", random.of(&NODES), random.of(&PROPERTIES));
    }
    for _ in 0..random.below(5) {
        text += &format!("{} a {} .\n", random.of(&NODES), random.of(&CLASSES));
    }
    text
}

fn path(random: &mut Random, depth: u64) -> String {
    if depth == 0 || random.below(2) == 0 {
        return random.of(&PROPERTIES).to_owned();
    }
    let mut inner = || path(random, depth - 1);
    let (one, other) = (inner(), inner());
    match random.below(6) {
        0 => format!("[ sh:inversePath {one} ]"),
        1 => format!("( {one} {other} )"),
        2 => format!("[ sh:alternativePath ( {one} {other} ) ]"),
        3 => format!("[ sh:zeroOrMorePath {one} ]"),
        4 => format!("[ sh:oneOrMorePath {one} ]"),
        _ => format!("[ sh:zeroOrOnePath {one} ]"),
    }
}

/// What a shape says, between its brackets.
fn says(random: &mut Random, depth: u64, has_path: bool) -> String {
    let mut text = String::new();
    if has_path {
        text += &format!("sh:path {} ; ", path(random, 2));
    }
    for _ in 0..=random.below(2) {
        text += &constraint(random, depth, has_path);
        text += " ; ";
    }
    text
}

fn shape(random: &mut Random, depth: u64) -> String {
    let has_path = random.below(2) == 0;
    format!("[ {}]", says(random, depth, has_path))
}

fn constraint(random: &mut Random, depth: u64, has_path: bool) -> String {
    if has_path && random.below(3) == 0 {
        let inner = shape(random, depth.saturating_sub(1).min(1));
        let count = random.below(3);
        let disjoint = if random.below(2) == 0 { "sh:qualifiedValueShapesDisjoint true ; " } else { "" };
        return match random.below(7) {
            0 => format!("sh:minCount {count}"),
            1 => format!("sh:maxCount {count}"),
            2 => "sh:uniqueLang true".into(),
            3 => format!("sh:lessThan {}", random.of(&PROPERTIES)),
            4 => format!("sh:lessThanOrEquals {}", random.of(&PROPERTIES)),
            5 => format!("{disjoint}sh:qualifiedValueShape {inner} ; sh:qualifiedMinCount {count}"),
            _ => format!("{disjoint}sh:qualifiedValueShape {inner} ; sh:qualifiedMaxCount {count}"),
        };
    }
    if depth > 0 && random.below(2) == 0 {
        let (one, other) = (shape(random, depth - 1), shape(random, depth - 1));
        return match random.below(7) {
            0 => format!("sh:not {one}"),
            1 => format!("sh:and ( {one} {other} )"),
            2 => format!("sh:or ( {one} {other} )"),
            3 => format!("sh:xone ( {one} {other} )"),
            4 => format!("sh:node {one}"),
            5 => format!("sh:property [ {}]", says(random, depth - 1, true)),
            _ => format!("sh:closed true ; sh:property [ {}]", says(random, depth - 1, true)),
        };
    }
    let value = if random.below(2) == 0 { random.of(&NODES) } else { random.of(&LITERALS) };
    match random.below(14) {
        0 => format!("sh:class {}", random.of(&CLASSES)),
        1 => format!("sh:datatype {}", random.of(&["xsd:integer", "xsd:string"])),
        2 => format!(
            "sh:nodeKind sh:{}",
            random.of(&["IRI", "Literal", "BlankNode", "BlankNodeOrIRI", "IRIOrLiteral"])
        ),
        3 => format!("sh:minInclusive {}", random.of(&LITERALS)),
        4 => format!("sh:maxExclusive {}", random.of(&LITERALS)),
        5 => format!("sh:minLength {}", random.below(12)),
        6 => format!("sh:maxLength {}", random.below(12)),
        7 => "sh:languageIn ( \"en\" )".into(),
        8 => format!("sh:equals {}", random.of(&PROPERTIES)),
        9 => format!("sh:disjoint {}", random.of(&PROPERTIES)),
        10 => format!("sh:hasValue {value}"),
        11 => format!("sh:in ( {value} {} )", random.of(&LITERALS)),
        12 => "sh:in ( )".into(),
        _ => format!("sh:minExclusive {}", random.of(&LITERALS)),
    }
}

fn targets(random: &mut Random) -> String {
    let target = match random.below(5) {
        0 => format!("sh:targetClass {}", random.of(&CLASSES)),
        1 => format!("sh:targetNode {}, {}", random.of(&NODES), random.of(&LITERALS)),
        2 => format!("sh:targetSubjectsOf {}", random.of(&PROPERTIES)),
        3 => format!("sh:targetObjectsOf {}", random.of(&PROPERTIES)),
        _ => format!("sh:targetNode {} ; sh:targetClass {}", random.of(&NODES), random.of(&CLASSES)),
    };
    format!("{target} ; ")
}

fn triples(text: &str) -> Graph {
    let text = format!("{PREFIXES}{text}");
    let quads = parse_to_vec(RdfFormat::Turtle, text.as_bytes(), &ParseOptions::default()).unwrap();
    let mut triples: Vec<Triple> = quads.into_iter().map(Triple::from).collect();
    let mut seen = std::collections::HashSet::new();
    triples.retain(|triple| seen.insert(triple.clone()));
    Graph(triples)
}

#[test]
fn random_shapes_find_what_the_naive_evaluator_finds() {
    let first = std::env::var("SHACL_SEED").ok().and_then(|seed| seed.parse().ok());
    compare(first.map_or(0..CASES, |seed: u64| seed..seed + 1));
}

#[test]
#[ignore = "takes minutes"]
fn many_random_shapes_find_what_the_naive_evaluator_finds() {
    compare(CASES..CASES_LONG);
}

fn compare(seeds: std::ops::Range<u64>) {
    let (mut nothing, all) = (0, seeds.end - seeds.start);
    for seed in seeds {
        let mut random = Random(seed.wrapping_mul(7_919).wrapping_add(1));
        let data = data(&mut random);
        let mut text = String::new();
        for name in 0..=random.below(2) {
            let has_path = random.below(3) == 0;
            text += &format!(":s{name} {}{}.\n", targets(&mut random), says(&mut random, 3, has_path));
        }
        let text = text.replace("; .", ".");
        let Ok(read) = shapes(&text) else { continue };
        let (data_graph, shapes_graph) = (triples(&data), triples(&text));
        let expected = Naive { data: &data_graph, shapes: &shapes_graph }.validate();
        nothing += usize::from(expected.is_empty());
        for optimize in [true, false] {
            let query = QueryOptions { optimize, ..QueryOptions::default() };
            let options = ValidateOptions { query, results_max: u64::MAX, ..ValidateOptions::default() };
            let found = results(&database(&data), &read, &options);
            let (found, _) = found.unwrap_or_else(|error| panic!("seed {seed}: {error}\n{data}\n{text}"));
            let mut got: Vec<Found> = found
                .into_iter()
                .map(|result| {
                    let component = result.component.as_str().rsplit('#').next().unwrap().to_owned();
                    let value = result.value.map_or(String::new(), |value| value.to_string());
                    (result.focus.to_string(), value, component.replace("ConstraintComponent", ""))
                })
                .collect();
            got.sort();
            assert_eq!(got, expected, "seed {seed}, optimize {optimize}\n{data}\n{text}");
        }
    }
    assert!(nothing <= all as usize / 2 + 1, "{nothing} cases without results test little");
}
