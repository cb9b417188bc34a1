//! Every file of the RDF syntax suites: what parses becomes keys and ids, comes back byte for byte, is written, and is
//! read again as the same quads. Files that do not parse (many must not) end in an error with a place.

use lode_rdf::key::{self, Encoded};
use lode_rdf::parse::{ParseError, parse_to_vec};
use lode_rdf::serialize::{QuadWriter, write_inline_ntriples, write_key_ntriples, write_term_ntriples};
use lode_rdf::{GraphNameRef, Kind, ParseOptions, Quad, RdfFormat, TermRef, ValueId};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Where the suites are: the folder named by `LODE_SUITES`, or one beside the workspace.
fn suites() -> Option<PathBuf> {
    let folder = match std::env::var_os("LODE_SUITES") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/suites"),
    };
    folder.is_dir().then_some(folder)
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else if path
            .file_name()
            .and_then(|name| name.to_str())
            .and_then(RdfFormat::from_file_name)
            .is_some()
        {
            found.push(path);
        }
    }
}

/// Labels of a document and the ids that a store would give them.
#[derive(Default)]
struct Blanks {
    ids: HashMap<String, ValueId>,
    labels: HashMap<String, String>,
}

impl Blanks {
    fn id(&mut self, label: &str) -> ValueId {
        let next = ValueId::new(Kind::Blank, self.ids.len() as u64 + 7);
        let id = *self.ids.entry(label.to_owned()).or_insert(next);
        self.labels.insert(format!("b{}", id.payload()), label.to_owned());
        id
    }
}

/// Whether the library below takes a text, which then no guard of ours may refuse.
fn library_takes(format: RdfFormat, text: &[u8], options: &ParseOptions) -> bool {
    let base = options.base_iri().unwrap();
    match format {
        RdfFormat::NTriples => oxttl::NTriplesParser::new().for_slice(text).all(|item| item.is_ok()),
        RdfFormat::NQuads => oxttl::NQuadsParser::new().for_slice(text).all(|item| item.is_ok()),
        RdfFormat::Turtle => {
            oxttl::TurtleParser::new().with_base_iri(base).unwrap().for_slice(text).all(|item| item.is_ok())
        }
        RdfFormat::TriG => {
            oxttl::TriGParser::new().with_base_iri(base).unwrap().for_slice(text).all(|item| item.is_ok())
        }
        RdfFormat::RdfXml => oxrdfxml::RdfXmlParser::new()
            .with_base_iri(base)
            .unwrap()
            .for_slice(text)
            .all(|item| item.is_ok()),
        RdfFormat::JsonLd => oxjsonld::JsonLdParser::new()
            .with_base_iri(base)
            .unwrap()
            .for_slice(text)
            .all(|item| item.is_ok()),
    }
}

/// Encodes a term and checks that it comes back, and that it is written from its key as from itself.
fn check_term(term: TermRef<'_>, blanks: &mut Blanks) {
    let (mut key, mut from_term, mut from_key) = (Vec::new(), Vec::new(), Vec::new());
    let encoded = key::encode_with(term, &mut key, &mut |label| Some(blanks.id(label)));
    let back = match encoded {
        Encoded::Inline(id) => {
            assert!(write_inline_ntriples(id, &mut from_key));
            key::inline_term(id).unwrap()
        }
        Encoded::Key(section) => {
            write_key_ntriples(section, &key, &mut from_key).unwrap();
            key::decode(section, &key).unwrap()
        }
        Encoded::Blank => return,
    };
    if has_blank(term) {
        // The store's labels stand in it; encoding it again gives the same key.
        let mut again = Vec::new();
        assert_eq!((key::encode(back.as_ref(), &mut again), again), (encoded, key));
    } else {
        assert_eq!(back.as_ref(), term);
        write_term_ntriples(term, &mut from_term);
        assert_eq!(from_term, from_key);
    }
}

fn has_blank(term: TermRef<'_>) -> bool {
    match term {
        TermRef::BlankNode(_) => true,
        TermRef::Triple(triple) => triple.subject.is_blank_node() || has_blank(triple.object.as_ref()),
        _ => false,
    }
}

fn check_quads(quads: &[Quad]) {
    let mut blanks = Blanks::default();
    for quad in quads {
        check_term(quad.subject.as_ref().into(), &mut blanks);
        check_term(quad.predicate.as_ref().into(), &mut blanks);
        check_term(quad.object.as_ref(), &mut blanks);
        if let GraphNameRef::NamedNode(node) = quad.graph_name.as_ref() {
            check_term(node.into(), &mut blanks);
        }
    }
    check_written(quads, RdfFormat::NQuads);
    check_written(quads, RdfFormat::TriG);
}

