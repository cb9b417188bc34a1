//! The fast scanner against the general parser: whatever it accepts, the general parser reads the same way.

use super::*;
use oxrdf::Quad;
use oxttl::{NQuadsParser, NTriplesParser};
use proptest::prelude::*;

/// The quads of a text, or `None` if anything in it is wrong.
fn general(text: &[u8], with_graphs: bool) -> Option<Vec<Quad>> {
    if with_graphs {
        NQuadsParser::new().for_slice(text).collect::<Result<_, _>>().ok()
    } else {
        NTriplesParser::new()
            .for_slice(text)
            .map(|item| item.map(|triple| triple.in_graph(oxrdf::GraphName::DefaultGraph)))
            .collect::<Result<_, _>>()
            .ok()
    }
}

/// Checks one line in both formats; whether the fast path took it.
#[track_caller]
fn agree(line: &str) -> bool {
    let mut taken = false;
    for with_graphs in [false, true] {
        let expected = general(line.as_bytes(), with_graphs);
        match scan_line(line, with_graphs, &mut KnownIris::new(), &mut "left over".to_owned()) {
            None => {}
            Some(Line::Empty) => assert_eq!(expected, Some(vec![]), "{line:?}"),
            Some(Line::Quad(quad)) => {
                taken = true;
                let quad = quad.as_ref().unwrap().into_owned();
                assert_eq!(expected, Some(vec![quad]), "{line:?}");
            }
        }
    }
    taken
}

#[test]
fn common_lines_are_fast() {
    for line in [
        "<http://a/b#c> <http://a/p> <http://a/o?x=1&y=2#z> .",
        "<http://a> <http://b> \"x\" . # comment",
        "_:a <http://b> _:b1.x .",
        "_:a<http://b>_:b.",
        "\t<http://a> <http://b>\t\"x\"@en-US.\r",
        "<http://a> <http://b> \"x\"@zh-hans-cn--rtl <http://g> .",
        "<http://a> <http://b> \"\\u00E9\\U0001F600\\n\\\"\\\\\"^^<http://www.w3.org/2001/XMLSchema#string> _:g .",
        "<urn:a:b> <http://é.org/ü> \"日本\"^^<http://www.w3.org/2001/XMLSchema#integer> .",
        "<http://a:80/%20> <http://u@b> \"\" .",
        "<http://a> <http://b> \"x\" .#",
        "<https://[::1]/> <http://b> \"x\" .",
    ] {
        assert!(agree(line), "{line}");
    }
    assert_eq!(scan_line(" \t# x", false, &mut KnownIris::new(), &mut String::new()), Some(Line::Empty));
    assert_eq!(scan_line("\r", false, &mut KnownIris::new(), &mut String::new()), Some(Line::Empty));
}

#[test]
fn wrong_and_rare_lines() {
    for line in [
        "<a> <http://b> <http://c> .",
        "<http://a#b#c> <http://b> <http://c> .",
        "<http://a b> <http://b> <http://c> .",
        "<http://a%2> <http://b> <http://c> .",
        "<http://a:x/> <http://b> <http://c> .",
        "<http://a\\u0020> <http://b> <http://c> .",
        "<http://a\\u00E9> <http://b> <http://c> .",
        "<http://a> <http://b> <http://c>",
        "<http://a> <http://b> <http://c> . .",
        "<http://a> <http://b> <http://c> .5",
        "<http://a> _:b <http://c> .",
        "\"a\" <http://b> <http://c> .",
        "<http://a> <http://b> \"x\\q\" .",
        "<http://a> <http://b> \"x\\uD800\" .",
        "<http://a> <http://b> \"x\"@1 .",
        "<http://a> <http://b> \"x\"@e .",
        "<http://a> <http://b> \"x\"@en-- .",
        "<http://a> <http://b> \"x\"@en--LTR .",
        "<http://a> <http://b> \"x\"@en-a .",
        "<http://a> <http://b> \"x\"@en-x-y .",
        "<http://a> <http://b> \"x\" @en .",
        "<http://a> <http://b> \"x\" ^^ <http://t> .",
        "<http://a> <http://b> \"x\"^^ <http://t> .",
        "<http://a> <http://b> \"x\"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString> .",
        "<http://a> <http://b> \"x\"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString> .",
        "<http://a> <http://b> \"a\rb\" .",
        "<http://a> <http://b> <http://c> .\r<http://a> <http://b> <http://d> .",
        "<http://a> <http://b> <http://c> . # x\r<http://a> <http://b> <http://d> .",
        "<http://a> <http://b> <<( <http://a> <http://b> <http://c> )>> .",
        "_:é <http://b> <http://c> .",
        "_:aé <http://b> <http://c> .",
        "_:. <http://b> <http://c> .",
        "_:-a <http://b> <http://c> .",
        "_:a. <http://b> <http://c> .",
        "\u{FEFF}<http://a> <http://b> <http://c> .",
        "<http://a> <http://b> <http://c> <http://g> <http://h> .",
        "<http://a> <http://b> <http://c> \"g\" .",
        "<//a> <http://b> <http://c> .",
        "<1http://a> <http://b> <http://c> .",
        "<http://> <https://> <http:> .",
        "<http://a\u{7F}> <http://b> <http://c> .",
        "<http://a[b]> <http://b> <http://c> .",
        "<http://a\u{E000}> <http://b> <http://c> .",
    ] {
        agree(line);
    }
}

