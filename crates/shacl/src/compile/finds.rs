//! The queries for what violates one constraint of focus nodes.

use super::compiler::Compiler;
use super::conforms::{is_not_allowed, not_compared};
use super::focus::{Focus, Values};
use super::looked::Looked;
use crate::error::ShaclError;
use crate::model::{Constraint, Rule, Shape, SparqlRule};
use crate::path::Path;

/// Variables of a query of the shapes graph that results are made of, beside those of messages.
const OF_RESULTS: [&str; 3] = ["value", "path", "message"];

impl Compiler<'_> {
    pub(super) fn finds(
        &mut self,
        shape: &Shape,
        constraint: &Constraint,
        focus: &Focus,
    ) -> Result<Vec<String>, ShaclError> {
        if let Some(query) = self.grouped(shape, constraint, focus) {
            return Ok(vec![query]);
        }
        if let Rule::Sparql(rule) = &constraint.rule
            && !rule.is_ask
        {
            return Ok(vec![self.selected(shape, rule, focus)?]);
        }
        let this = focus.variable();
        let mut queries = Vec::new();
        if let Rule::Equals(other) = &constraint.rule {
            let value = self.names.variable();
            let missing = match &shape.path {
                Some(path) => format!("NOT EXISTS {{ {this} {path} {value} }}"),
                None => format!("!sameTerm({this}, {value})"),
            };
            let pattern = format!("{} {this} {other} {value} FILTER({missing})", focus.pattern);
            queries.push(found(this, Some(&value), &pattern));
        } else {
            let looked = Looked { shape, focus: this, value: this };
            if let Some(violated) = self.focus_violates(looked, constraint)? {
                queries.push(found(this, None, &format!("{} FILTER({violated})", focus.pattern)));
            }
        }
        let values = match &shape.path {
            Some(path) => self.values(focus, path),
            None => {
                Values { pattern: focus.pattern.clone(), chain: focus.chain.clone(), value: this.to_owned() }
            }
        };
        queries.extend(self.of_values(shape, constraint, this, &values)?);
        Ok(queries)
    }

    /// The query for values that violate.
    fn of_values(
        &mut self,
        shape: &Shape,
        constraint: &Constraint,
        this: &str,
        values: &Values,
    ) -> Result<Option<String>, ShaclError> {
        let (pattern, value) = (&values.pattern, &values.value);
        Ok(Some(match &constraint.rule {
            Rule::LessThan(comparison, other) => {
                let limit = self.names.variable();
                let wrong = not_compared(value, *comparison, &limit);
                found(this, Some(value), &format!("{pattern} {this} {other} {limit} FILTER({wrong})"))
            }
            Rule::Closed(allowed) => {
                let (property, object) = (self.names.variable(), self.names.variable());
                let wrong = is_not_allowed(&property, allowed);
                format!(
                    "SELECT ({this} AS ?this) ({property} AS ?path) ({object} AS ?value) {{ {pattern} \
                     {value} {property} {object} FILTER({wrong}) }}"
                )
            }
            _ => {
                let looked = Looked { shape, focus: this, value };
                let Some(violated) = self.value_violates(looked, constraint)? else { return Ok(None) };
                found(this, Some(value), &format!("{pattern} FILTER({violated})"))
            }
        }))
    }

    /// Counts by groups, which need not be asked for each focus node.
    fn grouped(&mut self, shape: &Shape, constraint: &Constraint, focus: &Focus) -> Option<String> {
        let path = shape.path.as_ref()?;
        let this = focus.variable();
        let chain = focus.chain.join(" ");
        Some(match &constraint.rule {
            Rule::MaxCount(count) if *count > 0 => {
                let values = self.values(focus, path);
                format!(
                    "SELECT ({this} AS ?this) {{ {{ SELECT {chain} {{ {} }} GROUP BY {chain} HAVING (COUNT({}) > {count}) }} }}",
                    values.pattern, values.value
                )
            }
            Rule::MinCount(count) if *count > 1 && !path.may_be_empty() => {
                let value = self.names.variable();
                let inner = optional_values(focus, path, &value);
                format!(
                    "SELECT ({this} AS ?this) {{ {{ SELECT {chain} {{ {inner} }} GROUP BY {chain} \
                     HAVING (COUNT(DISTINCT {value}) < {count}) }} }}"
                )
            }
            Rule::UniqueLang => {
                let language = self.names.variable();
                let values = self.values(focus, path);
                format!(
                    "SELECT ({this} AS ?this) {{ {{ SELECT {chain} {language} {{ {} FILTER(LANG({}) != \"\") \
                     BIND(LCASE(LANG({})) AS {language}) }} GROUP BY {chain} {language} HAVING (COUNT(*) > 1) }} }}",
                    values.pattern, values.value, values.value
                )
            }
            _ => return None,
        })
    }

    fn selected(&mut self, shape: &Shape, rule: &SparqlRule, focus: &Focus) -> Result<String, ShaclError> {
        let this = focus.variable();
        let rows = self.rows_of(Looked { shape, focus: this, value: this }, rule)?;
        let shown = |name: &&String| {
            OF_RESULTS.contains(&name.as_str())
                || rule.messages.iter().any(|message| crate::message::mentions(message.value(), name))
        };
        let shown: Vec<String> = rows
            .selected
            .iter()
            .filter(|name| *name != "this")
            .filter(shown)
            .map(|name| format!(" ?{name}"))
            .collect();
        Ok(format!("SELECT ?this{} {{ {} {} }}", shown.concat(), focus.pattern, rows.pattern))
    }
}

fn optional_values(focus: &Focus, path: &Path, value: &str) -> String {
    format!("{} OPTIONAL {{ {} {path} {value} }}", focus.pattern, focus.variable())
}

fn found(this: &str, value: Option<&str>, pattern: &str) -> String {
    let value = value.map_or_else(String::new, |value| format!(" ({value} AS ?value)"));
    format!("SELECT ({this} AS ?this){value} {{ {pattern} }}")
}
