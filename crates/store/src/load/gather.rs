//! A worker's gathering of quads: terms become numbers of the run, quads become rows, and a run that has used up its share of
//! memory is closed.

use crate::load::error::LoadError;
use crate::load::interner::{Interner, KeyBatch};
use crate::load::predicate_cache::PredicateCache;
use crate::load::run::{NUMBERS_MAX, Run, Spill};
use crate::load::run_rows::{DEFAULT_GRAPH, Rows};
use crate::load::term_sort::SORT_BYTES_PER_TERM;
use crate::segment_builder::Class;
use lode_base::vfs::Vfs;
use lode_ingest::QuadSink;
use lode_rdf::key::{Encoded, encode_with};
use lode_rdf::value_id::PAYLOAD_MAX;
use lode_rdf::{Kind, RawKey, RawQuad, RawTerm, Triple, ValueId};
use std::path::Path;
use std::sync::Arc;

/// Quads whose terms are looked up together.
const BATCH_QUADS: usize = if cfg!(test) { 8 } else { 256 };
/// A batch with more bytes of keys is looked up early.
const BATCH_BYTES: usize = 128 << 10;
/// Terms that a run may have before the last batch.
const TERMS_MAX: u32 = NUMBERS_MAX - (1 << 16);
/// Marks a predicate that is given by its number in the run, not by its place in the batch.
const NUMBER: u32 = 1 << 31;
/// Bytes of keys that a run may have; positions reach twice as far.
const ARENA_BYTES_MAX: usize = 16 << 30;

/// Where a run goes when it is full.
#[derive(Debug)]
pub struct SpillTo<'a> {
    /// The file system.
    pub vfs: &'a Arc<dyn Vfs>,
    /// Folder for temporary files.
    pub folder: &'a Path,
    /// Number of the worker.
    pub worker: usize,
    /// Whether others go on with the runs: then all of them go to the files, with marks.
    pub for_others: bool,
}

/// Gathers quads.
#[derive(Debug)]
pub struct Gatherer<'a> {
    spill_to: SpillTo<'a>,
    memory_bytes: usize,
    /// IRI of the graph for quads that have none.
    graph: Option<String>,
    /// What is added to the numbers of sources.
    first_source: u32,
    source: u32,
    predicates: PredicateCache,
    batch: KeyBatch,
    /// Places of the terms in the batch, or `DEFAULT_GRAPH`.
    quads: Vec<[u32; 4]>,
    last_subject: Option<u32>,
    last_graph: Option<u32>,
    numbers: Vec<u32>,
    scratch: Vec<u8>,
    interner: Interner,
    rows: Rows,
    spill: Option<Spill>,
}

impl<'a> Gatherer<'a> {
    /// A gatherer whose run may take `memory_bytes`.
    pub fn new(spill_to: SpillTo<'a>, memory_bytes: usize, graph: Option<String>) -> Self {
        Self {
            spill_to,
            memory_bytes,
            graph,
            first_source: 0,
            source: 0,
            predicates: PredicateCache::default(),
            batch: KeyBatch::default(),
            quads: Vec::with_capacity(BATCH_QUADS),
            last_subject: None,
            last_graph: None,
            numbers: Vec::new(),
            scratch: Vec::new(),
            interner: Interner::default(),
            rows: Rows::default(),
            spill: None,
        }
    }

    /// The same; source number 0 is the one of this number among those that others read as well.
    #[must_use]
    pub fn with_first_source(self, first_source: u32) -> Self {
        Self { first_source, ..self }
    }

    #[inline]
    fn predicate(&mut self, key: &[u8]) -> Result<u32, LoadError> {
        if let Some(number) = self.predicates.get(key) {
            return Ok(number | NUMBER);
        }
        if !self.predicates.wants() {
            return Ok(self.batch.push(Class::Iri, key));
        }
        let number = self.interner.intern_one(Class::Iri, key).map_err(|_| LoadError::limit("terms"))?;
        self.predicates.put(key, number);
        Ok(number | NUMBER)
    }

