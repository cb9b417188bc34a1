//! Writers: what is written is read back as it was.

use super::*;
use crate::key::{Encoded, encode};
use crate::parse::{ParseOptions, parse_to_vec};
use RdfFormat::{JsonLd, NQuads, NTriples, RdfXml, TriG, Turtle};
use oxrdf::{GraphName, Literal, NamedNode, NamedOrBlankNode, Quad, Term, Triple};
use proptest::prelude::*;

fn written(format: RdfFormat, quads: &[Quad]) -> io::Result<Vec<u8>> {
    let mut writer = QuadWriter::start_with_prefixes(format, Vec::new(), &[("ex", "http://example.org/")])?;
    for quad in quads {
        writer.write(quad.as_ref())?;
    }
    writer.finish()
}

fn text() -> BoxedStrategy<String> {
    proptest::collection::vec(
        prop_oneof![
            Just('"'),
            Just('\\'),
            Just('\n'),
            Just('\r'),
            Just('é'),
            Just('\u{FFFE}'),
            Just('\u{7F}'),
            any::<char>()
        ],
        0..8,
    )
    .prop_map(|chars| chars.into_iter().collect::<String>())
    .boxed()
}

fn plain_text() -> BoxedStrategy<String> {
    "[a-z \"'<&>\\\\é\n\t]{0,8}".boxed()
}

fn node() -> impl Strategy<Value = NamedNode> {
    "[a-z]{1,4}".prop_map(|name| NamedNode::new_unchecked(format!("http://example.org/{name}")))
}

fn literal(text: BoxedStrategy<String>) -> impl Strategy<Value = Literal> {
    prop_oneof![
        text.clone().prop_map(Literal::new_simple_literal),
        text.clone().prop_map(|text| Literal::new_language_tagged_literal_unchecked(text, "en-us")),
        text.clone().prop_map(|text| Literal::new_directional_language_tagged_literal_unchecked(
            text,
            "ar",
            oxrdf::BaseDirection::Rtl
        )),
        (text, node()).prop_map(|(text, datatype)| Literal::new_typed_literal(text, datatype)),
        any::<i32>().prop_map(Literal::from),
        "-?[0-9]{1,3}\\.[0-9]{1,3}"
            .prop_map(|text| Literal::new_typed_literal(text, oxrdf::vocab::xsd::DECIMAL)),
    ]
}

fn quads(text: BoxedStrategy<String>, graphs: bool, triples: bool) -> impl Strategy<Value = Vec<Quad>> {
    let object = prop_oneof![node().prop_map(Term::from), literal(text).prop_map(Term::from)].boxed();
    let nested = (node(), node(), object.clone()).prop_map(|(s, p, o)| Term::from(Triple::new(s, p, o)));
    let object = if triples { prop_oneof![3 => object, 1 => nested].boxed() } else { object.boxed() };
    let graph = if graphs {
        prop_oneof![Just(GraphName::DefaultGraph), node().prop_map(GraphName::from)].boxed()
    } else {
        Just(GraphName::DefaultGraph).boxed()
    };
    proptest::collection::vec(
        (node(), node(), object, graph)
            .prop_map(|(s, p, o, g)| Quad::new(NamedOrBlankNode::from(s), p, o, g)),
        0..6,
    )
}

fn sorted(mut quads: Vec<Quad>) -> Vec<String> {
    let mut lines: Vec<_> = quads.drain(..).map(|quad| quad.to_string()).collect();
    lines.sort();
    lines.dedup();
    lines
}

fn round_trip(format: RdfFormat, quads: Vec<Quad>) {
    let bytes = written(format, &quads).unwrap();
    let read = parse_to_vec(format, &bytes, &ParseOptions::default())
        .unwrap_or_else(|error| panic!("{error}\n{}", String::from_utf8_lossy(&bytes)));
    assert_eq!(sorted(read), sorted(quads), "{}", String::from_utf8_lossy(&bytes));
}

proptest! {
    #[test]
    fn line_formats(quads in quads(text(), true, true)) {
        round_trip(NQuads, quads.clone());
        let triples = quads.into_iter().map(|quad| Triple::from(quad).in_graph(GraphName::DefaultGraph)).collect();
        round_trip(NTriples, triples);
    }

    #[test]
    fn turtle_family(quads in quads(text(), true, true)) {
        round_trip(TriG, quads.clone());
        let triples = quads.into_iter().map(|quad| Triple::from(quad).in_graph(GraphName::DefaultGraph)).collect();
        round_trip(Turtle, triples);
    }

    #[test]
    fn rdf_xml(quads in quads(plain_text(), false, false)) {
        round_trip(RdfXml, quads);
    }

    #[test]
    fn terms_from_keys_and_ids(quads in quads(text(), false, true)) {
        let mut key = Vec::new();
        for quad in quads {
            let (mut expected, mut found) = (Vec::new(), Vec::new());
            write_term_ntriples(quad.object.as_ref(), &mut expected);
            match encode(quad.object.as_ref(), &mut key) {
                Encoded::Inline(id) => prop_assert!(write_inline_ntriples(id, &mut found)),
                Encoded::Key(section) => write_key_ntriples(section, &key, &mut found).unwrap(),
                Encoded::Blank => unreachable!(),
            }
            prop_assert_eq!(String::from_utf8(found).unwrap(), String::from_utf8(expected.clone()).unwrap());
            if !quad.object.is_triple() {
                prop_assert_eq!(String::from_utf8(expected).unwrap(), quad.object.to_string());
            }
        }
    }
}

