//! Formats by name, media type and content.

use super::RdfFormat::{self, JsonLd, NQuads, NTriples, RdfXml, TriG, Turtle};

#[test]
fn names() {
    for format in RdfFormat::ALL {
        assert_eq!(RdfFormat::from_extension(format.extension()), Some(format));
        assert_eq!(RdfFormat::from_media_type(format.media_type()), Some(format));
        assert_eq!(RdfFormat::from_name(&format.to_string()), Some(format), "{format}");
    }
    assert_eq!(RdfFormat::from_name("NT"), Some(NTriples));
    assert_eq!(RdfFormat::from_name("text/turtle"), Some(Turtle));
    assert_eq!(RdfFormat::from_name("nothing"), None);
    assert_eq!(RdfFormat::from_media_type("Text/Turtle; charset=utf-8"), Some(Turtle));
    assert_eq!(RdfFormat::from_file_name("a/b.c/data.NQ"), Some(NQuads));
    assert_eq!(RdfFormat::from_file_name("data.trig.zst"), Some(TriG));
    assert_eq!(RdfFormat::from_file_name("a.ttl/data"), None);
    assert_eq!(RdfFormat::from_file_name("data.gz"), None);
    assert!(JsonLd.supports_datasets() && !Turtle.supports_datasets() && !RdfXml.is_line_based());
}

#[test]
fn content() {
    for (text, format) in [
        ("<http://a> <http://b> <http://c> .\n", NTriples),
        ("# comment\n\n_:a <http://b> \"x . {\"@en .\n", NTriples),
        ("<http://a> <http://b> \"c\" <http://g> .\n", NQuads),
        ("@prefix : <http://a> .\n:a :b :c .", Turtle),
        ("PREFIX a: <http://a>\nGRAPH a:g { a:a a:b a:c }", TriG),
        ("@prefix : <http://a> .\n:g {\n:a :b :c }", TriG),
        ("{ :a :b :c }", TriG),
        ("[ :a :b ] .", Turtle),
        ("<http://a>\n  a <http://b> ; <http://c> 1 .", Turtle),
        ("<?xml version=\"1.0\"?><rdf:RDF/>", RdfXml),
        ("\u{FEFF}<rdf:RDF xmlns:rdf=\"x\">", RdfXml),
        ("<!DOCTYPE rdf:RDF [", RdfXml),
        ("{\"@context\": {}}", JsonLd),
        ("  [{\"@id\": \"a\"}]", JsonLd),
        ("{}", JsonLd),
    ] {
        assert_eq!(RdfFormat::guess_from_content(text.as_bytes()), Some(format), "{text}");
    }
    assert_eq!(RdfFormat::guess_from_content(b""), None);
    assert_eq!(RdfFormat::guess_from_content(b"  \n"), None);
    let _ = RdfFormat::guess_from_content(b"\xFF\xFE\x00");
}
