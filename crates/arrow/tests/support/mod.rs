//! Answers as JSON and as columns, made comparable.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int32Type, Int64Type,
    TimestampMicrosecondType,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field};
use lode_arrow::{ArrowOptions, ArrowReader};
use lode_engine::{ColumnForm, Database, OutputFormat, QueryOptions, QueryResults, write_results};
use serde_json::Value;

/// A term as a test compares it: kind, text, datatype and language; a text that means the value where a column has no lexical form.
pub type Cell = Option<(String, String, String, String)>;

pub const XSD: &str = "http://www.w3.org/2001/XMLSchema#";
const RDF_LANG: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString";

pub fn options() -> QueryOptions {
    QueryOptions { threads: 1, ..QueryOptions::default() }
}

pub fn run(database: &Database, query: &str) -> QueryResults {
    database.query(query, &options()).unwrap()
}

/// The answer as JSON says it.
pub fn json_rows(database: &Database, query: &str) -> Vec<Vec<Cell>> {
    let mut text = Vec::new();
    write_results(&mut run(database, query), OutputFormat::from_name("json").unwrap(), &mut text).unwrap();
    let json: Value = serde_json::from_slice(&text).unwrap();
    let names: Vec<String> = json["head"]["vars"].as_array().unwrap().iter().map(text_of).collect();
    let rows = json["results"]["bindings"].as_array().unwrap();
    rows.iter().map(|row| names.iter().map(|name| cell(row.get(name))).collect()).collect()
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn cell(value: Option<&Value>) -> Cell {
    let value = value?;
    let (datatype, language) = (text_of(&value["datatype"]), text_of(&value["xml:lang"]));
    let direction = value.get("its:dir").map_or(String::new(), |dir| format!("--{}", text_of(dir)));
    Some(match text_of(&value["type"]).as_str() {
        "uri" => ("iri".into(), text_of(&value["value"]), String::new(), String::new()),
        "bnode" => ("bnode".into(), text_of(&value["value"]), String::new(), String::new()),
        "triple" => ("triple".into(), String::new(), String::new(), String::new()),
        _ if !language.is_empty() => {
            ("literal".into(), text_of(&value["value"]), RDF_LANG.into(), language + &direction)
        }
        _ if datatype.is_empty() => {
            ("literal".into(), text_of(&value["value"]), format!("{XSD}string"), String::new())
        }
        _ => ("literal".into(), text_of(&value["value"]), datatype, String::new()),
    })
}

/// The batches of an answer.
pub fn batches(database: &Database, query: &str, options: &ArrowOptions) -> Vec<RecordBatch> {
    let mut reader = ArrowReader::new(run(database, query), options).unwrap();
    let mut batches = Vec::new();
    while let Some(batch) = reader.next_batch().unwrap() {
        assert_eq!(batch.schema_ref(), reader.schema());
        assert!(batch.num_rows() <= options.batch_rows);
        batches.push(batch);
    }
    batches
}

/// The rows of batches.
pub fn arrow_rows(batches: &[RecordBatch]) -> Vec<Vec<Cell>> {
    let of_batch = |batch: &RecordBatch| {
        let columns: Vec<Vec<Cell>> = batch
            .schema()
            .fields()
            .iter()
            .zip(batch.columns())
            .map(|(field, column)| (0..batch.num_rows()).map(|row| arrow_cell(field, column, row)).collect())
            .collect();
        let row = move |row: usize| columns.iter().map(|column| column[row].clone()).collect::<Vec<Cell>>();
        (0..batch.num_rows()).map(row).collect::<Vec<_>>()
    };
    batches.iter().flat_map(of_batch).collect()
}

fn text(column: &ArrayRef, row: usize) -> Option<String> {
    if let Some(column) = column.as_string_opt::<i32>() {
        return column.is_valid(row).then(|| column.value(row).to_owned());
    }
    if let Some(column) = column.as_dictionary_opt::<Int8Type>() {
        return column.key(row).map(|key| column.values().as_string::<i32>().value(key).to_owned());
    }
    let column = column.as_dictionary::<Int32Type>();
    column.key(row).map(|key| column.values().as_string::<i32>().value(key).to_owned())
}

fn arrow_cell(field: &Field, column: &ArrayRef, row: usize) -> Cell {
    if column.is_null(row) {
        return None;
    }
    if let Some(structs) = column.as_struct_opt() {
        let part = |name: &str| text(structs.column_by_name(name).unwrap(), row).unwrap_or_default();
        let kind = part("kind");
        let value = if kind == "triple" { String::new() } else { part("value") };
        return Some((kind, value, part("datatype"), part("language")));
    }
    let of = |name: &str| field.metadata().get(name).cloned().unwrap_or_default();
    let kind = of("rdf.kind");
    let mut datatype = of("rdf.datatype");
    let language = of("rdf.language");
    if kind == "literal" && datatype.is_empty() {
        datatype = if language.is_empty() { format!("{XSD}string") } else { RDF_LANG.to_owned() };
    }
    let value = match field.data_type() {
        DataType::Boolean => column.as_boolean().value(row).to_string(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::Float64 => value_of("double", &column.as_primitive::<Float64Type>().value(row).to_string()),
        DataType::Float32 => value_of("float", &column.as_primitive::<Float32Type>().value(row).to_string()),
        DataType::Decimal128(38, 18) => {
            format!("decimal {}", column.as_primitive::<Decimal128Type>().value(row))
        }
        DataType::Date32 => format!("day {}", column.as_primitive::<Date32Type>().value(row)),
        DataType::Timestamp(_, zone) => {
            let micros = column.as_primitive::<TimestampMicrosecondType>().value(row);
            format!("time {micros} {}", zone.is_some())
        }
        _ => return Some((kind, text(column, row)?, datatype, language)),
    };
    Some((kind, value, datatype, language))
}

/// A text for the value of a lexical form, by another way than the crate's.
pub fn value_of(datatype: &str, lexical: &str) -> String {
    match datatype {
        "boolean" => (lexical == "true" || lexical == "1").to_string(),
        "integer" | "int" | "byte" | "long" => lexical.parse::<i64>().unwrap().to_string(),
        "double" => {
            let value: f64 = lexical.replace("INF", "inf").parse().unwrap();
            format!("double {}", if value.is_nan() { "NaN".to_owned() } else { value.to_bits().to_string() })
        }
        "float" => {
            let value: f32 = lexical.replace("INF", "inf").parse().unwrap();
            format!("float {}", if value.is_nan() { "NaN".to_owned() } else { value.to_bits().to_string() })
        }
        "decimal" => {
            let (whole, fraction) = lexical.split_once('.').unwrap_or((lexical, ""));
            format!("decimal {}", format!("{whole}{fraction:0<18}").parse::<i128>().unwrap())
        }
        _ => lexical.to_owned(),
    }
}

/// The same row with values in the place of lexical forms, in columns of numbers.
pub fn with_values(rows: Vec<Vec<Cell>>, batches: &[RecordBatch]) -> Vec<Vec<Cell>> {
    let Some(batch) = batches.first() else { return rows };
    let schema = batch.schema();
    let is_number = |at: usize| {
        let of = schema.field(at).data_type();
        of.is_numeric() || *of == DataType::Boolean
    };
    let value = |at: usize, cell: Cell| {
        let (kind, text, datatype, language) = cell?;
        let name = datatype.strip_prefix(XSD).unwrap_or_default();
        let text = if is_number(at) { value_of(name, &text) } else { text };
        Some((kind, text, datatype, language))
    };
    let row = |row: Vec<Cell>| row.into_iter().enumerate().map(|(at, cell)| value(at, cell)).collect();
    rows.into_iter().map(row).collect()
}

/// How an answer becomes batches, in the ways that differ.
pub fn ways(form: ColumnForm) -> Vec<ArrowOptions> {
    let sizes = [(1 << 16, 1 << 20), (3, 1 << 20), (3, 1), (2, 5), (1 << 16, 1)];
    sizes.map(|(batch_rows, window_rows)| ArrowOptions { form, batch_rows, window_rows }).to_vec()
}
