//! Explanations: why a triple holds, as a proof from what is stated by rules; and what of the data is contradictory.
//!
//! Nothing is kept while rules are applied. A proof is found backwards, over the data with what was inferred: the head of each rule is unified with what is to
//! be proven, its body asked as a query, and each row of that is a way in which it follows. So explanations cost only those who ask for them.

mod expand;
mod facts;
mod graph;
mod known_rules;
mod known_steps;
mod nearest;
mod report;
mod search;
mod steps;
#[cfg(test)]
mod tests;
mod text;
mod walks;

pub use report::{
    Consistency, Contradiction, Explanation, Goal, Nearest, Proof, RuleName, Statement, Step, WhyOptions,
};

use crate::EngineError;
use crate::caches::Caches;
use crate::options::QueryOptions;
use crate::query::schema;
use expand::Expander;
use facts::{Facts, Terms};
use graph::ProofGraph;
use known_rules::KnownRules;
use known_steps::Steps;
use lode_base::memory_budget::Reservation;
use lode_rdf::serialize::Prefixes;
use lode_rdf::{Term, ValueId, Variable};
use lode_sparql::ParseError;
use lode_sparql::plan::DatasetOverride;
use lode_store::Snapshot;
use spargebra::Query;
use spargebra::algebra::GraphPattern;
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

/// Rows of a body without a triple that are looked at for what is missing.
const NEAREST_ROWS: usize = 1;

/// Why a triple holds, or that it does not.
pub(crate) fn why(
    snapshot: Snapshot,
    goal: &Goal,
    options: &WhyOptions,
    caches: &Caches,
) -> Result<Explanation, EngineError> {
    let rules = KnownRules::of(&snapshot, &options.evaluation)?;
    let (mut facts, _memory) = facts(snapshot, &options.evaluation, &rules, caches)?;
    let mut explanation = Explanation {
        triple: None,
        holds: false,
        asserted: Vec::new(),
        proofs: Vec::new(),
        is_complete: true,
        is_stale: rules.is_stale,
        rules: rules.sources.clone(),
        nearest: Vec::new(),
        facts: 0,
        unknown: Vec::new(),
    };
    let triple = match goal {
        Goal::Contradiction => None,
        Goal::Triple(triple) => {
            explanation.triple = Some(Statement(triple.clone()));
            let (ids, holds) = (ids(triple, &mut facts)?, holds(triple, &mut facts, &options.evaluation)?);
            explanation.holds = holds;
            let Some(ids) = ids else {
                explanation.unknown = unknown(triple, &mut facts)?;
                return Ok(explanation);
            };
            let graphs = facts.graphs(&ids)?;
            explanation.asserted = search::names(&graphs, &mut facts)?;
            if !holds {
                // What does not hold yet follows perhaps from what has changed since rules were applied.
                if rules.is_stale {
                    let found = search::search(Some(ids), &mut facts, &rules, options)?;
                    if !found.proofs.is_empty() {
                        explanation.proofs = found.proofs;
                        explanation.is_complete = found.is_complete;
                        explanation.facts = found.facts;
                        return Ok(explanation);
                    }
                }
                let [s, p, o] = ids;
                let graph = ProofGraph::new(&facts);
                let mut expander = Expander {
                    facts: &mut facts,
                    rules: &rules,
                    graph,
                    rows_max: NEAREST_ROWS,
                    steps: Steps::default(),
                    is_cut: false,
                };
                explanation.nearest = nearest::nearest(&mut expander, [s, p, o, ValueId::UNDEF])?;
                return Ok(explanation);
            }
            Some(ids)
        }
    };
    let found = search::search(triple, &mut facts, &rules, options)?;
    if triple.is_none() {
        explanation.holds = !found.proofs.is_empty();
    }
    explanation.proofs = found.proofs;
    explanation.is_complete = found.is_complete;
    explanation.facts = found.facts;
    Ok(explanation)
}

