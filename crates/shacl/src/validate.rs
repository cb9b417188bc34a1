//! Runs the queries of shapes over one version of a database, and makes results of their rows.

use crate::compile::{Check, Classes, Sources, any_focus, checks};
use crate::error::ShaclError;
use crate::graph::{ShapesGraph, as_node};
use crate::message;
use crate::model::{Constraint, Rule, Shape};
use crate::path::Path;
use crate::read::Shapes;
use crate::result::{ValidationResult, is_mild};
use crate::words::text;
use lode_engine::store::Snapshot;
use lode_engine::{PreparedQuery, QueryOptions, QueryResults};
use lode_rdf::{NamedNode, Term, Triple};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Says whether a query may run, or why not.
pub type Admit = dyn Fn(&PreparedQuery) -> Result<(), String> + Send + Sync;

/// How data are validated.
#[derive(Clone)]
pub struct ValidateOptions {
    /// How each query runs: the graph, time, memory, threads. Its bindings are not used.
    pub query: QueryOptions,
    /// Results that are told; the others are counted.
    pub results_max: u64,
    /// The graph of the database that has the shapes, if one has: `$shapesGraph`.
    pub shapes_graph: Option<NamedNode>,
    /// Whether shapes whose results only warn or inform are left out.
    pub ignores_mild: bool,
    /// Asked before each query for what violates.
    pub admit: Option<Arc<Admit>>,
}

impl Default for ValidateOptions {
    fn default() -> Self {
        Self {
            query: QueryOptions::default(),
            results_max: 1_000,
            shapes_graph: None,
            ignores_mild: false,
            admit: None,
        }
    }
}

/// What a validation found, in numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// All results.
    pub results: u64,
    /// Those that are neither warnings nor informations.
    pub violations: u64,
    /// Queries that were asked.
    pub queries: usize,
}

impl Summary {
    /// Whether nothing was found.
    pub fn conforms(&self) -> bool {
        self.results == 0
    }
}

/// Validates a version of a database against shapes. `tell` is called with each result up to [`ValidateOptions::results_max`].
///
/// # Errors
/// Where shapes cannot be used ([`ShaclError::is_of_shapes`]), a query was cancelled or took too long, needs more memory than it may take, or the
/// store cannot be read; what `tell` returns.
pub fn validate(
    snapshot: &Snapshot,
    shapes: &Shapes,
    options: &ValidateOptions,
    tell: &mut dyn FnMut(&ValidationResult) -> Result<(), ShaclError>,
) -> Result<Summary, ShaclError> {
    validate_within(snapshot, shapes, options, None, tell)
}

/// The same where only these nodes, as words of SPARQL, may have changed since all conformed.
pub(crate) fn validate_within(
    snapshot: &Snapshot,
    shapes: &Shapes,
    options: &ValidateOptions,
    within: Option<&[String]>,
    tell: &mut dyn FnMut(&ValidationResult) -> Result<(), ShaclError>,
) -> Result<Summary, ShaclError> {
    let validation = Validation { snapshot, shapes, options };
    validation.check_patterns().map_err(|error| error.placed(&shapes.places))?;
    validation.over(within, |sources| {
        let mut summary = Summary::default();
        for check in checks(sources)? {
            let is_mild = is_mild(&shapes.get(check.shape).severity);
            if is_mild && options.ignores_mild {
                continue;
            }
            let found = if summary.results < options.results_max {
                validation.tell(&check, options.results_max - summary.results, tell)?
            } else {
                validation.count(&check)?
            };
            summary.queries += 1;
            summary.results += found;
            if !is_mild {
                summary.violations += found;
            }
        }
        Ok(summary)
    })
}

/// More shapes are not asked whether anything is their target.
const TARGETS_ASKED_MAX: usize = 200;
/// Of those without any, so many are named.
const TARGETLESS_NAMED: usize = 5;

