//! Answers as columns are those that JSON has, whatever is asked, however little is known when types are decided, and also when they were
//! written and read again.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Int64Type};
use arrow_ipc::reader::StreamReader;
use arrow_schema::DataType;
use lode_arrow::{ArrowOptions, write_results};
use lode_engine::{
    ColumnContainer, ColumnForm, Database, EngineError, OutputFormat, QueryOptions, UpdateOptions,
};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use proptest::prelude::*;
use support::{arrow_rows, batches, json_rows, run, ways, with_values};

/// What objects can be.
const OBJECTS: [&str; 40] = [
    "<http://e/a>",
    "<http://e/b>",
    "_:b1",
    "\"text\"",
    "\"\"",
    "\"t\\u00e4xt \\n, \\\" \"",
    "\"hello\"@en",
    "\"bonjour\"@fr",
    "\"hi\"@en",
    "1",
    "-5",
    "007",
    "9223372036854775807",
    "9223372036854775808",
    "1.5",
    "-0.000001",
    "3.00",
    "12345678901234567890123.5",
    "1e0",
    "1.5E3",
    "0.1e0",
    "1.2345678901234567e8",
    "\"NaN\"^^xsd:double",
    "\"-INF\"^^xsd:double",
    "\"1.5\"^^xsd:float",
    "true",
    "false",
    "\"1\"^^xsd:boolean",
    "\"7\"^^xsd:int",
    "\"300\"^^xsd:byte",
    "\"2026-11-24\"^^xsd:date",
    "\"0001-01-01\"^^xsd:date",
    "\"2026-11-24Z\"^^xsd:date",
    "\"2026-11-24T12:00:00\"^^xsd:dateTime",
    "\"2026-11-24T12:00:00.123Z\"^^xsd:dateTime",
    "\"2026-11-24T12:00:00+02:00\"^^xsd:dateTime",
    "\"2026-11-24T12:00:00.1234567Z\"^^xsd:dateTime",
    "\"abc\"^^xsd:integer",
    "\"POINT(1 2)\"^^<http://e/wkt>",
    "<<( <http://e/a> <http://e/p> \"x\"@en )>>",
];

const PREFIX: &str = "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> PREFIX e: <http://e/> ";

fn database(triples: &[(u8, u8, usize)]) -> Database {
    let database = Database::in_memory().unwrap();
    let triples: String =
        triples.iter().map(|(s, p, o)| format!("{} e:p{p} {} . ", subject(*s), OBJECTS[*o])).collect();
    let update = format!("{PREFIX} INSERT DATA {{ {triples} GRAPH e:g {{ e:x e:p0 e:y }} }}");
    database.update(&update, &UpdateOptions::default()).unwrap();
    database
}

fn subject(number: u8) -> String {
    if number == 7 { "_:s".to_owned() } else { format!("e:s{number}") }
}

const QUERIES: [&str; 14] = [
    "SELECT * { ?s ?p ?o }",
    "SELECT ?s ?o { ?s e:p0 ?o }",
    "SELECT ?o ?u { ?s e:p1 ?o OPTIONAL { ?s e:p2 ?u } }",
    "SELECT ?p (COUNT(*) AS ?n) (MAX(?o) AS ?m) (SUM(?o) AS ?sum) { ?s ?p ?o } GROUP BY ?p",
    "SELECT ?a ?b { { ?s e:p0 ?a } UNION { ?s e:p1 ?b } UNION { ?a e:p2 ?b } }",
    "SELECT (STR(?o) AS ?text) (DATATYPE(?o) AS ?type) (LANG(?o) AS ?lang) (isIRI(?o) AS ?is) (?o + 1 AS ?next) { ?s ?p ?o }",
    "SELECT ?v { VALUES ?v { 1 2 UNDEF e:never \"x\"@en } }",
    "SELECT ?g ?s { GRAPH ?g { ?s ?p ?o } }",
    "SELECT ?s (IRI(CONCAT(STR(?p), \"x\")) AS ?made) (BNODE() AS ?node) { ?s ?p ?o }",
    "SELECT ?o { ?s e:p0|e:p1 ?o FILTER(isLiteral(?o)) } ORDER BY ?o LIMIT 7",
    "SELECT ?o { ?s ?p ?o FILTER(DATATYPE(?o) = xsd:double) }",
    "SELECT ?o { ?s ?p ?o FILTER(DATATYPE(?o) = xsd:integer) }",
    "SELECT ?none { ?s e:none ?none }",
    "SELECT ?a ?a2 { ?a e:p0 ?o . ?a2 e:p0 ?o . ?a e:p1 ?x }",
];

