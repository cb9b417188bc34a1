//! Grouping and aggregates (SPARQL 1.1 sections 11 and 18.5.1).

use super::arithmetic::{Operator, calculate};
use super::compare::order;
use super::datatypes::{int, text};
use super::evaluator::Evaluator;
use super::options::NaiveError;
use super::scope::Scope;
use super::solution::{Solution, Solutions, is_hidden};
use oxrdf::{Term, Variable};
use spargebra::algebra::{AggregateExpression, AggregateFunction};
use std::collections::{HashMap, HashSet};

impl Evaluator<'_> {
    pub(super) fn group(
        &self,
        rows: &[Solution],
        keys: &[Variable],
        aggregates: &[(Variable, AggregateExpression)],
        scope: &Scope<'_>,
    ) -> Result<Solutions, NaiveError> {
        let mut numbers: HashMap<Vec<Option<Term>>, usize> = HashMap::new();
        let mut groups: Vec<(Solution, Vec<&Solution>)> = Vec::new();
        if keys.is_empty() {
            groups.push((Solution::new(), rows.iter().collect()));
        } else {
            for row in rows {
                let key: Vec<_> = keys.iter().map(|k| row.get(k).cloned()).collect();
                let number = *numbers.entry(key.clone()).or_insert_with(|| {
                    let bound = keys.iter().cloned().zip(key);
                    groups.push((bound.filter_map(|(k, t)| Some((k, t?))).collect(), Vec::new()));
                    groups.len() - 1
                });
                if let Some((_, members)) = groups.get_mut(number) {
                    members.push(row);
                }
            }
        }
        let mut solutions = Vec::new();
        for (mut solution, members) in groups {
            for (variable, aggregate) in aggregates {
                if let Some(value) = self.aggregate(aggregate, &members, scope)? {
                    solution.insert(variable.clone(), value);
                }
            }
            solutions.push(solution);
        }
        Ok(solutions)
    }

    fn aggregate(
        &self,
        aggregate: &AggregateExpression,
        members: &[&Solution],
        scope: &Scope<'_>,
    ) -> Result<Option<Term>, NaiveError> {
        match aggregate {
            AggregateExpression::CountSolutions { distinct } => {
                if !distinct {
                    return Ok(count(members.len()));
                }
                let visible: HashSet<Solution> = members
                    .iter()
                    .map(|m| {
                        m.iter().filter(|(v, _)| !is_hidden(v)).map(|(v, t)| (v.clone(), t.clone())).collect()
                    })
                    .collect();
                Ok(count(visible.len()))
            }
            AggregateExpression::FunctionCall { name, expr, distinct } => {
                let mut values = Vec::new();
                for member in members {
                    values.push(self.value(expr, member, scope)?);
                }
                if *distinct {
                    let mut seen = HashSet::new();
                    values.retain(|v| seen.insert(v.clone()));
                }
                Ok(set_function(name, values))
            }
        }
    }
}

fn count(number: usize) -> Option<Term> {
    Some(int(i64::try_from(number).ok()?))
}

/// A set function over values, `None` standing for errors. COUNT leaves errors out. SUM, AVG and GROUP_CONCAT compute with every
/// value, so that one error makes the result one. MIN, MAX and SAMPLE choose among the values there are.
fn set_function(function: &AggregateFunction, values: Vec<Option<Term>>) -> Option<Term> {
    match function {
        AggregateFunction::Count => count(values.iter().flatten().count()),
        AggregateFunction::Sum => sum(&values.into_iter().collect::<Option<Vec<_>>>()?),
        AggregateFunction::Avg => {
            let values = values.into_iter().collect::<Option<Vec<_>>>()?;
            if values.is_empty() {
                return Some(int(0));
            }
            calculate(Operator::Divide, &sum(&values)?, &count(values.len())?)
        }
        AggregateFunction::Min => values.into_iter().flatten().min_by(|a, b| order(Some(a), Some(b))),
        AggregateFunction::Max => values.into_iter().flatten().max_by(|a, b| order(Some(a), Some(b))),
        AggregateFunction::Sample => values.into_iter().flatten().next(),
        AggregateFunction::GroupConcat { separator } => {
            let values = values.into_iter().collect::<Option<Vec<_>>>()?;
            let parts = values.iter().map(lexical).collect::<Option<Vec<_>>>()?;
            Some(text(parts.join(separator.as_deref().unwrap_or(" "))))
        }
        AggregateFunction::Custom(_) => None,
    }
}

fn sum(values: &[Term]) -> Option<Term> {
    values.iter().try_fold(int(0), |total, v| calculate(Operator::Add, &total, v))
}

/// GROUP_CONCAT takes the text of any literal or IRI, as `STR` does.
fn lexical(term: &Term) -> Option<String> {
    match term {
        Term::NamedNode(n) => Some(n.as_str().to_owned()),
        Term::Literal(l) => Some(l.value().to_owned()),
        Term::BlankNode(_) | Term::Triple(_) => None,
    }
}
