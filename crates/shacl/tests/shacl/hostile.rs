//! Shapes that are deep, large, or would become very many queries: bounded, and told clearly.

use crate::support::{database, found, results, shapes};
use lode_engine::{CancelToken, EngineError, QueryOptions};
use lode_shacl::{ShaclError, ValidateOptions};
use std::time::{Duration, Instant};

fn nested(depth: usize, open: &str, close: &str) -> String {
    format!(":S sh:targetClass :C ; {}sh:class :D {} .", open.repeat(depth), close.repeat(depth))
}

#[test]
fn deep_shapes_are_validated_or_refused() {
    for (open, close) in
        [("sh:not [ ", "]"), ("sh:node [ ", "]"), ("sh:or ( [ ", "] )"), ("sh:property [ sh:path :p ; ", "]")]
    {
        let lines = found(":a a :C ; :p :a .", &nested(20, open, close)).unwrap();
        assert!(lines.len() <= 1, "{lines:?}");
        let error = shapes(&nested(500, open, close)).unwrap_err();
        assert!(matches!(error, ShaclError::TooLarge(_)), "{error}");
    }
    // Deep, but within all limits of shapes: then those of queries say so.
    match found(":a a :C .", &nested(90, "sh:not [ sh:path :p ; ", "]")) {
        Ok(_) | Err(ShaclError::TooLarge(_) | ShaclError::Engine(EngineError::Syntax(_))) => {}
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn shapes_that_multiply_are_refused() {
    // Each refers twice to the next: a million ways to the last.
    let mut text = String::from(":S sh:targetClass :C ; sh:node :s0 .\n");
    for level in 0..40 {
        let next = level + 1;
        text += &format!(":s{level} sh:or ( [ sh:node :s{next} ] [ sh:not :s{next} ] ) .\n");
    }
    text += ":s40 sh:class :D .";
    let error = found(":a a :C .", &text).unwrap_err();
    assert!(matches!(error, ShaclError::TooLarge(_)), "{error}");

    let mut text = String::from(":S sh:targetClass :C ; sh:property :p0 .\n");
    for level in 0..40 {
        let next = level + 1;
        text += &format!(
            ":p{level} sh:path :p ; sh:minCount 1 ; sh:property :p{next}, [ sh:path :q ; sh:property :p{next} ] .\n"
        );
    }
    text += ":p40 sh:path :p ; sh:class :D .";
    let error = found(":a a :C .", &text).unwrap_err();
    assert!(matches!(error, ShaclError::TooLarge(_)), "{error}");
}

#[test]
fn lists_may_be_long_but_not_endless() {
    let members: String = (0..5_000).map(|n| format!("{n} ")).collect();
    let lines = found(":a :p 4999, 5000 .", &format!(":S sh:targetObjectsOf :p ; sh:in ( {members} ) ."));
    assert_eq!(lines.unwrap().len(), 1);
    let endless = ":S sh:targetClass :C ; sh:in _:l . _:l <http://www.w3.org/1999/02/22-rdf-syntax-ns#first> 1 ; \
                   <http://www.w3.org/1999/02/22-rdf-syntax-ns#rest> _:l .";
    let error = shapes(endless).unwrap_err();
    assert!(error.to_string().contains("the list has no end"), "{error}");
    let path = ":S sh:targetClass :C ; sh:path _:p . _:p sh:inversePath _:p .";
    assert!(shapes(path).unwrap_err().to_string().contains("contains itself"));
}

#[test]
fn data_are_no_shapes() {
    let many: String = (0..200_000).map(|n| format!(":n{n} :p \"{}\" .\n", "x".repeat(300))).collect();
    let error = shapes(&many).unwrap_err();
    assert!(error.to_string().contains("are these shapes, and no data?"), "{error}");
}

#[test]
fn a_validation_ends_when_nobody_wants_it() {
    let data: String = (0..3_000).map(|n| format!(":n{n} a :C ; :p :n{} , :n{} .\n", n / 2, n / 3)).collect();
    let database = database(&data);
    let shapes = shapes(":S sh:targetClass :C ; sh:path [ sh:oneOrMorePath [ sh:alternativePath ( :p [ sh:inversePath :p ] ) ] ] ; sh:maxCount 2 .")
        .unwrap();
    let query = QueryOptions {
        cancel: CancelToken::new(Some(Duration::from_millis(100))),
        ..QueryOptions::default()
    };
    let start = Instant::now();
    let error =
        results(&database, &shapes, &ValidateOptions { query, ..ValidateOptions::default() }).unwrap_err();
    assert!(matches!(error, ShaclError::Engine(EngineError::Cancelled(_))), "{error}");
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn memory_is_that_of_a_query() {
    let data: String = (0..3_000).map(|n| format!(":n{n} a :C ; :p :n{} , :n{} .\n", n / 2, n / 3)).collect();
    let shapes = shapes(":S sh:targetClass :C ; sh:path [ sh:oneOrMorePath [ sh:alternativePath ( :p [ sh:inversePath :p ] ) ] ] ; sh:maxCount 2 .")
        .unwrap();
    let query = QueryOptions { memory_bytes: 200 << 10, ..QueryOptions::default() };
    let outcome =
        results(&database(&data), &shapes, &ValidateOptions { query, ..ValidateOptions::default() });
    assert!(
        matches!(outcome, Err(ShaclError::Engine(EngineError::Execution(_)))),
        "{:?}",
        outcome.map(|(_, s)| s)
    );
}

#[test]
fn injected_words_are_values() {
    let text = r#":S sh:targetClass :C ; sh:path :p ; sh:pattern "\"[)], true[)] SELECT" ; sh:hasValue "a\"} #\n\\" ;
        sh:in ( "\\\"" "a\"} #\n\\" ) ; sh:languageIn ( "en\") ||" ) ."#;
    let lines = found(r#":a a :C ; :p "a\"} #\n\\" ."#, text).unwrap();
    assert_eq!(lines.len(), 2, "{lines:?}");
}