/// Compares all ways of one query.
fn check(database: &Database, query: &str) {
    let query = format!("{PREFIX}{query}");
    let expected = json_rows(database, &query);
    for form in [ColumnForm::Typed, ColumnForm::Struct] {
        for options in ways(form) {
            let batches = batches(database, &query, &options);
            let mut rows = arrow_rows(&batches);
            let mut expected = with_values(expected.clone(), &batches);
            unlabelled(&query, &mut rows);
            unlabelled(&query, &mut expected);
            calendars(&mut expected, &batches);
            assert_eq!(rows, expected, "{query} {options:?}");
        }
    }
    for container in [ColumnContainer::Arrow, ColumnContainer::Parquet] {
        let read = written(database, &query, OutputFormat::Columns(container, ColumnForm::Typed));
        let direct = batches(database, &query, &ArrowOptions::default());
        let (mut rows, mut expected) = (arrow_rows(&read), arrow_rows(&direct));
        unlabelled(&query, &mut rows);
        unlabelled(&query, &mut expected);
        assert_eq!(rows, expected, "{query} {container:?}");
    }
}

/// Blank nodes that a query makes have other labels each time.
fn unlabelled(query: &str, rows: &mut [Vec<support::Cell>]) {
    if query.contains("BNODE()") {
        for (kind, text, ..) in rows.iter_mut().flatten().flatten() {
            if kind == "bnode" {
                text.clear();
            }
        }
    }
}

/// Dates and times in the place of their lexical forms, by a list: those of [`OBJECTS`] that a column of them may have.
fn calendars(rows: &mut [Vec<support::Cell>], batches: &[RecordBatch]) {
    let Some(batch) = batches.first() else { return };
    let is_calendar = |at: usize| {
        matches!(batch.schema().field(at).data_type(), DataType::Date32 | DataType::Timestamp(..))
    };
    for row in rows {
        for (_, cell) in row.iter_mut().enumerate().filter(|(at, _)| is_calendar(*at)) {
            let Some((_, text, ..)) = cell else { continue };
            *text = match text.as_str() {
                "2026-11-24" => "day 20781".to_owned(),
                "0001-01-01" => "day -719162".to_owned(),
                "2026-11-24T12:00:00" => format!("time {} false", 1_795_521_600_000_000_i64),
                "2026-11-24T12:00:00.123Z" => format!("time {} true", 1_795_521_600_123_000_i64),
                other => panic!("{other} has no place in a column of dates"),
            };
        }
    }
}

/// An answer written and read again.
fn written(database: &Database, query: &str, format: OutputFormat) -> Vec<RecordBatch> {
    let mut bytes = Vec::new();
    let count = write_results(run(database, query), format, &mut bytes).unwrap();
    let batches: Vec<RecordBatch> = match format {
        OutputFormat::Columns(ColumnContainer::Arrow, _) => {
            StreamReader::try_new(bytes.as_slice(), None).unwrap().map(Result::unwrap).collect()
        }
        _ => {
            let file = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes)).unwrap();
            file.build().unwrap().map(Result::unwrap).collect()
        }
    };
    assert_eq!(batches.iter().map(|batch| batch.num_rows() as u64).sum::<u64>(), count);
    batches
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn random_answers_are_those_of_json(
        triples in prop::collection::vec((0_u8..9, 0_u8..4, 0..OBJECTS.len()), 1..60),
        only in prop::option::of(0..OBJECTS.len()),
    ) {
        // Columns of one kind are rare among so many.
        let near = |o: usize| only.map_or(o, |only| (only + o % 2).min(OBJECTS.len() - 1));
        let triples: Vec<_> = triples.into_iter().map(|(s, p, o)| (s, p, near(o))).collect();
        let database = database(&triples);
        QUERIES.iter().for_each(|query| check(&database, query));
    }
}

