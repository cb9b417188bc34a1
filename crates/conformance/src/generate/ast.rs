//! Generated queries as trees, so that a failing one can be cut down, and their texts.

use std::fmt::{self, Display, Formatter, Write};

/// A query.
#[derive(Debug, Clone)]
pub struct Query {
    /// SELECT, ASK and so on.
    pub form: Form,
    /// Graphs of FROM.
    pub from: Vec<String>,
    /// Graphs of FROM NAMED.
    pub from_named: Vec<String>,
    /// The pattern, and for SELECT its columns.
    pub select: Select,
}

/// The query form.
#[derive(Debug, Clone)]
pub enum Form {
    /// SELECT.
    Select,
    /// ASK.
    Ask,
    /// CONSTRUCT with a template.
    Construct(Vec<Triple>),
    /// DESCRIBE of variables and IRIs.
    Describe(Vec<String>),
}

/// A SELECT, at the top or inside.
#[derive(Debug, Clone, Default)]
pub struct Select {
    /// DISTINCT or REDUCED or nothing.
    pub modifier: &'static str,
    /// Columns; none: `*`.
    pub columns: Vec<Column>,
    /// WHERE.
    pub pattern: Group,
    /// GROUP BY: variables, or expressions that get a name.
    pub keys: Vec<Column>,
    /// HAVING.
    pub having: Option<Expr>,
    /// ORDER BY: variables or expressions in brackets, and whether descending.
    pub order: Vec<(String, bool)>,
    /// LIMIT.
    pub limit: Option<usize>,
    /// OFFSET.
    pub offset: Option<usize>,
    /// VALUES at the end.
    pub values: Option<Values>,
}

/// A column of a SELECT.
#[derive(Debug, Clone)]
pub enum Column {
    /// A variable.
    Variable(String),
    /// `(expr AS ?v)`.
    As(Expr, String),
}

/// The elements between braces.
pub type Group = Vec<Element>;

/// An element of a group.
#[derive(Debug, Clone)]
pub enum Element {
    /// Triple patterns and paths.
    Triples(Vec<Triple>),
    /// OPTIONAL.
    Optional(Group),
    /// UNION.
    Union(Vec<Group>),
    /// MINUS.
    Minus(Group),
    /// LATERAL.
    Lateral(Group),
    /// FILTER.
    Filter(Expr),
    /// BIND.
    Bind(Expr, String),
    /// VALUES.
    Values(Values),
    /// GRAPH.
    Graph(String, Group),
    /// SERVICE of the endpoint that has the data, or SERVICE SILENT of one that is not there.
    Service(bool, Group),
    /// A group of its own.
    Group(Group),
    /// A sub-select.
    Sub(Box<Select>),
}

/// A triple pattern; the predicate may be a path.
#[derive(Debug, Clone)]
pub struct Triple {
    /// Subject.
    pub subject: String,
    /// Predicate or path.
    pub predicate: String,
    /// Object.
    pub object: String,
}

/// Inline data.
#[derive(Debug, Clone)]
pub struct Values {
    /// Columns.
    pub variables: Vec<String>,
    /// Rows.
    pub rows: Vec<Vec<String>>,
}

