//! Parsers: places of errors, recovery, limits, and that no text makes them panic.

use super::*;
use crate::key::TRIPLE_DEPTH_MAX;
use RdfFormat::{JsonLd, NQuads, NTriples, RdfXml, TriG, Turtle};
use oxrdf::GraphName;
use oxrdf::QuadRef;
use oxttl::{NQuadsParser, NTriplesParser};
use proptest::prelude::*;

fn quads(format: RdfFormat, text: &str) -> Result<Vec<Quad>, ParseError> {
    parse_to_vec(format, text.as_bytes(), &ParseOptions::default())
}

#[track_caller]
fn error(format: RdfFormat, text: impl AsRef<[u8]>) -> SyntaxError {
    match parse_to_vec(format, text.as_ref(), &ParseOptions::default()) {
        Err(ParseError::Syntax(error)) => *error,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn check_error(format: RdfFormat, text: &str, line: u64, column: u64, excerpt: &str, message: &str) {
    let error = error(format, text);
    assert_eq!((error.line, error.column, error.excerpt.as_str()), (line, column, excerpt), "{error}");
    assert!(error.message.contains(message), "{error}");
    let start: u64 = text.split_inclusive('\n').take(line as usize - 1).map(|line| line.len() as u64).sum();
    let in_line =
        text[start as usize..].char_indices().nth(column as usize - 1).map_or(0, |(at, _)| at as u64);
    assert_eq!(error.offset, start + in_line, "{error}");
}

#[test]
fn errors_say_where() {
    check_error(
        NTriples,
        "<http://a> <http://b> \"é\" .\n\n<http://a> <http://b> é .\n",
        3,
        23,
        "é",
        "object",
    );
    check_error(NTriples, "# x\n<http://a> <b> <http://c> .", 2, 12, "<b>", "No scheme");
    check_error(
        NQuads,
        "<http://a> <http://b> <http://c> <http://g> <http://h> .",
        1,
        45,
        "<http://h>",
        "dot",
    );
    check_error(Turtle, "@prefix : <http://a/> .\n:a :é x:b .", 2, 7, "x:b", "not been declared");
    check_error(TriG, "{ <http://a> <http://b> \"x\\q\" }", 1, 27, "\\q", "escape");
    check_error(
        RdfXml,
        "<?xml version='1.0'?>\n<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>\n  <rdf:Description rdf:about='a'/>\n</rdf:RDF>",
        3,
        3,
        "<rdf:Description rdf:about='a'/>",
        "IRI",
    );
    check_error(JsonLd, "{\n  \"@id\": x\n}", 2, 10, "x", "");
    let near = error(JsonLd, "{\n  \"@id\": 5\n}");
    assert!(near.approximate && near.line >= 2, "{near}");
}

#[test]
fn deep_json_is_refused_on_little_stack() {
    let deep =
        |open: &str, close: &str, depth: usize| format!("{}1{}", open.repeat(depth), close.repeat(depth));
    let check = move || {
        for (open, close) in [
            ("{\"@id\":\"a:s\",\"a:p\":", "}"),
            ("{\"a:p\":{\"@list\":[", "]}}"),
            ("{\"@graph\":[", "]}"),
            ("{\"@context\":{\"p\":{\"@id\":\"a:p\",\"@context\":", "}}}"),
        ] {
            let brackets = open.matches(['{', '[']).count();
            let _ = quads(JsonLd, &deep(open, close, 200 / brackets));
            let error = error(JsonLd, deep(open, close, 100_000));
            assert!(error.message.contains("nest more than 200 deep"), "{open}: {error}");
        }
        assert!(quads(JsonLd, &format!("{{\"@id\":\"a:s\",\"a:p\":\"\\\"{}\"}}", "[{".repeat(1000))).is_ok());
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(check).unwrap().join().unwrap();
}

#[test]
fn errors_help() {
    let remote = error(JsonLd, "{\"@context\": \"http://example.org/context\"}");
    assert!(remote.message.contains("remote context"), "{remote}");
    assert!(remote.message.contains("--contexts"), "{}", remote.message);
    assert_eq!(
        error(NTriples, "\u{FEFF}<http://a> <http://b> <http://c> .").hint,
        Some("the text begins with a byte order mark, which must go")
    );
    assert!(error(Turtle, "<a> <b> <c> .").hint.is_some());
    assert!(error(NTriples, b"<http://a> <http://b> \"\xFF\" .\n".as_slice()).message.contains("UTF-8"));
    assert!(ParseOptions::default().with_base_iri("a").is_err());
}

#[test]
fn base_iris_resolve() {
    let options = ParseOptions::default().with_base_iri("http://example.org/x/").unwrap();
    let expected = "<http://example.org/x/a> <http://example.org/x/b> <http://example.org/x/c>";
    for (format, text) in [
        (Turtle, "<a> <b> <c> ."),
        (TriG, "<a> <b> <c> ."),
        (
            RdfXml,
            "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:x='http://example.org/x/'><rdf:Description rdf:about='a'><x:b rdf:resource='c'/></rdf:Description></rdf:RDF>",
        ),
        (JsonLd, "{\"@id\": \"a\", \"http://example.org/x/b\": {\"@id\": \"c\"}}"),
    ] {
        let found = parse_to_vec(format, text.as_bytes(), &options).unwrap();
        assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), [expected], "{format}");
    }
}

#[test]
fn names_that_are_none_come_out_as_they_were() {
    let options = ParseOptions::default().with_base_iri("http://b/").unwrap().lenient(true);
    let text = "<r:RDF xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:x='http://x/'>\
                <r:Description r:ID='1x'><x:p>a</x:p></r:Description>\
                <r:Description r:ID='a b'><x:p>b</x:p></r:Description></r:RDF>";
    let found = parse_to_vec(RdfXml, text.as_bytes(), &options).unwrap();
    let subjects: Vec<String> = found.iter().map(|quad| quad.subject.to_string()).collect();
    assert_eq!(subjects, ["<http://b/#1x>", "<http://b/#a b>"]);
}

#[test]
fn json_ld_drops_ill_formed_labels() {
    let text = r#"{"@id": "_:a", "http://x/p": [{"@id": "_:b:c"}, {"@id": "_:d"}]}"#;
    assert_eq!(quads(JsonLd, text).unwrap().len(), 1);
}

#[test]
fn sinks_may_stop() {
    for (format, text) in [
        (NTriples, "<http://a> <http://b> <http://c> .\nwrong"),
        (Turtle, "<http://a> <http://b> <http://c> . wrong"),
    ] {
        let mut count = 0;
        let mut sink = |_: QuadRef<'_>| {
            count += 1;
            ControlFlow::Break(())
        };
        parse_slice(format, text.as_bytes(), &ParseOptions::default(), &mut sink).unwrap();
        assert_eq!(count, 1);
    }
}

