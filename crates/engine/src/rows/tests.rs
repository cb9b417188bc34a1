//! The writers beside the general serializers: the same bytes.

use super::RowFormat;
use crate::{Database, OutputFormat, QueryOptions, QueryResults, UpdateOptions, write_results};
use lode_rdf::serialize::{GraphText, QuadWriter};
use lode_rdf::{GraphNameRef, RdfFormat};
use sparesults::{QueryResultsFormat, QueryResultsSerializer};

const DATA: &str = r#"
PREFIX : <http://example.org/>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
INSERT DATA {
  :a :p "", "plain", "with \"quotes\", commas\tand\\ more\n\r", "\u0001\u0008\u000C\u001F\u007F", "日本語 𝄞 and a text that is longer than a block",
    "thirty-one bytes and a quote..\"", "de"@de, "left"@ar--ltr, "right"@ar--rtl, 1, -2, +3, 1.5, "0.50"^^xsd:decimal, 1e3, "1.0E3"^^xsd:double,
    ".5e-3"^^xsd:double, "1.e3"^^xsd:double, "5."^^xsd:decimal, "INF"^^xsd:double, "x"^^xsd:integer, "01"^^xsd:integer, "1"^^xsd:float, true, "1"^^xsd:boolean,
    "t\there"^^:type, :iri, [] .
  :b :q <<( :s :p "o, \"x\"" )>> ; :q <<( :s :p <<( :s :p 1 )>> )>> .
}"#;

const TRIPLE_TERMS: &str = "SELECT ?o { ?s ?p ?o FILTER(isTRIPLE(?o)) }";

#[test]
fn whatever_is_in_a_csv_field_it_is_one() {
    let database = Database::in_memory().unwrap();
    database.update(DATA, &UpdateOptions::default()).unwrap();
    let query = r#"SELECT ?t { VALUES ?t { <http://example.org/a,b> "c,\"d" <<( <urn:s,> <urn:p> "o, \"x\"\n" )>> } }"#;
    let QueryResults::Solutions(mut solutions) = database.query(query, &QueryOptions::default()).unwrap()
    else {
        panic!("a SELECT")
    };
    let mut written = Vec::new();
    super::write_rows(&mut solutions, RowFormat::Csv, &mut written).unwrap();
    let expected = "t\r\n\"http://example.org/a,b\"\r\n\"c,\"\"d\"\r\n\"urn:s, urn:p o, \"\"x\"\"\n\"\r\n";
    assert_eq!(String::from_utf8(written).unwrap(), expected);
}

#[test]
fn xml_results_are_xml_whatever_is_in_them() {
    let database = Database::in_memory().unwrap();
    let query =
        r#"SELECT ?t { VALUES ?t { "a\u0001b\u000C\t\n" "c\u0000"@en <<( <urn:s> <urn:p> "\uFFFFd" )>> } }"#;
    let mut results = database.query(query, &QueryOptions::default()).unwrap();
    let mut written = Vec::new();
    let format = OutputFormat::Results(QueryResultsFormat::Xml);
    crate::write_results(&mut results, format, &mut written).unwrap();
    let text = String::from_utf8(written).unwrap();
    assert!(
        text.contains("a\u{FFFD}b\u{FFFD}") && text.contains("c\u{FFFD}") && text.contains("\u{FFFD}d"),
        "{text}"
    );
    let forbidden = |c: char| (c < ' ' && !"\t\n\r".contains(c)) || matches!(c, '\u{FFFE}' | '\u{FFFF}');
    assert!(!text.contains(forbidden), "{text}");
}

#[test]
fn rows_are_written_as_the_serializers_do() {
    let database = Database::in_memory().unwrap();
    database.update(DATA, &UpdateOptions::default()).unwrap();
    for query in [
        "SELECT ?o ?p { ?s ?p ?o FILTER(!isTRIPLE(?o)) }",
        TRIPLE_TERMS,
        "SELECT ?s ?none ?o (STR(?o) AS ?text) { ?s ?p ?o OPTIONAL { ?s <http://example.org/none> ?none } FILTER(!isTRIPLE(?o)) }",
        "SELECT ?x { ?x <http://example.org/none> ?y }",
        "SELECT (COUNT(*) AS ?n) (BNODE() AS ?b) { ?s ?p ?o }",
        "SELECT * { }",
    ] {
        for (ours, theirs) in [
            (RowFormat::Json, QueryResultsFormat::Json),
            (RowFormat::Csv, QueryResultsFormat::Csv),
            (RowFormat::Tsv, QueryResultsFormat::Tsv),
        ] {
            // The serializer takes a triple term for several fields, see below.
            if ours == RowFormat::Csv && query == TRIPLE_TERMS {
                continue;
            }
            let solutions = || match database.query(query, &QueryOptions::default()).unwrap() {
                QueryResults::Solutions(solutions) => solutions,
                _ => panic!("a SELECT"),
            };
            let mut written = Vec::new();
            let rows = super::write_rows(&mut solutions(), ours, &mut written).unwrap();
            let mut solutions = solutions();
            let variables = solutions.variables().to_vec();
            let mut serializer = QueryResultsSerializer::from_format(theirs)
                .serialize_solutions_to_writer(Vec::new(), variables.clone())
                .unwrap();
            let expected = solutions.collect_rows().unwrap();
            for row in &expected {
                let bound = variables.iter().zip(row).filter_map(|(v, term)| Some((v, term.as_ref()?)));
                serializer.serialize(bound).unwrap();
            }
            let expected_bytes = serializer.finish().unwrap();
            assert_eq!(
                String::from_utf8(written).unwrap(),
                String::from_utf8(expected_bytes).unwrap(),
                "{query}"
            );
            assert_eq!(rows, expected.len() as u64);
        }
    }
}

