//! The scanner and the cutter against the general parser: the same quads, or the same error.

mod differential;
mod generate;
mod recovery;

use super::context::Context;
use super::scanner::{Input, Scanner};
use super::skip::{Event, Skipper};
use super::*;
use crate::parse::error::SyntaxError;
use crate::parse::parse_to_vec;
use oxrdf::dataset::CanonicalizationAlgorithm;
use oxrdf::{Dataset, GraphName, Quad};
use oxttl::{TriGParser, TurtleParser};

pub(super) const BASE: &str = "http://base/x/y?q";

/// Line, column and message.
pub(super) type Wrong = (u64, u64, String);

fn options(with_base: bool) -> ParseOptions {
    let options = ParseOptions::default();
    if with_base { options.with_base_iri(BASE).unwrap() } else { options }
}

/// What the general parser alone makes of a document.
pub(super) fn oxttl(text: &[u8], with_graphs: bool, with_base: bool) -> Result<Vec<Quad>, Wrong> {
    let mut quads = Vec::new();
    let mut collect = |item: Result<Quad, oxttl::TurtleSyntaxError>| {
        let error = match item {
            Ok(quad) => {
                quads.push(quad);
                return Ok(());
            }
            Err(error) => error,
        };
        let place = error.location().start;
        Err((place.line + 1, place.column + 1, error.message().to_owned()))
    };
    if with_graphs {
        let mut parser = TriGParser::new();
        if with_base {
            parser = parser.with_base_iri(BASE).unwrap();
        }
        parser.for_slice(text).try_for_each(&mut collect)?;
    } else {
        let mut parser = TurtleParser::new();
        if with_base {
            parser = parser.with_base_iri(BASE).unwrap();
        }
        let mut items = parser.for_slice(text);
        items.try_for_each(|item| collect(item.map(|triple| triple.in_graph(GraphName::DefaultGraph))))?;
    }
    Ok(quads)
}

fn format(with_graphs: bool) -> RdfFormat {
    if with_graphs { RdfFormat::TriG } else { RdfFormat::Turtle }
}

fn wrong(error: &SyntaxError) -> Wrong {
    (error.line, error.column, error.message.clone())
}

/// What our parser makes of it.
pub(super) fn ours(text: &[u8], with_graphs: bool, with_base: bool) -> Result<Vec<Quad>, Wrong> {
    match parse_to_vec(format(with_graphs), text, &options(with_base)) {
        Ok(quads) => Ok(quads),
        Err(ParseError::Syntax(error)) => Err(wrong(&error)),
        Err(error) => panic!("{error}"),
    }
}

/// How a document is cut.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cuts {
    /// Bytes that pieces have at least.
    pub wanted: usize,
    /// Bytes that become known at a time.
    pub step: usize,
}

/// What comes out of the pieces of a document, and how many they were.
pub(super) fn in_pieces(
    text: &[u8],
    with_graphs: bool,
    with_base: bool,
    cuts: Cuts,
) -> (Result<Vec<Quad>, Wrong>, usize) {
    let mut cutter = PieceCutter::new(format(with_graphs), &options(with_base), BlankLabels::Valid).unwrap();
    let (mut start, mut known, mut count, mut quads) = (0, 0, 0, Vec::new());
    loop {
        known = (known + cuts.step).min(text.len());
        while let Some((piece, length)) = cutter.cut(&text[start..known], cuts.wanted, known == text.len()) {
            count += 1;
            let flow = piece.parse(&text[start..start + length], &mut |quad| {
                quads.push(quad.as_ref().unwrap().into_owned());
                ControlFlow::Continue(())
            });
            if let Err(error) = flow {
                return (Err(wrong(&error)), count);
            }
            assert!(piece.is_last() || length > 0);
            if piece.is_last() {
                assert_eq!(start + length, text.len());
                return (Ok(quads), count);
            }
            start += length;
        }
    }
}

/// Whether both have the same quads but for the labels of blank nodes.
pub(super) fn same(a: &[Quad], b: &[Quad]) -> bool {
    let canonical = |quads: &[Quad]| {
        let mut dataset: Dataset = quads.iter().collect();
        dataset.canonicalize(CanonicalizationAlgorithm::Unstable);
        dataset
    };
    a.len() == b.len() && canonical(a) == canonical(b)
}

