//! Large groups of equal names and long chains: proofs are walks, each step of which follows by the rules.

use super::proofs::{follows, statement};
use super::*;
use crate::RuleSet;
use crate::testing::Random;

/// The proof of a triple, of which some steps are checked one by one; how many are stated.
fn proven(all: &Database, triple: &str, checks: usize) -> usize {
    let explanation = why(all, triple);
    let told = || format!("{triple}: {} facts, complete {}", explanation.facts, explanation.is_complete);
    assert!(explanation.holds, "{}", told());
    let proof = explanation.proofs.first().unwrap_or_else(|| panic!("no proof of {}", told()));
    assert_eq!(statement(&proof.steps[0]), expanded(triple));
    // Without a circle: heights are there for all.
    let mut heights = vec![None; proof.steps.len()];
    while heights.iter().any(Option::is_none) {
        let before = heights.clone();
        for (height, step) in heights.iter_mut().zip(&proof.steps) {
            let below: Option<Vec<usize>> = step.premises.iter().map(|premise| before[*premise]).collect();
            *height = below.map(|below| below.into_iter().max().map_or(0, |height| height + 1));
        }
        assert_ne!(before, heights, "a circle: {}", told());
    }
    let derived: Vec<_> = proof.steps.iter().filter(|step| step.rule.is_some()).collect();
    // The chain itself is one long step; others stand for all that are like them.
    for step in derived.iter().step_by((derived.len() / checks).max(1)) {
        let premises: Vec<_> =
            step.premises.iter().map(|premise| statement(&proof.steps[*premise])).collect();
        assert!(
            follows(RuleSet::Owl2Rl, &premises.join(" . "), &statement(step)),
            "{} from {premises:?} by {:?}",
            statement(step),
            step.rule
        );
    }
    let stated = proof.steps.iter().filter(|step| step.rule.is_none());
    stated.inspect(|step| assert_eq!(step.asserted, ["default"])).count()
}

fn expanded(triple: &str) -> String {
    let Goal::Triple(terms) = Goal::parse(triple, &prefixes()).unwrap() else { panic!("a triple") };
    terms.map(|term| term.to_string()).join(" ")
}

#[test]
fn names_in_a_chain_of_equalities() {
    // Tests gather few triples at once, so many more would take minutes.
    let names = 250;
    // Each says that it is the same as the next, or the next that it is the same as this.
    let equal = |i: usize| match i % 3 {
        0 => format!(":n{} owl:sameAs :n{i}", i + 1),
        _ => format!(":n{i} owl:sameAs :n{}", i + 1),
    };
    let data: Vec<_> = (0..names - 1).map(equal).collect();
    let all = database(&format!(
        "{} . :n5 :p :x . :x owl:sameAs :y . :q rdfs:domain :C . :n7 :q :z",
        data.join(" . ")
    ));
    apply(&all, "owl2-rl");
    assert_eq!(proven(&all, ":n249 owl:sameAs :n0", 5), names - 1);
    assert_eq!(proven(&all, ":n0 owl:sameAs :n249", 5), names - 1);
    assert_eq!(proven(&all, ":n100 owl:sameAs :n100", 5), 1);
    assert_eq!(proven(&all, ":n0 :p :x", 5), 6);
    assert_eq!(proven(&all, ":n20 :p :y", 5), 17);
    assert_eq!(proven(&all, ":n249 a :C", 5), 242 + 2);
    let explanation = why(&all, ":n0 :r :x");
    assert!(!explanation.holds && explanation.proofs.is_empty());
}

#[test]
fn names_that_are_equal_in_any_form() {
    let mut random = Random(11);
    for _ in 0..4 {
        let names = 60 + random.below(60);
        let data: Vec<_> = (1..names)
            .map(|i| {
                let other = random.below(i);
                if random.below(2) == 0 {
                    format!(":n{i} owl:sameAs :n{other}")
                } else {
                    format!(":n{other} owl:sameAs :n{i}")
                }
            })
            .collect();
        let facts: Vec<_> =
            (0..5).map(|_| format!(":n{} :p :n{}", random.below(names), random.below(names))).collect();
        let all = database(&format!("{} . {}", data.join(" . "), facts.join(" . ")));
        apply(&all, "owl2-rl");
        for _ in 0..6 {
            let [one, other] = [random.below(names), random.below(names)];
            for property in [":p", "owl:sameAs"] {
                proven(&all, &format!(":n{one} {property} :n{other}"), 3);
            }
        }
    }
}
