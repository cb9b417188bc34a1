//! All quads of a version, or of one graph, as terms or as lines of text: for exports and backups that any tool can read.

use crate::error::StoreError;
use crate::snapshot::{Scan, Snapshot};
use lode_base::cancel::{CancelToken, Cancelled};
use lode_packed::{Order, Position};
use lode_rdf::key::inline_term;
use lode_rdf::serialize::{GraphText, write_inline_ntriples, write_key_ntriples};
use lode_rdf::{GraphName, Kind, NamedOrBlankNode, QuadRef, Term, ValueId};
use std::cell::RefCell;
use std::io::{self, Write};

/// Rows that are turned into terms at once: a term that repeats among them is read once.
const BATCH_ROWS: usize = 1 << 15;

/// Which quads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DumpScope {
    /// Those of all graphs: the default graph first, then each named graph by itself.
    All,
    /// Those of one graph, named or [`ValueId::DEFAULT_GRAPH`].
    Graph(ValueId),
}

/// Why a dump stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DumpError {
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The text could not be written.
    #[error(transparent)]
    Output(#[from] io::Error),
    /// It was told to stop.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// Calls `visit` with every quad; returns how many there were.
pub fn dump_quads(
    snapshot: &Snapshot,
    scope: DumpScope,
    cancel: &CancelToken,
    visit: &mut dyn FnMut(QuadRef<'_>) -> io::Result<()>,
) -> Result<u64, DumpError> {
    let mut batches = Batches::new(snapshot, scope)?;
    let mut count = 0;
    while batches.next()? {
        cancel.check()?;
        let ids = batches.distinct();
        let mut terms: Vec<Option<Term>> = vec![None; ids.len()];
        snapshot.terms(&ids, &mut |index, term| {
            terms[index] = Some(term);
            Ok(())
        })?;
        let term = |id: ValueId| ids.binary_search(&id).ok().and_then(|at| terms[at].as_ref());
        for row in 0..batches.rows() {
            visit_row(batches.row(row), &term, visit)?;
        }
        count += batches.rows() as u64;
    }
    Ok(count)
}

fn visit_row<'a>(
    [s, p, o, g]: [ValueId; 4],
    term: &dyn Fn(ValueId) -> Option<&'a Term>,
    visit: &mut dyn FnMut(QuadRef<'_>) -> io::Result<()>,
) -> Result<(), DumpError> {
    let subject = match term(s) {
        Some(Term::NamedNode(node)) => NamedOrBlankNode::NamedNode(node.clone()),
        Some(Term::BlankNode(node)) => NamedOrBlankNode::BlankNode(node.clone()),
        _ => return Err(misplaced(s, "subject").into()),
    };
    let Some(Term::NamedNode(predicate)) = term(p) else { return Err(misplaced(p, "predicate").into()) };
    let Some(object) = term(o) else { return Err(StoreError::UnknownId(o).into()) };
    let graph = match term(g) {
        None => GraphName::DefaultGraph,
        Some(Term::NamedNode(node)) => GraphName::NamedNode(node.clone()),
        Some(Term::BlankNode(node)) => GraphName::BlankNode(node.clone()),
        Some(_) => return Err(misplaced(g, "graph name").into()),
    };
    let quad = QuadRef {
        subject: subject.as_ref(),
        predicate: predicate.as_ref(),
        object: object.as_ref(),
        graph_name: graph.as_ref(),
    };
    Ok(visit(quad)?)
}

fn misplaced(id: ValueId, position: &str) -> StoreError {
    StoreError::Limit(format!("the store is damaged: a quad has {id:?} as its {position}"))
}

/// Writes every quad as a line of N-Quads; returns how many there were.
pub fn dump_lines(
    snapshot: &Snapshot,
    scope: DumpScope,
    cancel: &CancelToken,
    out: &mut dyn Write,
) -> Result<u64, DumpError> {
    let write = |texts: &Texts, [s, p, o, g]: [ValueId; 4], lines: &mut Vec<u8>| {
        for id in [s, p, o].into_iter().chain((g != ValueId::DEFAULT_GRAPH).then_some(g)) {
            lines.extend_from_slice(texts.get(id)?);
            lines.push(b' ');
        }
        lines.extend_from_slice(b".\n");
        Ok(())
    };
    dump_texts(snapshot, scope, cancel, out, write, |_| {})
}

/// Writes the triples of one graph, or of a dataset without named graphs, in a format of graphs; returns how many there were.
pub fn dump_graph(
    snapshot: &Snapshot,
    scope: DumpScope,
    format: GraphText,
    cancel: &CancelToken,
    out: &mut dyn Write,
) -> Result<u64, DumpError> {
    let format = RefCell::new(format);
    let write = |texts: &Texts, [s, p, o, _]: [ValueId; 4], buffer: &mut Vec<u8>| {
        format.borrow_mut().write([texts.get(s)?, texts.get(p)?, texts.get(o)?], buffer);
        Ok(())
    };
    dump_texts(snapshot, scope, cancel, out, write, |buffer| format.borrow_mut().finish(buffer))
}

/// Terms go from the dictionary's keys straight into text; `write` appends a quad of such, `finish` the end.
fn dump_texts(
    snapshot: &Snapshot,
    scope: DumpScope,
    cancel: &CancelToken,
    out: &mut dyn Write,
    write: impl Fn(&Texts, [ValueId; 4], &mut Vec<u8>) -> Result<(), StoreError>,
    finish: impl Fn(&mut Vec<u8>),
) -> Result<u64, DumpError> {
    let mut batches = Batches::new(snapshot, scope)?;
    let (mut count, mut buffer) = (0, Vec::new());
    while batches.next()? {
        cancel.check()?;
        let texts = Texts::new(snapshot, batches.distinct())?;
        buffer.clear();
        for row in 0..batches.rows() {
            let quad = batches.row(row);
            check_places(quad)?;
            write(&texts, quad, &mut buffer)?;
        }
        out.write_all(&buffer)?;
        count += batches.rows() as u64;
    }
    buffer.clear();
    finish(&mut buffer);
    out.write_all(&buffer)?;
    out.flush()?;
    Ok(count)
}

/// No store makes quads with literals in these places; one that is damaged may have them.
fn check_places([s, p, _, g]: [ValueId; 4]) -> Result<(), StoreError> {
    let is_node = |id: ValueId| matches!(id.kind(), Some(Kind::Iri | Kind::Blank));
    match (is_node(s), p.kind(), g == ValueId::DEFAULT_GRAPH || is_node(g)) {
        (true, Some(Kind::Iri), true) => Ok(()),
        (false, ..) => Err(misplaced(s, "subject")),
        (.., false) => Err(misplaced(g, "graph name")),
        _ => Err(misplaced(p, "predicate")),
    }
}

/// The texts of distinct terms.
struct Texts {
    ids: Vec<ValueId>,
    spans: Vec<(usize, usize)>,
    text: Vec<u8>,
}

impl Texts {
    fn new(snapshot: &Snapshot, ids: Vec<ValueId>) -> Result<Self, StoreError> {
        let mut spans = vec![(0, 0); ids.len()];
        let mut text = Vec::new();
        let (mut in_dictionary, mut places) = (Vec::new(), Vec::new());
        for (place, id) in ids.iter().enumerate() {
            if id.kind().is_some_and(|kind| kind.section().is_some()) {
                in_dictionary.push(*id);
                places.push(place);
                continue;
            }
            let start = text.len();
            if !write_inline_ntriples(*id, &mut text) {
                return Err(StoreError::UnknownId(*id));
            }
            spans[place] = (start, text.len());
        }
        snapshot.keys(&in_dictionary, &mut |index, key| {
            let start = text.len();
            let id = in_dictionary[index];
            let section = id.kind().and_then(Kind::section).ok_or(StoreError::UnknownId(id))?;
            write_key_ntriples(section, key, &mut text)
                .map_err(|error| StoreError::Limit(format!("the key of {id:?} is damaged: {error}")))?;
            spans[places[index]] = (start, text.len());
            Ok(())
        })?;
        Ok(Self { ids, spans, text })
    }

    fn get(&self, id: ValueId) -> Result<&[u8], StoreError> {
        let at = self.ids.binary_search(&id).map_err(|_| StoreError::UnknownId(id))?;
        let (start, end) = self.spans[at];
        Ok(&self.text[start..end])
    }
}

/// Batches of rows in the positions S, P, O, G.
struct Batches<'a> {
    snapshot: &'a Snapshot,
    /// Scans still to do, last first.
    scans: Vec<(Order, Scan)>,
    columns: [Vec<ValueId>; 4],
}

impl<'a> Batches<'a> {
    fn new(snapshot: &'a Snapshot, scope: DumpScope) -> Result<Self, StoreError> {
        let scan =
            |order, prefix: &[ValueId]| Ok::<_, StoreError>((order, snapshot.scan(order, prefix, 0b1111)?));
        let scans = match scope {
            DumpScope::All => vec![scan(Order::Gspo, &[])?, scan(Order::Spog, &[])?],
            DumpScope::Graph(ValueId::DEFAULT_GRAPH) => vec![scan(Order::Spog, &[])?],
            DumpScope::Graph(graph) => vec![scan(Order::Gspo, &[graph])?],
        };
        Ok(Self { snapshot, scans, columns: Default::default() })
    }

    /// Reads the next batch; `false` at the end. A scan in SPOG order contributes the default graph alone.
    fn next(&mut self) -> Result<bool, StoreError> {
        while let Some((order, scan)) = self.scans.last_mut() {
            self.columns.iter_mut().for_each(Vec::clear);
            let order = *order;
            let mut read: [Vec<ValueId>; 4] = Default::default();
            if scan.next(BATCH_ROWS, &mut read)? == 0 {
                self.scans.pop();
                continue;
            }
            for (column, position) in read.into_iter().zip(order.positions()) {
                self.columns[position as usize] = column;
            }
            if order == Order::Spog && self.snapshot.has_named_graphs() {
                self.keep_default_graph();
            }
            if self.rows() > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn keep_default_graph(&mut self) {
        let keep: Vec<bool> =
            self.columns[Position::G as usize].iter().map(|g| *g == ValueId::DEFAULT_GRAPH).collect();
        for column in &mut self.columns {
            let mut kept = keep.iter();
            column.retain(|_| kept.next().copied().unwrap_or(false));
        }
    }

    fn rows(&self) -> usize {
        self.columns[0].len()
    }

    fn row(&self, row: usize) -> [ValueId; 4] {
        self.columns.each_ref().map(|column| column[row])
    }

    /// The ids of the batch but the default graph's mark, sorted, once each.
    fn distinct(&self) -> Vec<ValueId> {
        let mut ids: Vec<ValueId> = self.columns.iter().flatten().copied().collect();
        ids.sort_unstable();
        ids.dedup();
        ids.retain(|id| *id != ValueId::DEFAULT_GRAPH);
        ids
    }
}

/// Whether an id is one that no dictionary is needed for.
pub(crate) fn is_plain(id: ValueId) -> bool {
    inline_term(id).is_some()
}
