//! Random plans over inline data.

use lode_eval::aggregate::{COUNT, COUNT_ROWS, MAX, MIN, SUM};
use lode_rdf::{Literal, Term};
use lode_sparql::plan::{JoinCondition, SortKey};
use lode_sparql::{Aggregate, AggregateFunction, Expr, JoinKind, PlanNode, PlanOp, VarId};
use std::sync::Arc;

/// A small random number generator: the same numbers for the same seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())].clone()
    }
}

/// Terms that need no dictionary, so that tests can do without any memory budget.
pub(crate) fn term(random: &mut Random, distinct: usize) -> Term {
    let n = random.below(distinct) as i64;
    match random.below(8) {
        0 => Literal::from(n % 3 == 0).into(),
        1 => {
            let decimal = lode_rdf::NamedNode::new_unchecked("http://www.w3.org/2001/XMLSchema#decimal");
            Literal::new_typed_literal(format!("{n}.5"), decimal).into()
        }
        _ => Literal::from(n).into(),
    }
}

pub(crate) struct Generator {
    pub(crate) random: Random,
    pub(crate) rows_max: usize,
    pub(crate) distinct: usize,
}

impl Generator {
    fn vars(&mut self) -> Vec<VarId> {
        let mut vars: Vec<VarId> = (0..5).map(VarId).filter(|_| self.random.chance(45)).collect();
        if vars.is_empty() && self.random.chance(90) {
            vars.push(VarId(self.random.below(5) as u32));
        }
        vars
    }

    pub(crate) fn values(&mut self) -> PlanNode {
        let vars = self.vars();
        let optional: Vec<bool> = vars.iter().map(|_| self.random.chance(35)).collect();
        let rows: Vec<Vec<Option<Term>>> = (0..self.random.below(self.rows_max + 1))
            .map(|_| {
                let cell = |optional: &bool| {
                    let unbound = *optional && self.random.chance(30);
                    (!unbound).then(|| term(&mut self.random, self.distinct))
                };
                optional.iter().map(cell).collect()
            })
            .collect();
        let certain = |i: usize| rows.iter().all(|row| row[i].is_some());
        let certain = (0..vars.len()).filter(|i| certain(*i)).map(|i| vars[i]).collect();
        node(PlanOp::Values(rows), vars, certain)
    }

    pub(crate) fn plan(&mut self, depth: usize) -> PlanNode {
        if depth == 0 {
            return self.values();
        }
        match self.random.below(14) {
            0..=5 => self.join(depth),
            6 => self.filter(depth),
            7 => self.extend(depth),
            8 => self.union(depth),
            9 => {
                let input = self.plan(depth - 1);
                let vars = input.vars.iter().copied().filter(|_| self.random.chance(60)).collect();
                let certain = input.certain.clone();
                node(PlanOp::Project(Arc::new(input)), vars, certain)
            }
            10 => {
                let input = self.plan(depth - 1);
                let (vars, certain) = (input.vars.clone(), input.certain.clone());
                node(PlanOp::Distinct(Arc::new(input)), vars, certain)
            }
            11 => self.slice(depth),
            _ => self.group(depth),
        }
    }

    pub(crate) fn condition(&mut self, left: &PlanNode, right: &PlanNode, filter: bool) -> JoinCondition {
        let shared = left.vars.iter().copied().filter(|var| right.vars.contains(var));
        let certain = |var: &VarId| left.certain.contains(var) && right.certain.contains(var);
        let (on, maybe) = shared.partition(certain);
        let mut all = left.vars.clone();
        all.extend(&right.vars);
        let filter = (filter && !all.is_empty()).then(|| self.test(&all));
        JoinCondition { on, maybe, filter }
    }

    fn join(&mut self, depth: usize) -> PlanNode {
        let right_depth = self.random.below(depth);
        let (left, right) = (self.plan(depth - 1), self.plan(right_depth));
        let kinds = [JoinKind::Inner, JoinKind::Left, JoinKind::Semi, JoinKind::Anti, JoinKind::Minus];
        let kind = self.random.pick(&kinds);
        let with_filter = kind != JoinKind::Minus && self.random.chance(30);
        let condition = self.condition(&left, &right, with_filter);
        let (vars, certain) = joined_vars(&left, &right, kind);
        let (left, right) = (Arc::new(left), Arc::new(right));
        node(PlanOp::HashJoin { left, right, kind, condition }, vars, certain)
    }

    /// A condition over variables of which at least one is given.
    fn test(&mut self, vars: &[VarId]) -> Expr {
        let var = |random: &mut Random| Box::new(Expr::Var(random.pick(vars)));
        let constant = Literal::from(self.random.below(self.distinct) as i64);
        match self.random.below(4) {
            0 => Expr::Bound(self.random.pick(vars)),
            1 => Expr::Equal(var(&mut self.random), var(&mut self.random)),
            2 => Expr::Not(Box::new(Expr::Equal(var(&mut self.random), var(&mut self.random)))),
            _ => Expr::Less(var(&mut self.random), Box::new(Expr::Const(constant.into()))),
        }
    }