/// What of the data is contradictory, by the rules that say so.
pub(crate) fn consistency(
    snapshot: Snapshot,
    options: &WhyOptions,
    caches: &Caches,
) -> Result<Consistency, EngineError> {
    let rules = KnownRules::of(&snapshot, &options.evaluation)?;
    let (mut facts, _memory) = facts(snapshot, &options.evaluation, &rules, caches)?;
    let saying = rules.rules.iter().filter(|known| known.rule.head.is_empty()).count();
    let graph = ProofGraph::new(&facts);
    let rows_max = options.proofs_max.max(1);
    let steps = Steps::default();
    let mut expander = Expander { facts: &mut facts, rules: &rules, graph, rows_max, steps, is_cut: false };
    let root = expander.graph.place([ValueId::UNDEF; 4], expander.facts)?;
    expander.contradictions(root)?;
    let Expander { graph, is_cut, .. } = expander;
    let mut contradictions = Vec::new();
    for instance in graph.nodes.iter().take(1).flat_map(|root| &root.instances) {
        let mut triples = Vec::new();
        for premise in &instance.premises {
            let [s, p, o, _] = graph.nodes[*premise].key;
            triples.extend(ProofGraph::statement([s, p, o], &mut facts)?);
        }
        contradictions.push(Contradiction { rule: rules.rules[instance.rule].name.clone(), triples });
    }
    let is_complete = !is_cut && contradictions.len() <= options.proofs_max;
    contradictions.truncate(options.proofs_max);
    Ok(Consistency { rules: saying, contradictions, is_complete, is_stale: rules.is_stale })
}

/// The data as rules read them, and what the schema takes.
fn facts(
    snapshot: Snapshot,
    options: &QueryOptions,
    rules: &KnownRules,
    caches: &Caches,
) -> Result<(Facts, Vec<Reservation>), EngineError> {
    let budget = options.budget();
    let visible = options.graphs.visible(&snapshot, &options.cancel)?;
    let (schema, memory) = schema(&snapshot, options, visible.as_ref(), Some(caches), &budget)?;
    let evaluation = QueryOptions {
        default_graph: rules.default_graph,
        dataset: Some(DatasetOverride { schema, ..DatasetOverride::default() }),
        reasoning: None,
        rows_max: None,
        bindings: Vec::new(),
        service: None,
        // Most are short, and there are many.
        threads: 1,
        ..options.clone()
    };
    Ok((Facts::new(snapshot, evaluation, budget)?, memory))
}

/// The ids of a triple's terms; none where the data have no such term.
fn ids(triple: &[Term; 3], facts: &mut Facts) -> Result<Option<[ValueId; 3]>, EngineError> {
    let mut ids = [ValueId::UNDEF; 3];
    for (id, term) in ids.iter_mut().zip(triple) {
        let Some(known) = facts.id(term)? else { return Ok(None) };
        *id = known;
    }
    Ok(Some(ids))
}

/// The terms of a triple that the data do not have.
fn unknown(triple: &[Term; 3], facts: &mut Facts) -> Result<Vec<String>, EngineError> {
    let mut unknown: Vec<String> = Vec::new();
    for term in triple {
        let written = term.to_string();
        if facts.id(term)?.is_none() && !unknown.contains(&written) {
            unknown.push(written);
        }
    }
    Ok(unknown)
}

/// Whether a triple is there for who asks.
fn holds(triple: &[Term; 3], facts: &mut Facts, options: &QueryOptions) -> Result<bool, EngineError> {
    let names = ["s", "p", "o"];
    let variable = |name: &str| TermPattern::Variable(Variable::new_unchecked(name));
    let pattern = TriplePattern {
        subject: variable("s"),
        predicate: NamedNodePattern::Variable(Variable::new_unchecked("p")),
        object: variable("o"),
    };
    let inner = Box::new(GraphPattern::Bgp { patterns: vec![pattern] });
    let pattern = GraphPattern::Slice { inner, start: 0, length: Some(1) };
    let terms: Terms = names.iter().map(|name| (*name).to_owned()).zip(triple.iter().cloned()).collect();
    let query = Query::Ask { dataset: None, pattern, base_iri: None };
    let options = QueryOptions { bindings: Vec::new(), rows_max: None, ..options.clone() };
    Ok(!facts.rows_by(&query, &terms, &options)?.rows.is_empty())
}

