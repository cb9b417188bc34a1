//! Groups of equal terms are what the five rules of equality give one by one: with literals, blank nodes, equal predicates, `owl:sameAs` under other names; and many names
//! take the time and the memory of what is written.

use super::super::upkeep::ANEW;
use super::random::{blanks_aside, number, one_by_one};
use super::upkeep::{check, transaction};
use super::{apply, by, database, refused, rows, triples, update};
use crate::testing::Random;
use crate::{EngineError, MaterialiseOptions, QueryOptions};

/// The rules of equality, in another sequence and with other names than in OWL 2 RL, and some that find what is equal.
const RULES: &str = "
    CONSTRUCT { ?a ?b ?new } WHERE { ?a ?b ?old . ?old owl:sameAs ?new } ;
    CONSTRUCT { ?new ?b ?c } WHERE { ?old owl:sameAs ?new . ?old ?b ?c } ;
    CONSTRUCT { ?a ?new ?c } WHERE { ?a ?old ?c . ?old owl:sameAs ?new } ;
    CONSTRUCT { ?a owl:sameAs ?c } WHERE { ?a owl:sameAs ?b . ?b owl:sameAs ?c } ;
    CONSTRUCT { ?b owl:sameAs ?a } WHERE { ?a owl:sameAs ?b } ;
    CONSTRUCT { ?y owl:sameAs ?z } WHERE { ?x :one ?y, ?z FILTER(!sameTerm(?y, ?z)) } ;
    CONSTRUCT { ?x :t ?z } WHERE { ?x :t ?y . ?y :t ?z } ;
    CONSTRUCT { ?x :pair ?y } WHERE { ?x :p ?y . ?y :q ?x }";

const THINGS: [&str; 9] = [":a", ":b", ":c", ":d", ":e", ":f", ":g", ":p", ":q"];
const PREDICATES: [&str; 7] = [":p", ":q", ":t", ":one", ":same", ":p", ":q"];

fn fact(random: &mut Random) -> String {
    let (a, b) = (random.of(&THINGS), random.of(&THINGS));
    match random.below(16) {
        0..=3 => format!("{a} owl:sameAs {b}"),
        4 => format!("{a} owl:sameAs {}", random.of(&["7", "'x'", "8"])),
        5 => format!("{} owl:sameAs {}", random.of(&PREDICATES), random.of(&PREDICATES)),
        6 => format!("{a} :same {b}"),
        7 if random.below(3) == 0 => ":same owl:sameAs owl:sameAs".to_owned(),
        8 => format!("{a} {} {}", random.of(&PREDICATES), random.of(&["7", "'x'"])),
        _ => format!("{a} {} {b}", random.of(&PREDICATES)),
    }
}

#[test]
fn groups_are_what_the_rules_give_one_by_one() {
    let (cases, seed) = (number("LODE_RULES_CASES", 60), number("LODE_RULES_SEED", 1));
    for case in seed..seed + cases {
        let mut random = Random(case << 19);
        let mut data: Vec<String> = (0..random.below(9) + 2).map(|_| fact(&mut random)).collect();
        if random.below(3) == 0 {
            data.push(format!("_:x owl:sameAs {} . _:x :p _:y . :p :q _:y", random.of(&THINGS)));
        }
        let data = data.join(" . ");
        let all = database(&data);
        apply(&all, &[RULES]);
        let (found, expected) = (triples(&all, true), one_by_one(RULES, &data));
        let (too_few, too_many): (Vec<_>, Vec<_>) =
            (expected.difference(&found).collect(), found.difference(&expected).collect());
        assert_eq!(
            blanks_aside(&found),
            blanks_aside(&expected),
            "LODE_RULES_SEED={case}\n{data}\nmissing: {too_few:?}\nnot to be there: {too_many:?}"
        );
    }
}

#[test]
fn groups_after_each_commit() {
    let (cases, seed) = (number("LODE_UPKEEP_SETS", 20), number("LODE_RULES_SEED", 1));
    for case in seed..seed + cases {
        let mut random = Random(case << 18);
        let all = database(":a :p :b");
        let options = by(&[RULES]);
        apply(&all, &[RULES]);
        let (mut there, mut done) = (Vec::new(), String::new());
        for _ in 0..number("LODE_UPKEEP_COMMITS", 8) {
            let request = transaction(&mut random, &mut there, &fact);
            done += &format!("--\n{request}");
            update(&all, &request);
            check(&all, &options, &|| format!("LODE_RULES_SEED={case}\n{done}"));
        }
    }
    assert_eq!(ANEW.get(), 0);
}

#[test]
fn many_names_take_what_is_written() {
    let names = 300;
    let chain: Vec<String> = (1..names).map(|i| format!(":x{} owl:sameAs :x{i}", i - 1)).collect();
    let all = database(&format!("{} . :x7 :p :y . :y :q :x9 , 1 . :x3 owl:sameAs 'text'", chain.join(" . ")));
    let report = apply(&all, &["owl2-rl"]);
    // Each is the same as each and as the text; what was stated is not inferred.
    let equal = names * names - (names - 1) + names - 1;
    let others = (names - 1) + names;
    // owl:Thing and owl:Nothing are classes, each below itself and the one below the other.
    let schema = apply(&database(":a :p :b"), &["owl2-rl"]).inferred;
    assert_eq!(report.inferred, equal + others + schema);
    assert!(report.rounds < 8, "{report:?}");
    let by_rule = |name: &str| report.rules.iter().find(|rule| rule.rule == name).unwrap().triples;
    assert_eq!((by_rule("eq-trans"), by_rule("eq-rep-s")), (equal, others));
    let query = "SELECT (COUNT(*) AS ?n) { ?x owl:sameAs ?y }";
    assert_eq!(
        rows(&all, query, &QueryOptions::default()),
        [format!("\"{}\"^^<http://www.w3.org/2001/XMLSchema#integer>", names * (names + 1))]
    );
    let evaluation = QueryOptions { memory_bytes: 4 << 20, ..QueryOptions::default() };
    let error =
        refused(&database(&chain.join(" . ")), &MaterialiseOptions { evaluation, ..by(&["owl2-rl"]) });
    assert!(matches!(error, EngineError::Execution(_)), "{error}");
}
