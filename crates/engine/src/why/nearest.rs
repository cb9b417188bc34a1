//! What is missing: single triples with which a rule would give what was asked for.

use super::expand::{Expander, placed};
use super::graph::Key;
use super::report::Nearest;
use crate::EngineError;
use lode_rdf::Term;
use lode_sparql::rules::{AUXILIARY, PremiseReads, Way};
use lode_sparql::schema::vocabulary::owl;
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};
use std::collections::HashMap;

/// So many are told.
const NEAREST_MAX: usize = 5;

/// Triples that are missing, those first of which most is known.
pub(super) fn nearest(expander: &mut Expander<'_>, key: Key) -> Result<Vec<Nearest>, EngineError> {
    let (rules, mut found) = (expander.rules, Vec::new());
    let mut goal = Vec::new();
    for id in &key[..3] {
        goal.push(expander.facts.words(*id)?);
    }
    for known in &rules.rules {
        for head in &known.rule.head {
            let Some(unified) = expander.unify(known, head, key)? else { continue };
            for way in known.ways.iter().filter(|way| has_no_auxiliary(way)) {
                for premise in 0..way.premises.len() {
                    let PremiseReads::Triple(triple) = &way.premises[premise].reads else { continue };
                    let (terms, same) = placed(way, &unified.terms);
                    let Some(query) = way.query_without(premise, 1, &same) else { continue };
                    let rows = match expander.facts.rows(&query, &terms) {
                        Ok(rows) => rows,
                        Err(EngineError::Plan(_)) => continue,
                        Err(error) => return Err(error),
                    };
                    let Some(row) = rows.rows.first() else { continue };
                    let mut names = HashMap::new();
                    for (name, at) in &rows.columns {
                        if let Some(id) = row.get(*at).filter(|id| !id.is_undef()) {
                            names.insert(name.as_str(), expander.facts.term(*id)?);
                        }
                    }
                    names.extend(unified.terms.iter().map(|(name, term)| (name.as_str(), term.clone())));
                    let missing = words(triple, &names);
                    let open = missing.iter().filter(|word| word.starts_with('?')).count();
                    let says_something = way.premises.len() > 1 || open == 0;
                    if says_something && open < 2 && missing[..] != goal[..] {
                        let is_equality = missing[1] == owl("sameAs").to_string();
                        let nearest = Nearest { rule: known.name.clone(), missing };
                        found.push((is_equality, open, nearest));
                    }
                }
            }
        }
    }
    found.sort_by_key(|(is_equality, open, _)| (*is_equality, *open));
    let mut nearest: Vec<Nearest> = Vec::new();
    for (.., one) in found {
        if nearest.len() < NEAREST_MAX && nearest.iter().all(|other| other.missing != one.missing) {
            nearest.push(one);
        }
    }
    Ok(nearest)
}

fn has_no_auxiliary(way: &Way) -> bool {
    way.premises.iter().all(|premise| match &premise.reads {
        PremiseReads::Triple(TriplePattern { predicate: NamedNodePattern::NamedNode(name), .. }) => {
            !name.as_str().starts_with(AUXILIARY)
        }
        _ => true,
    })
}

fn words(triple: &TriplePattern, names: &HashMap<&str, Term>) -> [String; 3] {
    let variable = |name: &str| match names.get(name) {
        Some(term) => term.to_string(),
        None => format!("?{}", name.trim_start_matches(['.', '_', ':'])),
    };
    let slot = |term: &TermPattern| match term {
        TermPattern::Variable(name) => variable(name.as_str()),
        other => other.to_string(),
    };
    let predicate = match &triple.predicate {
        NamedNodePattern::Variable(name) => variable(name.as_str()),
        NamedNodePattern::NamedNode(name) => name.to_string(),
    };
    [slot(&triple.subject), predicate, slot(&triple.object)]
}