impl Goal {
    /// What a text asks for: `false`, or a triple as in Turtle, with these prefixes; blank nodes have the labels that the store shows.
    ///
    /// # Errors
    /// [`EngineError::Syntax`] where the text is no triple.
    pub fn parse(text: &str, prefixes: &Prefixes) -> Result<Self, EngineError> {
        if text.trim() == "false" {
            return Ok(Self::Contradiction);
        }
        let declared: String =
            prefixes.iter().map(|(name, iri)| format!("PREFIX {name}: <{iri}> ")).collect();
        let wrong = |why: &str| {
            let message = format!("{why}: write one triple, as in Turtle, such as ':tom a :Cat', or false");
            EngineError::from(ParseError::without_place(message))
        };
        // On a line of its own, so that what is told of it has its columns.
        let parse = |end: &str| lode_sparql::parse_query(&format!("{declared}ASK {{\n{text}{end}}}"), None);
        let query = parse("\n").or_else(|error| {
            // What is missing at its end is told on its last line.
            let is_behind = error.line > text.lines().count() + 1;
            if is_behind { parse(" ") } else { Err(error) }
        });
        let query = query.map_err(|mut error| {
            error.line = error.line.saturating_sub(1);
            error.more = Box::default();
            if error.help.starts_with("put before the query: PREFIX ") {
                error.help = "write the whole IRI, <http://...>: known are the prefixes of loaded documents and usual ones".into();
            }
            EngineError::from(error)
        })?;
        let mut triples = Vec::new();
        let is_pattern = match &query {
            Query::Ask { pattern, .. } => gather(pattern, &mut triples),
            _ => false,
        };
        let triple = match triples.as_slice() {
            [triple] if is_pattern => *triple,
            [_, _, ..] if is_pattern => return Err(wrong("these are several triples")),
            _ => return Err(wrong("this is no triple")),
        };
        let predicate = match &triple.predicate {
            NamedNodePattern::NamedNode(name) => Term::from(name.clone()),
            NamedNodePattern::Variable(variable) => return Err(wrong(&format!("{variable} is a variable"))),
        };
        let [subject, object] = [&triple.subject, &triple.object]
            .map(|term| term_of(term).ok_or_else(|| wrong("a variable is in it")));
        Ok(Self::Triple([subject?, predicate, object?]))
    }
}

/// The triples of a pattern of nothing else; whether it is one.
fn gather<'a>(pattern: &'a GraphPattern, triples: &mut Vec<&'a TriplePattern>) -> bool {
    match pattern {
        GraphPattern::Bgp { patterns } => {
            triples.extend(patterns);
            true
        }
        GraphPattern::Join { left, right } => gather(left, triples) && gather(right, triples),
        GraphPattern::Project { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner } => gather(inner, triples),
        _ => false,
    }
}

fn term_of(pattern: &TermPattern) -> Option<Term> {
    Some(match pattern {
        TermPattern::NamedNode(name) => name.clone().into(),
        TermPattern::BlankNode(node) => node.clone().into(),
        TermPattern::Literal(literal) => literal.clone().into(),
        TermPattern::Triple(triple) => {
            let NamedNodePattern::NamedNode(predicate) = &triple.predicate else { return None };
            let (subject, object) = (term_of(&triple.subject)?, term_of(&triple.object)?);
            Term::from(lode_rdf::Triple::from_terms(subject, predicate.clone(), object).ok()?)
        }
        TermPattern::Variable(_) => return None,
    })
}
