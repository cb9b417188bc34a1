//! Random rules, of all that rules may have, over few names, so that they meet each other.

use crate::testing::Random;

pub(super) const PREDICATES: [&str; 6] = [":p", ":q", ":r", ":s", ":t", "a"];
pub(super) const NODES: [&str; 7] = [":a", ":b", ":c", ":d", ":A", ":B", ":p"];

/// A predicate with a variable or a node for its object.
fn triple(random: &mut Random, subject: &str, object: &str) -> String {
    match random.below(6) {
        0 => format!("{subject} {} {}", random.of(&PREDICATES), random.of(&NODES)),
        _ => format!("{subject} {} {object}", random.of(&PREDICATES)),
    }
}

/// The body and the head of a rule.
fn parts(random: &mut Random) -> (String, String) {
    let head = triple(random, "?x", "?z");
    let has_z = head.contains("?z");
    let first = triple(random, "?x", "?y");
    let (p, q) = (random.of(&PREDICATES), random.of(&PREDICATES));
    let end = if has_z { "?z" } else { ":a" };
    let body = match random.below(25) {
        0..=4 => format!("?x {p} ?y . ?y {q} {end}"),
        5 => format!("{end} {p} ?x"),
        6 => return ("?x ?p ?y . ?p :s ?q".to_owned(), "?x ?q ?y".to_owned()),
        7 => return (format!("?x {p} ?y . ?y {p} ?z"), format!("?x {p} ?z")),
        8 => return ("?p a :A . ?x ?p ?y . ?y ?p ?z".to_owned(), "?x ?p ?z".to_owned()),
        9 => format!("?x {p} {end} FILTER NOT EXISTS {{ {end} {q} ?w }}"),
        10 => format!("?x {p} {end} MINUS {{ ?x {q} ?w }}"),
        11 => {
            format!("?x {p} ?y OPTIONAL {{ ?y {q} {end} }} FILTER(BOUND({end}))").replace("BOUND(:a)", "true")
        }
        12 => {
            let text = format!("{{ SELECT ?x (COUNT(*) AS ?z) {{ ?x {p} ?y }} GROUP BY ?x }}");
            return (text, format!("?x {q} ?z"));
        }
        13 => return (format!("?x {p} ?y BIND(STR(?y) AS ?z)"), format!("?x {q} ?z")),
        14 => format!("?x {p}+ {end}"),
        15 => format!("?x {p}/{q}* {end}"),
        16 => format!("GRAPH :g {{ ?x {p} ?y }} ?y {q} {end}"),
        17 => format!("{{ ?x {p} {end} }} UNION {{ {end} {q} ?x }}"),
        18 => format!("VALUES ?x {{ :a :b }} ?x {p} {end}"),
        19 => format!("?x {p} ?y . ?y {q} {end} FILTER(!sameTerm(?x, ?y) && isIRI(?y))"),
        20 => format!("?x {p} ?y . ?y {q} {end} FILTER(?x != ?y)"),
        21 => format!("{first} . ?x {q} {end}"),
        22 => format!("{end} ^{p} ?x . FILTER EXISTS {{ {first} }}"),
        23 => format!("?x {p}* {end}"),
        _ => format!("?x {p} ?x . ?x {q} {end}"),
    };
    (body, head)
}

/// A text of one to five rules.
pub(super) fn rules(random: &mut Random) -> String {
    let count = random.below(5) + 1;
    let rules = (0..count).map(|_| {
        let (body, head) = parts(random);
        format!("CONSTRUCT {{ {head} }} WHERE {{ {body} }}")
    });
    rules.collect::<Vec<_>>().join(" ;\n")
}

/// A triple for these.
pub(super) fn fact(random: &mut Random) -> String {
    match random.below(12) {
        0 => format!("{} {} 7", random.of(&NODES), random.of(&PREDICATES)),
        1 => format!("GRAPH :g {{ {} {} {} }}", random.of(&NODES), random.of(&PREDICATES), random.of(&NODES)),
        2 => format!("{} :s {}", random.of(&PREDICATES[..5]), random.of(&PREDICATES[..5])),
        _ => format!("{} {} {}", random.of(&NODES), random.of(&PREDICATES), random.of(&NODES)),
    }
}