/// Warnings of shapes whose targets are nobody in a version of a database: a name is misspelt, or another graph is meant. Of the first 200 shapes; five are
/// named, the others counted.
///
/// # Errors
/// Like [`validate`].
pub fn empty_targets(
    snapshot: &Snapshot,
    shapes: &Shapes,
    options: &ValidateOptions,
) -> Result<Vec<String>, ShaclError> {
    let validation = Validation { snapshot, shapes, options };
    validation.over(None, |sources| {
        let (mut warnings, mut others) = (Vec::new(), 0);
        for (root, query) in any_focus(sources).into_iter().take(TARGETS_ASKED_MAX) {
            if validation.rows(&query)?.is_empty() {
                if warnings.len() == TARGETLESS_NAMED {
                    others += 1;
                    continue;
                }
                let shape = shapes.get(root);
                let targets: Vec<String> = shape.targets.iter().map(ToString::to_string).collect();
                let (shape, targets) = (shapes.places.shape(&shape.node), targets.join(", "));
                warnings.push(format!(
                    "{shape} is about no node of the data ({targets}): nothing is validated by it"
                ));
            }
        }
        match others {
            0 => {}
            1 => warnings.push("so is 1 other shape".to_owned()),
            _ => warnings.push(format!("so are {others} other shapes")),
        }
        Ok(warnings)
    })
}

/// The queries that shapes become over a version of a database: for people who want to know what is asked.
///
/// # Errors
/// Like [`validate`], of what comes before the first of these queries.
pub fn queries(
    snapshot: &Snapshot,
    shapes: &Shapes,
    options: &ValidateOptions,
) -> Result<Vec<String>, ShaclError> {
    let validation = Validation { snapshot, shapes, options };
    validation.over(None, |sources| Ok(checks(sources)?.into_iter().map(|check| check.query).collect()))
}

struct Validation<'v> {
    snapshot: &'v Snapshot,
    shapes: &'v Shapes,
    options: &'v ValidateOptions,
}

