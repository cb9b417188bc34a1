//! The rules by which something can follow: those that the database keeps, and those of reasoning at run time.

use super::report::RuleName;
use crate::EngineError;
use crate::inferred::inferred_graph;
use crate::materialise::KeptRules;
use crate::options::{DefaultGraph, QueryOptions};
use lode_sparql::rules::{Rule, Way, run_time};
use lode_store::Snapshot;

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
}

impl KnownRules {
    /// Those of a version, for who asks with these options.
    pub fn of(snapshot: &Snapshot, options: &QueryOptions) -> Result<Self, EngineError> {
        let mut known = Self {
            rules: Vec::new(),
            sources: Vec::new(),
            is_stale: false,
            default_graph: DefaultGraph::Separate,
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
        Ok(known)
    }

    fn add(&mut self, source: &str, rule: Rule) {
        let name = RuleName { source: source.to_owned(), name: rule.name.clone(), line: rule.line };
        self.rules.push(KnownRule { name, ways: rule.ways(), rule });
    }
}