    /// Most subjects are the one of the quad before.
    #[inline]
    fn subject(&mut self, term: &RawTerm<'_>) -> Result<u32, LoadError> {
        if let (RawTerm::Iri(iri), Some(last)) = (term, self.last_subject)
            && self.batch.is(last, Class::Iri, iri.as_bytes())
        {
            return Ok(last);
        }
        let subject = self.term(term)?;
        self.last_subject = Some(subject);
        Ok(subject)
    }

    fn graph_name(&mut self, term: &RawTerm<'_>) -> Result<u32, LoadError> {
        if let (RawTerm::Iri(iri), Some(last)) = (term, self.last_graph)
            && self.batch.is(last, Class::Iri, iri.as_bytes())
        {
            return Ok(last);
        }
        let graph = self.term(term)?;
        self.last_graph = Some(graph);
        Ok(graph)
    }

    fn default_graph(&mut self) -> u32 {
        let Some(iri) = &self.graph else { return DEFAULT_GRAPH };
        if let Some(last) = self.last_graph
            && self.batch.is(last, Class::Iri, iri.as_bytes())
        {
            return last;
        }
        let graph = self.batch.push(Class::Iri, iri.as_bytes());
        self.last_graph = Some(graph);
        graph
    }

    #[inline]
    fn term(&mut self, term: &RawTerm<'_>) -> Result<u32, LoadError> {
        if let RawTerm::Triple(triple) = term {
            return self.triple(triple);
        }
        match (*term).key(&mut self.scratch) {
            RawKey::Inline(id) => Ok(self.batch.push(Class::Inline, &id.to_bits().to_be_bytes())),
            RawKey::Key(section, key) => Ok(self.batch.push(Class::of(section), key)),
            RawKey::Blank(label) => {
                Ok(self.batch.push_parts(Class::Blank, &self.source.to_be_bytes(), label.as_bytes()))
            }
            // Taken care of above.
            RawKey::Triple(_) => Err(LoadError::limit("terms")),
        }
    }

    /// A triple term. Blank nodes in it get numbers of this run for now.
    fn triple(&mut self, triple: &Triple) -> Result<u32, LoadError> {
        let mut key = Vec::new();
        let mut label_key = self.source.to_be_bytes().to_vec();
        let (interner, mut open, mut full) = (&mut self.interner, false, false);
        let mut number = |label: &str| {
            open = true;
            label_key.truncate(4);
            label_key.extend_from_slice(label.as_bytes());
            match interner.intern_one(Class::Blank, &label_key) {
                Ok(number) => Some(ValueId::new(Kind::Blank, u64::from(number) & PAYLOAD_MAX)),
                Err(_) => {
                    full = true;
                    None
                }
            }
        };
        let encoded = encode_with(triple.into(), &mut key, &mut number);
        match encoded {
            Encoded::Key(_) if !full => {
                let class = if open { Class::OpenTriple } else { Class::TripleTerm };
                Ok(self.batch.push(class, &key))
            }
            _ => Err(LoadError::limit("terms")),
        }
    }

    /// Looks up the terms of the batch and makes rows of its quads.
    fn flush(&mut self) -> Result<(), LoadError> {
        self.interner.intern(&mut self.batch, &mut self.numbers).map_err(|_| LoadError::limit("terms"))?;
        let number = |place: u32| self.numbers.get(place as usize).copied().unwrap_or(DEFAULT_GRAPH);
        for [s, p, o, g] in &self.quads {
            let predicate = if p & NUMBER == 0 { number(*p) } else { p & !NUMBER };
            self.rows.push(number(*s), predicate, number(*o), number(*g));
        }
        self.quads.clear();
        self.batch.clear();
        // What one long term took is not kept.
        if self.scratch.capacity() > 2 * BATCH_BYTES {
            self.scratch = Vec::new();
        }
        self.last_subject = None;
        self.last_graph = None;
        let full = self.bytes() > self.memory_bytes
            || self.interner.terms() > TERMS_MAX
            || self.interner.arena().bytes() > ARENA_BYTES_MAX;
        if full { self.close_run() } else { Ok(()) }
    }