impl Validation<'_> {
    /// Does something with what queries are made of; errors of shapes have their places.
    fn over<T>(
        &self,
        within: Option<&[String]>,
        ask: impl FnOnce(Sources<'_>) -> Result<T, ShaclError>,
    ) -> Result<T, ShaclError> {
        let (shapes, shapes_graph) = (self.shapes, self.options.shapes_graph.as_ref());
        let classes = self.classes()?;
        let sources = Sources { shapes, classes: &classes, shapes_graph, within };
        ask(sources).map_err(|error| error.placed(&shapes.places))
    }

    fn prepare(&self, query: &str) -> Result<PreparedQuery, ShaclError> {
        let prepared = PreparedQuery::new(query, self.snapshot.clone(), &self.options.query)?;
        if let Some(admit) = &self.options.admit {
            admit(&prepared).map_err(ShaclError::Refused)?;
        }
        Ok(prepared)
    }

    /// Rows of a query that was made of shapes.
    fn rows(&self, query: &str) -> Result<Vec<Vec<Option<Term>>>, ShaclError> {
        let prepared = self.prepare(query)?;
        match prepared.run()? {
            QueryResults::Solutions(mut solutions) => Ok(solutions.collect_rows()?),
            QueryResults::Boolean(_) | QueryResults::Graph(_) => Ok(Vec::new()),
        }
    }

    fn classes(&self) -> Result<Classes, ShaclError> {
        let Some(query) = Classes::query(self.shapes) else { return Ok(Classes::default()) };
        let rows = self.rows(&query)?.into_iter().filter_map(|row| {
            let mut terms = row.into_iter().flatten();
            Some((terms.next()?, terms.next()?))
        });
        Ok(Classes::new(self.shapes, rows.collect()))
    }

    /// A regular expression that is none would violate everywhere: it is told instead.
    fn check_patterns(&self) -> Result<(), ShaclError> {
        for shape in &self.shapes.all {
            for constraint in &shape.constraints {
                let Rule::Pattern { pattern, flags } = &constraint.rule else { continue };
                let query =
                    format!("SELECT (REGEX(\"\", {}, {}) AS ?matches) {{}}", text(pattern), text(flags));
                if self.rows(&query)?.first().is_none_or(|row| row.first().is_none_or(Option::is_none)) {
                    let problem =
                        format!("{pattern:?} with the flags {flags:?} is no regular expression of SPARQL");
                    return Err(ShaclError::shape(&shape.node, "sh:pattern", problem));
                }
            }
        }
        Ok(())
    }

    /// Tells the results of a query, up to so many, and counts all.
    fn tell(
        &self,
        check: &Check,
        mut left: u64,
        tell: &mut dyn FnMut(&ValidationResult) -> Result<(), ShaclError>,
    ) -> Result<u64, ShaclError> {
        let shape = self.shapes.get(check.shape);
        let constraint = &shape.constraints[check.rule];
        let prepared = self.prepare(&check.query)?;
        let QueryResults::Solutions(mut solutions) = prepared.run()? else { return Ok(0) };
        let mut found = 0;
        while let Some(batch) = solutions.next_batch()? {
            let names: Vec<&str> = solutions.variables().iter().map(|variable| variable.as_str()).collect();
            found += batch.rows() as u64;
            for row in 0..batch.rows() {
                if left == 0 {
                    break;
                }
                left -= 1;
                let values = names.iter().enumerate();
                let values =
                    values.filter_map(|(column, name)| Some((*name, batch.get(row, column)?))).collect();
                tell(&self.result(shape, constraint, &values))?;
            }
        }
        Ok(found)
    }

    /// How many results a query has.
    fn count(&self, check: &Check) -> Result<u64, ShaclError> {
        let query = format!("SELECT (COUNT(*) AS ?n) {{ {{ {} }} }}", check.query);
        let rows = self.rows(&query)?;
        Ok(match rows.first().and_then(|row| row.first()) {
            Some(Some(Term::Literal(count))) => count.value().parse().unwrap_or(0),
            _ => 0,
        })
    }

    fn result(
        &self,
        shape: &Shape,
        constraint: &Constraint,
        row: &BTreeMap<&str, &Term>,
    ) -> ValidationResult {
        let own_path = match row.get("path") {
            Some(Term::NamedNode(name)) => Some(Path::Predicate(name.clone())),
            _ => None,
        };
        let focus = row.get("this").map(|term| (*term).clone());
        let is_query = matches!(&constraint.rule, Rule::Sparql(rule) if !rule.is_ask);
        let value = row.get("value").map(|term| (*term).clone());
        let source = match &constraint.rule {
            Rule::Sparql(rule) if rule.is_constraint => Some(rule.node.clone()),
            _ => None,
        };
        ValidationResult {
            path: own_path.or_else(|| shape.path.clone()),
            value: value.or_else(|| if is_query && shape.path.is_none() { focus.clone() } else { None }),
            focus: focus.unwrap_or_else(|| shape.node.clone().into()),
            severity: shape.severity.clone(),
            shape: shape.node.clone(),
            component: constraint.component.clone(),
            constraint: source,
            messages: message::of(self.shapes, shape, constraint, row),
        }
    }
}

/// The shapes that are in a graph of a version of a database. What may not be read there is not there.
///
/// # Errors
/// Where the graph takes too much memory, or the query for it fails.
pub fn shapes_of_graph(
    snapshot: &Snapshot,
    graph: &NamedNode,
    options: &QueryOptions,
) -> Result<ShapesGraph, ShaclError> {
    let options = QueryOptions { dataset: None, reasoning: None, ..options.clone() };
    let query = format!("SELECT ?s ?p ?o {{ GRAPH {graph} {{ ?s ?p ?o }} }}");
    let prepared = PreparedQuery::new(&query, snapshot.clone(), &options)?;
    let mut shapes = options.memory.as_ref().map_or_else(ShapesGraph::default, ShapesGraph::within);
    let QueryResults::Solutions(mut solutions) = prepared.run()? else { return Ok(shapes) };
    while let Some(batch) = solutions.next_batch()? {
        for row in 0..batch.rows() {
            let (Some(subject), Some(Term::NamedNode(predicate)), Some(object)) =
                (batch.get(row, 0).and_then(as_node), batch.get(row, 1), batch.get(row, 2))
            else {
                continue;
            };
            shapes.insert(Triple { subject, predicate: predicate.clone(), object: object.clone() })?;
        }
    }
    Ok(shapes)
}
