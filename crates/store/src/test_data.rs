//! Random quads of all kinds, a model of what a database must hold after some loads, and the comparison of the two.

use crate::snapshot::Snapshot;
use crate::store::Store;
use crate::{LoadError, LoadOptions, LoadProgress, LoadReport, Source, StoreError, load};
use lode_base::cancel::CancelToken;
use lode_base::vfs::Vfs;
use lode_packed::{Order, Position};
use lode_rdf::{
    BaseDirection, BlankNode, GraphName, Literal, NamedNode, NamedOrBlankNode, Quad, Term, Triple, ValueId,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

pub const FOLDER: &str = "/db";
/// Says which blank node of which file a blank node is.
const NAME: &str = "http://x/blank-node-name";

fn iri(number: u8) -> NamedNode {
    // Shared prefixes of different lengths, one IRI a prefix of another, and non-ASCII text.
    NamedNode::new_unchecked(match number % 4 {
        0 => format!("http://example.org/{}", "a".repeat(usize::from(number) / 4)),
        1 => format!("http://example.org/things/with/a/rather/long/path/{number}"),
        2 => format!("urn:x:{number}"),
        _ => format!("http://ex\u{e4}mple.org/\u{10348}{number}"),
    })
}

fn node() -> impl Strategy<Value = NamedOrBlankNode> {
    prop_oneof![
        (0_u8..24).prop_map(|n| iri(n).into()),
        (0_u8..5).prop_map(|n| BlankNode::new_unchecked(format!("n{n}")).into()),
    ]
}

fn literal() -> impl Strategy<Value = Literal> {
    let xsd = |name: &str| NamedNode::new_unchecked(format!("http://www.w3.org/2001/XMLSchema#{name}"));
    let typed = prop_oneof![
        (-3_i64..9).prop_map(move |n| (n.to_string(), "integer")),
        (0_i64..4).prop_map(move |n| (format!("0{n}"), "integer")),
        (0_i64..4).prop_map(move |n| (format!("99999999999999999999{n}"), "integer")),
        (0_i64..9).prop_map(move |n| (format!("{n}.50"), "decimal")),
        (0_i64..4).prop_map(move |n| (format!("{n}.5E0"), "double")),
        (1_i64..9).prop_map(move |n| (format!("2020-01-0{n}"), "date")),
        Just(("true".to_owned(), "boolean")),
        Just(("nonsense".to_owned(), "boolean")),
    ];
    prop_oneof![
        "[a-c\u{e9}\u{0}\n\"\\\\]{0,4}".prop_map(Literal::new_simple_literal),
        (0_usize..4).prop_map(|n| Literal::new_simple_literal("long ".repeat(40 * n + 1))),
        ("[ab]{0,2}", "[a-c]{2}")
            .prop_map(|(text, tag)| { Literal::new_language_tagged_literal_unchecked(text, tag) }),
        "[ab]{0,2}".prop_map(|text| {
            Literal::new_directional_language_tagged_literal_unchecked(text, "he", BaseDirection::Rtl)
        }),
        typed.prop_map(move |(text, name)| Literal::new_typed_literal(text, xsd(name))),
        ("[ab]{0,2}", 0_u8..3).prop_map(|(text, n)| Literal::new_typed_literal(text, iri(n))),
    ]
}

fn object() -> impl Strategy<Value = Term> {
    let leaf = prop_oneof![3 => node().prop_map(Term::from), 4 => literal().prop_map(Term::from)];
    leaf.prop_recursive(2, 4, 1, |inner| {
        (node(), 0_u8..3, inner).prop_map(|(subject, p, object)| {
            Term::Triple(Box::new(Triple { subject, predicate: iri(p), object }))
        })
    })
}

fn quad() -> impl Strategy<Value = Quad> {
    let graph = prop_oneof![
        3 => Just(GraphName::DefaultGraph),
        2 => (0_u8..4).prop_map(|n| GraphName::NamedNode(iri(n))),
        1 => (0_u8..2).prop_map(|n| GraphName::BlankNode(BlankNode::new_unchecked(format!("n{n}")))),
    ];
    (node(), 0_u8..6, object(), graph).prop_map(|(subject, p, object, graph_name)| Quad {
        subject,
        predicate: iri(p),
        object,
        graph_name,
    })
}

/// The quads of one file.
pub fn file() -> impl Strategy<Value = Vec<Quad>> {
    proptest::collection::vec(quad(), 0..80)
}

fn blanks_of(term: &Term, out: &mut BTreeSet<String>) {
    match term {
        Term::BlankNode(node) => {
            out.insert(node.as_str().to_owned());
        }
        Term::Triple(triple) => {
            blanks_of(&triple.subject.clone().into(), out);
            blanks_of(&triple.object, out);
        }
        _ => {}
    }
}

/// Adds to a file, for each of its blank nodes, a quad that names it, so that it is known again in the database.
pub fn named(file_name: &str, quads: &[Quad]) -> Vec<Quad> {
    let mut blanks = BTreeSet::new();
    for quad in quads {
        blanks_of(&quad.subject.clone().into(), &mut blanks);
        blanks_of(&quad.object, &mut blanks);
        if let GraphName::BlankNode(node) = &quad.graph_name {
            blanks.insert(node.as_str().to_owned());
        }
    }
    let mut all = quads.to_vec();
    all.extend(blanks.into_iter().map(|label| Quad {
        object: Literal::new_simple_literal(format!("{file_name}.{label}")).into(),
        subject: BlankNode::new_unchecked(label).into(),
        predicate: NamedNode::new_unchecked(NAME),
        graph_name: GraphName::DefaultGraph,
    }));
    all
}

/// N-Quads.
pub fn text(quads: &[Quad]) -> Vec<u8> {
    quads.iter().map(|quad| format!("{quad} .\n")).collect::<String>().into_bytes()
}

fn rename_node(node: &NamedOrBlankNode, names: &dyn Fn(&str) -> String) -> NamedOrBlankNode {
    match node {
        NamedOrBlankNode::BlankNode(node) => BlankNode::new_unchecked(names(node.as_str())).into(),
        other @ NamedOrBlankNode::NamedNode(_) => other.clone(),
    }
}

fn rename_term(term: &Term, names: &dyn Fn(&str) -> String) -> Term {
    match term {
        Term::BlankNode(node) => BlankNode::new_unchecked(names(node.as_str())).into(),
        Term::Triple(triple) => Term::Triple(Box::new(Triple {
            subject: rename_node(&triple.subject, names),
            predicate: triple.predicate.clone(),
            object: rename_term(&triple.object, names),
        })),
        other => other.clone(),
    }
}

fn rename(quad: &Quad, names: &dyn Fn(&str) -> String) -> String {
    let graph_name = match &quad.graph_name {
        GraphName::BlankNode(node) => BlankNode::new_unchecked(names(node.as_str())).into(),
        other => other.clone(),
    };
    Quad {
        subject: rename_node(&quad.subject, names),
        predicate: quad.predicate.clone(),
        object: rename_term(&quad.object, names),
        graph_name,
    }
    .to_string()
}

/// What a database must hold, with blank nodes by the names of their files and their labels there.
pub type Model = BTreeSet<String>;

/// Adds a file (as [`named`] made it) to a model.
pub fn add_to(model: &mut Model, file_name: &str, quads: &[Quad]) {
    for quad in quads {
        model.insert(rename(quad, &|label| format!("{file_name}.{label}")));
    }
}

/// Loads files, given as names and quads.
pub fn load_files(
    store: &Store,
    files: &[(String, Vec<Quad>)],
    options: LoadOptions,
) -> Result<LoadReport, LoadError> {
    let sources =
        files.iter().map(|(name, quads)| Source::bytes(format!("{name}.nq"), text(quads))).collect();
    load(store, sources, options, &Arc::new(LoadProgress::default()))
}

/// All rows of an order.
pub fn rows(snapshot: &Snapshot, order: Order, prefix: &[ValueId]) -> Vec<[ValueId; 4]> {
    let mut scan = snapshot.scan(order, prefix, 0b1111).unwrap();
    let mut columns: [Vec<ValueId>; 4] = Default::default();
    while scan.next(7, &mut columns).unwrap() > 0 {}
    (0..columns[0].len()).map(|row| std::array::from_fn(|column| columns[column][row])).collect()
}

fn quad_of(snapshot: &Snapshot, row: [ValueId; 4]) -> Quad {
    let node = |id| match snapshot.term(id).unwrap() {
        Term::NamedNode(node) => NamedOrBlankNode::from(node),
        Term::BlankNode(node) => node.into(),
        other => panic!("{other} is no node"),
    };
    let Term::NamedNode(predicate) = snapshot.term(row[1]).unwrap() else { panic!("no predicate") };
    let graph_name = match row[3] {
        ValueId::DEFAULT_GRAPH => GraphName::DefaultGraph,
        id => node(id).into(),
    };
    Quad { subject: node(row[0]), predicate, object: snapshot.term(row[2]).unwrap(), graph_name }
}

/// What a snapshot holds, in the model's terms.
pub fn contents(snapshot: &Snapshot) -> Model {
    let quads: Vec<Quad> =
        rows(snapshot, Order::Spog, &[]).into_iter().map(|row| quad_of(snapshot, row)).collect();
    let mut names = BTreeMap::new();
    for quad in &quads {
        if let (NamedOrBlankNode::BlankNode(node), NAME, Term::Literal(name)) =
            (&quad.subject, quad.predicate.as_str(), &quad.object)
        {
            let before = names.insert(node.as_str().to_owned(), name.value().to_owned());
            assert_eq!(before, None, "one blank node with two names");
        }
    }
    let name = |label: &str| names.get(label).cloned().unwrap_or_else(|| format!("unknown-{label}"));
    let model: Model = quads.iter().map(|quad| rename(quad, &name)).collect();
    assert_eq!(model.len(), quads.len(), "a quad twice");
    model
}

/// Compares everything a snapshot can tell with its own list of all quads.
pub fn check_reads(snapshot: &Snapshot, pick: usize) {
    let all = rows(snapshot, Order::Spog, &[]);
    assert!(all.is_sorted());
    assert_eq!(snapshot.quad_count(), all.len() as u64);
    for order in Order::ALL {
        let positions = order.positions();
        let mut expected: Vec<[ValueId; 4]> = all
            .iter()
            .filter(|row| order != Order::Gspo || row[Position::G as usize] != ValueId::DEFAULT_GRAPH)
            .map(|row| positions.map(|position| row[position as usize]))
            .collect();
        expected.sort_unstable();
        assert_eq!(rows(snapshot, order, &[]), expected, "{}", order.name());
        for length in 0..=4 {
            let Some(row) = expected.get(pick % expected.len().max(1)) else { continue };
            check_prefix(snapshot, order, &row[..length], &expected);
        }
        check_prefix(snapshot, order, &[ValueId::from_bits(3)], &expected);
    }
    let ids: Vec<ValueId> =
        all.iter().flatten().copied().filter(|id| *id != ValueId::DEFAULT_GRAPH).collect();
    let mut seen = vec![None; ids.len()];
    let visit = &mut |index: usize, term: Term| {
        seen[index] = Some(term);
        Ok::<_, StoreError>(())
    };
    snapshot.terms(&ids, visit).unwrap();
    for (id, term) in ids.iter().zip(seen) {
        let term = term.unwrap();
        assert_eq!(snapshot.term(*id).unwrap(), term);
        assert_eq!(snapshot.id_of(&term).unwrap(), Some(*id), "{term}");
    }
    let mut graphs: Vec<ValueId> =
        all.iter().map(|row| row[3]).filter(|id| *id != ValueId::DEFAULT_GRAPH).collect();
    graphs.sort_unstable();
    graphs.dedup();
    assert_eq!(snapshot.named_graphs().unwrap(), graphs);
}

fn check_prefix(snapshot: &Snapshot, order: Order, prefix: &[ValueId], all: &[[ValueId; 4]]) {
    let expected: Vec<[ValueId; 4]> = all.iter().copied().filter(|row| row.starts_with(prefix)).collect();
    assert_eq!(rows(snapshot, order, prefix), expected);
    assert_eq!(snapshot.count(order, prefix).unwrap(), expected.len() as u64);
    let column = prefix.len();
    if column < 4 {
        let values: BTreeSet<ValueId> = expected.iter().map(|row| row[column]).collect();
        let distinct = snapshot.distinct(order, prefix).unwrap();
        let exact = snapshot.ids_are_ordered() || expected.len() <= 4096;
        assert!(!exact || distinct == values.len() as u64, "{distinct} of {}", values.len());
        if column < 3 {
            let cancel = CancelToken::default();
            let counted = snapshot.distinct_exactly(order, prefix, usize::MAX, &cancel).unwrap();
            assert_eq!(counted, Some(values.len() as u64), "{} {prefix:?}", order.name());
        }
        check_between(snapshot, order, prefix, &values, &expected);
        let ranges = snapshot.split(order, prefix, ValueId::UNDEF..ValueId::MAX, 3).unwrap();
        assert_eq!(ranges.first().unwrap().start, ValueId::UNDEF);
        assert_eq!(ranges.last().unwrap().end, ValueId::MAX);
        assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
    }
    // Seeking and limiting, with only the last column read.
    for (at, row) in expected.iter().enumerate().step_by(5.max(expected.len() / 16)) {
        let end = expected.len() - (expected.len() - at) / 3;
        let mut scan = snapshot.scan(order, prefix, 0b1000).unwrap();
        let mut columns: [Vec<ValueId>; 4] = Default::default();
        if at > 2 {
            scan.next(1, &mut columns).unwrap();
            columns[3].clear();
        }
        if let Some(limit) = expected.get(end) {
            scan.limit_to(limit).unwrap();
        }
        scan.seek(row).unwrap();
        while scan.next(3, &mut columns).unwrap() > 0 {}
        let last: Vec<ValueId> = expected[at..end.max(at)].iter().map(|row| row[3]).collect();
        assert_eq!(columns[3], last);
        assert!(columns[0].is_empty());
    }
}

/// Counts and cuts between values of the column after a prefix.
fn check_between(
    snapshot: &Snapshot,
    order: Order,
    prefix: &[ValueId],
    values: &BTreeSet<ValueId>,
    expected: &[[ValueId; 4]],
) {
    let column = prefix.len();
    let values: Vec<ValueId> = values.iter().copied().collect();
    for (from, to) in [(0, 1), (0, values.len()), (values.len() / 3, values.len() / 2), (values.len() / 2, 0)]
    {
        let bound = |at: usize| values.get(at).copied().unwrap_or(ValueId::MAX);
        let range = bound(from)..bound(to);
        let inside = expected.iter().filter(|row| range.contains(&row[column])).count() as u64;
        assert_eq!(snapshot.count_between(order, prefix, &range).unwrap(), inside);
        if range.start < range.end {
            let parts = snapshot.split(order, prefix, range.clone(), 3).unwrap();
            assert_eq!(parts.first().unwrap().start, range.start);
            assert_eq!(parts.last().unwrap().end, range.end);
            assert!(parts.windows(2).all(|pair| pair[0].end == pair[1].start));
            assert!(parts.iter().all(|part| part.start < part.end));
        }
    }
}

/// Opens the test database for writing.
pub fn open(vfs: &impl Vfs2) -> Store {
    Store::create_or_open(vfs.shared(), Path::new(FOLDER), 1 << 20).unwrap()
}

/// A file system that can be shared as a trait object.
pub trait Vfs2 {
    /// The trait object.
    fn shared(&self) -> Arc<dyn Vfs>;
}

impl<T: Vfs + Clone + 'static> Vfs2 for T {
    fn shared(&self) -> Arc<dyn Vfs> {
        Arc::new(self.clone())
    }
}
