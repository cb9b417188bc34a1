//! Commits bring what follows up to date: after each of many random transactions it is what the rules give from nothing. `LODE_UPKEEP_SETS` and
//! `LODE_UPKEEP_COMMITS` say of how many sets of rules, with how many transactions for each; `LODE_RULES_SEED` tries others.

use super::super::upkeep::ANEW;
use super::random::{data, fact, number, schema};
use super::upkeep_rules;
use super::{apply, by, database, rows, update};
use crate::testing::Random;
use crate::{Database, DefaultGraph, MaterialiseOptions, QueryOptions, RuleSet};
use std::collections::BTreeSet;

/// What was inferred.
fn inferred(all: &Database) -> BTreeSet<String> {
    let query = "SELECT * { GRAPH <urn:lodestore:inferred> { ?s ?p ?o } }";
    rows(all, query, &QueryOptions::default()).into_iter().collect()
}

/// Fails where what was inferred is not what rules give from nothing.
fn check(all: &Database, options: &MaterialiseOptions, what: &dyn Fn() -> String) {
    let known = all.inferences(&all.snapshot()).unwrap().unwrap();
    assert!(known.up_to_date && known.maintained, "{}", what());
    let kept = inferred(all);
    all.drop_inferences(&QueryOptions::default()).unwrap();
    all.materialise(options).unwrap();
    let anew = inferred(all);
    let (too_few, too_many): (Vec<_>, Vec<_>) =
        (anew.difference(&kept).collect(), kept.difference(&anew).collect());
    assert!(kept == anew, "missing: {too_few:?}\nnot to be there: {too_many:?}\n{}", what());
}

/// A transaction: facts that come, and of those that are there some that go.
fn transaction(random: &mut Random, there: &mut Vec<String>, new: &dyn Fn(&mut Random) -> String) -> String {
    let mut text = String::new();
    for _ in 0..random.below(4) + 1 {
        if random.below(5) < 2 && !there.is_empty() {
            let gone = there.swap_remove(random.below(there.len()));
            text += &format!("DELETE DATA {{ {gone} }} ;\n");
        } else {
            let one = new(random);
            text += &format!("INSERT DATA {{ {one} }} ;\n");
            if !one.contains('(') {
                there.push(one);
            }
        }
    }
    text
}

#[test]
fn random_rules_after_each_commit() {
    let (sets, commits) = (number("LODE_UPKEEP_SETS", 40), number("LODE_UPKEEP_COMMITS", 8));
    let seed = number("LODE_RULES_SEED", 1);
    let mut tried = 0;
    for case in seed..seed + sets {
        let mut random = Random(case << 22);
        let text = upkeep_rules::rules(&mut random);
        let mut options = by(&[&text]);
        options.default_graph = (random.below(5) == 0).then_some(DefaultGraph::Union);
        let all = database(":a :p :b");
        // Not all have strata.
        if all.materialise(&options).is_err() {
            continue;
        }
        tried += 1;
        let (mut there, mut done) = (Vec::new(), String::new());
        for _ in 0..commits {
            let request = transaction(&mut random, &mut there, &upkeep_rules::fact);
            done += &format!("--\n{request}");
            update(&all, &request);
            check(&all, &options, &|| format!("LODE_RULES_SEED={case}\n{text}\n{done}"));
        }
    }
    assert!(tried * 2 > sets, "{tried} of {sets}");
    assert_eq!(ANEW.get(), 0);
}

#[test]
fn sets_of_rules_after_each_commit() {
    let (cases, commits) = (number("LODE_UPKEEP_SETS", 24), number("LODE_UPKEEP_COMMITS", 6));
    let seed = number("LODE_RULES_SEED", 1);
    for case in seed..seed + cases {
        let mut random = Random(case << 21);
        let set = [RuleSet::Rdfs, RuleSet::RdfsPlus, RuleSet::Owl2Rl, RuleSet::Owl2Rl, RuleSet::Skos]
            [case as usize % 5];
        let kinds = match set {
            RuleSet::Rdfs => 5,
            RuleSet::RdfsPlus => 9,
            _ => 20,
        };
        let new = |random: &mut Random| match (set, random.below(3)) {
            (RuleSet::Skos, _) | (_, 1..) => fact(random, set),
            _ => schema(random, kinds),
        };
        let first = data(&mut random, set);
        let all = database(&first);
        let options = by(&[set.name()]);
        apply(&all, &[set.name()]);
        let (mut there, mut done) = (Vec::new(), String::new());
        for _ in 0..commits {
            let request = match random.below(12) {
                0 => "DELETE WHERE { ?x a :A }".to_owned(),
                1 => "DELETE WHERE { ?s :p ?o } ; DELETE WHERE { :A ?p ?o }".to_owned(),
                _ => transaction(&mut random, &mut there, &new),
            };
            done += &format!("--\n{request}");
            update(&all, &request);
            check(&all, &options, &|| format!("{} LODE_RULES_SEED={case}\n{first}\n{done}", set.name()));
        }
    }
    assert_eq!(ANEW.get(), 0);
}