/// Compares our parser with the general one, whole and in pieces.
pub(super) fn agree(text: &[u8], with_graphs: bool, with_base: bool, cuts: Cuts) -> Result<(), String> {
    let expected = oxttl(text, with_graphs, with_base);
    let shown = || {
        format!(
            "{}\n(graphs: {with_graphs}, base: {with_base}, {cuts:?})",
            String::from_utf8_lossy(text).escape_debug().to_string().replace("\\n", "\\n\n")
        )
    };
    let found = ours(text, with_graphs, with_base);
    let (cut, _) = in_pieces(text, with_graphs, with_base, cuts);
    match (&expected, &found, &cut) {
        (Ok(expected), Ok(found), Ok(cut)) => {
            if !same(expected, found) {
                return Err(format!("other quads: {found:#?}\n{expected:#?}\nin {}", shown()));
            }
            if !same(expected, cut) {
                return Err(format!("other quads in pieces: {cut:#?}\n{expected:#?}\nin {}", shown()));
            }
            Ok(())
        }
        (Err(expected), Err(found), Err(_)) => {
            let is_end = |error: &Wrong| error.2.starts_with("Unexpected end");
            // An error in a token that goes beyond the piece is told as its end.
            let fine_end = is_end(found) && (is_end(expected) || text.len() > READ_BYTES);
            // Limits of ours come before errors behind them.
            let fine_end = fine_end || std::str::from_utf8(text).is_err();
            if expected == found || found.2.contains("deep") || fine_end {
                return Ok(());
            }
            Err(format!("another error: {found:?}, not {expected:?}\nin {}", shown()))
        }
        _ => Err(format!("oxttl {expected:?}\nours {found:?}\npieces {cut:?}\nin {}", shown())),
    }
}

/// Whether the scanner needs no help with a document.
fn is_fast(text: &str, with_graphs: bool) -> bool {
    let mut scanner = Scanner::new(
        Input { text, offset: 0, with_graphs, anonymous: "x", own_base: None },
        Context::default(),
    );
    while scanner.skip_space().is_some() {
        if scanner.statement().is_none() {
            return false;
        }
    }
    true
}

#[track_caller]
fn check(text: &str, with_graphs: bool) -> Result<Vec<Quad>, Wrong> {
    for wanted in [1, 30, 1 << 20] {
        for step in [1, 50, 1 << 20] {
            agree(text.as_bytes(), with_graphs, false, Cuts { wanted, step })
                .unwrap_or_else(|error| panic!("{error}"));
        }
    }
    ours(text.as_bytes(), with_graphs, false)
}

const HEAD: &str =
    "@prefix : <http://a/> . @prefix ex: <http://b#> .\n@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n";

#[test]
fn common_statements_are_fast() {
    for text in [
        ":a :b :c .",
        ":a a ex:C ; :b 1 , 2.5 , -3e7, .5, 1.e5, true, false .",
        ":a :b \"x\", 'y', \"\"\"z \"quoted\"\n\"\"\", '''''', \"\\u00e9\\n\", \"x\"@en, 'y'@EN-us, \"z\"@ar--rtl .",
        ":a :b \"1\"^^xsd:integer, \"x\"^^xsd:string, '2'^^<http://www.w3.org/2001/XMLSchema#decimal> .",
        "[] :b [] , [ :c :d ; ], ( 1 [ :e ( ) ] () ) .\n[ :a :b ] .\n[ :a :b ; :c :d ] :e :f .\n( 1 2 ) :c ( :d ) .",
        "_:a :b _:c1.d . _:1 :b _:é .",
        "<http://x/y> <http://x/z> <http://x/\\u00e9>.<urn:a><urn:b><urn:c>.",
        ":a.b ex:%41\\~x :c:d, :, ex:é, ex:1a, ex:a-b .",
        "PREFIX new: <http://new/>\nnew:a new:b new:c .\nprefix new: <http://newer/> BASE <http://base/> <a> <b> <c#d>, <../e>, <>, new:x .\n@base <f/> . <g> <h> <i> .",
        "VERSION \"1.2\" @version '1.2' . :a :b :c ;;; .",
        "VERSION '1.2'",
        "# comment\n:a # comment\n :b\t:c\r\n. #end",
    ] {
        let text = format!("{HEAD}{text}");
        assert!(is_fast(&text, false), "{text}");
        assert!(is_fast(&text, true), "{text}");
        check(&text, false).unwrap();
        check(&text, true).unwrap();
    }
    for text in [
        ":g { :a :b :c . :d :e :f } GRAPH _:g { :a :b [] } { [ :a :b ] . } [] { :a :b :c }\ngraph <http://g> {} :a :b :c .",
        "{ :a :b 1.5 ; } { ( 1 ) :b :c . } GRAPH [ ] { :a :b \"} {\" } :b { :prefix :b :base } ",
    ] {
        let text = format!("{HEAD}{text}");
        assert!(is_fast(&text, true), "{text}");
        check(&text, true).unwrap();
    }
}

