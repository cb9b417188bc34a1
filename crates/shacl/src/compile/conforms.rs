//! Whether a node violates a shape, as an expression that is true or false and never an error.

use super::compiler::Compiler;
use super::datatypes;
use super::looked::Looked;
use crate::error::ShaclError;
use crate::model::{Comparison, Constraint, NodeKind, Rule, ShapeId};
use crate::path::Path;
use crate::words::{constant, text};
use lode_rdf::{NamedNode, Term};

const FALSE: &str = "false";

impl Compiler<'_> {
    /// Whether the node of a variable does not conform to a shape.
    pub(super) fn violates(&mut self, node: &str, id: ShapeId) -> Result<String, ShaclError> {
        let shape = self.get(id);
        if shape.is_deactivated {
            return Ok(FALSE.into());
        }
        let value = if shape.path.is_some() { self.names.variable() } else { node.to_owned() };
        let looked = Looked { shape, focus: node, value: &value };
        let (mut of_focus, mut of_values) = (Vec::new(), Vec::new());
        for constraint in &shape.constraints {
            if let Some(violated) = self.focus_violates(looked, constraint)? {
                of_focus.push(violated);
            }
            if let Some(violated) = self.value_violates(looked, constraint)? {
                of_values.push(violated);
            }
        }
        match &shape.path {
            None => of_focus.append(&mut of_values),
            Some(path) if !of_values.is_empty() => {
                of_focus.push(format!("EXISTS {{ {node} {path} {value} FILTER({}) }}", any(&of_values)));
            }
            Some(_) => {}
        }
        let violated = any(&of_focus);
        self.count(&violated)?;
        Ok(violated)
    }

    fn conforms(&mut self, node: &str, id: ShapeId) -> Result<String, ShaclError> {
        Ok(format!("(!{})", self.violates(node, id)?))
    }

    /// Whether all values together violate a constraint; none where it is about each of them.
    pub(super) fn focus_violates(
        &mut self,
        looked: Looked<'_>,
        constraint: &Constraint,
    ) -> Result<Option<String>, ShaclError> {
        let focus = looked.focus;
        Ok(Some(match (&constraint.rule, &looked.shape.path) {
            (Rule::MinCount(count), Some(path)) => self.fewer_than(focus, path, *count, None),
            (Rule::MaxCount(count), Some(path)) => {
                format!("(!{})", self.fewer_than(focus, path, count.saturating_add(1), None))
            }
            (Rule::UniqueLang, Some(path)) => self.same_language(focus, path),
            (Rule::Qualified { shape, others, count, is_least }, Some(path)) => {
                let value = self.names.variable();
                let mut counted = self.conforms(&value, *shape)?;
                for other in others {
                    counted = format!("({counted} && {})", self.violates(&value, *other)?);
                }
                let counted = Some((value, counted));
                if *is_least {
                    self.fewer_than(focus, path, *count, counted)
                } else {
                    format!("(!{})", self.fewer_than(focus, path, count.saturating_add(1), counted))
                }
            }
            (Rule::HasValue(term), path) => match (constant(term), path) {
                (None, _) => "true".into(),
                (Some(term), Some(path)) => format!("(NOT EXISTS {{ {focus} {path} {term} }})"),
                (Some(term), None) => format!("(!sameTerm({focus}, {term}))"),
            },
            (Rule::Equals(other), path) => {
                let value = self.names.variable();
                let missing = match path {
                    Some(path) => format!("NOT EXISTS {{ {focus} {path} {value} }}"),
                    None => format!("!sameTerm({focus}, {value})"),
                };
                format!("(EXISTS {{ {focus} {other} {value} FILTER({missing}) }})")
            }
            (Rule::Sparql(rule), _) if !rule.is_ask => {
                let rows = self.rows_of(looked, rule)?.pattern;
                format!("(EXISTS {{ {rows} }})")
            }
            _ => return Ok(None),
        }))
    }

    /// Whether a value violates a constraint; none where it is about all values together.
    pub(super) fn value_violates(
        &mut self,
        looked: Looked<'_>,
        constraint: &Constraint,
    ) -> Result<Option<String>, ShaclError> {
        let (focus, value) = (looked.focus, looked.value);
        Ok(Some(match &constraint.rule {
            Rule::Class(class) => self.is_no_instance(value, class),
            Rule::Datatype(datatype) => datatypes::is_not_of_type(value, datatype),
            Rule::NodeKind(kind) => is_not_of_kind(value, *kind),
            Rule::Range(comparison, limit) => not_compared(value, *comparison, &limit.to_string()),
            Rule::MinLength(length) => is_no_text(value, &format!("STRLEN(STR({value})) >= {length}")),
            Rule::MaxLength(length) => is_no_text(value, &format!("STRLEN(STR({value})) <= {length}")),
            Rule::Pattern { pattern, flags } => {
                let matched = format!("REGEX(STR({value}), {}, {})", text(pattern), text(flags));
                is_no_text(value, &matched)
            }
            Rule::LanguageIn(languages) => {
                let matched =
                    languages.iter().map(|range| format!("langMatches(LANG({value}), {})", text(range)));
                let matched: Vec<String> = matched.collect();
                format!("(!COALESCE({}, false))", any(&matched))
            }
            Rule::Equals(other) => format!("(NOT EXISTS {{ {focus} {other} {value} }})"),
            Rule::Disjoint(other) => format!("(EXISTS {{ {focus} {other} {value} }})"),
            Rule::LessThan(comparison, other) => {
                let limit = self.names.variable();
                let wrong = not_compared(value, *comparison, &limit);
                format!("(EXISTS {{ {focus} {other} {limit} FILTER({wrong}) }})")
            }
            Rule::Not(shape) => self.conforms(value, *shape)?,
            Rule::Node(shape) | Rule::Property(shape) => self.violates(value, *shape)?,
            Rule::And(shapes) => {
                let violated = shapes.iter().map(|shape| self.violates(value, *shape));
                any(&violated.collect::<Result<Vec<_>, _>>()?)
            }
            Rule::Or(shapes) => {
                let violated = shapes.iter().map(|shape| self.violates(value, *shape));
                let violated = violated.collect::<Result<Vec<_>, _>>()?;
                if violated.is_empty() { "true".into() } else { format!("({})", violated.join(" && ")) }
            }
            Rule::Xone(shapes) => {
                let one =
                    shapes.iter().map(|shape| Ok(format!("IF({}, 0, 1)", self.violates(value, *shape)?)));
                let ones = one.collect::<Result<Vec<_>, ShaclError>>()?;
                if ones.is_empty() { "true".into() } else { format!("(({}) != 1)", ones.join(" + ")) }
            }
            Rule::Closed(allowed) => {
                let (property, object) = (self.names.variable(), self.names.variable());
                format!(
                    "(EXISTS {{ {value} {property} {object} FILTER({}) }})",
                    is_not_allowed(&property, allowed)
                )
            }
            Rule::In(terms) => is_not_in(value, terms),
            Rule::Sparql(rule) if rule.is_ask => self.is_denied(looked, rule)?,
            _ => return Ok(None),
        }))
    }

    fn is_no_instance(&mut self, value: &str, class: &Term) -> String {
        let Term::NamedNode(class) = class else { return "true".into() };
        let names = &mut self.names;
        let (instances, _) = self.sources.classes.instances(value, class, || names.variable());
        format!("(NOT EXISTS {{ {instances} }})")
    }

    /// Whether a focus node has fewer values than that; of those that count, where not all do.
    fn fewer_than(
        &mut self,
        focus: &str,
        path: &Path,
        count: u64,
        counted: Option<(String, String)>,
    ) -> String {
        if count == 0 {
            return FALSE.into();
        }
        let (value, filter) = match counted {
            Some((value, condition)) => (value, format!(" FILTER({condition})")),
            None => (self.names.variable(), String::new()),
        };
        let values = format!("{focus} {path} {value}{filter}");
        if count == 1 {
            return format!("(NOT EXISTS {{ {values} }})");
        }
        format!(
            "(NOT EXISTS {{ SELECT {focus} {{ {values} }} GROUP BY {focus} HAVING (COUNT(DISTINCT {value}) >= {count}) }})"
        )
    }

    fn same_language(&mut self, focus: &str, path: &Path) -> String {
        let (one, other) = (self.names.variable(), self.names.variable());
        format!(
            "(EXISTS {{ {focus} {path} {one} . {focus} {path} {other} FILTER(LANG({one}) != \"\" && \
             LCASE(LANG({one})) = LCASE(LANG({other})) && !sameTerm({one}, {other})) }})"
        )
    }
}

