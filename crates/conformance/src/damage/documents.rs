//! Damaged RDF documents.

use super::bytes::damage_text;
use super::{Outcome, Verdict, dice, with_patience};
use crate::dataset::{Dataset, quad_row};
use crate::engine_subject::EngineSubject;
use crate::generate::Case;
use crate::isomorphism::isomorphic;
use crate::rdf_files::{RdfFormat, parse};
use crate::subject::{Subject, no_panic};
use anyhow::{Context, Result, ensure};

const BASE: &str = "http://e/folder/document";

const RDF_XML: &str = r##"<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE rdf:RDF [ <!ENTITY e "http://e/"> ]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/" xml:base="http://e/x">
  <rdf:Description rdf:about="&e;a" e:label="attribute"><e:p rdf:resource="b"/><e:q xml:lang="en">text &amp; more</e:q>
    <e:n rdf:datatype="http://www.w3.org/2001/XMLSchema#integer">1</e:n>
    <e:list rdf:parseType="Collection"><rdf:Description rdf:nodeID="x"/><e:Class rdf:about="#c"/></e:list>
    <e:inner rdf:parseType="Resource"><e:p>inner</e:p></e:inner></rdf:Description>
  <rdf:Bag rdf:ID="bag"><rdf:li>one</rdf:li><rdf:li rdf:resource="two"/></rdf:Bag>
</rdf:RDF>
"##;

const JSON_LD: &str = r#"{
  "@context": {"e": "http://e/", "name": "e:name", "knows": {"@id": "e:knows", "@type": "@id"}, "list": {"@id": "e:list", "@container": "@list"},
    "label": {"@id": "e:label", "@container": "@language"}, "age": {"@id": "e:age", "@type": "http://www.w3.org/2001/XMLSchema#integer"}},
  "@id": "e:a", "@type": ["e:Person"], "name": "A", "knows": ["e:b", "_:x"], "list": [1, 2.5, true, null, "x"],
  "label": {"en": "hello", "de": ["hallo", "tag"]}, "age": "7",
  "@graph": [{"@id": "e:g", "@graph": [{"@id": "_:x", "name": {"@value": "X", "@language": "en"}}]}]
}
"#;

/// Damages documents of all syntaxes, `count` of them. The engine accepts and refuses what the reference parsers do, and reads the same.
///
/// # Errors
///
/// Where the sound documents cannot be read.
pub fn damaged_documents(seed: u64, count: u64, progress: &mut dyn FnMut(&Outcome)) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    for number in 0..count {
        let seed = seed.wrapping_add(number);
        let mut random = dice(seed);
        let formats = [
            RdfFormat::NTriples,
            RdfFormat::NQuads,
            RdfFormat::NQuads,
            RdfFormat::Turtle,
            RdfFormat::TriG,
            RdfFormat::TriG,
            RdfFormat::RdfXml,
            RdfFormat::JsonLd,
        ];
        let format = *random.pick(&formats);
        let damaged = damage_text(&mut random, document(seed, format)?.as_bytes());
        let bytes = damaged.clone();
        let verdict = with_patience(move || judge(&bytes, format));
        outcome
            .add(seed, verdict.with_context(|| format!("{format:?}\n{}", String::from_utf8_lossy(&damaged))));
        progress(&outcome);
    }
    Ok(outcome)
}

fn document(seed: u64, format: RdfFormat) -> Result<String> {
    let text = Case::new(seed).data_text();
    let data = parse(text.as_bytes(), RdfFormat::TriG, BASE)?;
    Ok(match format {
        RdfFormat::NTriples => data.default_graph().iter().map(|t| format!("{t} .\n")).collect(),
        RdfFormat::NQuads => data.quads().iter().map(|q| format!("{q} .\n")).collect(),
        RdfFormat::Turtle => {
            text.lines().filter(|l| !l.contains('{')).map(|l| format!("{l}\n")).collect::<String>()
                + ":a :p ( 1 [ :q 'x', \"\"\"long\n\"\"\" ] ), -1.5e3 ; a :b {| :r true |} .\n<< :a :p :b ~ :r >> :q :c .\n"
        }
        RdfFormat::TriG => text,
        RdfFormat::RdfXml => RDF_XML.to_owned(),
        RdfFormat::JsonLd => JSON_LD.to_owned(),
    })
}

fn judge(bytes: &[u8], format: RdfFormat) -> Result<Verdict> {
    let reference = no_panic(|| parse(bytes, format, BASE));
    let got = EngineSubject::default().read_rdf(bytes, format, BASE);
    match (reference, got) {
        (Ok(wanted), Ok(got)) => {
            let rows = |d: &Dataset| d.quads().iter().map(quad_row).collect::<Vec<_>>();
            ensure!(
                isomorphic(&rows(&wanted), &rows(&got)),
                "read {:?}\ninstead of {:?}",
                got.quads(),
                wanted.quads()
            );
            Ok(Verdict::Right)
        }
        (Err(_), Err(_)) => Ok(Verdict::Refused),
        (Ok(_), Err(error)) => Err(error.context("the engine refuses what the reference parser reads")),
        (Err(error), Ok(_)) => Err(error.context("the engine reads what the reference parser refuses")),
    }
}
