//! The data by counting triples, and the answers to the queries by an evaluator of a few lines.

use super::*;
use spargebra::algebra::GraphPattern;
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Text terms of a triple.
type Triple = [String; 3];

fn data(universities: u64, seed: u64, inferred: bool) -> Vec<Triple> {
    let mut text = Vec::new();
    let count = generate(&Options { universities, seed, inferred }, &mut text).unwrap();
    let triples: Vec<Triple> = oxttl::NTriplesParser::new()
        .for_slice(&text)
        .map(|triple| triple.unwrap())
        .map(|triple| [triple.subject.to_string(), triple.predicate.to_string(), triple.object.to_string()])
        .collect();
    assert_eq!(triples.len() as u64, count);
    triples
}

#[test]
fn the_size_is_as_promised_and_the_seed_decides() {
    let triples = data(5, 0, false);
    let mean = triples.len() as u64 / 5;
    assert!(mean.abs_diff(TRIPLES_PER_UNIVERSITY) < TRIPLES_PER_UNIVERSITY / 10, "{mean}");
    assert!(triples == data(5, 0, false) && triples != data(5, 1, false));
}

#[test]
fn no_triple_is_told_twice_and_inference_only_adds() {
    let (asserted, all) = (data(1, 3, false), data(1, 3, true));
    let set: HashSet<&Triple> = all.iter().collect();
    assert_eq!(set.len(), all.len());
    assert!(asserted.iter().all(|triple| set.contains(triple)));
    assert_eq!(asserted.iter().collect::<HashSet<_>>().len(), asserted.len());
}

fn property(name: &str) -> String {
    format!("<{}{name}>", ontology::NAMESPACE)
}

/// The pairs of a property.
fn pairs<'a>(triples: &'a [Triple], name: &str) -> HashSet<(&'a str, &'a str)> {
    let property = property(name);
    triples.iter().filter(|t| t[1] == property).map(|t| (t[0].as_str(), t[2].as_str())).collect()
}

#[test]
fn what_is_inferred_follows_and_all_of_it_is_there() {
    let all = data(1, 3, true);
    let of = |name| pairs(&all, name);
    assert!(of("headOf").is_subset(&of("worksFor")) && of("worksFor").is_subset(&of("memberOf")));
    let turned = |name| of(name).into_iter().map(|(s, o)| (o, s)).collect::<HashSet<_>>();
    assert_eq!(turned("memberOf"), of("member"));
    assert_eq!(turned("degreeFrom"), of("hasAlumnus"));
    let degrees = ["undergraduateDegreeFrom", "mastersDegreeFrom", "doctoralDegreeFrom"];
    assert_eq!(degrees.into_iter().flat_map(of).collect::<HashSet<_>>(), of("degreeFrom"));
    let parts = of("subOrganizationOf");
    for (part, whole) in &parts {
        assert!(parts.iter().filter(|(s, _)| s == whole).all(|(_, o)| parts.contains(&(*part, *o))));
    }
    let types = |class: &str| {
        let class = property(class);
        let members = all.iter().filter(|t| t[1].ends_with("#type>") && t[2] == class);
        members.map(|t| t[0].as_str()).collect::<HashSet<_>>()
    };
    let subjects = |name| of(name).into_iter().map(|(s, _)| s).collect::<HashSet<_>>();
    assert_eq!(types("Chair"), subjects("headOf"));
    assert_eq!(types("Student"), subjects("takesCourse"));
    assert_eq!(types("TeachingAssistant"), subjects("teachingAssistantOf"));
    assert!(subjects("worksFor").is_subset(&types("Employee")));
    for (below, above) in
        [("Chair", "Professor"), ("Lecturer", "Faculty"), ("Faculty", "Employee"), ("Student", "Person")]
    {
        assert!(types(below).is_subset(&types(above)), "{below}");
    }
    assert!(types("Person").len() == types("Student").len() + types("Faculty").len());
}

/// A solution: variables and terms.
type Solution = BTreeMap<String, String>;

/// What a place of a pattern is in a solution: a term, or the variable that is not bound yet.
fn place(pattern: &TermPattern, solution: &Solution) -> Result<String, String> {
    match pattern {
        TermPattern::Variable(variable) => {
            solution.get(variable.as_str()).cloned().ok_or_else(|| variable.as_str().to_owned())
        }
        constant => Ok(constant.to_string()),
    }
}

/// The triples of each predicate, by what is told of subject and object.
type Index<'a> = HashMap<(&'a str, Option<&'a str>, Option<&'a str>), Vec<&'a Triple>>;

fn index(triples: &[Triple]) -> Index<'_> {
    let mut index = Index::new();
    for triple in triples {
        let (s, p, o) = (triple[0].as_str(), triple[1].as_str(), triple[2].as_str());
        for key in [(p, None, None), (p, Some(s), None), (p, None, Some(o)), (p, Some(s), Some(o))] {
            index.entry(key).or_default().push(triple);
        }
    }
    index
}

/// Extends each solution by each triple that fits, one pattern after the other: first those that share a variable with what
/// is found already.
fn solutions(index: &Index<'_>, mut patterns: Vec<TriplePattern>) -> Vec<Solution> {
    let mut found = vec![Solution::new()];
    while !patterns.is_empty() {
        let is_joined = |pattern: &TriplePattern| {
            let is_known = |place: &TermPattern| match place {
                TermPattern::Variable(variable) => {
                    found.first().is_some_and(|s| s.contains_key(variable.as_str()))
                }
                _ => false,
            };
            is_known(&pattern.subject) || is_known(&pattern.object)
        };
        let pattern = patterns.remove(patterns.iter().position(is_joined).unwrap_or(0));
        let NamedNodePattern::NamedNode(predicate) = &pattern.predicate else { panic!("{pattern}") };
        let predicate = predicate.to_string();
        let mut next = Vec::new();
        for solution in &found {
            let (s, o) = (place(&pattern.subject, solution), place(&pattern.object, solution));
            for triple in index.get(&(&predicate, s.as_deref().ok(), o.as_deref().ok())).into_iter().flatten()
            {
                let mut extended = solution.clone();
                s.as_ref().err().map(|name| extended.insert(name.clone(), triple[0].clone()));
                o.as_ref().err().map(|name| extended.insert(name.clone(), triple[2].clone()));
                next.push(extended);
            }
        }
        found = next;
    }
    found
}

/// The answers for one university and seed 0, which `lode bench lubm run` must find, too.
const COUNTS: [usize; 14] = [5, 1, 10, 28, 423, 9399, 26, 9399, 242, 5, 249, 18, 2, 7084];

#[test]
fn all_queries_have_answers() {
    let triples = data(1, DEFAULT_SEED, true);
    let index = index(&triples);
    let count = |query: &NamedQuery| {
        let parsed = spargebra::SparqlParser::new().parse_query(query.text).unwrap();
        let spargebra::Query::Select { pattern: GraphPattern::Project { inner, .. }, .. } = parsed else {
            panic!("{}", query.name)
        };
        let GraphPattern::Bgp { patterns } = *inner else { panic!("{}", query.name) };
        solutions(&index, patterns).len()
    };
    assert_eq!(QUERIES.each_ref().map(count), COUNTS);
}