/// One of some expressions.
pub fn any(expressions: &[String]) -> String {
    match expressions {
        [] => FALSE.into(),
        [only] => only.clone(),
        _ => format!("({})", expressions.join(" || ")),
    }
}

/// What is an error does not hold.
pub fn not_compared(value: &str, comparison: Comparison, limit: &str) -> String {
    format!("(!COALESCE({value} {} {limit}, false))", comparison.sign())
}

/// Blank nodes have no text, and violate what is said of it.
fn is_no_text(value: &str, condition: &str) -> String {
    format!("(!COALESCE(!isBlank({value}) && {condition}, false))")
}

fn is_not_of_kind(value: &str, kind: NodeKind) -> String {
    let tests = [(kind.iris, "isIRI"), (kind.blank_nodes, "isBlank"), (kind.literals, "isLiteral")];
    let allowed = tests.into_iter().filter(|(allowed, _)| *allowed);
    let allowed: Vec<String> = allowed.map(|(_, test)| format!("{test}({value})")).collect();
    format!("(!{})", any(&allowed))
}

/// Whether a property is none of those.
pub fn is_not_allowed(property: &str, allowed: &[NamedNode]) -> String {
    let names: Vec<String> = allowed.iter().map(ToString::to_string).collect();
    format!("{property} NOT IN ({})", names.join(", "))
}

/// Whether a value is none of those, as a term.
fn is_not_in(value: &str, terms: &[Term]) -> String {
    let terms: Vec<String> = terms.iter().filter_map(constant).collect();
    if terms.is_empty() {
        return "true".into();
    }
    format!("(NOT EXISTS {{ VALUES {value} {{ {} }} }})", terms.join(" "))
}
