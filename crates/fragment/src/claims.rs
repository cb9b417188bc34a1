//! What a plan that came from elsewhere claims of its rows: nothing may be claimed that its operators do not give. The rules that all plans keep are
//! checked by [`lode_sparql::validate`]; here is what a planner gets right by the way it makes nodes.

use lode_sparql::{Expr, GraphScope, JoinKind, Plan, PlanNode, PlanOp, ScanPattern, Slot, VarId, stack};

/// Fails at the first claim that cannot hold.
pub(crate) fn check(plan: &Plan) -> Result<(), String> {
    stack::deep(plan.depth, || {
        lode_sparql::validate::validate(plan)?;
        node(&plan.root)
    })
}

fn node(plan: &PlanNode) -> Result<(), String> {
    let at = |what: &str| format!("node {} ({}): {what}", plan.id, plan.op.name());
    let inputs = plan.children();
    inputs.iter().try_for_each(|input| node(input))?;
    if !order_holds(plan, &inputs) {
        return Err(at("an order that it does not have"));
    }
    if !plan.certain.iter().all(|var| is_certain(plan, &inputs, *var)) {
        return Err(at("a column that may be unbound"));
    }
    match &plan.op {
        PlanOp::Extend { input, .. } if !plan.vars.starts_with(&input.vars) => Err(at("columns")),
        PlanOp::IndexScan(pattern) if pattern.within.is_some() && !has_free_column(pattern) => {
            Err(at("a range of values of no column"))
        }
        PlanOp::LookupJoin { pattern, .. } if pattern.within.is_some() => Err(at("a look-up in a range")),
        PlanOp::Group { keys, .. } if repeats(keys) => Err(at("a key twice")),
        PlanOp::MergeJoin { condition, .. }
        | PlanOp::HashJoin { condition, .. }
        | PlanOp::LookupJoin { condition, .. }
            if repeats(&condition.on) || repeats(&condition.maybe) =>
        {
            Err(at("a column twice"))
        }
        PlanOp::Union(inputs) | PlanOp::MergeUnion(inputs) if inputs.is_empty() => Err(at("no branches")),
        _ => Ok(()),
    }
}

fn has_free_column(pattern: &ScanPattern) -> bool {
    let slots = [pattern.subject, pattern.predicate, pattern.object];
    slots.iter().any(|slot| !matches!(slot, Slot::Const(_)))
}

fn repeats(vars: &[VarId]) -> bool {
    let mut sorted = vars.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).any(|pair| pair[0] == pair[1])
}

fn order_holds(plan: &PlanNode, inputs: &[&PlanNode]) -> bool {
    let of_input = || inputs.first().is_some_and(|input| input.sorted_by.starts_with(&plan.sorted_by));
    match &plan.op {
        // Their own rules say what order they have.
        PlanOp::IndexScan(_) | PlanOp::MultiwayJoin(_) | PlanOp::MergeUnion(_) => true,
        // No row is before another.
        PlanOp::Empty => true,
        PlanOp::Group { sorted, .. } => plan.sorted_by.is_empty() || (*sorted && of_input()),
        _ => plan.sorted_by.is_empty() || of_input(),
    }
}

fn is_certain(plan: &PlanNode, inputs: &[&PlanNode], var: VarId) -> bool {
    let of_first = inputs.first().is_some_and(|input| input.certain.contains(&var));
    match &plan.op {
        PlanOp::Empty | PlanOp::IndexScan(_) | PlanOp::MultiwayJoin(_) | PlanOp::GraphNames { .. } => true,
        // Its rows are looked at when they come.
        PlanOp::Fragment { .. } => true,
        PlanOp::Values(rows) => {
            let column = plan.vars.iter().position(|own| *own == var);
            column.is_some_and(|at| rows.iter().all(|row| row.get(at).is_some_and(Option::is_some)))
        }
        PlanOp::MergeJoin { kind, .. } | PlanOp::HashJoin { kind, .. } => {
            of_first || (*kind == JoinKind::Inner && inputs.iter().any(|input| input.certain.contains(&var)))
        }
        PlanOp::LookupJoin { kind, pattern, .. } => {
            of_first || (*kind == JoinKind::Inner && binds(pattern, var))
        }
        PlanOp::Extend { var: made, expr, input } => of_first || (*made == var && has_value(expr, input)),
        PlanOp::Group { keys, aggregates, .. } => match keys.contains(&var) {
            true => of_first,
            false => {
                aggregates.iter().any(|aggregate| aggregate.output == var && aggregate.function.always_bound)
            }
        },
        PlanOp::Union(_) | PlanOp::MergeUnion(_) => inputs.iter().all(|input| input.certain.contains(&var)),
        _ => of_first,
    }
}

fn binds(pattern: &ScanPattern, var: VarId) -> bool {
    let graph = match &pattern.graph {
        GraphScope::Named { slot, .. } => *slot,
        _ => Slot::Any,
    };
    [pattern.subject, pattern.predicate, pattern.object, graph].contains(&Slot::Var(var))
}

/// Whether an expression is never an error.
fn has_value(expr: &Expr, input: &PlanNode) -> bool {
    match expr {
        Expr::Const(_) | Expr::Bound(_) => true,
        Expr::Var(var) => input.certain.contains(var),
        _ => false,
    }
}
