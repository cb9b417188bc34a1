//! A fragment: a sub-plan, and what it needs of its query.

use crate::error::FragmentError;
use lode_sparql::plan::VisibleGraphs;
use lode_sparql::{Plan, PlanNode, PlanOp, VarId, stack};
use lode_store::Snapshot;
use oxsdatatypes::DateTime;
use std::sync::Arc;

/// A sub-plan that can be run by ranges, with the ids of one version of a database as one process has them.
#[derive(Debug, Clone)]
pub struct Fragment {
    /// The random number of the database.
    pub database: u128,
    /// The number of the version.
    pub version: u64,
    /// `NOW()` of the query.
    pub now: DateTime,
    /// The graphs that there are for who asks; none: all.
    pub visible: Option<VisibleGraphs>,
    /// The sub-plan.
    pub plan: Arc<Plan>,
    /// Where the rows come from that stand in the places of [`PlanOp::Fragment`] in it, by their numbers; none: it is run by ranges. Who sends it
    /// sees to them, so they do not travel with it.
    pub inputs: Vec<Input>,
    /// Its columns whose values may be terms that nobody else has an id for. They do not travel with it either.
    pub terms: Vec<VarId>,
}

/// The rows of another fragment, spread by what is in some columns: those that have the same in all of them meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// The number of the other fragment.
    pub fragment: u32,
    /// Places of columns of it, at least one.
    pub by: Vec<usize>,
}

impl Fragment {
    /// The columns of each of its inputs, and those of them that are never unbound.
    pub fn input_columns(&self) -> Vec<(Vec<VarId>, Vec<VarId>)> {
        let mut columns = Vec::new();
        stack::deep(self.plan.depth, || inputs_of(&self.plan.root, &mut columns));
        columns
    }

    /// Fails where `snapshot` is not the version that it is for.
    pub(crate) fn check_version(
        (database, version): (u128, u64),
        snapshot: &Snapshot,
    ) -> Result<(), FragmentError> {
        let number = snapshot.version_number();
        let found = match (snapshot.database_number() == database, number == version) {
            (true, true) => return Ok(()),
            (true, false) => format!("version {number}"),
            (false, _) => "another database".to_owned(),
        };
        Err(FragmentError::Version { wanted: version, found })
    }
}

fn inputs_of(node: &PlanNode, columns: &mut Vec<(Vec<VarId>, Vec<VarId>)>) {
    if let PlanOp::Fragment { .. } = node.op {
        columns.push((node.vars.clone(), node.certain.clone()));
    }
    node.children().into_iter().for_each(|child| inputs_of(child, columns));
}
