//! Rewrites of [`Logical`] that hold whatever the data, or that the index proves right: what is empty vanishes, filters go down to where their variables are,
//! joins become flat, columns that nobody needs are not read.
//!
//! None changes the bag of solutions.

mod best_texts;
mod candidates;
mod constants;
mod filters;
mod groups;
mod hoist;
mod limits;
mod nearest;
mod optional;
mod parts;
mod places;
mod prune;
mod simplify;
mod texts;
mod unify;

use crate::logical::Logical;
use crate::plan::VarId;
use crate::statistics::Statistics;
use crate::steps::Steps;
use crate::var_set::VarSet;

/// A rule: it gives a query with the same solutions, as often as before.
struct Rule {
    /// Its name, by which it is switched off.
    name: &'static str,
    apply: fn(Logical, &Wanted<'_>) -> Logical,
}

/// What rules know besides the query.
struct Wanted<'a> {
    /// The columns that are read of the result.
    columns: VarSet,
    stats: &'a dyn Statistics,
}

const SIMPLIFY: Rule =
    Rule { name: "simplify", apply: |logical, wanted| simplify::simplify(logical, wanted.stats) };
const PUSH_FILTERS: Rule =
    Rule { name: "push_filters", apply: |logical, _| filters::push(logical, Vec::new()) };
const HOIST: Rule = Rule { name: "hoist", apply: |logical, wanted| hoist::hoist(logical, wanted.stats) };
const UNIFY: Rule = Rule { name: "unify", apply: |logical, wanted| unify::unify(logical, wanted.stats) };
const CONSTANTS: Rule =
    Rule { name: "constants", apply: |logical, wanted| constants::replace(logical, wanted.stats) };
const TEXTS: Rule = Rule {
    name: "texts",
    apply: |logical, wanted| {
        let best = best_texts::look_up(logical, wanted.stats);
        parts::look_up(texts::look_up(best, wanted.stats), wanted.stats)
    },
};
const PLACES: Rule = Rule {
    name: "places",
    apply: |logical, wanted| nearest::look_up(places::look_up(logical, wanted.stats), wanted.stats),
};
const LIMITS: Rule = Rule { name: "limits", apply: |logical, _| limits::push(logical) };
const PRUNE: Rule = Rule { name: "prune", apply: |logical, wanted| prune::prune(logical, &wanted.columns) };

/// In the sequence in which they are applied: hoisting and constants leave something to be simplified, and joins that are flat take more filters.
const SEQUENCE: [Rule; 12] = [
    SIMPLIFY,
    PUSH_FILTERS,
    HOIST,
    SIMPLIFY,
    PUSH_FILTERS,
    UNIFY,
    CONSTANTS,
    SIMPLIFY,
    TEXTS,
    PLACES,
    LIMITS,
    PRUNE,
];

/// The names of all rules, each once: for [`plan_query_without`](crate::planner::plan_query_without).
pub fn rule_names() -> Vec<&'static str> {
    let mut names: Vec<&str> = Vec::new();
    for rule in &SEQUENCE {
        if !names.contains(&rule.name) {
            names.push(rule.name);
        }
    }
    names
}

/// Rewrites a query of which these columns are wanted, without the rules of some names, each rule a step. One whose plan nobody waits for
/// any more comes to nothing.
pub(crate) fn rewrite(
    logical: Logical,
    columns: &[VarId],
    rules_off: &[&str],
    stats: &dyn Statistics,
    steps: &mut Steps<'_>,
) -> Logical {
    let wanted = Wanted { columns: columns.iter().copied().collect(), stats };
    let rules = SEQUENCE.iter().filter(|rule| !rules_off.contains(&rule.name));
    rules.fold(logical, |logical, rule| {
        if stats.is_cancelled() {
            return Logical::empty(logical.vars);
        }
        let rewritten = (rule.apply)(logical, &wanted);
        steps.done(rule.name, rewritten.node_count());
        rewritten
    })
}

/// Drops what makes columns beyond those needed.
pub(crate) fn pruned(logical: Logical, needed: &VarSet) -> Logical {
    prune::prune(logical, needed)
}
