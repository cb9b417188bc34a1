//! Queries: their forms, and what follows a pattern (SPARQL 1.1 sections 18.2.3 to 18.2.5).

use super::chain::{Joined, together};
use super::level::Level;
use super::{Lowering, Result, Wrong, visible};
use lode_rdf::Variable;
use lode_syntax::{At, Node};
use spargebra::Query;
use spargebra::algebra::{Expression, GraphPattern, OrderExpression, QueryDataset};
use std::collections::{HashMap, HashSet};

/// A column.
struct Column<'t> {
    /// Where it stands.
    at: At<'t>,
    variable: Variable,
    /// What it is, where it is no variable of the pattern.
    value: Option<Expression>,
}

/// What is selected.
enum Columns<'t> {
    /// All variables, in the sequence of their names.
    All,
    /// The same, for `*` in a query with groups.
    Star(At<'t>),
    These(Vec<Column<'t>>),
}

/// Keys of groups, and those that are values.
type Keys = (Vec<Variable>, Vec<(Variable, Expression)>);

impl<'t> Lowering<'t> {
    /// A query of one of the four forms.
    pub(super) fn form(&mut self, at: At<'t>) -> Result<Query> {
        let dataset = self.dataset(at)?;
        let base_iri = self.base.clone();
        if at.node() != Node::Select {
            self.aggregates.push(Level::Group(Vec::new()));
        }
        match at.node() {
            Node::Select => {
                let mut pattern = self.select(at)?;
                self.order_columns(at, &mut pattern);
                Ok(Query::Select { dataset, pattern, base_iri })
            }
            Node::Construct => self.construct(at, dataset),
            Node::Describe => {
                let columns = self.described(at)?;
                let pattern = at.child(Node::Group).map(|group| self.group(group)).transpose()?;
                let pattern = self.solutions(at, columns, pattern.unwrap_or_default())?;
                Ok(Query::Describe { dataset, pattern, base_iri })
            }
            _ => {
                let pattern = self.pattern_of(at)?;
                let pattern = self.solutions(at, Columns::All, pattern)?;
                Ok(Query::Ask { dataset, pattern, base_iri })
            }
        }
    }

    fn pattern_of(&mut self, at: At<'t>) -> Result<GraphPattern> {
        let group = at.child(Node::Group).ok_or_else(|| Wrong::at(at, "a pattern is missing"))?;
        self.group(group)
    }

    fn construct(&mut self, at: At<'t>, dataset: Option<QueryDataset>) -> Result<Query> {
        let base_iri = self.base.clone();
        let of = at.child(Node::Template).ok_or_else(|| Wrong::at(at, "a template is missing"))?;
        let template = self.template(of.children())?;
        let pattern = match at.child(Node::Group) {
            Some(group) => self.group(group)?,
            None => GraphPattern::Bgp { patterns: template.clone() },
        };
        let pattern = self.solutions(at, Columns::All, pattern)?;
        Ok(Query::Construct { template, dataset, pattern, base_iri })
    }

    fn described(&mut self, at: At<'t>) -> Result<Columns<'t>> {
        if at.token(1) == "*" {
            return Ok(Columns::All);
        }
        let mut columns = Vec::new();
        let mut known = HashSet::new();
        let resources =
            at.children().take_while(|part| matches!(part.node(), Node::Variable | Node::Iri | Node::Name));
        for part in resources {
            let (variable, value) = match part.node() {
                Node::Variable => (Self::variable(part), None),
                _ => (self.fresh(), Some(self.iri(part)?.into())),
            };
            // To describe a resource twice is to describe it.
            if known.insert(variable.clone()) {
                columns.push(Column { at: part, variable, value });
            }
        }
        Ok(Columns::These(columns))
    }

    /// FROM and USING.
    pub(super) fn dataset(&mut self, at: At<'t>) -> Result<Option<QueryDataset>> {
        let (mut default, mut named) = (Vec::new(), Vec::new());
        for from in at.children().filter(|part| part.node() == Node::From) {
            let Some(iri) = from.first() else { continue };
            let graphs = if from.has_word(1, "NAMED") { &mut named } else { &mut default };
            graphs.push(self.iri(iri)?);
        }
        let is_given = !(default.is_empty() && named.is_empty());
        Ok(is_given.then_some(QueryDataset { default, named: Some(named) }))
    }

    /// A SELECT, of the query or of a group.
    pub(super) fn select(&mut self, at: At<'t>) -> Result<GraphPattern> {
        self.aggregates.push(Level::Group(Vec::new()));
        let selection = at.child(Node::Selection).ok_or_else(|| Wrong::at(at, "nothing is selected"))?;
        let columns = self.columns(selection)?;
        let pattern = self.pattern_of(at)?;
        let pattern = self.solutions(at, columns, pattern)?;
        let inner = Box::new(pattern);
        let pattern = match selection.token(1) {
            word if word.eq_ignore_ascii_case("DISTINCT") => GraphPattern::Distinct { inner },
            word if word.eq_ignore_ascii_case("REDUCED") => GraphPattern::Reduced { inner },
            _ => *inner,
        };
        self.slice(at, pattern)
    }

    fn columns(&mut self, selection: At<'t>) -> Result<Columns<'t>> {
        if selection.first().is_none() {
            return Ok(Columns::Star(selection));
        }
        let mut columns = Vec::new();
        for part in selection.children() {
            let mut inside = part.children();
            columns.push(match (part.node(), inside.next(), inside.next()) {
                (Node::As, Some(value), Some(name)) => {
                    let value = Some(self.expression(value)?);
                    Column { at: name, variable: Self::variable(name), value }
                }
                _ => Column { at: part, variable: Self::variable(part), value: None },
            });
        }
        Ok(Columns::These(columns))
    }

    /// All that follows a pattern, up to the projection; forms other than SELECT have no DISTINCT, and are sliced here.
    fn solutions(&mut self, at: At<'t>, columns: Columns<'t>, pattern: GraphPattern) -> Result<GraphPattern> {
        let keys = at.child(Node::GroupBy).map(|clause| self.keys(clause)).transpose()?;
        let having = at.child(Node::Having).map(|clause| self.operands(clause.children())).transpose()?;
        let order = at.child(Node::OrderBy).map(|clause| self.orders(clause)).transpose()?;
        let values = at.child(Node::Values).map(|clause| self.values(clause)).transpose()?;
        let aggregates = match self.aggregates.pop() {
            Some(Level::Group(aggregates)) => aggregates,
            _ => Vec::new(),
        };
        let is_grouped = keys.is_some() || !aggregates.is_empty();
        let made: Vec<Variable> = aggregates.iter().map(|(variable, _)| variable.clone()).collect();
        let mut pattern = pattern;
        if is_grouped {
            let (variables, named) = keys.unwrap_or_default();
            for (variable, expression) in named {
                pattern = GraphPattern::Extend { inner: Box::new(pattern), variable, expression };
            }
            pattern = GraphPattern::Group { inner: Box::new(pattern), variables, aggregates };
        }
        if let Some(expr) = having.and_then(|all| together(all, Expression::And)) {
            pattern = GraphPattern::Filter { expr, inner: Box::new(pattern) };
        }
        if let Some(values) = values {
            let mut joined = Joined::default();
            joined.push(pattern);
            joined.push(values);
            pattern = joined.take();
        }
        let (mut pattern, variables) = project(pattern, columns, is_grouped, &made)?;
        if let Some(expression) = order {
            pattern = GraphPattern::OrderBy { inner: Box::new(pattern), expression };
        }
        pattern = GraphPattern::Project { inner: Box::new(pattern), variables };
        if at.node() == Node::Select { Ok(pattern) } else { self.slice(at, pattern) }
    }

    fn slice(&mut self, at: At<'t>, pattern: GraphPattern) -> Result<GraphPattern> {
        let number = |clause: Node| {
            let Some(clause) = at.child(clause) else { return Ok(None) };
            let number = clause.token(1).parse::<usize>();
            number.map(Some).map_err(|_| Wrong::at(clause, "this number is too large"))
        };
        let (length, start) = (number(Node::Limit)?, number(Node::Offset)?);
        if length.is_none() && start.is_none() {
            return Ok(pattern);
        }
        Ok(GraphPattern::Slice { inner: Box::new(pattern), start: start.unwrap_or(0), length })
    }

    fn keys(&mut self, clause: At<'t>) -> Result<Keys> {
        let (mut keys, mut named) = (Vec::new(), Vec::new());
        for key in clause.children() {
            let expression = if key.node() == Node::As { key.first().unwrap_or(key) } else { key };
            let expression = self.without_aggregates(|lowering| lowering.expression(expression))?;
            let name = match (key.node(), expression) {
                (Node::As, expression) => {
                    let name = key.children().nth(1).map_or_else(|| self.fresh(), Self::variable);
                    named.push((name.clone(), expression));
                    name
                }
                (_, Expression::Variable(variable)) => variable,
                (_, expression) => {
                    let name = self.fresh();
                    named.push((name.clone(), expression));
                    name
                }
            };
            keys.push(name);
        }
        Ok((keys, named))
    }

    fn orders(&mut self, clause: At<'t>) -> Result<Vec<OrderExpression>> {
        let mut orders = Vec::new();
        for order in clause.children() {
            let expression = self.inner(order)?;
            let is_down = order.has_word(0, "DESC");
            orders.push(if is_down {
                OrderExpression::Desc(expression)
            } else {
                OrderExpression::Asc(expression)
            });
        }
        Ok(orders)
    }

    /// The columns of `SELECT *` in the sequence in which the text first has them. Nobody sees that of sub-queries.
    fn order_columns(&self, at: At<'t>, pattern: &mut GraphPattern) {
        let is_star = at.child(Node::Selection).is_some_and(|selection| selection.first().is_none());
        let Some(columns) = projection(pattern).filter(|columns| is_star && columns.len() > 1) else {
            return;
        };
        let mut places = HashMap::new();
        for token in
            self.tree.tokens().iter().filter(|token| token.kind() == lode_syntax::TokenKind::Variable)
        {
            if let Some(name) = self.tree.text().get(token.start() + 1..token.end()) {
                places.entry(name).or_insert(token.start());
            }
        }
        columns.sort_by_key(|variable| places.get(variable.as_str()).copied().unwrap_or(usize::MAX));
    }
}

/// The columns of a SELECT.
fn projection(pattern: &mut GraphPattern) -> Option<&mut Vec<Variable>> {
    match pattern {
        GraphPattern::Project { variables, .. } => Some(variables),
        GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. } => projection(inner),
        _ => None,
    }
}

/// The pattern with the values of columns, and the columns.
fn project(
    mut pattern: GraphPattern,
    columns: Columns<'_>,
    is_grouped: bool,
    made: &[Variable],
) -> Result<(GraphPattern, Vec<Variable>)> {
    let columns = match columns {
        Columns::Star(at) if is_grouped => {
            return Err(Wrong::at(at, "SELECT * with groups")
                .help("name the variables of GROUP BY, and aggregates: (COUNT(*) AS ?n)"));
        }
        Columns::Star(_) | Columns::All => {
            let mut all = HashSet::new();
            visible::each(&pattern, &mut |variable| {
                all.insert(variable);
            });
            let mut all: Vec<Variable> = all.into_iter().filter(|v| !made.contains(v)).cloned().collect();
            all.sort();
            return Ok((pattern, all));
        }
        Columns::These(columns) => columns,
    };
    check(&pattern, &columns, is_grouped)?;
    let mut variables = Vec::with_capacity(columns.len());
    for column in columns {
        variables.push(column.variable.clone());
        if let Some(expression) = column.value {
            pattern =
                GraphPattern::Extend { inner: Box::new(pattern), variable: column.variable, expression };
        }
    }
    Ok((pattern, variables))
}

/// Names that are taken, and variables that a group does not have.
fn check(pattern: &GraphPattern, columns: &[Column<'_>], is_grouped: bool) -> Result<()> {
    let mut names = HashSet::new();
    let mut seen = HashSet::new();
    if is_grouped || columns.iter().any(|column| column.value.is_some()) {
        visible::each(pattern, &mut |variable| {
            seen.insert(variable);
        });
    }
    for Column { at, variable, value } in columns {
        let name = variable.as_str();
        match value {
            None if is_grouped && !seen.contains(variable) => {
                return Err(Wrong::at(
                    *at,
                    format!("?{name} is not grouped, so it has many values in a group"),
                )
                .help(format!("add GROUP BY ?{name}, or take one of them: SAMPLE(?{name})")));
            }
            Some(_) if seen.contains(variable) && !names.contains(name) => {
                return Err(Wrong::at(*at, format!("?{name} has values in the pattern already"))
                    .help("give the new value another name"));
            }
            Some(value) if is_grouped => {
                if let Some(unknown) = ungrouped(value, &seen) {
                    let unknown = unknown.as_str();
                    let message = format!("?{unknown} is not grouped, so it has many values in a group");
                    let help = format!("add GROUP BY ?{unknown}, or take one of them: SAMPLE(?{unknown})");
                    return Err(Wrong::at(*at, message).help(help));
                }
            }
            _ => {}
        }
        if !names.insert(name) {
            return Err(Wrong::at(*at, format!("?{name} is selected twice")));
        }
        // A value may be used by those behind it.
        seen.insert(variable);
    }
    Ok(())
}

/// A variable that a group has no one value of.
fn ungrouped<'e>(expression: &'e Expression, seen: &HashSet<&Variable>) -> Option<&'e Variable> {
    match expression {
        Expression::Variable(variable) => (!seen.contains(variable)).then_some(variable),
        // These take what has no value.
        Expression::Bound(_) | Expression::Coalesce(_) | Expression::Exists(_) => None,
        other => {
            let mut found = None;
            crate::operands::each(other, &mut |operand| {
                if found.is_none() {
                    found = ungrouped(operand, seen);
                }
            });
            found
        }
    }
}