#[test]
fn classes_are_those_of_the_standard() {
    for byte in 0..=255_u8 {
        let plain = byte.is_ascii_alphanumeric() || b"-._~&'()*+,;=/?".contains(&byte);
        assert_eq!(is_plain(byte), plain, "{byte}");
    }
}

fn iri() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "https?://[a-z]{1,5}(\\.[a-z]{2})?(/[a-zA-Z0-9._~!$&'()*+,;=-]{0,6}){0,2}(\\?[a-z=&/?]{0,4})?(#[a-z/?]{0,3})?",
        1 => "(http|urn|mailto|HTTP|1a|)://?[a-z:@%\\[\\]#?é\\\\u0-9]{0,8}",
    ]
    .prop_map(|iri| format!("<{iri}>"))
}

fn blank() -> impl Strategy<Value = String> {
    "_:[a-zA-Z0-9_.é-]{0,5}"
}

fn literal() -> impl Strategy<Value = String> {
    let text = "([a-zA-Z é'#<>.]|\\\\[tbnrf\"'\\\\xuU]|\\\\u00[0-9a-fA-F]{2}|\\\\U000[0-9a-f]{5}){0,6}";
    let tail = prop_oneof![
        2 => Just(String::new()),
        2 => "@[a-zA-Z]{1,4}(-[a-zA-Z0-9]{1,5}){0,3}(--(ltr|rtl|x))?",
        2 => iri().prop_map(|iri| format!("^^{iri}")),
        1 => "(@|\\^| @en|\\^\\^)",
    ];
    (text, tail).prop_map(|(text, tail)| format!("\"{text}\"{tail}"))
}

fn term() -> impl Strategy<Value = String> {
    prop_oneof![4 => iri(), 1 => blank(), 2 => literal()]
}

fn line() -> impl Strategy<Value = String> {
    let subject = prop_oneof![4 => iri(), 1 => blank(), 1 => literal()];
    let graph = prop_oneof![3 => Just(String::new()), 1 => term()];
    let gap = || prop_oneof![8 => Just(" "), 1 => Just(""), 1 => Just("\t "), 1 => Just("\r")];
    let end =
        prop_oneof![8 => Just("."), 1 => Just(""), 1 => Just(".."), 1 => Just(". # x"), 1 => Just(".\r")];
    (subject, gap(), iri(), gap(), term(), gap(), graph, gap(), end)
        .prop_map(|(s, a, p, b, o, c, g, d, end)| format!("{s}{a}{p}{b}{o}{c}{g}{d}{end}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6000))]

    #[test]
    fn generated_lines(line in line()) {
        agree(&line);
    }

    #[test]
    fn mutated_lines(line in line(), at in any::<prop::sample::Index>(), with in "[<>\"\\\\_:@^.# \r\t\0a-c%é)({]{0,2}", cut in 0..3_usize) {
        let mut chars: Vec<char> = line.chars().collect();
        let at = at.index(chars.len());
        let end = (at + cut).min(chars.len());
        chars.splice(at..end, with.chars());
        agree(&chars.into_iter().collect::<String>());
    }

    #[test]
    fn iris_agree(iri in "(http://|https://|urn:|)[a-z:/?#@%0-9é\\[\\]{}|^ ]{0,10}") {
        prop_assert_eq!(is_valid_iri(&iri), Iri::parse(iri.as_str()).is_ok());
    }

    #[test]
    fn long_iris_agree(iri in "https?://[!-~]{0,3}[a-zA-Z0-9/?._~=;-]{0,40}[!-~]{0,2}[a-z/]{0,20}[ -~é]?") {
        prop_assert_eq!(is_valid_iri(&iri), Iri::parse(iri.as_str()).is_ok());
    }

    #[test]
    fn languages_agree(tag in "[a-zA-Z]{1,5}(-[a-zA-Z0-9]{1,5}){0,3}") {
        if is_common_language(&tag) {
            prop_assert!(oxrdf::Literal::new_language_tagged_literal("", tag.as_str()).is_ok());
        }
    }
}
