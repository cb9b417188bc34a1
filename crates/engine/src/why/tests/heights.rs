//! Random rules and data, and a naive evaluator that applies all rules at once, again and again: the round in which a triple comes first is the least height of
//! its proofs.

use super::*;
use crate::testing::Random;
use std::collections::BTreeMap;

type Triple = [String; 3];

const PROPERTIES: [&str; 4] = [":p", ":q", ":r", ":s"];
const THINGS: [&str; 6] = [":a", ":b", ":c", ":d", ":e", ":f"];
const VARIABLES: [&str; 4] = ["?x", "?y", "?z", "?u"];

struct Rule {
    head: Triple,
    body: Vec<Triple>,
}

fn rule(random: &mut Random) -> Rule {
    let slot = |random: &mut Random| match random.below(8) {
        0 => random.of(&THINGS),
        _ => random.of(&VARIABLES),
    };
    let predicate = |random: &mut Random| match random.below(12) {
        0 => "?p".to_owned(),
        _ => random.of(&PROPERTIES),
    };
    let body: Vec<Triple> =
        (0..random.below(3) + 1).map(|_| [slot(random), predicate(random), slot(random)]).collect();
    let bound: Vec<String> =
        body.iter().flatten().filter(|name| name.starts_with('?') && *name != "?p").cloned().collect();
    let end = |random: &mut Random| match bound.is_empty() || random.below(10) == 0 {
        true => random.of(&THINGS),
        false => bound[random.below(bound.len())].clone(),
    };
    let head = [end(random), random.of(&PROPERTIES), end(random)];
    Rule { head, body }
}

fn matched(
    pattern: &Triple,
    triple: &Triple,
    names: &BTreeMap<String, String>,
) -> Option<BTreeMap<String, String>> {
    let mut names = names.clone();
    for (slot, term) in pattern.iter().zip(triple) {
        if !slot.starts_with('?') {
            if slot != term {
                return None;
            }
        } else if names.entry(slot.clone()).or_insert_with(|| term.clone()) != term {
            return None;
        }
    }
    Some(names)
}

/// The round in which each triple comes first; those that are stated in round 0.
fn rounds(facts: &[Triple], rules: &[Rule]) -> BTreeMap<Triple, usize> {
    let mut known: BTreeMap<Triple, usize> = facts.iter().map(|fact| (fact.clone(), 0)).collect();
    for round in 1.. {
        let mut new = Vec::new();
        for rule in rules {
            let mut rows = vec![BTreeMap::new()];
            for pattern in &rule.body {
                let found = rows
                    .iter()
                    .flat_map(|row| known.keys().filter_map(|triple| matched(pattern, triple, row)));
                rows = found.collect();
            }
            for row in rows {
                let triple = rule.head.clone().map(|slot| row.get(&slot).cloned().unwrap_or(slot));
                if !known.contains_key(&triple) {
                    new.push(triple);
                }
            }
        }
        if new.is_empty() {
            return known;
        }
        known.extend(new.into_iter().map(|triple| (triple, round)));
    }
    known
}

fn text_of(rule: &Rule) -> String {
    let body: Vec<_> = rule.body.iter().map(|pattern| pattern.join(" ")).collect();
    format!("CONSTRUCT {{ {} }} WHERE {{ {} }}", rule.head.join(" "), body.join(" . "))
}

#[test]
fn proofs_have_the_least_height() {
    let cases = std::env::var("LODE_RULES_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    let (mut deepest, mut proven) = (0, 0);
    for case in 1..=cases {
        let mut random = Random(case << 16);
        let facts: Vec<Triple> = (0..random.below(8) + 3)
            .map(|_| [random.of(&THINGS), random.of(&PROPERTIES), random.of(&THINGS)])
            .collect();
        let rules: Vec<Rule> = (0..random.below(5) + 2).map(|_| rule(&mut random)).collect();
        let texts: Vec<_> = rules.iter().map(text_of).collect();
        // Transitive rules have one step for a whole chain: a proof may be less high.
        let parsed =
            lode_sparql::rules::parse_rules(&format!("{}{}", prologue(), texts.join(";\n"))).unwrap();
        let is_usual = parsed.iter().all(|rule| rule.shape == lode_sparql::rules::Shape::Usual);
        let data: Vec<_> = facts.iter().map(|fact| fact.join(" ")).collect();
        let all = database(&data.join(" . "));
        apply(&all, &texts.join(";\n"));
        for (triple, round) in rounds(&facts, &rules) {
            let explanation = why(&all, &triple.join(" "));
            let height = explanation.proofs.first().map(|proof| proof.height);
            let context = format!("case {case}: {triple:?}\n{}\n{data:?}\n{explanation:?}", texts.join("\n"));
            match is_usual {
                true => assert_eq!(height, Some(round), "{context}"),
                false => assert!(height.is_some_and(|height| height <= round), "{context}"),
            }
            deepest = deepest.max(round);
            proven += usize::from(round > 0);
        }
    }
    assert!(deepest > 3 && proven > 200, "{deepest} {proven}");
}