/// Line, offset and text of a bad line.
type Bad = (u64, u64, Vec<u8>);

/// Quads and bad lines of a chunk, and its number of lines.
fn recover(format: RdfFormat, bytes: &[u8]) -> (Vec<Quad>, Vec<Bad>, u64) {
    let (mut quads, mut bad) = (Vec::new(), Vec::new());
    let chunk = LineChunk { bytes, first_line: 11, offset: 1000 };
    let lines = parse_line_chunk(
        format,
        chunk,
        |quad| {
            quads.push(quad.as_ref().unwrap().into_owned());
            ControlFlow::Continue(())
        },
        &mut |line| {
            bad.push((line.error.line, line.error.offset, line.text.to_vec()));
            ControlFlow::Continue(())
        },
    );
    let ControlFlow::Continue(lines) = lines else { panic!() };
    (quads, bad, lines)
}

#[test]
fn bad_lines_are_set_aside() {
    let text = b"<http://a> <http://b> <http://c> .\nbad\n<http://a> <http://b> \"\xFF\" .\n\n<http://a> <http://b> \"x .\n# \xFF\n<http://a> <http://b> <http://d> .";
    let (quads, bad, lines) = recover(NTriples, text);
    assert_eq!(quads.len(), 2);
    assert_eq!(lines, 7);
    let lines: Vec<_> = bad.iter().map(|(line, _, _)| *line).collect();
    assert_eq!(lines, [12, 13, 15]);
    assert_eq!(bad[0].2, b"bad");
    assert_eq!(bad[0].1, 1035);
    assert_eq!(bad[2].2, b"<http://a> <http://b> \"x .");
    // A line with one bad statement after a good one (carriage returns end lines, too) is bad as a whole.
    let (quads, bad, _) = recover(NTriples, b"<http://a> <http://b> <http://c> .\rbad\n");
    assert_eq!((quads.len(), bad.len()), (0, 1));
}

#[test]
fn chunks_end_at_lines() {
    assert_eq!(last_line_end(b"a\nb\nc"), Some(4));
    assert_eq!(last_line_end(b"abc"), None);
}

/// A reader that gives a few bytes at a time.
struct Slow<'a>(&'a [u8], usize);

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let len = self.0.len().min(buffer.len()).min(self.1);
        buffer[..len].copy_from_slice(&self.0[..len]);
        self.0 = &self.0[len..];
        Ok(len)
    }
}

