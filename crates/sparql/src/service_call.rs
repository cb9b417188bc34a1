//! A federated pattern (SERVICE): whom to ask, and in which words.

use crate::pattern::TermSlot;
use crate::variable::VarId;
use std::fmt::Write as _;

/// A request to another endpoint, but for the bindings that go with it.
#[derive(Debug, Clone, PartialEq)]
pub struct ServiceCall {
    /// The endpoint: a constant, or a variable bound by the rows that the call is joined with.
    pub endpoint: TermSlot,
    /// The pattern as text: what stands between the braces of a group.
    pub body: String,
    /// The pattern is a join of patterns, so that another one can stand in the same group and mean the same as outside of it. Filters,
    /// OPTIONAL, MINUS and BIND look at all that stands before them in their group.
    pub is_join: bool,
    /// Variables of the pattern that are wanted.
    pub columns: Vec<VarId>,
    /// Those that it binds in each of its rows, sorted; none where there may be a row for a failure.
    pub certain: Vec<VarId>,
    /// `SILENT`: where the request fails, the result is one row that binds nothing.
    pub silent: bool,
    /// So many rows are expected of a request without bindings: a guess by what the pattern says.
    pub rows: f64,
}

impl ServiceCall {
    /// The query, for variables of these names (none: all that the pattern has). `bindings`: a VALUES clause, or nothing.
    pub fn query(&self, names: &[&str], bindings: &str) -> String {
        let mut text = String::with_capacity(self.body.len() + bindings.len() + 64);
        text.push_str("SELECT ");
        if names.is_empty() {
            text.push_str("* ");
        }
        for name in names {
            // Writing to a string cannot fail.
            let _ = write!(text, "?{name} ");
        }
        text.push_str("WHERE { ");
        match bindings {
            "" => text.push_str(&self.body),
            _ if self.is_join => text.extend([bindings, " ", &self.body]),
            _ => text.extend([bindings, " { ", &self.body, "} "]),
        }
        text.push('}');
        text
    }
}
