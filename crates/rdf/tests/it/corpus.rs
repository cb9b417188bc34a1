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
