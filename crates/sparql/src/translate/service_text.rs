//! The body of a SERVICE as query text.
//!
//! Written by us, not by the algebra's own `Display`: every operator is in brackets here, and every group that has filters is in
//! braces, so that the remote parser finds the very same algebra.

use spargebra::algebra::{AggregateExpression, AggregateFunction, Expression, GraphPattern, OrderExpression};
use spargebra::term::GroundTerm;
use std::fmt::Write as _;

/// What stands between the braces of a group.
pub(super) fn body(body: &GraphPattern) -> String {
    let mut text = Text(String::new());
    text.elements(body, false);
    text.0
}

/// Whether the elements are joined with what stands before them in the same group, whatever it is.
pub(super) fn is_join(body: &GraphPattern) -> bool {
    match body {
        GraphPattern::Bgp { .. }
        | GraphPattern::Path { .. }
        | GraphPattern::Values { .. }
        | GraphPattern::Union { .. }
        | GraphPattern::Graph { .. }
        | GraphPattern::Service { .. } => true,
        // The right side is in braces where it is none of these.
        GraphPattern::Join { left, .. } => is_join(left),
        _ => false,
    }
}

/// The text so far.
struct Text(String);

impl Text {
    fn push(&mut self, text: &str) {
        self.0.push_str(text);
    }

    fn show(&mut self, value: impl std::fmt::Display) {
        // Writing to a string cannot fail.
        let _ = write!(self.0, "{value} ");
    }

    fn braced(&mut self, pattern: &GraphPattern) {
        self.push("{ ");
        self.elements(pattern, false);
        self.push("} ");
    }

    /// The elements of a group. `mixed`: others share the group, so filters need braces.
    fn elements(&mut self, pattern: &GraphPattern, mixed: bool) {
        match pattern {
            GraphPattern::Bgp { patterns } => {
                for triple in patterns {
                    self.show(triple);
                    self.push(". ");
                }
            }
            GraphPattern::Path { subject, path, object } => {
                self.show(subject);
                self.show(path);
                self.show(object);
                self.push(". ");
            }
            GraphPattern::Join { left, right } => {
                self.elements(left, true);
                self.joined(right);
            }
            GraphPattern::Filter { .. } if mixed => self.braced(pattern),
            GraphPattern::Filter { expr, inner } => {
                self.elements(inner, true);
                self.filter(expr);
            }
            GraphPattern::LeftJoin { left, right, expression } => {
                self.elements(left, true);
                self.push("OPTIONAL { ");
                // A filter at the top of the group would become the OPTIONAL's condition.
                self.elements(right, true);
                if let Some(expr) = expression {
                    self.filter(expr);
                }
                self.push("} ");
            }
            GraphPattern::Minus { left, right } => {
                self.elements(left, true);
                self.push("MINUS ");
                self.braced(right);
            }
            GraphPattern::Lateral { left, right } => {
                self.elements(left, true);
                self.push("LATERAL ");
                self.braced(right);
            }
            GraphPattern::Union { left, right } => {
                self.braced(left);
                self.push("UNION ");
                self.braced(right);
            }
            GraphPattern::Graph { name, inner } => {
                self.push("GRAPH ");
                self.show(name);
                self.braced(inner);
            }
            GraphPattern::Service { name, inner, silent } => {
                self.push(if *silent { "SERVICE SILENT " } else { "SERVICE " });
                self.show(name);
                self.braced(inner);
            }
            GraphPattern::Extend { inner, variable, expression } => {
                self.elements(inner, true);
                self.push("BIND(");
                self.expr(expression);
                self.push("AS ");
                self.show(variable);
                self.push(") ");
            }
            GraphPattern::Values { variables, bindings } => {
                self.push("VALUES ( ");
                variables.iter().for_each(|v| self.show(v));
                self.push(") { ");
                bindings.iter().for_each(|row| self.row(row));
                self.push("} ");
            }
            other => {
                self.push("{ ");
                self.select(other);
                self.push("} ");
            }
        }
    }

    /// The right side of a join: in braces where it would change the meaning of what stands before it.
    fn joined(&mut self, right: &GraphPattern) {
        let plain = matches!(
            right,
            GraphPattern::Bgp { .. }
                | GraphPattern::Path { .. }
                | GraphPattern::Values { .. }
                | GraphPattern::Union { .. }
                | GraphPattern::Graph { .. }
                | GraphPattern::Service { .. }
        );
        if plain { self.elements(right, true) } else { self.braced(right) }
    }

    fn row(&mut self, row: &[Option<GroundTerm>]) {
        self.push("( ");
        for term in row {
            match term {
                Some(term) => self.show(term),
                None => self.push("UNDEF "),
            }
        }
        self.push(") ");
    }

    fn filter(&mut self, expr: &Expression) {
        self.push("FILTER(");
        self.expr(expr);
        self.push(") ");
    }