fn quad(object: impl Into<Term>, graph: GraphName) -> Quad {
    let node = NamedNode::new_unchecked("http://example.org/a");
    Quad::new(node.clone(), node, object, graph)
}

#[test]
fn json_ld_round_trips() {
    let graph = GraphName::from(NamedNode::new_unchecked("http://example.org/g"));
    round_trip(
        JsonLd,
        vec![
            quad(Literal::from("x"), GraphName::DefaultGraph),
            quad(Literal::new_language_tagged_literal_unchecked("x", "en"), GraphName::DefaultGraph),
            quad(Literal::from(1), graph.clone()),
            quad(NamedNode::new_unchecked("http://example.org/o"), graph),
        ],
    );
    assert_eq!(parse_to_vec(JsonLd, &written(JsonLd, &[]).unwrap(), &ParseOptions::default()).unwrap(), []);
}

#[test]
fn what_a_format_cannot_hold_is_an_error() {
    let named = quad(Literal::from("x"), NamedNode::new_unchecked("http://example.org/g").into());
    for format in [NTriples, Turtle, RdfXml] {
        assert_eq!(
            written(format, std::slice::from_ref(&named)).unwrap_err().kind(),
            io::ErrorKind::InvalidInput
        );
    }
    let control = quad(Literal::from("\u{1}"), GraphName::DefaultGraph);
    assert!(written(RdfXml, &[control]).is_err());
    let node = NamedNode::new_unchecked("http://example.org/a");
    let triple = quad(Triple::new(node.clone(), node.clone(), node), GraphName::DefaultGraph);
    assert!(written(JsonLd, &[triple]).is_err());
}

#[test]
fn empty_documents() {
    for format in RdfFormat::ALL {
        let bytes = written(format, &[]).unwrap();
        assert!(parse_to_vec(format, &bytes, &ParseOptions::default()).unwrap().is_empty(), "{format}");
    }
}

/// Prefixes are declared before the first statement that has them, and what is read is what was written.
#[test]
fn turtle_with_prefixes() {
    let prefixes = Prefixes::new([
        ("e", "http://e/"),
        ("unused", "http://u/"),
        ("xsd", "http://www.w3.org/2001/XMLSchema#"),
    ]);
    let lines = [
        "<http://e/a> <http://e/p> <http://other/x>",
        "<http://e/a> <http://e/p> \"<http://e/x>\"",
        "<http://e/a> <http://e/p> \"2020-01-01\"^^<http://www.w3.org/2001/XMLSchema#date>",
        "<http://e/a> <http://e/q> \"1\"^^<http://www.w3.org/2001/XMLSchema#integer>",
        "<http://e/a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e/C>",
        "_:b <http://e/x.y> \"t\"@en",
    ];
    let mut text = GraphText::new(RdfFormat::Turtle).unwrap().with_prefixes(&prefixes);
    let mut out = Vec::new();
    for line in lines {
        let mut terms = line.splitn(3, ' ').map(str::as_bytes);
        text.write([terms.next().unwrap(), terms.next().unwrap(), terms.next().unwrap()], &mut out);
    }
    text.finish(&mut out);
    let expected = "@prefix e: <http://e/> .\n\
                    @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n\
                    e:a e:p <http://other/x> , \"<http://e/x>\" , \"2020-01-01\"^^xsd:date ;\n\te:q 1 ;\n\ta e:C .\n\
                    _:b <http://e/x.y> \"t\"@en .\n";
    assert_eq!(String::from_utf8(out.clone()).unwrap(), expected);
    let read: Vec<_> = oxttl::TurtleParser::new().for_slice(&out).map(Result::unwrap).collect();
    let lines_read: Vec<String> = read.iter().map(ToString::to_string).collect();
    assert_eq!(lines_read[..5], lines[..5]);
}

/// A long document declares at its beginning what it uses there and what is expected, and the rest where it comes.
#[test]
fn long_documents_declare_what_they_know_at_the_beginning() {
    let usual = Prefixes::new([("u", "http://u/"), ("v", "http://v/"), ("never", "http://never/")]);
    let prefixes = Prefixes::over(std::sync::Arc::new(usual), [("mine", "http://mine/")]);
    let mut text = GraphText::new(RdfFormat::TriG).unwrap().with_prefixes(&prefixes);
    let (mut out, mut lines) = (Vec::new(), Vec::new());
    for number in 0..4_000 {
        let graph = ["", "<http://u/g>", "<http://other/g>"][number * 3 / 4_000];
        let object = if number < 3_900 { format!("\"{number}\"") } else { "<http://v/o>".to_owned() };
        let subject = format!("<http://u/s{number}>");
        text.write_in(graph.as_bytes(), [&subject, "<http://u/p>", &object].map(str::as_bytes), &mut out);
        lines.push(format!(
            "{subject} <http://u/p> {object}{}{graph}",
            if graph.is_empty() { "" } else { " " }
        ));
    }
    text.finish(&mut out);
    let written = String::from_utf8(out.clone()).unwrap();
    assert!(
        written.starts_with("@prefix mine: <http://mine/> .\n@prefix u: <http://u/> .\nu:s0 u:p \"0\" .\n")
    );
    assert!(written.contains("\nu:g {\nu:s1334 u:p \"1334\" .\n") && !written.contains("never:"));
    assert!(written.contains("}\n@prefix v: <http://v/> .\n<http://other/g> {\nu:s3900 u:p v:o .\n"));
    let read: Vec<String> =
        oxttl::TriGParser::new().for_slice(&out).map(|quad| quad.unwrap().to_string()).collect();
    assert_eq!(read, lines);
}