#[test]
fn long_documents_stream() {
    let mut text = String::new();
    for i in 0..20_000 {
        text.push_str(&format!("<http://example.org/{i}> <http://example.org/p> \"{i}\" .\n"));
    }
    text.push_str("<http://a> <http://b> bad .\n");
    for (format, step) in [(NTriples, 7), (NTriples, 1 << 20), (Turtle, 1000)] {
        let mut count = 0;
        let result = parse(format, Slow(text.as_bytes(), step), &ParseOptions::default(), &mut |_| {
            count += 1;
            ControlFlow::Continue(())
        });
        let Err(ParseError::Syntax(error)) = result else { panic!() };
        assert_eq!((count, error.line), (20_000, 20_001), "{error}");
        assert!(error.excerpt.starts_with("bad"), "{error}");
    }
}

fn nested(depth: usize) -> String {
    format!(
        "<http://a> <http://b> {}<http://c>{} .",
        "<<( <http://a> <http://b> ".repeat(depth),
        " )>>".repeat(depth)
    )
}

#[test]
fn nesting_is_limited() {
    for format in [NTriples, NQuads, Turtle, TriG] {
        assert_eq!(quads(format, &nested(TRIPLE_DEPTH_MAX)).unwrap().len(), 1);
        for depth in [TRIPLE_DEPTH_MAX + 1, 200_000] {
            let error = error(format, nested(depth));
            assert!(error.message.contains("deep"), "{error}");
        }
    }
    for (open, close) in [
        ("[ <http://p> ", " ]"),
        ("( ", " )"),
        ("( [ <http://p> <<( <http://a> <http://b> <http://c> )>> ; <http://q> ", " ] )"),
    ] {
        let nested =
            |depth: usize| format!("<http://a> <http://b> {}1{} .", open.repeat(depth), close.repeat(depth));
        let brackets = open.matches(['[', '(']).count();
        for format in [Turtle, TriG] {
            assert!(quads(format, &nested(4000 / brackets)).is_ok());
            for depth in [5000, 100_000] {
                assert!(error(format, nested(depth)).message.contains("brackets nest more than 4096 deep"));
            }
        }
    }
    // What only looks like nesting is not counted.
    let text = format!(
        "<http://a> <http://b> \"\"\"{}\"\" \\\" '\"\"\" , '<<(', <http://a/\\u003c<<(> , \"{}\" . # {}",
        "<<( ".repeat(100),
        "<<(".repeat(70),
        "<<(".repeat(70)
    );
    let text = text.replace("<http://a/\\u003c<<(>", "<http://c>");
    assert_eq!(quads(Turtle, &text).unwrap().len(), 4);
    assert_eq!(
        quads(NTriples, &format!("<http://a> <http://b> \"{} \\\" \" .", "<<(".repeat(100))).unwrap().len(),
        1
    );
}

#[test]
fn deep_documents_end_in_errors() {
    let head = "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:x='http://x/' rdf:version='1.2'>";
    let element = "<rdf:Description rdf:about='http://a'><x:p rdf:parseType='Triple'>";
    let xml = format!("{head}{}", element.repeat(100_000));
    assert!(error(RdfXml, xml).message.contains("deep"));
    let json = "{\"http://a\":[".repeat(100_000);
    let _ = error(JsonLd, json);
    for text in ["[ <http://a> ", "( ", "<< ", "<http://a> <http://b> << "] {
        let _ = error(Turtle, text.repeat(100_000));
    }
    let _ = error(TriG, "{ ".repeat(100_000));
}

#[test]
fn entities_may_not_explode() {
    let mut doctype = "<!DOCTYPE r [\n<!ENTITY a0 \"aaaaaaaaaa\">\n".to_owned();
    for i in 1..20 {
        doctype.push_str(&format!("<!ENTITY a{i} \"{}\">\n", format!("&a{};", i - 1).repeat(10)));
    }
    let bomb = format!("{doctype}]>\n<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'/>");
    assert!(error(RdfXml, bomb).message.contains("expands"));
    let fine = "<!DOCTYPE rdf:RDF [<!ENTITY x \"http://x/\"><!ENTITY y \"&x;y#\">]>\n<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:y='&y;'><rdf:Description rdf:about='&y;a'><y:b>c > d</y:b><!-- <x> --><y:b><![CDATA[<z>]]></y:b></rdf:Description></rdf:RDF>";
    assert_eq!(quads(RdfXml, fine).unwrap().len(), 2);
}

