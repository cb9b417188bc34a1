//! The graphs that there are for who sends a request: known wherever it is answered.

use lode_engine::GraphRules;
use std::future::Future;

tokio::task_local! {
    static CURRENT: GraphRules;
}

/// Answers a request of who has these rules.
pub(crate) async fn with_graph_rules<T>(rules: GraphRules, answer: impl Future<Output = T>) -> T {
    CURRENT.scope(rules, answer).await
}

/// The rules of who sends the request that is being answered. Another thread than the one that answers it knows of no graph: it has to be given them.
pub(crate) fn graph_rules() -> GraphRules {
    CURRENT.try_with(GraphRules::clone).unwrap_or_else(|_| GraphRules::nothing())
}

/// The version as a further member of an answer in JSON; nothing for who may not read all graphs, and would learn of changes to others.
pub(crate) fn with_version(version: u64) -> String {
    if graph_rules().reads_all() { format!(",\"version\":{version}") } else { String::new() }
}
