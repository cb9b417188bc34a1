//! Makes a failing case small: leaves out quads, then parts of the query, as long as it keeps failing.

use super::Case;
use super::ast::{Column, Element, Expr, Form, Group, Query, Select};

/// The smallest case found for which `fails` still holds; `tries` bounds the work.
pub fn shrink(case: &Case, mut tries: usize, fails: &mut dyn FnMut(&Case) -> bool) -> Case {
    let mut best = case.clone();
    loop {
        let before = weight(&best);
        drop_data(&mut best, &mut tries, fails);
        drop_parts(&mut best, &mut tries, fails);
        if weight(&best) >= before || tries == 0 {
            return best;
        }
    }
}

fn weight(case: &Case) -> usize {
    case.data.iter().map(String::len).sum::<usize>() + case.query_text().len()
}

fn drop_data(best: &mut Case, tries: &mut usize, fails: &mut dyn FnMut(&Case) -> bool) {
    let mut chunk = best.data.len().div_ceil(2);
    while chunk > 0 {
        let mut start = 0;
        while start < best.data.len() && *tries > 0 {
            *tries -= 1;
            let mut smaller = best.clone();
            smaller.data.drain(start..(start + chunk).min(smaller.data.len()));
            if fails(&smaller) {
                *best = smaller;
            } else {
                start += chunk;
            }
        }
        if chunk == 1 {
            break;
        }
        chunk = chunk.div_ceil(2);
    }
}

fn drop_parts(best: &mut Case, tries: &mut usize, fails: &mut dyn FnMut(&Case) -> bool) {
    'again: loop {
        for query in smaller_queries(&best.query) {
            if *tries == 0 {
                return;
            }
            *tries -= 1;
            let smaller = Case { query, ..best.clone() };
            if weight(&smaller) < weight(best) && fails(&smaller) {
                *best = smaller;
                continue 'again;
            }
        }
        if best.union_default_graph {
            let smaller = Case { union_default_graph: false, ..best.clone() };
            if fails(&smaller) {
                *best = smaller;
            }
        }
        return;
    }
}

/// Queries that are this one without some part. Not all are valid; an invalid one does not fail in the way that is looked for.
fn smaller_queries(query: &Query) -> Vec<Query> {
    let mut all = Vec::new();
    let mut add = |change: &dyn Fn(&mut Query)| {
        let mut smaller = query.clone();
        change(&mut smaller);
        all.push(smaller);
    };
    if !query.from.is_empty() || !query.from_named.is_empty() {
        add(&|q| (q.from, q.from_named) = (Vec::new(), Vec::new()));
    }
    if !matches!(query.form, Form::Select) {
        add(&|q| q.form = Form::Select);
    }
    for select in smaller_selects(&query.select) {
        all.push(Query { select, ..query.clone() });
    }
    all
}

fn smaller_selects(select: &Select) -> Vec<Select> {
    let mut all = Vec::new();
    let mut add = |change: &dyn Fn(&mut Select)| {
        let mut smaller = select.clone();
        change(&mut smaller);
        all.push(smaller);
    };
    add(&|s| *s = Select { pattern: std::mem::take(&mut s.pattern), ..Select::default() });
    add(&|s| s.values = None);
    add(&|s| (s.limit, s.offset) = (None, None));
    add(&|s| s.offset = None);
    add(&|s| s.modifier = "");
    add(&|s| s.having = None);
    add(&|s| s.order.clear());
    for i in 0..select.order.len() {
        add(&move |s| drop(s.order.remove(i)));
    }
    for i in 0..select.columns.len() {
        add(&move |s| drop(s.columns.remove(i)));
        if let Some(Column::As(expr, variable)) = select.columns.get(i) {
            for smaller in smaller_expressions(expr) {
                add(&|s| s.columns[i] = Column::As(smaller.clone(), variable.clone()));
            }
        }
    }
    for i in 0..select.keys.len() {
        add(&move |s| {
            let removed = s.keys.remove(i);
            s.columns.retain(|c| c.name() != removed.name());
        });
    }
    for pattern in smaller_groups(&select.pattern) {
        all.push(Select { pattern, ..select.clone() });
    }
    all
}

fn smaller_groups(group: &Group) -> Vec<Group> {
    let mut all = Vec::new();
    for i in 0..group.len() {
        let mut without = group.clone();
        let element = without.remove(i);
        all.push(without);
        for replacement in smaller_elements(&element) {
            let mut changed = group.clone();
            changed.splice(i..=i, replacement);
            all.push(changed);
        }
    }
    all
}

