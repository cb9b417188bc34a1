//! Results of query tests: SPARQL's result formats, RDF graphs, and the result-set vocabulary of the first test suites.

use super::manifest::Document;
use crate::answer::{Answer, Row};
use crate::rdf_files::{self, RdfFormat, read_bytes};
use anyhow::{Context, Result, anyhow, bail};
use oxrdf::vocab::rdf;
use oxrdf::{
    BlankNode, Graph, Literal, NamedNode, NamedNodeRef, NamedOrBlankNodeRef, Term, TermRef, Variable,
};
use sparesults::{
    QueryResultsFormat, QueryResultsParser, QueryResultsSerializer, SliceQueryResultsParserOutput,
};

/// The answer that a test wants, and whether the order of its rows counts.
pub(super) struct Expected {
    pub(super) answer: Answer,
    pub(super) ordered: bool,
}

/// Reads a result file.
pub(super) fn read(document: &Document) -> Result<Expected> {
    let bytes = read_bytes(&document.path)?;
    if is_csv(document) {
        return Ok(Expected { answer: parse_csv(&bytes)?, ordered: false });
    }
    if let Some(format) = results_format(document) {
        return Ok(Expected { answer: parse(&bytes, format)?, ordered: false });
    }
    let format = RdfFormat::of(&document.path).context("an unknown result format")?;
    let triples = rdf_files::parse(&bytes, format, &document.iri)?.default_graph();
    let graph: Graph = triples.iter().cloned().collect();
    match result_set(&graph)? {
        Some(expected) => Ok(expected),
        None => Ok(Expected { answer: Answer::Graph(triples), ordered: false }),
    }
}

fn is_csv(document: &Document) -> bool {
    document.path.extension().is_some_and(|e| e == "csv")
}

fn results_format(document: &Document) -> Option<QueryResultsFormat> {
    match document.path.extension()?.to_str()? {
        "srx" => Some(QueryResultsFormat::Xml),
        "srj" => Some(QueryResultsFormat::Json),
        "tsv" => Some(QueryResultsFormat::Tsv),
        "csv" => Some(QueryResultsFormat::Csv),
        _ => None,
    }
}

/// The answer written in the format of a result file and read again, so that the format is tested too (and CSV's losses are shared).
pub(super) fn through_format(answer: Answer, document: &Document) -> Result<Answer> {
    let Some(format) = results_format(document) else { return Ok(answer) };
    let serializer = QueryResultsSerializer::from_format(format);
    let bytes = match &answer {
        Answer::Graph(_) => return Ok(answer),
        Answer::Boolean(value) => serializer.serialize_boolean_to_writer(Vec::new(), *value)?,
        Answer::Solutions { variables, rows } => {
            let mut writer = serializer.serialize_solutions_to_writer(Vec::new(), variables.clone())?;
            for row in rows {
                let bound = variables.iter().zip(row).filter_map(|(v, t)| Some((v, t.as_ref()?)));
                writer.serialize(bound)?;
            }
            writer.finish()?
        }
    };
    if is_csv(document) { parse_csv(&bytes) } else { parse(&bytes, format) }
}

fn parse(bytes: &[u8], format: QueryResultsFormat) -> Result<Answer> {
    match QueryResultsParser::from_format(format).for_slice(bytes)? {
        SliceQueryResultsParserOutput::Boolean(value) => Ok(Answer::Boolean(value)),
        SliceQueryResultsParserOutput::Solutions(solutions) => {
            let variables = solutions.variables().to_vec();
            let mut rows = Vec::new();
            for solution in solutions {
                rows.push(solution?.values().to_vec());
            }
            Ok(Answer::Solutions { variables, rows })
        }
    }
}

/// CSV tells terms apart by their text only.
fn parse_csv(bytes: &[u8]) -> Result<Answer> {
    let mut records = csv_records(std::str::from_utf8(bytes)?)?.into_iter();
    let variables: Vec<Variable> =
        records.next().context("no header")?.into_iter().map(Variable::new).collect::<Result<_, _>>()?;
    let rows = records.map(|r| r.into_iter().map(csv_term).collect()).collect();
    Ok(Answer::Solutions { variables, rows })
}

fn csv_term(text: String) -> Option<Term> {
    if text.is_empty() {
        None
    } else if let Some(label) = text.strip_prefix("_:") {
        Some(BlankNode::new_unchecked(label).into())
    } else {
        Some(Literal::new_simple_literal(text).into())
    }
}

