//! Statements that are longer than they may be, in each format.

use super::{ParseError, ParseOptions, StatementLimit, parse_to_vec};
use crate::format::RdfFormat;

/// What comes before a long text, and what after it.
const DOCUMENTS: [(RdfFormat, &str, &str); 6] = [
    (RdfFormat::NTriples, "<http://a> <http://b> <http://c> .\n<http://a> <http://b> \"", "\" .\n"),
    (RdfFormat::NQuads, "<http://a> <http://b> <http://c> .\n<http://a> <http://b> \"", "\" <http://g> .\n"),
    (RdfFormat::Turtle, "<http://a> <http://b> 1 .\n<http://a> <http://b> \"\"\"", "\"\"\" ."),
    (RdfFormat::TriG, "<http://g> { <http://a> <http://b> 1 .\n<http://a> <http://b> \"", "\" }"),
    (
        RdfFormat::RdfXml,
        "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:e='http://e/'>\
         <rdf:Description rdf:about='http://a'><e:b>1</e:b>\n<e:b>",
        "</e:b></rdf:Description></rdf:RDF>",
    ),
    (
        RdfFormat::JsonLd,
        "[{\"@id\": \"http://a\", \"http://b\": 1},\n{\"@id\": \"http://a\", \"http://b\": \"",
        "\"}]",
    ),
];

fn options(bytes: usize) -> ParseOptions {
    ParseOptions::default().with_statement_limit(StatementLimit::new(bytes))
}

#[test]
fn a_statement_that_is_too_long_is_an_error_that_says_so() {
    for (format, before, after) in DOCUMENTS {
        let text = [before, &"x".repeat(700 << 10), after].concat();
        let error = parse_to_vec(format, text.as_bytes(), &options(400 << 10)).unwrap_err();
        let ParseError::Syntax(error) = error else { panic!("{format}: {error}") };
        let message = error.to_string();
        assert!(message.contains("has more than 409600 bytes"), "{format}: {message}");
        assert!(message.contains("--statement-bytes-max"), "{format}: {message}");
        assert_eq!(error.line, 2, "{format}: {message}");
        assert_eq!(parse_to_vec(format, text.as_bytes(), &options(1 << 20)).unwrap().len(), 2, "{format}");
    }
}

#[test]
fn many_statements_may_be_longer_together() {
    for (format, before, after) in DOCUMENTS {
        if matches!(format, RdfFormat::RdfXml | RdfFormat::JsonLd) {
            continue;
        }
        let one = [before, &"y".repeat(300), after, "\n"].concat();
        let quads = parse_to_vec(format, one.repeat(2000).as_bytes(), &options(300 << 10)).unwrap();
        assert_eq!(quads.len(), 4_000, "{format}");
    }
    let subject = "<rdf:Description rdf:about='http://a'><e:b>1</e:b></rdf:Description>".repeat(6_000);
    let (_, before, after) = DOCUMENTS[4];
    let text =
        [before, "z</e:b></rdf:Description>", &subject, after.split_once("</rdf:Description>").unwrap().1]
            .concat();
    let quads = parse_to_vec(RdfFormat::RdfXml, text.as_bytes(), &options(300 << 10)).unwrap();
    assert_eq!(quads.len(), 6_002);
}