    /// Moves the run to temporary files.
    fn close_run(&mut self) -> Result<(), LoadError> {
        self.predicates.clear();
        let to = &self.spill_to;
        let io = |source| LoadError::temporary(to.folder, source);
        let spill = match &mut self.spill {
            Some(spill) => spill,
            none => none.insert({
                let spill = Spill::create(to.vfs, to.folder, to.worker, self.memory_bytes, to.for_others);
                spill.map_err(io)?
            }),
        };
        spill.add(&mut self.interner, &mut self.rows).map_err(io)?;
        // What is kept for the next run counts, because it is resident. Where that alone is too much (the last of long terms went beyond the
        // limit), the next run would be full with its first batch, and so all that follow.
        if self.bytes() > self.memory_bytes {
            self.interner = Interner::default();
            self.rows.drop_spare();
        }
        Ok(())
    }
}

impl QuadSink for Gatherer<'_> {
    type Output = Vec<Run>;
    type Error = LoadError;

    /// The quads that come now are of source number `source`, which scopes blank nodes.
    fn set_source(&mut self, source: usize) -> Result<(), LoadError> {
        let number = u32::try_from(source).ok().and_then(|source| source.checked_add(self.first_source));
        self.source = number.ok_or(LoadError::limit("sources"))?;
        self.last_subject = None;
        self.last_graph = None;
        Ok(())
    }

    /// Bytes held.
    fn bytes(&self) -> usize {
        let sort = self.interner.terms() as usize * SORT_BYTES_PER_TERM;
        self.interner.bytes() + sort + self.rows.bytes()
    }

    /// Adds a quad.
    #[inline]
    fn add(&mut self, quad: &RawQuad<'_>) -> Result<(), LoadError> {
        let subject = self.subject(&quad.subject)?;
        let predicate = self.predicate(quad.predicate.as_bytes())?;
        let object = self.term(&quad.object)?;
        let graph = match &quad.graph {
            Some(graph) => self.graph_name(graph)?,
            None => self.default_graph(),
        };
        self.quads.push([subject, predicate, object, graph]);
        if self.quads.len() >= BATCH_QUADS || self.batch.key_bytes() >= BATCH_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// Ends the input: all runs. The last one stays in memory unless its rows would be in the way of sorting.
    fn finish(mut self) -> Result<Vec<Run>, LoadError> {
        self.flush()?;
        let is_large = self.rows.bytes() > self.memory_bytes / 3;
        if (is_large || self.spill_to.for_others) && self.rows.count() > 0 {
            self.close_run()?;
        }
        let folder = self.spill_to.folder;
        let mut runs = match self.spill {
            Some(spill) => spill.finish().map_err(|source| LoadError::temporary(folder, source))?,
            None => Vec::new(),
        };
        if self.rows.count() > 0 {
            runs.push(Run::in_memory(self.interner, self.rows));
        }
        Ok(runs)
    }
}

#[cfg(test)]
mod tests {
    //! How many runs there are.
    use super::*;
    use lode_base::mem_vfs::MemVfs;

    #[test]
    fn runs_of_long_terms_are_as_long_as_others() {
        let vfs: Arc<dyn Vfs> = Arc::new(MemVfs::new());
        let folder = Path::new("/");
        for (terms, bytes) in [(40_u32, 300_000_usize), (1200, 10_000), (100_000, 100)] {
            let to = SpillTo { vfs: &vfs, folder, worker: 0, for_others: false };
            let mut gatherer = Gatherer::new(to, 1 << 20, None);
            for number in 0..terms {
                let (subject, text) =
                    (format!("http://e/{number}"), format!("{number:06}{}", "x".repeat(bytes)));
                let quad = RawQuad {
                    subject: RawTerm::Iri(&subject),
                    predicate: "http://e/p",
                    object: RawTerm::Iri(&text),
                    graph: None,
                };
                gatherer.add(&quad).unwrap();
            }
            let runs = gatherer.finish().unwrap();
            let least = terms as usize * bytes / (1 << 20);
            assert!((2..=3 * least).contains(&runs.len()), "{} runs of {terms} terms of {bytes}", runs.len());
        }
    }
}
