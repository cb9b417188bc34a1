//! Whether two answers to a generated query agree.

use crate::answer::{Answer, Row};
use crate::dataset::Dataset;
use crate::generate::Case;
use crate::naive::{order, order_defined};
use oxrdf::vocab::xsd;
use oxrdf::{BlankNode, Literal, NamedNode, NamedOrBlankNode, Term, Triple, Variable};
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

/// What the data's blank nodes are named while answers are compared.
const GROUNDED: &str = "urn:blank:";

/// The oracle's answer without LIMIT and OFFSET, and the subject's answer.
pub(super) struct Answers<'a> {
    pub(super) dataset: &'a Dataset,
    pub(super) whole: Answer,
    pub(super) answer: Answer,
}

impl Answers<'_> {
    pub(super) fn compare(self, case: &Case) -> Result<(), String> {
        let labels = labels(self.dataset);
        let whole = grounded(self.whole, &labels);
        let answer = grounded(self.answer, &labels);
        agree(case, &whole, &answer).or_else(|difference| {
            // Sums of floating-point numbers depend on the order in which they were added up.
            agree(case, &rounded(&whole), &rounded(&answer)).map_err(|_| difference)
        })
    }
}

fn agree(case: &Case, whole: &Answer, answer: &Answer) -> Result<(), String> {
    let select = &case.query.select;
    if let (Answer::Solutions { variables: vw, rows: rw }, Answer::Solutions { variables: va, rows: ra }) =
        (whole, answer)
    {
        let (sorted_w, sorted_a) = (sorted(vw), sorted(va));
        if sorted_w != sorted_a {
            return Err(format!("other variables: {sorted_w:?} and {sorted_a:?}"));
        }
        if select.modifier == "REDUCED" {
            return reduced(whole, answer);
        }
        let rows = arrange(vw, va, ra);
        if select.limit.is_some() || select.offset.is_some() {
            slice(select.offset.unwrap_or(0), select.limit, rw, &rows)?;
        } else if !whole.same(answer, false) {
            return Err(different(whole, answer));
        }
        return ordered(&select.order, vw, rw, &rows, select.offset.unwrap_or(0));
    }
    if whole.same(answer, false) { Ok(()) } else { Err(different(whole, answer)) }
}

fn different(whole: &Answer, answer: &Answer) -> String {
    format!("the answers differ\nexpected {}\ngot {}", whole.describe(), answer.describe())
}

fn sorted(variables: &[Variable]) -> Vec<&str> {
    let mut names: Vec<_> = variables.iter().map(Variable::as_str).collect();
    names.sort_unstable();
    names
}

/// Rows over `from` as rows over `to`.
fn arrange(to: &[Variable], from: &[Variable], rows: &[Row]) -> Vec<Row> {
    let columns: Vec<_> = to.iter().map(|v| from.iter().position(|f| f == v)).collect();
    rows.iter()
        .map(|row| columns.iter().map(|c| c.and_then(|c| row.get(c).cloned().flatten())).collect())
        .collect()
}

/// REDUCED: the same distinct rows, none more often than in the whole answer.
fn reduced(whole: &Answer, answer: &Answer) -> Result<(), String> {
    let distinct = |a: &Answer| match a {
        Answer::Solutions { variables, rows } => {
            let mut seen = HashSet::new();
            let rows = rows.iter().filter(|r| seen.insert((*r).clone())).cloned().collect();
            Answer::Solutions { variables: variables.clone(), rows }
        }
        other => other.clone(),
    };
    let count = |a: &Answer| if let Answer::Solutions { rows, .. } = a { rows.len() } else { 0 };
    if distinct(whole).same(&distinct(answer), false) && count(answer) <= count(whole) {
        Ok(())
    } else {
        Err(different(whole, answer))
    }
}

/// A part of the whole: as many rows as there should be, all of them rows of the whole, none too often.
fn slice(offset: usize, limit: Option<usize>, whole: &[Row], rows: &[Row]) -> Result<(), String> {
    let wanted = whole.len().saturating_sub(offset).min(limit.unwrap_or(usize::MAX));
    if rows.len() != wanted {
        return Err(format!("the number of rows: {} of {} instead of {wanted}", rows.len(), whole.len()));
    }
    let mut left: HashMap<Row, usize> = HashMap::new();
    for row in whole {
        *left.entry(nameless(row)).or_default() += 1;
    }
    for row in rows {
        match left.get_mut(&nameless(row)) {
            Some(count) if *count > 0 => *count -= 1,
            _ => return Err(format!("a row that the whole answer lacks (or has less often): {row:?}")),
        }
    }
    Ok(())
}

/// The row with all fresh blank nodes the same: enough where rows are only looked up.
fn nameless(row: &Row) -> Row {
    let one = |_: &BlankNode| NamedOrBlankNode::from(BlankNode::new_unchecked("any"));
    row.iter().map(|t| t.as_ref().map(|t| replace(t, &one))).collect()
}

