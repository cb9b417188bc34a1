//! Random data and the sets of rules: each triple that was inferred has a proof, and each step of it follows by the set from what it says alone.
//! `LODE_RULES_CASES` tries more of them.

use super::*;
use crate::materialise::tests::random::data;
use crate::testing::Random;
use crate::{QueryOptions, QueryResults, RuleSet};
use std::collections::BTreeSet;

fn lines(database: &Database, inferred: bool) -> BTreeSet<[String; 3]> {
    let options = QueryOptions { inferred, ..QueryOptions::default() };
    let QueryResults::Solutions(mut found) = database.query("SELECT * { ?s ?p ?o }", &options).unwrap()
    else {
        panic!("a SELECT")
    };
    let rows = found.collect_rows().unwrap();
    let text = |row: &Vec<Option<lode_rdf::Term>>, at: usize| row[at].as_ref().unwrap().to_string();
    rows.iter().map(|row| [text(row, 0), text(row, 1), text(row, 2)]).collect()
}

pub(super) fn statement(step: &super::super::Step) -> String {
    let statement = step.triple.as_ref().unwrap();
    statement.0.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// Whether a step follows by a set from what it takes.
pub(super) fn follows(set: RuleSet, premises: &str, conclusion: &str) -> bool {
    let small = database(premises);
    apply(&small, set.name());
    // A blank node has another name there.
    let pattern = conclusion.replace("_:", "?");
    let answer = small.query(&format!("{}ASK {{ {pattern} }}", prologue()), &QueryOptions::default());
    matches!(answer.unwrap(), QueryResults::Boolean(true))
}

fn check(set: RuleSet, all: &Database, data: &str, step_checks: &mut usize) {
    let stated = lines(all, false);
    for triple in lines(all, true).difference(&stated) {
        let triple = triple.join(" ");
        let explanation = why(all, &triple);
        let proof = explanation.proofs.first().unwrap_or_else(|| panic!("{triple}\n{explanation:?}\n{data}"));
        let mut depths = vec![None; proof.steps.len()];
        // Premises may stand before, but nothing needs itself: heights are there for all, without a circle.
        while depths.iter().any(Option::is_none) {
            let before = depths.clone();
            for (at, step) in proof.steps.iter().enumerate() {
                let below: Option<Vec<usize>> =
                    step.premises.iter().map(|premise| before[*premise]).collect();
                depths[at] = below.map(|below| below.into_iter().max().map_or(0, |height| height + 1));
            }
            assert_ne!(before, depths, "a circle: {explanation:?}\n{data}");
        }
        assert_eq!(statement(&proof.steps[0]), triple);
        for step in &proof.steps {
            match step.rule {
                None => assert_eq!(step.asserted, ["default"], "{}\n{data}", statement(step)),
                Some(_) if *step_checks > 0 => {
                    *step_checks -= 1;
                    let premises: Vec<_> =
                        step.premises.iter().map(|premise| statement(&proof.steps[*premise])).collect();
                    assert!(
                        follows(set, &premises.join(" . "), &statement(step)),
                        "{}\n{premises:?}\n{:?}\n{data}",
                        statement(step),
                        step.rule
                    );
                }
                Some(_) => {}
            }
        }
    }
}

fn cases(set: RuleSet, usual: u64, mut step_checks: usize) {
    let cases = std::env::var("LODE_RULES_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(usual);
    for case in 1..=cases {
        let data = data(&mut Random(case << 20), set);
        let all = database(&data);
        apply(&all, set.name());
        check(set, &all, &data, &mut step_checks);
    }
}

#[test]
fn what_rdfs_infers_has_a_proof() {
    cases(RuleSet::Rdfs, 25, 200);
}

#[test]
fn what_rdfs_plus_infers_has_a_proof() {
    cases(RuleSet::RdfsPlus, 20, 200);
}

#[test]
fn what_skos_infers_has_a_proof() {
    cases(RuleSet::Skos, 10, 150);
}

#[test]
fn what_owl2_rl_infers_has_a_proof() {
    cases(RuleSet::Owl2Rl, 6, 100);
}