/// What an element may be replaced by, each a list of elements.
fn smaller_elements(element: &Element) -> Vec<Vec<Element>> {
    let inside = |group: &Group, wrap: &dyn Fn(Group) -> Element| -> Vec<Vec<Element>> {
        let mut all = vec![group.clone()];
        all.extend(smaller_groups(group).into_iter().map(|g| vec![wrap(g)]));
        all
    };
    match element {
        Element::Triples(triples) => (0..triples.len())
            .filter(|_| triples.len() > 1)
            .map(|i| {
                let mut fewer = triples.clone();
                fewer.remove(i);
                vec![Element::Triples(fewer)]
            })
            .collect(),
        Element::Optional(group) => inside(group, &Element::Optional),
        Element::Minus(group) => inside(group, &Element::Minus),
        Element::Lateral(group) => inside(group, &Element::Lateral),
        Element::Group(group) => inside(group, &Element::Group),
        Element::Service(is_there, group) => inside(group, &|g| Element::Service(*is_there, g)),
        Element::Graph(name, group) => inside(group, &|g| Element::Graph(name.clone(), g)),
        Element::Union(groups) => {
            let mut all: Vec<Vec<Element>> = groups.clone();
            for i in 0..groups.len() {
                if groups.len() > 2 {
                    let mut fewer = groups.clone();
                    fewer.remove(i);
                    all.push(vec![Element::Union(fewer)]);
                }
                for smaller in smaller_groups(&groups[i]) {
                    let mut changed = groups.clone();
                    changed[i] = smaller;
                    all.push(vec![Element::Union(changed)]);
                }
            }
            all
        }
        Element::Filter(expr) => {
            smaller_expressions(expr).into_iter().map(|e| vec![Element::Filter(e)]).collect()
        }
        Element::Bind(expr, variable) => {
            smaller_expressions(expr).into_iter().map(|e| vec![Element::Bind(e, variable.clone())]).collect()
        }
        Element::Values(values) => (0..values.rows.len())
            .map(|i| {
                let mut fewer = values.clone();
                fewer.rows.remove(i);
                vec![Element::Values(fewer)]
            })
            .collect(),
        Element::Sub(select) => {
            let mut all = vec![select.pattern.clone()];
            all.extend(smaller_selects(select).into_iter().map(|s| vec![Element::Sub(Box::new(s))]));
            all
        }
    }
}

fn smaller_expressions(expr: &Expr) -> Vec<Expr> {
    let each = |arguments: &[Expr], rebuild: &dyn Fn(Vec<Expr>) -> Expr| -> Vec<Expr> {
        let mut all: Vec<Expr> = arguments.to_vec();
        for (i, argument) in arguments.iter().enumerate() {
            for smaller in smaller_expressions(argument) {
                let mut changed = arguments.to_vec();
                changed[i] = smaller;
                all.push(rebuild(changed));
            }
        }
        all
    };
    match expr {
        Expr::Atom(text) if text.len() > 4 => vec![Expr::Atom("1".into()), Expr::Atom("true".into())],
        Expr::Atom(_) => Vec::new(),
        Expr::Call(name, arguments) => each(arguments, &|a| Expr::Call(name.clone(), a)),
        Expr::Infix(operator, a, b) => each(&[(**a).clone(), (**b).clone()], &|mut pair| {
            let b = pair.pop().unwrap_or(Expr::Atom("1".into()));
            let a = pair.pop().unwrap_or(Expr::Atom("1".into()));
            Expr::Infix(operator, Box::new(a), Box::new(b))
        }),
        Expr::Prefix(operator, e) => {
            let mut all = vec![(**e).clone()];
            all.extend(smaller_expressions(e).into_iter().map(|s| Expr::Prefix(operator, Box::new(s))));
            all
        }
        Expr::In(operator, e, values) => {
            let mut all = vec![(**e).clone()];
            for i in 0..values.len() {
                let mut fewer = values.clone();
                fewer.remove(i);
                all.push(Expr::In(operator, e.clone(), fewer));
            }
            all.extend(
                smaller_expressions(e).into_iter().map(|s| Expr::In(operator, Box::new(s), values.clone())),
            );
            all
        }
        Expr::Exists(word, group) => {
            let mut all = vec![Expr::Atom("true".into())];
            all.extend(smaller_groups(group).into_iter().map(|g| Expr::Exists(word, g)));
            all
        }
        Expr::Aggregate(before, argument, after) => {
            let mut all = vec![Expr::Aggregate("COUNT(*", None, ")")];
            if let Some(argument) = argument {
                let smaller = smaller_expressions(argument);
                all.extend(smaller.into_iter().map(|a| Expr::Aggregate(before, Some(Box::new(a)), after)));
            }
            all
        }
    }
}