    /// A sub-query.
    fn select(&mut self, pattern: &GraphPattern) {
        if let GraphPattern::Group { inner, variables, aggregates } = pattern {
            self.push("SELECT ");
            variables.iter().for_each(|v| self.show(v));
            for (variable, aggregate) in aggregates {
                self.push("(");
                self.aggregate(aggregate);
                self.push(" AS ");
                self.show(variable);
                self.push(") ");
            }
            self.push("WHERE ");
            self.braced(inner);
            if !variables.is_empty() {
                self.push("GROUP BY ");
                variables.iter().for_each(|v| self.show(v));
            }
            return;
        }
        let parts = SelectParts::of(pattern);
        self.push("SELECT ");
        self.push(parts.modifier);
        match parts.variables {
            Some(variables) if !variables.is_empty() => variables.iter().for_each(|v| self.show(v)),
            _ => self.push("* "),
        }
        self.push("WHERE ");
        self.braced(parts.body);
        if !parts.order.is_empty() {
            self.push("ORDER BY ");
            for key in parts.order {
                let (word, expr) = match key {
                    OrderExpression::Asc(expr) => ("ASC(", expr),
                    OrderExpression::Desc(expr) => ("DESC(", expr),
                };
                self.push(word);
                self.expr(expr);
                self.push(") ");
            }
        }
        if let Some((start, length)) = parts.slice {
            self.push(&format!("OFFSET {start} "));
            if let Some(length) = length {
                self.push(&format!("LIMIT {length} "));
            }
        }
    }

    fn aggregate(&mut self, aggregate: &AggregateExpression) {
        match aggregate {
            AggregateExpression::CountSolutions { distinct: true } => self.push("COUNT(DISTINCT *)"),
            AggregateExpression::CountSolutions { distinct: false } => self.push("COUNT(*)"),
            AggregateExpression::FunctionCall { name, expr, distinct } => {
                self.show(name);
                self.push(if *distinct { "(DISTINCT " } else { "(" });
                self.expr(expr);
                if let AggregateFunction::GroupConcat { separator: Some(separator) } = name {
                    self.push("; SEPARATOR = ");
                    self.show(lode_rdf::LiteralRef::new_simple_literal(separator));
                }
                self.push(")");
            }
        }
    }

    fn expr(&mut self, expr: &Expression) {
        match expr {
            Expression::NamedNode(node) => self.show(node),
            Expression::Literal(literal) => self.show(literal),
            Expression::Variable(variable) => self.show(variable),
            Expression::Bound(variable) => self.show(format_args!("BOUND({variable})")),
            Expression::Exists(pattern) => {
                self.push("EXISTS ");
                self.braced(pattern);
            }
            Expression::Or(a, b) => self.binary(a, "|| ", b),
            Expression::And(a, b) => self.binary(a, "&& ", b),
            Expression::Equal(a, b) => self.binary(a, "= ", b),
            Expression::Greater(a, b) => self.binary(a, "> ", b),
            Expression::GreaterOrEqual(a, b) => self.binary(a, ">= ", b),
            Expression::Less(a, b) => self.binary(a, "< ", b),
            Expression::LessOrEqual(a, b) => self.binary(a, "<= ", b),
            Expression::Add(a, b) => self.binary(a, "+ ", b),
            Expression::Subtract(a, b) => self.binary(a, "- ", b),
            Expression::Multiply(a, b) => self.binary(a, "* ", b),
            Expression::Divide(a, b) => self.binary(a, "/ ", b),
            Expression::UnaryPlus(a) => self.unary("+", a),
            Expression::UnaryMinus(a) => self.unary("-", a),
            Expression::Not(a) => self.unary("!", a),
            Expression::SameTerm(a, b) => self.call("sameTerm", &[a, b]),
            Expression::If(a, b, c) => self.call("IF", &[a, b, c]),
            Expression::Coalesce(list) => self.call("COALESCE", &list.iter().collect::<Vec<_>>()),
            Expression::FunctionCall(function, list) => {
                self.call(&function.to_string(), &list.iter().collect::<Vec<_>>());
            }
            Expression::In(a, list) => {
                self.push("(");
                self.expr(a);
                self.call("IN ", &list.iter().collect::<Vec<_>>());
                self.push(") ");
            }
        }
    }

    fn binary(&mut self, a: &Expression, operator: &str, b: &Expression) {
        self.push("(");
        self.expr(a);
        self.push(operator);
        self.expr(b);
        self.push(") ");
    }

    fn unary(&mut self, operator: &str, a: &Expression) {
        self.push("(");
        self.push(operator);
        self.push("(");
        self.expr(a);
        self.push(")) ");
    }

    fn call(&mut self, name: &str, arguments: &[&Expression]) {
        self.push(name);
        self.push("(");
        for (i, argument) in arguments.iter().enumerate() {
            self.push(if i > 0 { ", " } else { "" });
            self.expr(argument);
        }
        self.push(") ");
    }
}

/// The clauses of a sub-query, from the outside inwards; what does not fit becomes a sub-query of its own in `body`.
struct SelectParts<'a> {
    slice: Option<(usize, Option<usize>)>,
    modifier: &'static str,
    variables: Option<&'a [spargebra::term::Variable]>,
    order: &'a [OrderExpression],
    body: &'a GraphPattern,
}

impl<'a> SelectParts<'a> {
    fn of(pattern: &'a GraphPattern) -> Self {
        let mut parts = Self { slice: None, modifier: "", variables: None, order: &[], body: pattern };
        if let GraphPattern::Slice { inner, start, length } = parts.body {
            parts.slice = Some((*start, *length));
            parts.body = inner;
        }
        match parts.body {
            GraphPattern::Distinct { inner } => {
                parts.modifier = "DISTINCT ";
                parts.body = inner;
            }
            GraphPattern::Reduced { inner } => {
                parts.modifier = "REDUCED ";
                parts.body = inner;
            }
            _ => {}
        }
        if let GraphPattern::Project { inner, variables } = parts.body {
            parts.variables = Some(variables);
            parts.body = inner;
        }
        if let GraphPattern::OrderBy { inner, expression } = parts.body {
            parts.order = expression;
            parts.body = inner;
        }
        parts
    }
}
