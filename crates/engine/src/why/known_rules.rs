//! The rules by which something can follow: those that the database keeps, and those of reasoning at run time.

use super::report::RuleName;
use crate::EngineError;
use crate::inferred::inferred_graph;
use crate::materialise::KeptRules;
use crate::options::{DefaultGraph, QueryOptions};
use lode_sparql::rules::{EqualityRules, Premise, PremiseReads, Rule, Way, equality, run_time};
use lode_sparql::update::TermTemplate;
use lode_store::Snapshot;
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

/// A rule, taken apart.
pub(super) struct KnownRule {
    pub name: RuleName,
    pub rule: Rule,
    pub ways: Vec<Way>,
}

/// All of them.
pub(super) struct KnownRules {
    pub rules: Vec<KnownRule>,
    /// Their sets and texts.
    pub sources: Vec<String>,
    pub is_stale: bool,
    /// What they read.
    pub default_graph: DefaultGraph,
    /// The rules of equality, where all are there.
    pub equality: Option<Equality>,
}

/// The places of the rules of equality.
#[derive(Debug, Clone)]
pub(super) struct Equality {
    all: Vec<usize>,
    pub transitive: usize,
    pub symmetric: usize,
    pub subject: usize,
    pub predicate: usize,
    pub object: usize,
}

impl KnownRules {
    /// Those of a version, for who asks with these options.
    pub fn of(snapshot: &Snapshot, options: &QueryOptions) -> Result<Self, EngineError> {
        let mut known = Self {
            rules: Vec::new(),
            sources: Vec::new(),
            is_stale: false,
            default_graph: DefaultGraph::Separate,
            equality: None,
        };
        // Rules are read with what follows by them, or not at all.
        let visible = options.graphs.visible(snapshot, &options.cancel)?;
        let graph = inferred_graph(snapshot)?;
        let is_visible =
            visible.is_none_or(|visible| visible.default && graph.is_some_and(|graph| visible.has(graph)));
        if options.inferred
            && is_visible
            && let Some(inferences) = snapshot.inferences()
        {
            let kept = KeptRules::decode(&inferences.rules)?;
            known.is_stale = !inferences.is_current();
            known.default_graph = kept.default_graph();
            known.sources.extend(kept.sources.iter().map(|source| source.name().to_owned()));
            for (source, rule) in kept.all_rules()? {
                known.add(&source, rule);
            }
        }
        if let Some(reasoning) = &options.reasoning {
            let source = format!("--reason {}", reasoning.rules);
            let rules = run_time(reasoning.rules).map_err(|error| EngineError::Rules(error.to_string()))?;
            rules.into_iter().for_each(|rule| known.add(&source, rule));
            known.sources.push(source);
            // The schema may be in any graph.
            known.default_graph = DefaultGraph::Union;
        }
        known.equality = Equality::of(&known.rules);
        Ok(known)
    }

    /// Whether a rule is one of those of equality.
    pub fn is_equality(&self, rule: usize) -> bool {
        self.equality.as_ref().is_some_and(|equality| equality.all.contains(&rule))
    }

    fn add(&mut self, source: &str, rule: Rule) {
        let name = RuleName { source: source.to_owned(), name: rule.name.clone(), line: rule.line };
        self.rules.push(KnownRule { name, ways: rule.ways(), rule });
    }
}

impl Equality {
    fn of(known: &[KnownRule]) -> Option<Self> {
        let rules: Vec<Rule> = known.iter().map(|known| known.rule.clone()).collect();
        let EqualityRules { all, transitive, subject } = equality(&rules)?;
        let mut others = all.iter().filter(|at| **at != transitive);
        let symmetric = others.clone().find(|at| known[**at].body().len() == 1)?;
        let replacing = |place: usize| others.clone().find(|at| known[**at].replaced() == Some(place));
        let (predicate, object) = (*replacing(1)?, *replacing(2)?);
        // Of two rules of subjects that are the same either will do.
        others.any(|at| *at == subject).then_some(())?;
        Some(Self { symmetric: *symmetric, transitive, subject, predicate, object, all: all.clone() })
    }
}

impl KnownRule {
    /// The triples of its body, where it is a pattern.
    fn body(&self) -> Vec<TriplePattern> {
        let premises = self.ways.iter().take(1).flat_map(|way| &way.premises);
        let triple = |premise: &'_ Premise| match &premise.reads {
            PremiseReads::Triple(triple) => Some(triple.clone()),
            PremiseReads::Path { .. } => None,
        };
        premises.filter_map(triple).collect()
    }

    /// The place of a triple in which it puts an equal term, of a rule that does that.
    fn replaced(&self) -> Option<usize> {
        let body = self.body();
        let [one, other] = body.as_slice() else { return None };
        let is_variable = |triple: &&TriplePattern| matches!(triple.predicate, NamedNodePattern::Variable(_));
        let read = [one, other].into_iter().find(is_variable)?;
        let head = &self.rule.head.first()?.triple;
        let name = |template: &TermTemplate| match template {
            TermTemplate::Column(column) => self.rule.variables.get(*column),
            _ => None,
        };
        let made = [name(&head.subject), name(&head.predicate), name(&head.object)];
        let variable = |term: &TermPattern| match term {
            TermPattern::Variable(variable) => Some(variable.clone()),
            _ => None,
        };
        let predicate = match &read.predicate {
            NamedNodePattern::Variable(variable) => Some(variable.clone()),
            NamedNodePattern::NamedNode(_) => None,
        };
        let read = [variable(&read.subject), predicate, variable(&read.object)];
        made.into_iter().zip(&read).position(|(made, read)| made != read.as_ref())
    }
}