/// What is written in a format is read as the same quads in the same order.
fn check_written(quads: &[Quad], format: RdfFormat) {
    let mut writer = QuadWriter::start(format, Vec::new()).unwrap();
    for quad in quads {
        writer.write(quad.as_ref()).unwrap();
    }
    let bytes = writer.finish().unwrap();
    let again = parse_to_vec(format, &bytes, &ParseOptions::default())
        .unwrap_or_else(|error| panic!("{error}\n{}", String::from_utf8_lossy(&bytes)));
    let sorted = |quads: &[Quad]| {
        let mut lines: Vec<_> = quads.iter().map(ToString::to_string).collect();
        lines.sort();
        lines.dedup();
        lines
    };
    assert_eq!(sorted(&again), sorted(quads));
}

#[test]
fn syntax_suites() {
    let Some(suites) = suites() else {
        println!("skipped: no test suites (set LODE_SUITES)");
        return;
    };
    let mut paths = Vec::new();
    for part in ["w3c-rdf-tests/rdf", "w3c-json-ld", "w3c-rdf-canon"] {
        let folder = suites.join(part);
        if folder.is_dir() {
            files(&folder, &mut paths);
        }
    }
    let (mut read, mut refused, mut quads_read) = (0, 0, 0);
    for path in &paths {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap();
        let format = RdfFormat::from_file_name(name).unwrap();
        let text = std::fs::read(path).unwrap();
        let options = ParseOptions::default().with_base_iri(&format!("http://example.org/{name}")).unwrap();
        match parse_to_vec(format, &text, &options) {
            Ok(quads) => {
                read += 1;
                quads_read += quads.len();
                check_quads(&quads);
            }
            Err(ParseError::Syntax(error)) => {
                refused += 1;
                assert!(!library_takes(format, &text, &options), "{name}: {error}");
                assert!(error.offset <= text.len() as u64 && !error.message.is_empty(), "{name}: {error}");
            }
            Err(error) => panic!("{name}: {error}"),
        }
    }
    println!("{read} files with {quads_read} quads read, {refused} refused");
    assert!(paths.is_empty() || read > 0);
}

/// The tests that say by their names or manifests that they must fail, do; all others of the line formats parse.
#[test]
fn line_format_suites_by_name() {
    let Some(suites) = suites() else {
        println!("skipped: no test suites (set LODE_SUITES)");
        return;
    };
    let mut paths = Vec::new();
    for part in ["rdf11/rdf-n-triples", "rdf11/rdf-n-quads", "rdf12/rdf-n-triples", "rdf12/rdf-n-quads"] {
        let folder = suites.join("w3c-rdf-tests/rdf").join(part);
        if folder.is_dir() {
            files(&folder, &mut paths);
        }
    }
    for path in paths {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap();
        let format = RdfFormat::from_file_name(name).unwrap();
        if !format.is_line_based() {
            continue;
        }
        let text = std::fs::read(&path).unwrap();
        let result = parse_to_vec(format, &text, &ParseOptions::default());
        let must_fail = name.contains("-bad-");
        assert_eq!(result.is_err(), must_fail, "{}: {result:?}", path.display());
    }
}

/// A small generator of numbers, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }
}

/// Damages a text: bytes changed, cut out, doubled, or the end cut off.
fn damage(text: &mut Vec<u8>, numbers: &mut Numbers) {
    const BYTES: &[u8] = b"<>\"'\\{}[]():@#&;.,_-%/ \n\0\xFF\xC3au0";
    for _ in 0..=numbers.below(3) {
        let at = numbers.below(text.len());
        let end = (at + numbers.below(12)).min(text.len());
        match numbers.below(5) {
            0 => {
                text.drain(at..end);
            }
            1 => text.truncate(at),
            2 => {
                let piece = text[at..end].to_vec();
                text.splice(at..at, piece);
            }
            _ if at < text.len() => text[at] = BYTES[numbers.below(BYTES.len())],
            _ => {}
        }
    }
}

/// Damaged files end in errors or in quads that can be stored; no library panics (which would show as a message of ours).
#[test]
fn damaged_suites() {
    let Some(suites) = suites() else {
        println!("skipped: no test suites (set LODE_SUITES)");
        return;
    };
    let rounds = std::env::var("LODE_DAMAGE_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut paths = Vec::new();
    files(&suites, &mut paths);
    let mut numbers = Numbers(1);
    for _ in 0..rounds {
        for path in &paths {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap();
            let format = RdfFormat::from_file_name(name).unwrap();
            let mut text = std::fs::read(path).unwrap();
            damage(&mut text, &mut numbers);
            let options = ParseOptions::default().with_base_iri("http://example.org/x").unwrap();
            match parse_to_vec(format, &text, &options) {
                Ok(quads) => check_quads(&quads),
                Err(error) => {
                    let message = error.to_string();
                    assert!(
                        !message.contains("bug"),
                        "{name}: {message}\n{}",
                        String::from_utf8_lossy(&text)
                    );
                }
            }
        }
    }
}