/// The rows come in an order that ORDER BY allows; where it leaves nothing open, position by position.
fn ordered(
    keys: &[(String, bool)],
    variables: &[Variable],
    whole: &[Row],
    rows: &[Row],
    offset: usize,
) -> Result<(), String> {
    let columns: Option<Vec<(usize, bool)>> = keys
        .iter()
        .map(|(name, descending)| {
            let name = name.trim_start_matches('?');
            Some((variables.iter().position(|v| v.as_str() == name)?, *descending))
        })
        .collect();
    let Some(columns) = columns.filter(|c| !c.is_empty()) else { return Ok(()) };
    for pair in rows.windows(2) {
        if let [a, b] = pair
            && compare(&columns, a, b, order_defined) == Some(Ordering::Greater)
        {
            return Err(format!("rows in the wrong order: {a:?} before {b:?}"));
        }
    }
    let mut sorted: Vec<&Row> = whole.iter().collect();
    let total =
        |a: &Row, b: &Row| compare(&columns, a, b, |x, y| Some(order(x, y))).unwrap_or(Ordering::Equal);
    sorted.sort_by(|a, b| total(a, b));
    let determined = sorted.windows(2).all(|pair| match pair {
        [a, b] => compare(&columns, a, b, order_defined).is_some(),
        _ => true,
    });
    if !determined {
        return Ok(());
    }
    for (number, row) in rows.iter().enumerate() {
        let Some(wanted) = sorted.get(offset + number) else { break };
        if compare(&columns, wanted, row, order_defined).is_some_and(Ordering::is_ne) {
            return Err(format!("the wrong row at a position: {row:?} at {number} instead of {wanted:?}"));
        }
    }
    Ok(())
}

fn compare(
    columns: &[(usize, bool)],
    a: &Row,
    b: &Row,
    by: impl Fn(Option<&Term>, Option<&Term>) -> Option<Ordering>,
) -> Option<Ordering> {
    for (column, descending) in columns {
        let cell = |row: &Row| row.get(*column)?.as_ref().map(ungrounded);
        let (x, y) = (cell(a), cell(b));
        let ordering = by(x.as_ref(), y.as_ref())?;
        if ordering.is_ne() {
            return Some(if *descending { ordering.reverse() } else { ordering });
        }
    }
    Some(Ordering::Equal)
}

/// The answer with the data's own blank nodes as IRIs: they may not be taken for each other.
fn grounded(answer: Answer, labels: &HashSet<String>) -> Answer {
    let ground = |b: &BlankNode| {
        if labels.contains(b.as_str()) {
            NamedNode::new_unchecked(format!("{GROUNDED}{}", b.as_str())).into()
        } else {
            NamedOrBlankNode::from(b.clone())
        }
    };
    map_terms(answer, &|t| replace(t, &ground))
}

/// The blank nodes of the data again as such: they have a place of their own in the order.
fn ungrounded(term: &Term) -> Term {
    let node = |n: &NamedNode| n.as_str().strip_prefix(GROUNDED).map(BlankNode::new_unchecked);
    match term {
        Term::NamedNode(n) => node(n).map_or_else(|| term.clone(), Term::from),
        Term::Triple(t) => {
            let subject = match &t.subject {
                NamedOrBlankNode::NamedNode(n) => node(n).map_or_else(|| t.subject.clone(), Into::into),
                blank => blank.clone(),
            };
            Triple::new(subject, t.predicate.clone(), ungrounded(&t.object)).into()
        }
        other => other.clone(),
    }
}

fn rounded(answer: &Answer) -> Answer {
    map_terms(answer.clone(), &|term| {
        let Term::Literal(literal) = term else { return term.clone() };
        match literal.datatype() {
            xsd::DOUBLE | xsd::FLOAT => match literal.value().parse::<f64>() {
                Ok(value) => Literal::new_typed_literal(format!("{value:.5e}"), literal.datatype()).into(),
                Err(_) => term.clone(),
            },
            _ => term.clone(),
        }
    })
}

fn map_terms(answer: Answer, map: &dyn Fn(&Term) -> Term) -> Answer {
    match answer {
        Answer::Solutions { variables, rows } => {
            let rows =
                rows.into_iter().map(|r| r.into_iter().map(|t| t.map(|t| map(&t))).collect()).collect();
            Answer::Solutions { variables, rows }
        }
        Answer::Graph(triples) => Answer::Graph(
            triples
                .into_iter()
                .filter_map(|t| Triple::from_terms(map(&t.subject.into()), t.predicate, map(&t.object)).ok())
                .collect(),
        ),
        boolean => boolean,
    }
}

fn replace(term: &Term, node: &impl Fn(&BlankNode) -> NamedOrBlankNode) -> Term {
    match term {
        Term::BlankNode(b) => node(b).into(),
        Term::Triple(t) => {
            let subject = match &t.subject {
                NamedOrBlankNode::BlankNode(b) => node(b),
                named => named.clone(),
            };
            Triple::new(subject, t.predicate.clone(), replace(&t.object, node)).into()
        }
        other => other.clone(),
    }
}

/// The whole of a dataset's blank node labels.
fn labels(dataset: &Dataset) -> HashSet<String> {
    let mut labels = HashSet::new();
    for row in dataset.rows() {
        for term in row.into_iter().flatten() {
            crate::isomorphism::each_blank_node(&term, &mut |b| {
                labels.insert(b.as_str().to_owned());
            });
        }
    }
    labels
}
