//! That the data are repeated by their seed, and each triple is there once, for all kinds and sizes from nothing on.

use super::*;
use std::collections::HashSet;

fn made(case: Case, size: u64, seed: u64) -> (String, u64) {
    let mut out = Vec::new();
    let triples = case.generate(size, seed, &mut out).unwrap();
    (String::from_utf8(out).unwrap(), triples)
}

#[test]
fn each_triple_is_there_once_and_counted() {
    for case in Case::ALL {
        for size in [0, 1, 2, 3, 7, 101, 250] {
            let (text, triples) = made(case, size, 5);
            let lines: HashSet<&str> = text.lines().collect();
            assert_eq!(lines.len() as u64, triples, "{case:?} {size}");
            assert_eq!(text.lines().count() as u64, triples, "{case:?} {size}");
        }
    }
}

#[test]
fn a_seed_decides() {
    for case in Case::ALL {
        assert_eq!(made(case, 40, 1), made(case, 40, 1), "{case:?}");
        assert_ne!(made(case, 40, 1).0, made(case, 40, 2).0, "{case:?}");
    }
}

#[test]
fn a_chain_is_one_and_a_hierarchy_has_no_circle() {
    let edges = |case, size, predicate: &str| -> Vec<(String, String)> {
        let (text, _) = made(case, size, 3);
        let words = text.lines().map(|line| line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        words.filter(|w| w[1] == predicate).map(|w| (w[0].clone(), w[2].clone())).collect()
    };
    let chain = edges(Case::Chain, 50, "<http://example.org/next>");
    let (starts, ends): (HashSet<_>, HashSet<_>) = chain.iter().cloned().unzip();
    assert_eq!((chain.len(), starts.len(), ends.len(), starts.difference(&ends).count()), (50, 50, 50, 1));
    for (case, roots) in [(Case::Wide, 1), (Case::Deep, 7)] {
        let edges = edges(case, 200, SUB_CLASS);
        let below: HashSet<_> = edges.iter().map(|(below, _)| below.clone()).collect();
        assert_eq!((edges.len(), below.len()), (200 - roots, 200 - roots), "{case:?}: each is below one");
        for start in &below {
            let mut at = start.clone();
            for _ in 0..200 {
                match edges.iter().find(|(below, _)| *below == at) {
                    Some((_, above)) => at = above.clone(),
                    None => break,
                }
            }
            assert!(!below.contains(&at), "{case:?}: a circle");
        }
    }
}