#[test]
fn rare_statements_are_left_to_the_general_parser() {
    for text in [
        ":a :b :c ~ :r {| :d :e |} . :a :b :c .",
        "<< :a :b :c >> :d <<( :a :b :c )>> . << :a :b :c ~ _:r >> .",
        ":a :b \"x\" @en , \"1\" ^^ xsd:integer, \"x\"@de-1996 .",
        ":a :b \"\"\"x . \\\"\"\"\" ~ . PREFIX : <http://c/> :a :b :c . ",
    ] {
        let text = format!("{HEAD}{text}");
        assert!(!is_fast(&text, false), "{text}");
        assert!(!check(&text, false).unwrap().is_empty());
        assert!(!check(&text, true).unwrap().is_empty());
    }
    let many = format!("{HEAD}{}", "<< :a :b :c >> :d 1.5 .\n:a :b :c .\n".repeat(50));
    assert_eq!(check(&many, false).unwrap().len(), 150);
    let in_graph = format!("{HEAD}:g {{ {} }} :h {{ :a :b :c ~ }}", ":a :b 1 {| :c :d |} .\n".repeat(5));
    let quads = check(&in_graph, true).unwrap();
    assert_eq!(quads.len(), 17);
    assert!(quads.iter().all(|quad| !quad.graph_name.is_default_graph()));
}

#[test]
fn errors_are_those_of_the_general_parser() {
    for text in [
        ":a :b",
        ":a :b :c",
        ":a :b unknown:c .",
        ":a :b \"x\ny\" .",
        ":a :b \"\"\"x .",
        ":a :b <http://x y> .",
        ":a :b [ :c :d . \n :a :b :c .",
        ":a :b ( 1 . 2 ) .",
        ":a :b :c . }",
        ":a :b :c ; ; , .",
        "@prefix x <http://x> .",
        "@prefix x: <http://x>\n:a :b :c .",
        "PREFIX x: <x> .",
        "@PREFIX x: <http://x> .",
        ":a :b <rel> .",
        ":a :b \"x\"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString> .",
        ":a :b 1.5e .",
        ":a :b ex:\\q .",
        ":a :b ex:%4 .",
        ":a :b ex:%. . ",
        ":a :b <http://\\u> .\t:a :b :c .",
        "VERSION ''",
        ":x :y :z . :a :b :\\~.",
        "\u{FEFF}:a :b :c .",
        "é :a :b :c .",
        ":a :b :c .. :d :e :f .",
        "[ ] .",
    ] {
        for before in ["", ":x :y :z .\n# é\r\n", ":x :y 'é' . "] {
            let text = format!("{HEAD}{before}{text}");
            assert!(check(&text, false).is_err(), "{text}");
            assert!(check(&text, true).is_err(), "{text}");
        }
    }
    for text in [
        ":g { :a :b :c",
        ":g { :a :b :c . ",
        "{ { } }",
        ":g { :a :b }",
        "GRAPH { }",
        "GRAPH :g :a :b .",
        ":a :b { }",
        "{ << :a :b :c >> }",
        "{",
        "{ :a :b :c ~ ",
    ] {
        assert!(check(&format!("{HEAD}{text}"), true).is_err(), "{text}");
    }
}

#[test]
fn bytes_that_are_no_text() {
    for (text, fine) in [
        (&b"# caf\xE9 .\n<http://a> <http://b> <http://c> . # \xFF"[..], true),
        (b"<http://a> # caf\xE9 .\n <http://b> <http://c> .", true),
        (b"<http://a> <http://b> 'caf\xE9' .", false),
        (b"@prefix a: # \xE9\n <http://b#> . a:a a:b a:c . a:a a:b a:c .", true),
        (b"PREFIX a: <http://a/> # \xE9\n PREFIX a: # \xE9\n <http://b#> a:a a:b a:c . a:a a:b a:c .", true),
        (b"<http://a> <http://b> <http://c> . \xE9", false),
        (b"<http://a> <http://b> '# caf\xE9' . # \xE9", false),
    ] {
        for wanted in [1, 20, 1000] {
            agree(text, false, false, Cuts { wanted, step: 1 }).unwrap();
            agree(text, true, false, Cuts { wanted, step: 7 }).unwrap();
        }
        assert_eq!(ours(text, true, true).is_ok(), fine);
    }
}