fn types(database: &Database, query: &str, options: &ArrowOptions) -> Vec<String> {
    let reader = lode_arrow::ArrowReader::new(run(database, &format!("{PREFIX}{query}")), options).unwrap();
    let name = |field: &arrow_schema::Field| match field.data_type() {
        DataType::Dictionary(..) => {
            let of =
                |name: &str| field.metadata().get(name).map_or("", |text| text.rsplit('#').next().unwrap());
            format!("{} {}{}", of("rdf.kind"), of("rdf.datatype"), of("rdf.language")).trim().to_owned()
        }
        DataType::Struct(_) => "struct".to_owned(),
        other => other.to_string(),
    };
    reader.schema().fields().iter().map(|field| name(field)).collect()
}

fn with(objects: &[&str]) -> Database {
    let places: Vec<_> = objects
        .iter()
        .enumerate()
        .map(|(s, object)| (s as u8, 0, OBJECTS.iter().position(|other| other == object).unwrap()))
        .collect();
    database(&places)
}

#[test]
fn columns_have_the_type_that_all_values_have() {
    for (objects, expected) in [
        (&["1", "-5", "007"][..], "Int64"),
        (&["1", "9223372036854775808"], "literal integer"),
        (&["1", "1.5"], "struct"),
        (&["1.5", "3.00"], "Decimal128(38, 18)"),
        (&["1.5", "12345678901234567890123.5"], "literal decimal"),
        (&["1e0", "0.1e0", "\"NaN\"^^xsd:double"], "Float64"),
        (&["\"1.5\"^^xsd:float"], "Float32"),
        (&["true", "\"1\"^^xsd:boolean"], "Boolean"),
        (&["\"text\"", "\"\""], "literal"),
        (&["\"hello\"@en", "\"hi\"@en"], "literal en"),
        (&["\"hello\"@en", "\"bonjour\"@fr"], "struct"),
        (&["\"2026-11-24\"^^xsd:date"], "Date32"),
        (&["\"2026-11-24\"^^xsd:date", "\"2026-11-24Z\"^^xsd:date"], "literal date"),
        (&["\"2026-11-24T12:00:00\"^^xsd:dateTime"], "Timestamp(µs)"),
        (&["\"2026-11-24T12:00:00.123Z\"^^xsd:dateTime"], "Timestamp(µs, \"UTC\")"),
        (&["\"2026-11-24T12:00:00.1234567Z\"^^xsd:dateTime"], "literal dateTime"),
        (&["\"abc\"^^xsd:integer", "1"], "literal integer"),
        (&["\"POINT(1 2)\"^^<http://e/wkt>"], "literal http://e/wkt"),
        (&["<http://e/a>", "_:b1"], "struct"),
        (&["\"7\"^^xsd:int"], "Int64"),
    ] {
        let database = with(objects);
        let query = "SELECT ?o { ?s e:p0 ?o }";
        assert_eq!(types(&database, query, &ArrowOptions::default()), [expected], "{objects:?}");
    }
}

#[test]
fn what_is_longer_than_the_window_has_types_that_are_proven() {
    let short = ArrowOptions { window_rows: 1, ..ArrowOptions::default() };
    let long = |rest: &[&str]| {
        let triples: String = (0..5000).map(|i| format!("e:n{i} e:p0 {} . ", rest[i % rest.len()])).collect();
        let database = Database::in_memory().unwrap();
        database.update(&format!("{PREFIX} INSERT DATA {{ {triples} }}"), &UpdateOptions::default()).unwrap();
        database
    };
    let database = long(&["1", "2"]);
    let all = "SELECT * { ?s ?p ?o }";
    assert_eq!(types(&database, all, &short), ["iri", "iri", "Int64"]);
    assert_eq!(
        types(&database, "SELECT ?o (?o * 2 AS ?d) (?o > 1 AS ?b) { ?s e:p0 ?o }", &short),
        ["Int64", "struct", "Boolean"]
    );
    assert_eq!(
        types(&database, "SELECT ?s (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?s", &short),
        ["iri", "Int64"]
    );
    assert_eq!(types(&long(&["1", "1.5"]), all, &short), ["iri", "iri", "struct"]);
    assert_eq!(types(&long(&["\"a\"", "\"b\""]), all, &short), ["iri", "iri", "literal"]);
    // Of dates the index does not tell whether they have a time zone.
    assert_eq!(types(&long(&["\"2026-11-24\"^^xsd:date"]), all, &short), ["iri", "iri", "literal date"]);
}