/// An expression.
#[derive(Debug, Clone)]
pub enum Expr {
    /// A variable or constant.
    Atom(String),
    /// A function.
    Call(String, Vec<Expr>),
    /// An operator between two.
    Infix(&'static str, Box<Expr>, Box<Expr>),
    /// `!`, `-`.
    Prefix(&'static str, Box<Expr>),
    /// IN and NOT IN.
    In(&'static str, Box<Expr>, Vec<Expr>),
    /// EXISTS and NOT EXISTS.
    Exists(&'static str, Group),
    /// `COUNT(*)` and the like: a text with an argument in the middle.
    Aggregate(&'static str, Option<Box<Expr>>, &'static str),
}

impl Display for Query {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.form {
            Form::Select => self.select.head(f)?,
            Form::Ask => f.write_str("ASK")?,
            Form::Construct(template) => {
                f.write_str("CONSTRUCT {")?;
                for triple in template {
                    write!(f, " {triple} .")?;
                }
                f.write_str(" }")?;
            }
            Form::Describe(what) => write!(f, "DESCRIBE {}", what.join(" "))?,
        }
        for graph in &self.from {
            write!(f, " FROM {graph}")?;
        }
        for graph in &self.from_named {
            write!(f, " FROM NAMED {graph}")?;
        }
        self.select.tail(f)
    }
}

impl Select {
    fn head(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "SELECT {}", self.modifier)?;
        if self.columns.is_empty() {
            f.write_str(" *")?;
        }
        self.columns.iter().try_for_each(|column| write!(f, " {column}"))
    }

    fn tail(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(" WHERE ")?;
        write_group(&self.pattern, f)?;
        if !self.keys.is_empty() {
            f.write_str(" GROUP BY")?;
            for key in &self.keys {
                write!(f, " {key}")?;
            }
        }
        if let Some(having) = &self.having {
            write!(f, " HAVING ({having})")?;
        }
        if !self.order.is_empty() {
            f.write_str(" ORDER BY")?;
            for (variable, descending) in &self.order {
                if *descending {
                    write!(f, " DESC({variable})")?;
                } else {
                    write!(f, " {variable}")?;
                }
            }
        }
        if let Some(limit) = self.limit {
            write!(f, " LIMIT {limit}")?;
        }
        if let Some(offset) = self.offset {
            write!(f, " OFFSET {offset}")?;
        }
        match &self.values {
            Some(values) => write!(f, " {values}"),
            None => Ok(()),
        }
    }
}

impl Display for Select {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.head(f)?;
        self.tail(f)
    }
}

impl Display for Column {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(v) => f.write_str(v),
            Self::As(e, v) => write!(f, "({e} AS {v})"),
        }
    }
}

impl Column {
    /// The variable.
    pub fn name(&self) -> &str {
        let (Self::Variable(name) | Self::As(_, name)) = self;
        name
    }
}

/// Writes a group with its braces.
fn write_group(group: &Group, f: &mut Formatter<'_>) -> fmt::Result {
    f.write_str("{")?;
    for element in group {
        write!(f, " {element}")?;
    }
    f.write_str(" }")
}

impl Display for Element {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Triples(triples) => {
                for triple in triples {
                    write!(f, "{triple} . ")?;
                }
                Ok(())
            }
            Self::Optional(group) => {
                f.write_str("OPTIONAL ")?;
                write_group(group, f)
            }
            Self::Union(groups) => {
                for (number, group) in groups.iter().enumerate() {
                    if number > 0 {
                        f.write_str(" UNION ")?;
                    }
                    write_group(group, f)?;
                }
                Ok(())
            }
            Self::Minus(group) => {
                f.write_str("MINUS ")?;
                write_group(group, f)
            }
            Self::Lateral(group) => {
                f.write_str("LATERAL ")?;
                write_group(group, f)
            }
            Self::Filter(expr) => write!(f, "FILTER({expr})"),
            Self::Bind(expr, variable) => write!(f, "BIND({expr} AS {variable})"),
            Self::Values(values) => values.fmt(f),
            Self::Graph(name, group) => {
                write!(f, "GRAPH {name} ")?;
                write_group(group, f)
            }
            Self::Service(is_there, group) => {
                f.write_str(if *is_there { "SERVICE :here " } else { "SERVICE SILENT :nowhere " })?;
                write_group(group, f)
            }
            Self::Group(group) => write_group(group, f),
            Self::Sub(select) => write!(f, "{{ {select} }}"),
        }
    }
}

impl Display for Triple {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.subject, self.predicate, self.object)
    }
}

impl Display for Values {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "VALUES ({}) {{", self.variables.join(" "))?;
        for row in &self.rows {
            write!(f, " ({})", row.join(" "))?;
        }
        f.write_str(" }")
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Atom(text) => f.write_str(text),
            Self::Call(name, arguments) => {
                write!(f, "{name}(")?;
                list(arguments, f)?;
                f.write_char(')')
            }
            Self::Infix(operator, a, b) => write!(f, "({a} {operator} {b})"),
            Self::Prefix(operator, e) => write!(f, "({operator} {e})"),
            Self::In(operator, e, values) => {
                write!(f, "({e} {operator} (")?;
                list(values, f)?;
                f.write_str("))")
            }
            Self::Exists(word, group) => {
                write!(f, "({word} ")?;
                write_group(group, f)?;
                f.write_char(')')
            }
            Self::Aggregate(before, argument, after) => match argument {
                Some(argument) => write!(f, "{before}{argument}{after}"),
                None => write!(f, "{before}{after}"),
            },
        }
    }
}

fn list(items: &[Expr], f: &mut Formatter<'_>) -> fmt::Result {
    for (number, item) in items.iter().enumerate() {
        if number > 0 {
            f.write_str(", ")?;
        }
        item.fmt(f)?;
    }
    Ok(())
}
