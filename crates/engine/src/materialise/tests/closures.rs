//! Pairs of transitive properties: what paths find, also where steps come in later rounds, few or many.

use super::random::number;
use super::{apply, database, rows};
use crate::QueryOptions;
use crate::testing::Random;

const RULES: &str = "
    CONSTRUCT { ?x :p ?z } WHERE { ?x :p ?y . ?y :p ?z } ;
    CONSTRUCT { ?x :p ?y } WHERE { ?x :stated ?y } ;
    CONSTRUCT { ?y :p ?x } WHERE { ?x :turned ?y } ;
    CONSTRUCT { ?x :later ?y } WHERE { ?x :p ?y . ?x :then ?y } ;
    CONSTRUCT { ?y :p ?x } WHERE { ?x :later ?y } ;
    CONSTRUCT { ?x ?p ?z } WHERE { ?p a owl:TransitiveProperty . ?x ?p ?y . ?y ?p ?z } ;
    CONSTRUCT { :of a owl:TransitiveProperty } WHERE { :n0 :p :n1 } ;
    CONSTRUCT { ?x :of ?y } WHERE { ?x :p ?y . ?x :mark 1 }";

#[test]
fn closures_are_what_paths_find() {
    let (cases, seed) = (number("LODE_RULES_CASES", 30), number("LODE_RULES_SEED", 1));
    for case in seed..seed + cases {
        let mut random = Random(case << 17);
        let nodes = [4, 9, 25][random.below(3)];
        let mut data = vec![":n0 :stated :n1".to_owned()];
        for _ in 0..[6, 20, 200][random.below(3)] {
            let predicate = random.of(&[":p", ":stated", ":stated", ":turned", ":then", ":of"]);
            data.push(format!(":n{} {predicate} :n{}", random.below(nodes), random.below(nodes)));
        }
        data.push(format!(":n{} :p 'a text' . :n{} :mark 1", random.below(nodes), random.below(nodes)));
        let data = data.join(" . ");
        let all = database(&data);
        apply(&all, &[RULES]);
        let found = |query: &str| rows(&all, query, &QueryOptions::default());
        // The steps themselves, without what follows from them being transitive.
        let step = "(:asserted|:stated|^:turned|^:later)";
        let asserted = database(&data.replace(" :p ", " :asserted "));
        let later = found("SELECT ?x ?y { ?x :later ?y }");
        let later: Vec<String> = later
            .iter()
            .filter_map(|row| row.split_once(' '))
            .map(|(x, y)| format!("{x} :later {y}").replace("<:", ":").replace('>', ""))
            .collect();
        super::update(&asserted, &format!("INSERT DATA {{ {} }}", later.join(" . ")));
        let expected =
            rows(&asserted, &format!("SELECT ?x ?y {{ ?x {step}+ ?y }}"), &QueryOptions::default());
        assert_eq!(found("SELECT ?x ?y { ?x :p ?y }"), expected, "LODE_RULES_SEED={case}\n{data}");
        assert_eq!(
            found("SELECT DISTINCT ?x ?y { ?x :of+ ?y }"),
            found("SELECT ?x ?y { ?x :of ?y }"),
            "LODE_RULES_SEED={case}\n{data}"
        );
    }
}

#[test]
fn long_chains_and_cliques() {
    let chain: Vec<String> = (1..500).map(|i| format!(":c{} :p :c{i}", i - 1)).collect();
    let rule = "CONSTRUCT { ?x :p ?z } WHERE { ?x :p ?y . ?y :p ?z }";
    let report = apply(&database(&chain.join(" . ")), &[rule]);
    assert_eq!((report.inferred, report.rounds), (500 * 499 / 2 - 499, 2));
    let mut clique: Vec<String> = (1..150).map(|i| format!(":c{} :p :c{i}", i - 1)).collect();
    clique.push(":c149 :p :c0 . :before :p :c3 . :c5 :p :after , 'text'".to_owned());
    let report = apply(&database(&clique.join(" . ")), &[rule]);
    assert_eq!(report.inferred, 151 * 152 - 153);
}