fn csv_records(text: &str) -> Result<Vec<Vec<String>>> {
    let mut records = Vec::new();
    let (mut record, mut field) = (Vec::new(), String::new());
    let mut quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => record.push(std::mem::take(&mut field)),
            '\r' if !quoted && chars.peek() == Some(&'\n') => {}
            '\n' if !quoted => {
                record.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut record));
            }
            c => field.push(c),
        }
    }
    if quoted {
        bail!("a quote is not closed");
    }
    if !record.is_empty() || !field.is_empty() {
        record.push(field);
        records.push(record);
    }
    Ok(records)
}

const RS: &str = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#";

fn rs(name: &str) -> NamedNode {
    NamedNode::new_unchecked(format!("{RS}{name}"))
}

/// A graph that describes a result set, if it does.
fn result_set(graph: &Graph) -> Result<Option<Expected>> {
    let class = rs("ResultSet");
    let Some(head) = graph.subject_for_predicate_object(rdf::TYPE, class.as_ref()) else { return Ok(None) };
    if let Some(TermRef::Literal(value)) = graph.object_for_subject_predicate(head, rs("boolean").as_ref()) {
        let answer = Answer::Boolean(matches!(value.value(), "true" | "1"));
        return Ok(Some(Expected { answer, ordered: false }));
    }
    let mut variables = Vec::new();
    for name in graph.objects_for_subject_predicate(head, rs("resultVariable").as_ref()) {
        variables.push(variable(name)?);
    }
    let mut rows: Vec<(Option<u64>, Row)> = Vec::new();
    for solution in graph.objects_for_subject_predicate(head, rs("solution").as_ref()) {
        rows.push(solution_row(graph, node(solution)?, &variables)?);
    }
    rows.sort_by_key(|(index, _)| *index);
    let ordered = !rows.is_empty() && rows.iter().all(|(index, _)| index.is_some());
    let rows = rows.into_iter().map(|(_, row)| row).collect();
    Ok(Some(Expected { answer: Answer::Solutions { variables, rows }, ordered }))
}

fn variable(term: TermRef<'_>) -> Result<Variable> {
    match term {
        TermRef::Literal(l) => Ok(Variable::new(l.value())?),
        other => Err(anyhow!("{other} is not the name of a variable")),
    }
}

fn node(term: TermRef<'_>) -> Result<NamedOrBlankNodeRef<'_>> {
    match term {
        TermRef::NamedNode(n) => Ok(n.into()),
        TermRef::BlankNode(b) => Ok(b.into()),
        other => Err(anyhow!("{other} is not a node")),
    }
}

fn solution_row(
    graph: &Graph,
    solution: NamedOrBlankNodeRef<'_>,
    variables: &[Variable],
) -> Result<(Option<u64>, Row)> {
    let one = |subject, predicate: NamedNodeRef<'_>| graph.object_for_subject_predicate(subject, predicate);
    let mut row: Row = vec![None; variables.len()];
    for binding in graph.objects_for_subject_predicate(solution, rs("binding").as_ref()) {
        let binding = node(binding)?;
        let name = variable(one(binding, rs("variable").as_ref()).context("a binding without variable")?)?;
        let value = one(binding, rs("value").as_ref()).context("a binding without value")?;
        let column =
            variables.iter().position(|v| *v == name).context("a binding of an unlisted variable")?;
        if let Some(cell) = row.get_mut(column) {
            *cell = Some(value.into_owned());
        }
    }
    let index = match one(solution, rs("index").as_ref()) {
        Some(TermRef::Literal(l)) => Some(l.value().parse()?),
        _ => None,
    };
    Ok((index, row))
}

/// Equality as sets of rows, for queries that may drop duplicates.
pub(super) fn same_set(a: &Answer, b: &Answer) -> bool {
    match (a, b) {
        (Answer::Solutions { variables: va, rows: ra }, Answer::Solutions { variables: vb, rows: rb }) => {
            let distinct = |rows: &[Row]| {
                let mut seen = std::collections::HashSet::new();
                rows.iter().filter(|r| seen.insert((*r).clone())).cloned().collect::<Vec<_>>()
            };
            let a = Answer::Solutions { variables: va.clone(), rows: distinct(ra) };
            let b = Answer::Solutions { variables: vb.clone(), rows: distinct(rb) };
            a.same(&b, false)
        }
        _ => a.same(b, false),
    }
}
