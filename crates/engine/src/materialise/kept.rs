//! The rules that stay with a database, as its manifest has them: names of sets, and texts as they were given.

use crate::EngineError;
use crate::options::DefaultGraph;
use lode_sparql::rules::{Rule, RuleError, RuleSet, parse_n3_rules, parse_rules};
use lode_store::Snapshot;
use lode_store::manifest::{Currency, Inferences};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Where rules come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleSource {
    /// A set that comes with the program, by its name.
    Set(String),
    /// A text.
    Text {
        /// What it is called: the name of its file, whose ending tells what the text is.
        name: String,
        /// Rules: of `.n3` in N3, else as `CONSTRUCT ... WHERE` with `;` between them.
        text: String,
    },
}

impl RuleSource {
    /// What messages and reports call it.
    pub fn name(&self) -> &str {
        match self {
            Self::Set(name) | Self::Text { name, .. } => name,
        }
    }

    fn rules(&self) -> Result<Vec<Rule>, EngineError> {
        let wrong = |error: RuleError| EngineError::Rules(format!("{}: {error}", self.name()));
        match self {
            Self::Set(name) => match RuleSet::from_name(name) {
                Some(set) => set.rules().map_err(wrong),
                None => Err(EngineError::Rules(format!(
                    "there is no set of rules {name}: there are {}",
                    RuleSet::ALL.map(RuleSet::name).join(", ")
                ))),
            },
            Self::Text { name, text } if is_n3(name) => parse_n3_rules(text).map_err(wrong),
            Self::Text { text, .. } => parse_rules(text).map_err(wrong),
        }
    }
}

/// Whether a file of this name has rules in N3.
fn is_n3(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, ending)| ending.eq_ignore_ascii_case("n3"))
}

/// The rules of a database, and what they read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeptRules {
    pub sources: Vec<RuleSource>,
    /// Whether they read all graphs, and not the default graph alone.
    pub all_graphs: bool,
    /// Whether commits bring what follows up to date.
    #[serde(default)]
    pub maintained: bool,
}

impl KeptRules {
    /// What is to be known of what they have just been applied to.
    pub fn applied(&self, text: String) -> Inferences {
        let currency = if self.maintained { Currency::Maintained } else { Currency::Current };
        Inferences { currency, rules: text }
    }

    pub fn default_graph(&self) -> DefaultGraph {
        if self.all_graphs { DefaultGraph::Union } else { DefaultGraph::Separate }
    }

    /// The rules that add something, each with the name of its source.
    pub fn rules(&self) -> Result<Vec<(String, Rule)>, EngineError> {
        let mut rules = self.all_rules()?;
        rules.retain(|(_, rule)| !rule.is_contradiction());
        Ok(rules)
    }

    /// The same with those that say what must not be.
    pub fn all_rules(&self) -> Result<Vec<(String, Rule)>, EngineError> {
        let mut all = Vec::new();
        for source in &self.sources {
            all.extend(source.rules()?.into_iter().map(|rule| (source.name().to_owned(), rule)));
        }
        Ok(all)
    }

    /// The numbers among [`Self::rules`] of those that `before` has not; none where it has others, or they read something else, so that what follows by these need not
    /// follow now.
    pub fn added_to(&self, before: &Self) -> Result<Option<HashSet<usize>>, EngineError> {
        let is_kept = |source: &RuleSource| self.sources.contains(source);
        if self.all_graphs != before.all_graphs || !before.sources.iter().all(is_kept) {
            return Ok(None);
        }
        let (mut added, mut number) = (HashSet::new(), 0);
        for source in &self.sources {
            let rules = source.rules()?.iter().filter(|rule| !rule.is_contradiction()).count();
            if !before.sources.contains(source) {
                added.extend(number..number + rules);
            }
            number += rules;
        }
        Ok(Some(added))
    }

    pub fn encode(&self) -> Result<String, EngineError> {
        serde_json::to_string(self).map_err(|error| EngineError::Rules(error.to_string()))
    }

    pub fn decode(text: &str) -> Result<Self, EngineError> {
        serde_json::from_str(text).map_err(|error| {
            EngineError::Rules(format!(
                "the rules that the database keeps are not understood ({error}): name rules"
            ))
        })
    }
}

/// What a version of a database knows of its inferences.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeptInferences {
    /// Whether they are all that follows from it, and nothing else.
    pub up_to_date: bool,
    /// The version of which they are all that follows, where it is known: where they are stale, an older one.
    pub of_version: Option<u64>,
    /// Whether commits bring them up to date.
    pub maintained: bool,
    /// By which rules they were made: names of sets, and of texts.
    pub rules: Vec<String>,
    /// What the rules read: the default graph, or all graphs.
    pub all_graphs: bool,
    /// How many triples.
    pub triples: u64,
}

impl KeptInferences {
    /// Those of a version; none where there are no rules.
    pub(crate) fn of(snapshot: &Snapshot) -> Result<Option<Self>, EngineError> {
        let Some(known) = snapshot.inferences() else { return Ok(None) };
        let rules = KeptRules::decode(&known.rules)?;
        let graph = crate::inferred::inferred_graph(snapshot)?;
        let triples = graph.map_or(Ok(0), |graph| snapshot.count(lode_packed::Order::Gspo, &[graph]))?;
        Ok(Some(Self {
            up_to_date: known.is_current(),
            of_version: snapshot.inferred_version(),
            maintained: rules.maintained,
            rules: rules.sources.iter().map(|source| source.name().to_owned()).collect(),
            all_graphs: rules.all_graphs,
            triples,
        }))
    }
}
