//! Random schemas, data and queries. `LODE_REASONING_CASES` tries more of them, `LODE_REASONING_SEED` others.

use super::written_out::{Quad, written_out};
use super::{by, database, rows};
use crate::QueryOptions;
use crate::testing::Random;
use std::collections::BTreeSet;

const CLASSES: [&str; 5] = [":A", ":B", ":C", ":D", ":E"];
const PROPERTIES: [&str; 5] = [":p", ":q", ":r", ":t", ":u"];
const PATHS: [&str; 24] = [
    "P+",
    "P*",
    "P?",
    "(P|Q)+",
    "P/Q",
    "^P",
    "P|Q",
    "(P/^Q)*",
    "!P",
    "!(P|Q)",
    "P/a",
    "a+",
    "a*",
    "a?",
    "(a|P)+",
    "(^a)+",
    "(P/a)+",
    "(a/^a)+",
    "(^a/P)*",
    "(!P)+",
    "(!(P|Q))*",
    "(!(a|P))+",
    "(!a|^P)+",
    "(a/rdfs:subClassOf)?",
];
const THINGS: [&str; 5] = [":a", ":b", ":c", ":d", ":e"];
/// What patterns have as subjects: a literal is none, whatever a range or an inverse would make of it.
const SUBJECTS: [&str; 6] = [":a", ":b", ":c", ":d", ":e", "7"];

fn schema_triple(random: &mut Random) -> [String; 3] {
    let (class, property) = (random.of(&CLASSES), random.of(&PROPERTIES));
    let (other_class, other_property) = (random.of(&CLASSES), random.of(&PROPERTIES));
    let (s, p, o) = match random.below(9) {
        0 | 1 => (class, "rdfs:subClassOf", other_class),
        2 => (property, "rdfs:subPropertyOf", other_property),
        3 => (property, "rdfs:domain", class),
        4 => (property, "rdfs:range", class),
        5 => (property, "owl:inverseOf", other_property),
        6 => (property, "rdf:type", random.of(&["owl:SymmetricProperty", "owl:TransitiveProperty"])),
        7 => (class, "owl:equivalentClass", other_class),
        _ => (property, "owl:equivalentProperty", other_property),
    };
    [s, p.to_owned(), o]
}

fn triple(random: &mut Random) -> [String; 3] {
    if random.below(3) == 0 {
        return [random.of(&THINGS), "rdf:type".to_owned(), random.of(&CLASSES)];
    }
    let object = if random.below(5) == 0 { "7".to_owned() } else { random.of(&THINGS) };
    [random.of(&THINGS), random.of(&PROPERTIES), object]
}

fn quads(random: &mut Random) -> BTreeSet<Quad> {
    let mut quads = BTreeSet::new();
    for is_schema in [true, false] {
        for _ in 0..random.below(8) + 1 {
            let [s, p, o] = if is_schema { schema_triple(random) } else { triple(random) };
            quads.insert([s, p, o, random.of(&["", "", ":g", ":h"])]);
        }
    }
    // Many classes below one are tests of ids; few are scans of their own.
    if random.below(4) == 0 {
        for i in 0..70 {
            let above = random.of(&CLASSES);
            quads.insert([format!(":W{i}"), "rdfs:subClassOf".to_owned(), above, String::new()]);
        }
        for i in [3, 40] {
            let graph = random.of(&["", ":g", ":h"]);
            quads.insert([random.of(&THINGS), "rdf:type".to_owned(), format!(":W{i}"), graph]);
        }
    }
    // Where properties turn round, paths go through literals, which are subjects of no triple that is written out.
    let turns = quads.iter().any(|[_, p, o, _]| p == "owl:inverseOf" || o == "owl:SymmetricProperty");
    quads.retain(|[_, _, o, _]| !turns || o != "7");
    quads
}

fn insertion(quads: &BTreeSet<Quad>) -> String {
    let triple = |[s, p, o, g]: &Quad| match g.as_str() {
        "" => format!("{s} {p} {o} ."),
        graph => format!("GRAPH {graph} {{ {s} {p} {o} }}"),
    };
    format!("INSERT DATA {{ {} }}", quads.iter().map(triple).collect::<Vec<_>>().join(" "))
}

fn slot(random: &mut Random, constants: &[&str]) -> String {
    if random.below(3) > 0 { random.of(&["?x", "?y", "?z"]) } else { random.of(constants) }
}

fn pattern(random: &mut Random) -> String {
    let subject = slot(random, &SUBJECTS);
    match random.below(9) {
        0 | 1 => format!("{subject} a {}", slot(random, &CLASSES)),
        2 => format!("{subject} ?v {}", slot(random, &THINGS)),
        3 => format!(
            "{} {} {}",
            slot(random, &CLASSES),
            random.of(&["rdfs:subClassOf", "?v"]),
            slot(random, &CLASSES)
        ),
        4 => format!("{subject} ?y {}", slot(random, &THINGS)),
        5 => {
            let (p, q) = (random.of(&PROPERTIES), random.of(&PROPERTIES));
            let path = random.of(&PATHS);
            // A path of no length leads from each term that is stated anywhere, not from those that only follow.
            let can_be_empty = path.ends_with(['*', '?']);
            let subject = if can_be_empty { random.of(&SUBJECTS) } else { subject };
            format!("{subject} {} {}", path.replace('P', &p).replace('Q', &q), slot(random, &SUBJECTS))
        }
        _ => format!("{subject} {} {}", random.of(&PROPERTIES), slot(random, &THINGS)),
    }
}

fn group(random: &mut Random, depth: usize) -> String {
    let first = pattern(random);
    if depth == 0 {
        return first;
    }
    match random.below(8) {
        0 => format!("{first} . {}", pattern(random)),
        1 => format!("{first} OPTIONAL {{ {} }}", group(random, depth - 1)),
        2 => format!("{first} FILTER EXISTS {{ {} }}", group(random, depth - 1)),
        3 => format!("{first} FILTER NOT EXISTS {{ {} }}", group(random, depth - 1)),
        4 => format!("{first} MINUS {{ {} }}", group(random, depth - 1)),
        5 => format!("GRAPH {} {{ {} }}", random.of(&["?g", ":g"]), group(random, depth - 1)),
        6 => format!("{{ {first} }} UNION {{ {} }}", group(random, depth - 1)),
        _ => first,
    }
}

#[test]
fn answers_are_those_over_written_out_triples() {
    let number =
        |name: &str, usual: u64| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(usual);
    let (cases, seed) = (number("LODE_REASONING_CASES", 150), number("LODE_REASONING_SEED", 1));
    for case in seed..seed + cases {
        let mut random = Random(case << 20);
        let stated = quads(&mut random);
        let (data, all) = (insertion(&stated), insertion(&written_out(&stated)));
        let (asserted, inferred) = (database(&data), database(&all));
        for _ in 0..8 {
            let query = format!("SELECT * {{ {} }}", group(&mut random, 2));
            let plain = QueryOptions::default();
            let expected = rows(&inferred, &query, &plain);
            for optimize in [true, false] {
                let options = QueryOptions { optimize, ..by("rdfs-plus") };
                let found = rows(&asserted, &query, &options);
                assert_eq!(
                    found, expected,
                    "LODE_REASONING_SEED={case}, optimize {optimize}\n{query}\n{data}\n{all}"
                );
            }
        }
    }
}