/// The places of all events of a text.
fn events(text: &str, with_graphs: bool) -> Vec<Event> {
    let mut skipper = Skipper::new(text.as_bytes(), 0, with_graphs, false);
    let mut events = Vec::new();
    loop {
        match skipper.next_event() {
            Event::More(_) => return events,
            event => events.push(event),
        }
    }
}

#[test]
fn dots_that_end_statements() {
    for (text, ends) in [
        (":a :b :c.d .", &[12][..]),
        (":a :b 1.5. :a :b 1. :a :b 1.x:y", &[10, 19, 28]),
        (":a.:b 'x.'.e:x \"\"\".\"\"\".", &[10 + 1, 23]),
        (":a :b \"x\"@en.e:x", &[13]),
        ("(\"x\"@en:a.b) .", &[14]),
        ("<a.> . # . \n .", &[6, 14]),
        ("e:a\\. . e.b:c . true.x e:1.5.x 5.e5 .", &[7, 15, 37]),
        ("[].x ().x e:\\(.x", &[3, 8]),
    ] {
        let expected: Vec<_> = ends.iter().map(|&end| Event::Statement(end)).collect();
        assert_eq!(events(text, false), expected, "{text}");
    }
    use Event::{Broken, Close, Open, Statement};
    assert_eq!(
        events("g:g{ . {| . |} '}' } }", true),
        [Open(4), Statement(6), Statement(11), Close(20), Broken(22)]
    );
    assert_eq!(events("'a\n. \"x' .", false), [Broken(3), Statement(4)]);
}

#[test]
fn stops_are_found_anywhere() {
    for byte in 0..=255_u8 {
        for at in 0..20 {
            let mut text = vec![b'x'; 20];
            text[at] = byte;
            for with_graphs in [false, true] {
                let is_stop = b"\"'<#.".contains(&byte) || (with_graphs && b"{}".contains(&byte));
                let found = super::skip::find_stop(&text, 0, with_graphs);
                assert_eq!(found, is_stop.then_some(at), "{byte} at {at}");
            }
        }
    }
    let text = "\"#'<.{}\u{FF}!/;~".repeat(9);
    for from in 0..text.len() {
        let expected = text.bytes().skip(from).position(|byte| b"\"'<#.{}".contains(&byte));
        assert_eq!(super::skip::find_stop(text.as_bytes(), from, true), expected.map(|at| from + at));
    }
}

#[test]
fn long_names_are_looked_at_once() {
    let text = format!("e:{} .", "a.".repeat(200_000));
    assert_eq!(events(&text, false).len(), 2);
}

#[test]
fn blocks_are_cut() {
    let text = format!(
        "{HEAD}:g {{ {} }} {} [] {{ {} }}",
        ":a :b :c .\n".repeat(100),
        ":a :b :c .\n".repeat(10),
        ":a :b [] .\n".repeat(100)
    );
    let cuts = Cuts { wanted: 100, step: 64 };
    let (found, pieces) = in_pieces(text.as_bytes(), true, false, cuts);
    assert!(pieces > 20);
    assert!(same(&found.unwrap(), &oxttl(text.as_bytes(), true, false).unwrap()));
}

#[test]
fn labels_never_clash() {
    let mut labels = std::collections::HashSet::new();
    let text = format!("{HEAD}{}", ":a :b [], ( [] ( [] ) ) .\n".repeat(100));
    for blank_labels in [BlankLabels::Short, BlankLabels::Valid] {
        labels.clear();
        let mut cutter = PieceCutter::new(RdfFormat::Turtle, &ParseOptions::default(), blank_labels).unwrap();
        let mut rest = text.as_bytes();
        while let Some((piece, length)) = cutter.cut(rest, 100, true) {
            let _ = piece.parse(&rest[..length], &mut |quad| {
                for term in [quad.subject, quad.object] {
                    if let crate::RawTerm::Blank(label) = term {
                        labels.insert(label.to_owned());
                    }
                }
                ControlFlow::Continue(())
            });
            rest = &rest[length..];
            if piece.is_last() {
                break;
            }
        }
        assert_eq!(labels.len(), 100 * 6);
    }
    assert!(labels.iter().all(|label| oxrdf::BlankNode::new(label).is_ok()));
}
