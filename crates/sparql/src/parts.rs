//! Plans made of parts of others: what runs elsewhere, and what is left where the query was asked.

use crate::physical::number;
use crate::plan::{Dataset, Plan, PlanNode, QueryForm, VarTable};
use crate::plan_depth;
use crate::reuse::Reuse;
use std::sync::Arc;

impl Plan {
    /// A plan whose answer are the rows of `root`, whose variables are those of `vars`.
    pub fn of_rows(mut root: PlanNode, vars: VarTable, dataset: Arc<Dataset>) -> Self {
        let node_count = number(&mut root);
        let (form, depth) = (QueryForm::Select(root.vars.clone()), plan_depth::of(&root));
        let (reuse, uses_literals, steps) = (Reuse::Never, true, Vec::new());
        Self { root, form, vars, dataset, node_count, reuse, uses_literals, depth, steps }
    }

    /// The same query by another plan, which has the columns of this.
    #[must_use]
    pub fn with_root(&self, root: PlanNode) -> Self {
        let rows = Self::of_rows(root, self.vars.clone(), Arc::clone(&self.dataset));
        let (form, steps) = (self.form.clone(), self.steps.clone());
        // `Plan` has a `Drop`, so nothing can be moved out of one.
        let mut plan = rows;
        (plan.form, plan.steps) = (form, steps);
        plan
    }
}