    fn filter(&mut self, depth: usize) -> PlanNode {
        let input = self.plan(depth - 1);
        if input.vars.is_empty() {
            return input;
        }
        let exprs = (0..1 + self.random.below(2)).map(|_| self.test(&input.vars)).collect();
        let (vars, certain) = (input.vars.clone(), input.certain.clone());
        node(PlanOp::Filter { input: Arc::new(input), exprs }, vars, certain)
    }

    fn extend(&mut self, depth: usize) -> PlanNode {
        let input = self.plan(depth - 1);
        let Some(var) = (0..8).map(VarId).find(|var| !input.vars.contains(var)) else { return input };
        let expr = match input.vars.is_empty() {
            true => Expr::Const(Literal::from(7).into()),
            false => {
                let a = Expr::Var(self.random.pick(&input.vars));
                let b = Expr::Var(self.random.pick(&input.vars));
                Expr::Add(Box::new(a), Box::new(b))
            }
        };
        let (mut vars, certain) = (input.vars.clone(), input.certain.clone());
        vars.push(var);
        node(PlanOp::Extend { input: Arc::new(input), var, expr }, vars, certain)
    }

    fn union(&mut self, depth: usize) -> PlanNode {
        let inputs: Vec<PlanNode> = (0..2 + self.random.below(2)).map(|_| self.plan(depth - 1)).collect();
        let mut vars: Vec<VarId> = inputs.iter().flat_map(|input| input.vars.clone()).collect();
        vars.sort_unstable();
        vars.dedup();
        let everywhere = |var: &VarId| inputs.iter().all(|input| input.certain.contains(var));
        let certain = vars.iter().copied().filter(everywhere).collect();
        node(PlanOp::Union(inputs), vars, certain)
    }

    /// A part of rows in a total order.
    fn slice(&mut self, depth: usize) -> PlanNode {
        let input = self.plan(depth - 1);
        let (vars, certain) = (input.vars.clone(), input.certain.clone());
        let keys = sort_keys(&mut self.random, &vars);
        let (start, length) = (self.random.below(6), self.random.below(12));
        let limit = self.random.chance(50).then_some(start + length);
        let sort = PlanOp::Sort { input: Arc::new(input), keys, limit };
        let sort = node(sort, vars.clone(), certain.clone());
        node(PlanOp::Slice { input: Arc::new(sort), start, length: Some(length) }, vars, certain)
    }

    fn group(&mut self, depth: usize) -> PlanNode {
        let input = self.plan(depth - 1);
        let keys: Vec<VarId> = input.vars.iter().copied().filter(|_| self.random.chance(40)).collect();
        let aggregates = self.aggregates(&input.vars);
        let mut vars = keys.clone();
        vars.extend(aggregates.iter().map(|aggregate| aggregate.output));
        let certain = keys.iter().copied().filter(|key| input.certain.contains(key)).collect();
        let op = PlanOp::Group { input: Arc::new(input), keys, aggregates, sorted: false };
        node(op, vars, certain)
    }

    pub(crate) fn aggregates(&mut self, vars: &[VarId]) -> Vec<Aggregate> {
        let outputs = (0..8).map(VarId).filter(|var| !vars.contains(var));
        let count = self.random.below(4);
        let mut aggregates = Vec::new();
        for output in outputs.take(count) {
            let functions = [&COUNT_ROWS, &COUNT, &SUM, &MIN, &MAX];
            let function: &'static AggregateFunction = self.random.pick(&functions);
            let all = *function == COUNT_ROWS;
            if !all && vars.is_empty() {
                continue;
            }
            let argument = (!all).then(|| Expr::Var(self.random.pick(vars)));
            let distinct = self.random.chance(40);
            aggregates.push(Aggregate { distinct, ..Aggregate::new(output, function, argument) });
        }
        aggregates
    }
}

/// Keys that leave no ties but between equal rows: ids that compare equal as terms are excluded by the terms chosen.
fn sort_keys(random: &mut Random, vars: &[VarId]) -> Vec<SortKey> {
    let key = |var: &VarId| SortKey { expr: Expr::Var(*var), descending: random.chance(50) };
    vars.iter().map(key).collect()
}

pub(crate) fn joined_vars(left: &PlanNode, right: &PlanNode, kind: JoinKind) -> (Vec<VarId>, Vec<VarId>) {
    let (mut vars, mut certain) = (left.vars.clone(), left.certain.clone());
    if matches!(kind, JoinKind::Inner | JoinKind::Left) {
        vars.extend(right.vars.iter().filter(|var| !left.vars.contains(var)));
    }
    if kind == JoinKind::Inner {
        certain.extend(right.certain.iter().filter(|var| !left.certain.contains(var)));
        certain.sort_unstable();
    }
    (vars, certain)
}

/// A node of which nothing is known but its columns.
pub(crate) fn node(op: PlanOp, vars: Vec<VarId>, certain: Vec<VarId>) -> PlanNode {
    PlanNode { id: 0, op, vars, certain, sorted_by: Vec::new(), rows: 1.0, cost: 1.0 }
}