#[test]
fn numbers_and_dates_are_values() {
    let database = with(&["1", "-5", "007"]);
    let made = batches(&database, "SELECT ?o { ?s <http://e/p0> ?o } ORDER BY ?o", &ArrowOptions::default());
    assert_eq!(made[0].column(0).as_primitive::<Int64Type>().values(), &[-5, 1, 7]);
    let database = with(&["\"2026-11-24\"^^xsd:date"]);
    let made = batches(&database, "SELECT ?o { ?s <http://e/p0> ?o }", &ArrowOptions::default());
    assert_eq!(made[0].column(0).as_primitive::<Date32Type>().values(), &[20_781]);
}

#[test]
fn asks_and_graphs_have_columns_too() {
    let database = with(&["1"]);
    let asked = batches(&database, "ASK { ?s ?p ?o }", &ArrowOptions::default());
    assert!(asked[0].column(0).as_boolean().value(0));
    let query = "CONSTRUCT { ?s <http://e/q> ?o } { ?s <http://e/p0> ?o }";
    let made = batches(&database, query, &ArrowOptions::default());
    let schema = made[0].schema();
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    assert_eq!(names, ["subject", "predicate", "object"]);
    assert_eq!(made[0].column(2).as_primitive::<Int64Type>().values(), &[1]);
}

#[test]
fn terms_are_made_once_for_batches_with_the_same_few() {
    let database = with(&["\"text\"", "\"text\"", "\"text\"", "\"text\"", "\"text\""]);
    let options = ArrowOptions { batch_rows: 2, ..ArrowOptions::default() };
    let made = batches(&database, "SELECT ?o { ?s <http://e/p0> ?o }", &options);
    let dictionary = |batch: &RecordBatch| {
        batch.column(0).as_dictionary::<arrow_array::types::Int32Type>().values().to_data().buffers()[1]
            .as_ptr()
    };
    assert!(made.len() > 1 && made.iter().all(|batch| dictionary(batch) == dictionary(&made[0])));
}

#[test]
fn rows_memory_and_time_have_their_limits() {
    let database = Database::in_memory().unwrap();
    let data: String = (0..9000).map(|i| format!("e:s{i} e:p \"{i:0>1000}\" . ")).collect();
    database.update(&format!("{PREFIX} INSERT DATA {{ {data} }}"), &UpdateOptions::default()).unwrap();
    let query = "SELECT * { ?s ?p ?o }";
    let try_with = |options: &QueryOptions| {
        let mut bytes = Vec::new();
        let format = OutputFormat::from_name("arrow").unwrap();
        let written = write_results(database.query(query, options)?, format, &mut bytes);
        written.map(|rows| (rows, bytes))
    };
    let limited = QueryOptions { rows_max: Some(100), ..QueryOptions::default() };
    assert!(matches!(try_with(&limited), Err(EngineError::TooManyRows(100))));
    let late = QueryOptions {
        cancel: lode_engine::CancelToken::new(Some(std::time::Duration::ZERO)),
        ..QueryOptions::default()
    };
    assert!(matches!(try_with(&late), Err(EngineError::Cancelled(_))));
    // The texts are 9 MB; a batch of less memory has fewer rows.
    let (all, whole) = try_with(&QueryOptions::default()).unwrap();
    let small = QueryOptions { memory_bytes: 6 << 20, threads: 1, ..QueryOptions::default() };
    let (rows, in_parts) = try_with(&small).unwrap();
    assert_eq!((all, rows), (9000, 9000));
    let read =
        |bytes: &[u8]| StreamReader::try_new(bytes, None).unwrap().map(Result::unwrap).collect::<Vec<_>>();
    assert_eq!(read(&whole).len(), 1);
    let parts = read(&in_parts);
    assert!(parts.len() > 2, "{}", parts.len());
    let mut rows = [arrow_rows(&read(&whole)), arrow_rows(&parts)];
    rows.iter_mut().for_each(|rows| rows.sort());
    assert_eq!(rows[0], rows[1]);
}
