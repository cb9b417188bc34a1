//! What reports look like.

use crate::support::{database, report, results, shapes};
use lode_rdf::RdfFormat;
use lode_shacl::{ReportFormat, ValidateOptions};

const SHAPES: &str = ":S sh:targetClass :Person ; sh:property [ sh:path :age ; sh:maxInclusive 150 ; sh:severity sh:Warning ; \
    sh:message \"not that old\"@en ] , :Name . :Name sh:path ( :name [ sh:inversePath :x ] ) ; sh:minCount 1 .";
const DATA: &str = ":ada a :Person ; :age 200, 300 .";

#[test]
fn turtle() {
    let text = report(DATA, SHAPES, ReportFormat::Rdf(RdfFormat::Turtle), 1_000);
    for part in [
        "sh:conforms false",
        "sh:focusNode <http://e/ada>",
        "sh:resultSeverity sh:Warning",
        "sh:resultMessage \"not that old\"@en",
        "sh:sourceConstraintComponent sh:MinCountConstraintComponent",
        "sh:sourceShape <http://e/Name>",
        "sh:inversePath <http://e/x>",
        "has fewer than 1 value",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert_eq!(text.matches("sh:ValidationResult").count(), 3, "{text}");
    let nothing = report("", SHAPES, ReportFormat::Rdf(RdfFormat::Turtle), 1_000);
    assert!(nothing.contains("sh:conforms true"), "{nothing}");
}

#[test]
fn json() {
    let text = report(DATA, SHAPES, ReportFormat::Json, 1_000);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["conforms"], false);
    assert_eq!((value["count"].as_u64(), value["violations"].as_u64()), (Some(3), Some(1)));
    let results = value["results"].as_array().unwrap();
    let name = results.iter().find(|result| result["sourceShape"]["value"] == "http://e/Name").unwrap();
    assert_eq!(name["path"], "(<http://e/name>/(^<http://e/x>))");
    let nothing = report("", SHAPES, ReportFormat::Json, 1_000);
    let nothing: serde_json::Value = serde_json::from_str(&nothing).unwrap();
    assert_eq!((&nothing["conforms"], nothing["results"].as_array().unwrap().len()), (&true.into(), 0));
}

#[test]
fn tables() {
    let text = report(DATA, SHAPES, ReportFormat::Table, 1_000);
    assert!(text.lines().count() >= 4 && text.contains("not that old"), "{text}");
    assert_eq!(report("", SHAPES, ReportFormat::Table, 1_000), "");
}

#[test]
fn what_is_not_told_is_counted() {
    let data: String = (0..5_000).map(|n| format!(":n{n} a :Person ; :age {} .\n", 100 + n)).collect();
    let (database, shapes) = (database(&data), shapes(SHAPES).unwrap());
    let all =
        results(&database, &shapes, &ValidateOptions { results_max: u64::MAX, ..ValidateOptions::default() });
    let (all, summary) = all.unwrap();
    assert_eq!((all.len(), summary.results, summary.violations), (9_949, 9_949, 5_000));
    for limit in [0, 1, 4_000, 6_000] {
        let options = ValidateOptions { results_max: limit, ..ValidateOptions::default() };
        let (some, counted) = results(&database, &shapes, &options).unwrap();
        assert_eq!((some.len() as u64, counted), (limit, summary.clone()));
    }
    let text = report(&data, SHAPES, ReportFormat::Rdf(RdfFormat::NTriples), 2);
    assert!(
        text.contains("\"the first 2 of 9949 results\"") && text.contains("conforms> \"false\""),
        "{text}"
    );
    let text = report(&data, SHAPES, ReportFormat::Rdf(RdfFormat::NTriples), 0);
    assert!(
        text.contains("\"the first 0 of 9949 results\"") && text.contains("conforms> \"false\""),
        "{text}"
    );
}
