//! Databases as tables: all quads, and the resources of each class.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use lode_arrow::{ClassFile, dump_by_class, dump_quads};
use lode_engine::store::DumpScope;
use lode_engine::{CancelToken, Database, DefaultGraph, MemoryBudget, QueryOptions, UpdateOptions};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::rc::Rc;

const DATA: &str = "PREFIX e: <http://e/> PREFIX f: <http://f#> INSERT DATA {
    e:ann a e:Person, e:Author ; e:name \"Ann\" ; e:age 41 ; e:knows e:bob, _:c ; f:name \"A.\" .
    e:bob a e:Person ; e:name \"Bob\"@en ; e:age 7 .
    _:c a e:Person .
    GRAPH e:g { e:book a e:Book ; e:name \"B\" ; e:knows <<( e:a e:b 1 )>> } }";

fn database() -> Database {
    let database = Database::in_memory().unwrap();
    database.update(DATA, &UpdateOptions::default()).unwrap();
    database
}

fn read(bytes: Vec<u8>) -> Vec<RecordBatch> {
    let file = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes)).unwrap();
    file.build().unwrap().map(Result::unwrap).collect()
}

#[test]
fn all_quads_are_rows() {
    let database = database();
    let (mut bytes, cancel) = (Vec::new(), CancelToken::default());
    let budget = MemoryBudget::new(64 << 20);
    let count = dump_quads(&database.snapshot(), DumpScope::All, &budget, &cancel, &mut bytes).unwrap();
    let batches = read(bytes);
    let rows: Vec<Vec<String>> = batches
        .iter()
        .flat_map(|batch| {
            let text = |column: usize, row: usize| {
                let column = batch.column(column).as_string::<i32>();
                if column.is_null(row) { "-".to_owned() } else { column.value(row).to_owned() }
            };
            (0..batch.num_rows()).map(move |row| (0..7).map(|column| text(column, row)).collect())
        })
        .collect();
    assert_eq!((count, rows.len()), (14, 14));
    let xsd = "http://www.w3.org/2001/XMLSchema#";
    let lang = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString";
    for expected in [
        ["http://e/ann", "http://e/age", "41", "literal", &format!("{xsd}integer"), "-", "-"],
        ["http://e/bob", "http://e/name", "Bob", "literal", lang, "en", "-"],
        ["http://e/book", "http://e/name", "B", "literal", &format!("{xsd}string"), "-", "http://e/g"],
        [
            "http://e/book",
            "http://e/knows",
            "<<( <http://e/a> <http://e/b> \"1\"^^<http://www.w3.org/2001/XMLSchema#integer> )>>",
            "triple",
            "-",
            "-",
            "http://e/g",
        ],
    ] {
        assert!(rows.iter().any(|row| row == &expected), "{expected:?} in {rows:#?}");
    }
    assert!(rows.iter().any(|row| row[0].starts_with("_:b")));
    let mut bytes = Vec::new();
    let none = CancelToken::new(Some(std::time::Duration::ZERO));
    assert!(dump_quads(&database.snapshot(), DumpScope::All, &budget, &none, &mut bytes).is_err());
}

/// A file in memory.
#[derive(Clone, Default)]
struct Shared(Rc<RefCell<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn each_class_has_a_table() {
    let database = database();
    let mut files: BTreeMap<String, Shared> = BTreeMap::new();
    let options = QueryOptions { default_graph: DefaultGraph::Union, ..QueryOptions::default() };
    let written = dump_by_class(&database, &database.snapshot(), &options, &mut |name| {
        let file = Shared::default();
        files.insert(name.to_owned(), file.clone());
        Ok(Box::new(file))
    });
    let file = |name: &str, rows| ClassFile {
        name: format!("{name}.parquet"),
        class: format!("http://e/{name}"),
        rows,
    };
    assert_eq!(written.unwrap(), [file("Author", 1), file("Book", 1), file("Person", 3)]);
    let bytes = files["Person.parquet"].0.borrow().clone();
    let file = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes.clone())).unwrap();
    assert_eq!(file.schema().metadata()["rdf.class"], "http://e/Person");
    let batches = read(bytes);
    let batch = &batches[0];
    assert_eq!(batch.num_rows(), 3);
    let schema = batch.schema();
    let mut names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    names[1..].sort_unstable();
    assert_eq!(names, ["resource", "age", "knows", "name", "name-2", "type"]);
    let column = |name: &str| batch.column_by_name(name).unwrap();
    let resources = column("resource").as_struct();
    let resource = |row: usize| {
        let column = resources.column(1).as_dictionary::<Int32Type>();
        column.values().as_string::<i32>().value(column.key(row).unwrap()).to_owned()
    };
    let row = |name: &str| (0..3).find(|row| resource(*row) == format!("http://e/{name}")).unwrap();
    let ages = column("age").as_primitive::<Int64Type>();
    assert_eq!((ages.value(row("ann")), ages.value(row("bob")), ages.null_count()), (41, 7, 1));
    let knows = column("knows").as_list::<i32>();
    assert_eq!((knows.value_length(row("ann")), knows.value_length(row("bob"))), (2, 0));
    assert_eq!(column("type").as_list::<i32>().value_length(row("ann")), 2);
    assert_eq!(column("name-2").null_count() + column("name").null_count(), 3);
}
