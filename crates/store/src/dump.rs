//! All quads of a version, or of one graph, as terms or as lines of text: for exports and backups that any tool can read.

mod batches;
mod scope;

use crate::error::StoreError;
use crate::snapshot::Snapshot;
use batches::{Batches, Stop, TextBytes, in_parts};
use lode_base::cancel::{CancelToken, Cancelled};
use lode_packed::Position;
use lode_rdf::key::inline_term;
use lode_rdf::serialize::{GraphText, write_inline_ntriples, write_key_ntriples};
use lode_rdf::{GraphName, Kind, NamedOrBlankNode, QuadRef, Term, ValueId, term_bytes};
use std::cell::RefCell;
use std::io::{self, Write};

pub use scope::DumpScope;

/// Bytes of text that are gathered before they are written.
const BUFFER_BYTES: usize = 64 << 10;

/// How to dump.
#[derive(Debug, Clone, Copy)]
pub struct DumpOptions {
    /// Which quads.
    pub scope: DumpScope,
    /// Bytes of the texts of several rows that are held at once; half as much again, and what a row has, while they are written.
    pub text_bytes_max: usize,
}

impl From<DumpScope> for DumpOptions {
    fn from(scope: DumpScope) -> Self {
        Self { scope, text_bytes_max: 16 << 20 }
    }
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
///
/// # Errors
/// The first of `visit`; where a file cannot be read or is damaged, a term is damaged, or the work was cancelled.
pub fn dump_quads(
    snapshot: &Snapshot,
    options: impl Into<DumpOptions>,
    cancel: &CancelToken,
    visit: &mut dyn FnMut(QuadRef<'_>) -> io::Result<()>,
) -> Result<u64, DumpError> {
    let DumpOptions { scope, text_bytes_max } = options.into();
    let mut batches = Batches::new(snapshot, scope)?;
    let (mut count, mut terms) = (0, Terms::default());
    while batches.next()? {
        cancel.check()?;
        let read = |rows, bytes, terms: &mut Terms| {
            batches.distinct(rows, &mut terms.ids);
            terms.read(snapshot, bytes)
        };
        in_parts(batches.rows(), text_bytes_max, &mut terms, read, |mut rows, terms| {
            rows.try_for_each(|row| visit_row(batches.row(row), &|id| terms.get(id), visit))
        })?;
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
///
/// # Errors
/// Where `out` cannot be written to; else like [`dump_quads`].
pub fn dump_lines(
    snapshot: &Snapshot,
    options: impl Into<DumpOptions>,
    cancel: &CancelToken,
    out: &mut dyn Write,
) -> Result<u64, DumpError> {
    let write = |quad: [Option<&[u8]>; 4], lines: &mut Vec<u8>| {
        for text in quad.into_iter().flatten() {
            lines.extend_from_slice(text);
            lines.push(b' ');
        }
        lines.extend_from_slice(b".\n");
    };
    dump_texts(snapshot, options.into(), cancel, out, write, |_| {})
}

/// Writes all quads, or the triples of one graph, in a format that can hold them; returns how many there were.
///
/// # Errors
/// Like [`dump_lines`].
pub fn dump_graph(
    snapshot: &Snapshot,
    options: impl Into<DumpOptions>,
    format: GraphText,
    cancel: &CancelToken,
    out: &mut dyn Write,
) -> Result<u64, DumpError> {
    let options = options.into();
    let format = RefCell::new(format);
    let write = |[s, p, o, g]: [Option<&[u8]>; 4], buffer: &mut Vec<u8>| {
        let graph = g.filter(|_| options.scope.has_graphs()).unwrap_or_default();
        format.borrow_mut().write_in(graph, [s, p, o].map(Option::unwrap_or_default), buffer);
    };
    dump_texts(snapshot, options, cancel, out, write, |buffer| format.borrow_mut().finish(buffer))
}

/// Terms go from the dictionary's keys straight into text; `write` appends a quad of such, `finish` the end. The default graph has no text.
fn dump_texts(
    snapshot: &Snapshot,
    DumpOptions { scope, text_bytes_max }: DumpOptions,
    cancel: &CancelToken,
    out: &mut dyn Write,
    write: impl Fn([Option<&[u8]>; 4], &mut Vec<u8>),
    finish: impl Fn(&mut Vec<u8>),
) -> Result<u64, DumpError> {
    let mut batches = Batches::new(snapshot, scope)?;
    let (mut count, mut buffer, mut texts) = (0, Vec::new(), Texts::default());
    while batches.next()? {
        cancel.check()?;
        let read = |rows, bytes, texts: &mut Texts| {
            batches.distinct(rows, &mut texts.ids);
            texts.read(snapshot, bytes)
        };
        in_parts(batches.rows(), text_bytes_max, &mut texts, read, |rows, texts| {
            for row in rows {
                let quad = batches.row(row);
                check_places(quad)?;
                texts.find(quad)?;
                write(texts.found(), &mut buffer);
                if buffer.len() >= BUFFER_BYTES {
                    out.write_all(&buffer)?;
                    buffer.clear();
                    buffer.shrink_to(2 * BUFFER_BYTES);
                }
            }
            Ok::<_, DumpError>(())
        })?;
        count += batches.rows() as u64;
    }
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

/// Distinct terms.
#[derive(Default)]
struct Terms {
    ids: Vec<ValueId>,
    terms: Vec<Option<Term>>,
}

impl Terms {
    /// Replaces the terms by those of `ids`.
    fn read(&mut self, snapshot: &Snapshot, mut bytes: TextBytes) -> Result<(), Stop> {
        let Self { ids, terms } = self;
        terms.clear();
        terms.resize(ids.len(), None);
        snapshot.term_refs::<Stop>(ids, &mut |index, term| {
            let term = term.into_owned();
            bytes.add(term_bytes(term.as_ref()))?;
            terms[index] = Some(term);
            Ok(())
        })
    }

    fn get(&self, id: ValueId) -> Option<&Term> {
        self.ids.binary_search(&id).ok().and_then(|at| self.terms[at].as_ref())
    }
}

/// Ids whose places were looked for last, of each column, by their lowest bits.
const RECENT: usize = 256;

/// The texts of distinct terms, and the buffers that the next ones use again: new ones would be touched for the first time, page by page.
#[derive(Default)]
struct Texts {
    ids: Vec<ValueId>,
    spans: Vec<(usize, usize)>,
    text: Vec<u8>,
    in_dictionary: Vec<ValueId>,
    places: Vec<usize>,
    /// Places of ids that were looked for: subjects and predicates come again and again.
    recent: [Vec<(ValueId, usize)>; 4],
    /// Those of a quad; none for the default graph.
    found: [Option<usize>; 4],
}

impl Texts {
    /// Replaces the texts by those of `ids`.
    fn read(&mut self, snapshot: &Snapshot, mut bytes: TextBytes) -> Result<(), Stop> {
        let Self { ids, spans, text, in_dictionary, places, recent, .. } = self;
        bytes.clear(text);
        spans.clear();
        spans.resize(ids.len(), (0, 0));
        in_dictionary.clear();
        places.clear();
        recent.iter_mut().for_each(Vec::clear);
        for (place, id) in ids.iter().enumerate() {
            if id.kind().is_some_and(|kind| kind.section().is_some()) {
                in_dictionary.push(*id);
                places.push(place);
                continue;
            }
            let start = text.len();
            if !write_inline_ntriples(*id, text) {
                return Err(StoreError::UnknownId(*id).into());
            }
            spans[place] = (start, text.len());
        }
        snapshot.keys::<Stop>(in_dictionary, &mut |index, key| {
            let start = text.len();
            let id = in_dictionary[index];
            let section = id.kind().and_then(Kind::section).ok_or(StoreError::UnknownId(id))?;
            bytes.make_room(text, key.len());
            write_key_ntriples(section, key, text)
                .map_err(|error| StoreError::Limit(format!("the key of {id:?} is damaged: {error}")))?;
            spans[places[index]] = (start, text.len());
            bytes.add(text.len() - start)
        })
    }

    /// Finds the texts of a quad.
    fn find(&mut self, quad: [ValueId; 4]) -> Result<(), StoreError> {
        for (column, id) in quad.into_iter().enumerate() {
            let (recent, found) = (&mut self.recent[column], &mut self.found[column]);
            if column == Position::G as usize && id == ValueId::DEFAULT_GRAPH {
                *found = None;
                continue;
            }
            if recent.is_empty() {
                recent.resize(RECENT, (ValueId::DEFAULT_GRAPH, 0));
            }
            let known = &mut recent[id.payload() as usize % RECENT];
            if known.0 != id {
                let at = self.ids.binary_search(&id).map_err(|_| StoreError::UnknownId(id))?;
                *known = (id, at);
            }
            *found = Some(known.1);
        }
        Ok(())
    }

    /// The texts of the quad that was looked for last.
    fn found(&self) -> [Option<&[u8]>; 4] {
        self.found.map(|place| {
            let (start, end) = *self.spans.get(place?)?;
            self.text.get(start..end)
        })
    }
}

/// Whether an id is one that no dictionary is needed for.
pub(crate) fn is_plain(id: ValueId) -> bool {
    inline_term(id).is_some()
}
