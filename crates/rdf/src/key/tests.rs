//! Keys: terms come back, bytes order as the parts do, damage is an error.

use super::*;
use proptest::prelude::*;

fn key_of(term: &Term) -> (Encoded, Vec<u8>) {
    let mut key = b"left over".to_vec();
    let encoded = encode(term.as_ref(), &mut key);
    (encoded, key)
}

#[track_caller]
fn round_trip(term: &Term) {
    let (encoded, key) = key_of(term);
    match encoded {
        Encoded::Inline(id) => assert_eq!(inline_term(id).as_ref(), Some(term)),
        Encoded::Key(section) => assert_eq!(decode(section, &key).as_ref(), Ok(term)),
        Encoded::Blank => panic!("{term} has no key"),
    }
}

fn iri(text: &str) -> NamedNode {
    NamedNode::new_unchecked(text)
}

fn text_strategy() -> impl Strategy<Value = String> {
    // Small alphabets with the bytes that matter to escaping.
    proptest::collection::vec(
        prop_oneof![Just('\0'), Just('\u{1}'), Just('a'), Just('é'), Just('\u{FF}'), any::<char>()],
        0..6,
    )
    .prop_map(|chars| chars.into_iter().collect())
}

fn literal_strategy() -> impl Strategy<Value = Literal> {
    let language = prop_oneof![Just("en"), Just("en-us"), Just("de")];
    let datatype = prop_oneof![
        Just("http://example.org/t\0x".to_owned()),
        Just("http://www.w3.org/2001/XMLSchema#integer".to_owned()),
        Just("http://www.w3.org/2001/XMLSchema#double".to_owned()),
    ];
    prop_oneof![
        text_strategy().prop_map(Literal::new_simple_literal),
        (text_strategy(), language.clone())
            .prop_map(|(text, language)| Literal::new_language_tagged_literal_unchecked(text, language)),
        (text_strategy(), language, prop_oneof![Just(BaseDirection::Ltr), Just(BaseDirection::Rtl)])
            .prop_map(|(text, language, direction)| {
                Literal::new_directional_language_tagged_literal_unchecked(text, language, direction)
            }),
        (text_strategy(), datatype.clone())
            .prop_map(|(text, datatype)| Literal::new_typed_literal(text, iri(&datatype))),
        (any::<i16>(), datatype)
            .prop_map(|(n, datatype)| Literal::new_typed_literal(n.to_string(), iri(&datatype))),
    ]
}

fn term_strategy() -> impl Strategy<Value = Term> {
    let leaf = prop_oneof![
        text_strategy().prop_map(|text| iri(&text).into()),
        literal_strategy().prop_map(Term::from),
    ];
    leaf.prop_recursive(4, 8, 1, |inner| {
        let subject = prop_oneof![
            text_strategy().prop_map(|text| NamedOrBlankNode::from(iri(&text))),
            (0..1000_u32).prop_map(|n| BlankNode::new_unchecked(format!("b{n}")).into()),
        ];
        (subject, text_strategy(), inner).prop_map(|(subject, predicate, object)| {
            Triple { subject, predicate: iri(&predicate), object }.into()
        })
    })
}

proptest! {
    #[test]
    fn terms_round_trip(term in term_strategy()) {
        round_trip(&term);
    }

    #[test]
    fn distinct_terms_have_distinct_keys(a in term_strategy(), b in term_strategy()) {
        prop_assert_eq!(a == b, key_of(&a) == key_of(&b));
    }

    #[test]
    fn escaped_parts_order_as_the_parts(a in text_strategy(), b in text_strategy(), x in text_strategy(), y in text_strategy()) {
        let typed = |datatype: &str, text: &str| key_of(&Literal::new_typed_literal(text, iri(datatype)).into()).1;
        prop_assert_eq!(typed(&a, &x).cmp(&typed(&b, &y)), (a.as_bytes(), x.as_bytes()).cmp(&(b.as_bytes(), y.as_bytes())));
    }

    #[test]
    fn escape_reverses(parts in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..10), 0..4)) {
        let mut bytes = Vec::new();
        for part in &parts {
            escape(part, &mut bytes);
            bytes.extend_from_slice(&TERMINATOR);
        }
        let mut rest = bytes.as_slice();
        for part in &parts {
            let (found, after) = unescape(rest).unwrap();
            prop_assert_eq!(&*found, part.as_slice());
            rest = after;
        }
        prop_assert!(rest.is_empty());
    }

    #[test]
    fn damaged_keys_never_panic(term in term_strategy(), at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>()) {
        if let (Encoded::Key(section), mut key) = key_of(&term) {
            if key.is_empty() {
                return Ok(());
            }
            let at = at.index(key.len());
            if cut {
                key.truncate(at);
            } else {
                key[at] = byte;
            }
            for other in Section::ALL {
                let _ = decode(other, &key);
            }
            let _ = decode(section, &key);
        }
    }
}

fn nested(depth: usize) -> Term {
    let mut term: Term = iri("http://example.org/\0o").into();
    for _ in 0..depth {
        term = Triple { subject: iri("s").into(), predicate: iri("p"), object: term }.into();
    }
    term
}

#[test]
fn nesting_has_a_limit() {
    round_trip(&nested(TRIPLE_DEPTH_MAX));
    let (encoded, key) = key_of(&nested(TRIPLE_DEPTH_MAX + 1));
    assert_eq!(encoded, Encoded::Key(Section::TripleTerm));
    assert_eq!(decode(Section::TripleTerm, &key), Err(KeyError::TooDeep));
}

#[test]
fn blank_nodes_inside_triple_terms_are_mapped() {
    let triple = |label: &str| -> Term {
        Triple {
            subject: BlankNode::new_unchecked(label).into(),
            predicate: iri("p"),
            object: iri("o").into(),
        }
        .into()
    };
    let mut key = Vec::new();
    let mut map = |label: &str| (label == "x").then(|| ValueId::new(Kind::Blank, 7));
    assert_eq!(encode_with(triple("x").as_ref(), &mut key, &mut map), Encoded::Key(Section::TripleTerm));
    assert_eq!(decode(Section::TripleTerm, &key), Ok(triple("b7")));
    assert_eq!(encode_with(triple("y").as_ref(), &mut key, &mut map), Encoded::Blank);
    assert_eq!(key, b"y");
    assert_eq!(encode(triple("y").as_ref(), &mut key), Encoded::Blank);
}

#[test]
fn labels_of_the_store() {
    assert_eq!(blank_from_label("b12"), Some(ValueId::new(Kind::Blank, 12)));
    assert_eq!(blank_from_label("b0"), Some(ValueId::new(Kind::Blank, 0)));
    for label in ["b", "b01", "12", "b-1", "b+1", "b99999999999999999999", "b72057594037927936", "c1", ""] {
        assert_eq!(blank_from_label(label), None, "{label}");
    }
}

#[test]
fn strings_have_one_key() {
    let simple = Literal::new_simple_literal("a");
    let mut key = Vec::new();
    assert_eq!(
        encode_typed_literal("a", "http://www.w3.org/2001/XMLSchema#string", &mut key),
        Encoded::Key(Section::String)
    );
    assert_eq!((Encoded::Key(Section::String), key), key_of(&simple.into()));
}
