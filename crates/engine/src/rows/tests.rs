//! The writers beside the general serializers: the same bytes.

use super::RowFormat;
use crate::{Database, QueryOptions, QueryResults, UpdateOptions};
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

#[test]
fn rows_are_written_as_the_serializers_do() {
    let database = Database::in_memory().unwrap();
    database.update(DATA, &UpdateOptions::default()).unwrap();
    for query in [
        "SELECT ?o ?p { ?s ?p ?o }",
        "SELECT ?s ?none ?o (STR(?o) AS ?text) { ?s ?p ?o OPTIONAL { ?s <http://example.org/none> ?none } }",
        "SELECT ?x { ?x <http://example.org/none> ?y }",
        "SELECT (COUNT(*) AS ?n) (BNODE() AS ?b) { ?s ?p ?o }",
        "SELECT * { }",
    ] {
        for (ours, theirs) in [
            (RowFormat::Json, QueryResultsFormat::Json),
            (RowFormat::Csv, QueryResultsFormat::Csv),
            (RowFormat::Tsv, QueryResultsFormat::Tsv),
        ] {
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
