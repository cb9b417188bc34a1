//! GROUP BY and aggregates.

use super::translator::{Scope, Translator};
use crate::error::PlanError;
use crate::expr::{Aggregate, Expr};
use crate::logical::{Logical, graph_var};
use crate::plan::{GraphScope, VarId};
use crate::var_set::VarSet;
use spargebra::algebra::{AggregateExpression, AggregateFunction as Function, GraphPattern};
use spargebra::term::Variable;
use std::collections::HashMap;

impl Translator<'_> {
    /// Outside the group only its keys and its aggregates have names; what is inside is a scope of its own.
    pub(super) fn group(
        &mut self,
        inner: &GraphPattern,
        variables: &[Variable],
        aggregates: &[(Variable, AggregateExpression)],
        graph: &GraphScope,
    ) -> Result<Logical, PlanError> {
        let shared: HashMap<String, VarId> =
            variables.iter().map(|v| (v.as_str().to_owned(), self.var(v.as_str()))).collect();
        let outputs: Vec<VarId> = aggregates.iter().map(|(v, _)| self.var(v.as_str())).collect();
        let constant_names = self.constant_names();
        let mut names = constant_names;
        names.extend(shared.iter().map(|(n, v)| (n.clone(), *v)));
        self.scopes.push(Scope { names, blanks: HashMap::new() });
        let result = self.group_inside(inner, aggregates, &outputs, graph);
        self.scopes.pop();
        let (mut input, aggregates) = result?;
        let params = variables.iter().filter_map(|v| shared.get(v.as_str())).copied().collect();
        input = self.with_params(input, &params);
        if graph_var(graph).is_some_and(|var| !input.vars.contains(var)) {
            input = self.in_graph(input, graph);
        }
        let mut keys: Vec<VarId> = Vec::new();
        for variable in variables {
            let var = shared.get(variable.as_str()).copied().unwrap_or_else(|| self.var(variable.as_str()));
            let key = match self.constants.get(&var).cloned() {
                // A key that stands for a term stays a key: over no rows there must be no group.
                Some(term) => {
                    let key = self.fresh(variable.as_str());
                    input = Logical::extend(input, key, Expr::Const(term));
                    key
                }
                None => var,
            };
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        let one_group = keys.is_empty();
        let apart = self.keys(&input.vars, graph);
        keys.extend(apart.iter().filter(|v| !keys.contains(v)).collect::<Vec<_>>());
        if !keys.iter().all(|v| input.vars.contains(*v)) {
            // A key that nothing binds is unbound in every row.
            let mut columns = input.vars.clone();
            columns.extend(&keys.iter().copied().collect());
            input = Logical::project(input, columns.as_slice().to_vec());
        }
        let input = self.confined_rows(input);
        if one_group && !keys.is_empty() {
            return Ok(self.group_for_each(input, keys, aggregates, graph));
        }
        Ok(Logical::group(input, keys, aggregates))
    }

    /// The one group of all rows, for each graph and each binding of the domain: also where there are no rows.
    fn group_for_each(
        &mut self,
        input: Logical,
        keys: Vec<VarId>,
        aggregates: Vec<Aggregate>,
        graph: &GraphScope,
    ) -> Logical {
        let key_set: VarSet = keys.iter().copied().collect();
        let everywhere = self.with_params(self.scoped_unit(graph), &key_set);
        let mut renamed = |hint| -> Vec<Aggregate> {
            let renamed = |a: &Aggregate| Aggregate { output: self.fresh(hint), ..a.clone() };
            aggregates.iter().map(renamed).collect()
        };
        let (values, defaults) = (renamed("value"), renamed("default"));
        let of_nothing = Logical::group(Logical::empty(input.vars.clone()), Vec::new(), defaults.clone());
        let grouped = Logical::group(input, keys, values.clone());
        let found = self.fresh("found");
        let grouped = Logical::extend(grouped, found, Expr::boolean(true));
        let all = Logical::join(vec![everywhere, of_nothing], Vec::new());
        let all = Logical::left_join(all, grouped, None);
        aggregates.iter().zip(values).zip(defaults).fold(all, |rows, ((aggregate, value), default)| {
            let var = |a: &Aggregate| Box::new(Expr::Var(a.output));
            let value = Expr::If(Box::new(Expr::Bound(found)), var(&value), var(&default));
            Logical::extend(rows, aggregate.output, value)
        })
    }

    fn group_inside(
        &mut self,
        inner: &GraphPattern,
        aggregates: &[(Variable, AggregateExpression)],
        outputs: &[VarId],
        graph: &GraphScope,
    ) -> Result<(Logical, Vec<Aggregate>), PlanError> {
        let mut input = self.pattern(inner, graph)?;
        let counts_rows =
            |a: &AggregateExpression| matches!(a, AggregateExpression::CountSolutions { distinct: true });
        if aggregates.iter().any(|(_, a)| counts_rows(a)) {
            // Distinct solutions have no blank nodes or other hidden columns.
            let mut columns = self.visible_vars(inner);
            columns.extend(&self.keys(&input.vars, graph));
            input = Logical::project(input, columns.as_slice().to_vec());
        }
        let mut translated = Vec::with_capacity(aggregates.len());
        for ((_, aggregate), output) in aggregates.iter().zip(outputs) {
            if let AggregateExpression::FunctionCall { expr, .. } = aggregate {
                input = self.with_params_of(input, expr);
            }
            translated.push(self.aggregate(aggregate, *output, &input.vars, graph)?);
        }
        Ok((input, translated))
    }

    fn aggregate(
        &mut self,
        aggregate: &AggregateExpression,
        output: VarId,
        visible: &VarSet,
        graph: &GraphScope,
    ) -> Result<Aggregate, PlanError> {
        let (name, separator, argument, distinct) = match aggregate {
            AggregateExpression::CountSolutions { distinct } => ("COUNT(*)", None, None, *distinct),
            AggregateExpression::FunctionCall { name, expr, distinct } => {
                let (name, separator) = name_of(name);
                (name, separator, Some(self.expr(expr, visible, graph)?), *distinct)
            }
        };
        let function = self.stats.aggregate(name);
        let function = function.ok_or_else(|| PlanError::Unsupported(format!("the aggregate {name}")))?;
        Ok(Aggregate { output, function, separator: separator.map(Into::into), argument, distinct })
    }

    /// Names that stand for terms in the current scope.
    fn constant_names(&self) -> HashMap<String, VarId> {
        let Some(scope) = self.scopes.last() else { return HashMap::new() };
        let constant = |v: &VarId| self.constants.contains_key(v) || self.is_param(*v);
        scope.names.iter().filter(|(_, v)| constant(v)).map(|(n, v)| (n.clone(), *v)).collect()
    }
}

/// The name by which an aggregate is found, and its separator.
fn name_of(function: &Function) -> (&str, Option<&str>) {
    match function {
        Function::Count => ("COUNT", None),
        Function::Sum => ("SUM", None),
        Function::Avg => ("AVG", None),
        Function::Min => ("MIN", None),
        Function::Max => ("MAX", None),
        Function::Sample => ("SAMPLE", None),
        Function::GroupConcat { separator } => ("GROUP_CONCAT", separator.as_deref()),
        Function::Custom(iri) => (iri.as_str(), None),
    }
}
