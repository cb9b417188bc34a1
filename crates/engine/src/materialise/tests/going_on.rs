//! What follows is gone on from by rounds: after insertions from which much follows, and where rules are added. It is what the rules give from nothing.

use super::super::upkeep::{ANEW, BY_ROUNDS, ROWS};
use super::random::{data, fact, number, schema};
use super::upkeep::{check, inferred};
use super::upkeep_rules;
use super::{apply, by, database, update};
use crate::testing::Random;
use crate::{DefaultGraph, RuleSet};

/// Some insertions.
fn insertions(random: &mut Random, new: &dyn Fn(&mut Random) -> String) -> String {
    let facts: Vec<String> = (0..random.below(4) + 1).map(|_| new(random)).collect();
    format!("INSERT DATA {{ {} }}", facts.join(" . "))
}

#[test]
fn insertions_by_rounds_into_what_random_rules_gave() {
    ROWS.set(Some(0));
    let seed = number("LODE_RULES_SEED", 1);
    let mut tried = 0;
    for case in seed..seed + number("LODE_UPKEEP_SETS", 60) {
        let mut random = Random(case << 23);
        let text = upkeep_rules::rules(&mut random);
        let mut options = by(&[&text]);
        options.default_graph = (random.below(5) == 0).then_some(DefaultGraph::Union);
        let all = database(":a :p :b");
        // Not all have strata.
        if all.materialise(&options).is_err() {
            continue;
        }
        tried += 1;
        let mut done = String::new();
        for _ in 0..4 {
            let request = insertions(&mut random, &upkeep_rules::fact);
            done += &format!("--\n{request}");
            update(&all, &request);
            check(&all, &options, &|| format!("LODE_RULES_SEED={case}\n{text}\n{done}"));
        }
    }
    ROWS.set(None);
    assert!(tried > 20, "{tried}");
    assert!(BY_ROUNDS.get() > 20, "{}", BY_ROUNDS.get());
}

#[test]
fn insertions_by_rounds_into_what_sets_gave() {
    ROWS.set(Some(0));
    for case in 1..=number("LODE_UPKEEP_SETS", 16) {
        let mut random = Random(case << 21);
        let set = RuleSet::ALL[random.below(4)];
        let kinds = if set == RuleSet::Owl2Rl { 20 } else { 9 };
        let first = data(&mut random, set);
        let all = database(&first);
        apply(&all, &[set.name()]);
        let new = |random: &mut Random| match (set, random.below(2)) {
            (RuleSet::Skos, _) | (_, 1) => fact(random, set),
            _ => schema(random, kinds),
        };
        let mut done = String::new();
        for _ in 0..4 {
            let request = insertions(&mut random, &new);
            done += &format!("--\n{request}");
            update(&all, &request);
            check(&all, &by(&[set.name()]), &|| format!("{}, case {case}\n{first}\n{done}", set.name()));
        }
    }
    ROWS.set(None);
    assert!(BY_ROUNDS.get() > 16);
    assert_eq!(ANEW.get(), 0);
}

#[test]
fn rules_that_are_added_lead_to_what_all_give_from_nothing() {
    let own = "CONSTRUCT { ?x :near ?y } WHERE { ?x :p ?y } ; CONSTRUCT { ?x a :Near } WHERE { ?x :near ?y . ?y a ?c } ;
               CONSTRUCT { ?x :near ?z } WHERE { ?x :near ?y . ?y :near ?z }";
    let alone = "CONSTRUCT { ?x a :Alone } WHERE { ?x ?p ?y FILTER NOT EXISTS { ?x :near ?z } }";
    let sets = [RuleSet::Rdfs, RuleSet::RdfsPlus, RuleSet::Owl2Rl].map(RuleSet::name);
    for case in 1..=number("LODE_RULES_CASES", 30) {
        let mut random = Random(case << 19);
        let all = database(&data(&mut random, RuleSet::Owl2Rl));
        let (one, other) = (sets[random.below(3)], sets[random.below(3)]);
        let (texts, first) = match random.below(5) {
            0 => (vec![other, one, own], vec![one]),
            1 => (vec![one, own], vec![own]),
            // What it gives may not follow any more where there are more rules.
            2 => (vec![own, alone], vec![own]),
            3 => (vec![own, alone], vec![alone]),
            _ => (vec![one, own], vec![one]),
        };
        apply(&all, &first);
        let before = inferred(&all).len() as u64;
        let report = apply(&all, &texts);
        let found = inferred(&all);
        assert_eq!((report.before, report.inferred), (before, found.len() as u64), "case {case}, {texts:?}");
        check(&all, &by(&texts), &|| format!("case {case}, {first:?}, {texts:?}"));
        // Fewer rules: anew.
        apply(&all, &first);
        check(&all, &by(&first), &|| format!("case {case}, {first:?} again"));
    }
}