#[test]
fn json_lines_are_the_bindings_of_json() {
    let database = Database::in_memory().unwrap();
    database.update(DATA, &UpdateOptions::default()).unwrap();
    let query = "SELECT ?o ?none { ?s ?p ?o OPTIONAL { ?s <http://example.org/none> ?none } } ORDER BY ?o";
    let written = |format| {
        let mut results = database.query(query, &QueryOptions::default()).unwrap();
        let mut written = Vec::new();
        crate::write_results(&mut results, format, &mut written).unwrap();
        String::from_utf8(written).unwrap()
    };
    let json = written(OutputFormat::Results(QueryResultsFormat::Json));
    let whole: serde_json::Value = serde_json::from_str(&json).unwrap();
    let lines = written(OutputFormat::JsonLines);
    let lines: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.len() > 5);
    assert_eq!(whole["results"]["bindings"], serde_json::Value::from(lines));

    let mut results = database.query("ASK { ?s ?p ?o }", &QueryOptions::default()).unwrap();
    let mut written = Vec::new();
    crate::write_results(&mut results, OutputFormat::JsonLines, &mut written).unwrap();
    assert_eq!(written, b"{\"boolean\":true}\n");
    let mut results = database.query("CONSTRUCT WHERE { ?s ?p ?o }", &QueryOptions::default()).unwrap();
    let error = crate::write_results(&mut results, OutputFormat::JsonLines, &mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("return a graph"), "{error}");
}

#[test]
fn triples_are_written_as_the_serializers_do() {
    let database = Database::in_memory().unwrap();
    database.update(DATA, &UpdateOptions::default()).unwrap();
    for query in [
        "CONSTRUCT WHERE { ?s ?p ?o }",
        "CONSTRUCT { ?s ?p ?o ; a ?s , ?o . [] ?p [ ?p 1 ] } { ?s ?p ?o FILTER(!isTRIPLE(?o)) }",
        "CONSTRUCT { ?o ?o ?o } { ?s ?p ?o }",
        "CONSTRUCT { ?s ?p ?o } { ?s <http://example.org/none> ?o ; ?p ?o }",
        "DESCRIBE <http://example.org/a>",
    ] {
        for format in [RdfFormat::NTriples, RdfFormat::NQuads, RdfFormat::Turtle, RdfFormat::TriG] {
            let triples = || match database.query(query, &QueryOptions::default()).unwrap() {
                QueryResults::Graph(triples) => triples,
                _ => panic!("a graph"),
            };
            let mut written = Vec::new();
            let text = GraphText::new(format).unwrap();
            let count = super::write_triples(&mut triples(), text, &mut written).unwrap();
            let mut writer = QuadWriter::start(format, Vec::new()).unwrap();
            let (mut triples, mut expected) = (triples(), 0);
            while let Some(batch) = triples.next_batch().unwrap() {
                for triple in batch.triples() {
                    writer.write(triple.in_graph(GraphNameRef::DefaultGraph)).unwrap();
                    expected += 1;
                }
            }
            let expected_text = String::from_utf8(writer.finish().unwrap()).unwrap();
            // The serializer abbreviates numbers in triple terms.
            let written = String::from_utf8(written).unwrap();
            let written = match format {
                RdfFormat::Turtle | RdfFormat::TriG => {
                    written.replace("\"1\"^^<http://www.w3.org/2001/XMLSchema#integer> )>>", "1 )>>")
                }
                _ => written,
            };
            assert_eq!(written, expected_text, "{query}");
            assert_eq!(count, expected);
        }
    }
}

/// Counts what is written.
struct Count(usize);

impl std::io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn rows_whose_texts_do_not_fit_into_the_memory_are_written_in_parts() {
    const ROWS: usize = 2000;
    const TEXT_BYTES: usize = 16 << 10;
    let database = Database::in_memory().unwrap();
    let text = "x".repeat(TEXT_BYTES);
    for start in (0..ROWS).step_by(100) {
        let rows: String = (start..start + 100)
            .map(|row| format!("<http://example.org/{row}> <http://example.org/p> \"{row}{text}\" . "))
            .collect();
        database.update(&format!("INSERT DATA {{ {rows} }}"), &UpdateOptions::default()).unwrap();
    }
    let options = QueryOptions { memory_bytes: 4 << 20, threads: 1, ..QueryOptions::default() };
    let select = "SELECT * { ?s <http://example.org/p> ?o }";
    let construct = "CONSTRUCT { ?s <http://example.org/q> ?o } { ?s <http://example.org/p> ?o }";
    for (query, formats) in
        [(select, &["json", "csv", "tsv", "xml"][..]), (construct, &["nt", "ttl", "rdf", "jsonld"])]
    {
        for format in formats {
            let mut out = Count(0);
            let format = OutputFormat::from_name(format).unwrap();
            let mut results = database.query(query, &options).unwrap();
            let count = write_results(&mut results, format, &mut out).unwrap();
            assert_eq!(count, ROWS as u64, "{format:?}");
            assert!(out.0 > ROWS * TEXT_BYTES, "{format:?}: {}", out.0);
        }
    }
}