const SEEDS: [(RdfFormat, &str); 6] = [
    (
        NTriples,
        "<http://a> <http://b> \"x\\u00E9\"@en--ltr .\n_:a <http://b> <<( _:b <http://p> \"1\"^^<http://t> )>> . # c\n",
    ),
    (NQuads, "<http://a> <http://b> \"x\" <http://g> .\n_:a <http://b> <http://c> _:g .\n"),
    (
        Turtle,
        "@prefix : <http://a/> .\nBASE <http://b/>\n:a a :b , \"\"\"x\ny\"\"\"@en , 1, 1.5 , -1e0, true ; :p [ :q ( 1 'x' ) ] ~ :r {| :s :t |} .\n<< :a :b :c >> :d <<( :a :b :c )>> .\n",
    ),
    (TriG, "PREFIX : <http://a/>\n:g { :a :b :c . [] :d _:x }\nGRAPH _:g { :a :b :c }\n{ :a :b \"c\" }"),
    (
        RdfXml,
        "<?xml version=\"1.0\"?>\n<!DOCTYPE r [<!ENTITY x \"http://x/\">]>\n<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns:x=\"&x;\" rdf:version=\"1.2\">\n<!-- c -->\n<rdf:Description rdf:about=\"http://a\" x:y=\"z\"><x:p rdf:parseType=\"Collection\"><x:A/></x:p><x:q xml:lang=\"en\">t</x:q><x:r rdf:parseType=\"Literal\"><b>c</b></x:r></rdf:Description>\n</rdf:RDF>",
    ),
    (
        JsonLd,
        "{\"@context\": {\"x\": \"http://x/\", \"@language\": \"en\", \"l\": {\"@id\": \"x:l\", \"@container\": \"@list\"}}, \"@id\": \"http://a\", \"x:p\": [1, 1.5, true, {\"@value\": \"v\", \"@type\": \"x:t\"}], \"l\": [1, {\"@id\": \"_:b\"}], \"@graph\": [{\"@id\": \"x:c\", \"x:p\": null}]}",
    ),
];

#[test]
fn seeds_parse() {
    for (format, text) in SEEDS {
        assert!(!quads(format, text).unwrap().is_empty());
        assert_eq!(RdfFormat::guess_from_content(text.as_bytes()), Some(format));
    }
}

fn general(format: RdfFormat, text: &[u8]) -> Option<Vec<Quad>> {
    if format == NQuads {
        NQuadsParser::new().for_slice(text).collect::<Result<_, _>>().ok()
    } else {
        let parser = NTriplesParser::new().for_slice(text);
        parser
            .map(|item| item.map(|triple| triple.in_graph(GraphName::DefaultGraph)))
            .collect::<Result<_, _>>()
            .ok()
    }
}

#[test]
fn statements_have_their_lines() {
    let text = b"@prefix : <http://e/> .\n\n# first\n:a :p 1 ,\n 2 ; :q [ :r\n 3 ] .\n:b :p \"\"\"x\ny\"\"\" . :c :p 1 .\n\n:d :p 1 .";
    let mut found = Vec::new();
    parse_with_lines(RdfFormat::Turtle, text, &ParseOptions::default(), &mut |quad, line| {
        // `<http://e/a>`; labels of blank nodes are random.
        let name = quad.subject.to_string().strip_prefix("<http://e/").and_then(|name| name.chars().next());
        found.push((name.unwrap_or('_'), line.unwrap()));
        ControlFlow::Continue(())
    })
    .unwrap();
    let lines = |of: char| {
        found.iter().filter(|(subject, _)| *subject == of).map(|(_, line)| *line).collect::<Vec<_>>()
    };
    assert_eq!((lines('a'), lines('b'), lines('d')), (vec![4, 4, 4], vec![7], vec![10]), "{found:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn damaged_documents_never_panic(
        seed in 0..SEEDS.len(),
        at in any::<prop::sample::Index>(),
        cut in 0..6_usize,
        with in proptest::collection::vec(prop_oneof![any::<u8>(), Just(b'<'), Just(b'"'), Just(b'\\'), Just(b'\n')], 0..3),
    ) {
        let (format, text) = SEEDS[seed];
        let mut bytes = text.as_bytes().to_vec();
        let at = at.index(bytes.len());
        let end = (at + cut).min(bytes.len());
        bytes.splice(at..end, with);
        let result = parse_to_vec(format, &bytes, &ParseOptions::default());
        // What can be read is the same statement by statement.
        let (mut lined, lines) = (0, bytes.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count() as u64 + 1);
        let with_lines = parse_with_lines(format, &bytes, &ParseOptions::default(), &mut |_, line| {
            assert!(line.is_none_or(|line| (1..=lines).contains(&line)), "{line:?}");
            lined += 1;
            ControlFlow::Continue(())
        });
        if let Ok(quads) = &result {
            prop_assert!(with_lines.is_ok() && quads.len() == lined, "{:?}", with_lines.err());
        }
        if format.is_line_based() {
            // Whole documents: the pieces together accept what the general parser accepts.
            let expected = general(format, &bytes);
            prop_assert_eq!(result.as_ref().ok(), expected.as_ref());
        }
        if let Err(ParseError::Syntax(error)) = result {
            prop_assert!(error.line >= 1 && error.offset <= bytes.len() as u64, "{}", error);
            prop_assert!(!error.message.contains("bug"), "{}", error);
        }
        let _ = RdfFormat::guess_from_content(&bytes);
    }
}
