//! Writes the new dictionary with several threads: the merge front-codes keys into chunks, others compress them, and whoever
//! holds the next chunk appends it. Where the others are behind, the merge compresses too.

use super::build_error::BuildError;
use crate::error::StoreError;
use lode_base::vfs::{Vfs, WriteFile};
use lode_packed::DictionaryInfo;
use lode_packed::PackedError;
use lode_packed::dictionary::{ChunkPacker, DictionaryFile, KeyBlocks, PackedChunk, RawChunk};
use lode_rdf::value_id::Section;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;

/// Chunks that may wait to be compressed, and packed chunks that may wait for one before them. So no more than 7 buffers of 4 MiB
/// are in use at once, and each thread that packs has one more: 40 MiB, with two threads 28. A chunk of a longer key is alone.
const QUEUE_CHUNKS: usize = 1;
const WAITING_CHUNKS: usize = 1;
/// Compressing is much faster than merging: more threads would only take memory.
const HELPERS_MAX: usize = 2;

type Job = (u64, RawChunk);

/// The dictionary being written.
#[derive(Debug)]
pub struct DictionaryPipeline {
    keys: KeyBlocks,
    full: Vec<RawChunk>,
    /// Number of the next chunk.
    next: u64,
    jobs: Option<SyncSender<Job>>,
    packer: ChunkPacker,
    output: Arc<Output>,
}

#[derive(Debug)]
struct Output {
    vfs: Arc<dyn Vfs>,
    path: PathBuf,
    state: Mutex<State>,
    /// A chunk was appended, or something failed.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Created with the first chunk: a load without new terms has no dictionary.
    file: Option<DictionaryFile>,
    /// Chunks appended.
    written: u64,
    /// Chunks compressed out of turn.
    waiting: BTreeMap<u64, PackedChunk>,
    /// The buffers of chunks that were appended, for others.
    spares: Vec<Vec<u8>>,
    error: Option<BuildError>,
}

/// A written file that is not durable yet.
#[derive(Debug)]
pub struct NewFile {
    file: Box<dyn WriteFile>,
    path: PathBuf,
}

impl NewFile {
    /// Makes it durable.
    pub fn sync(mut self) -> Result<(), BuildError> {
        Ok(self.file.sync().map_err(StoreError::io(&self.path))?)
    }
}

impl DictionaryPipeline {
    /// A pipeline to the file `path` with up to `helpers` threads besides the caller's.
    pub fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        helpers: usize,
        vfs: &Arc<dyn Vfs>,
        path: &Path,
    ) -> Self {
        let output = Arc::new(Output {
            vfs: Arc::clone(vfs),
            path: path.to_owned(),
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let mut jobs = None;
        if helpers > 0 {
            let (sender, receiver) = sync_channel(QUEUE_CHUNKS);
            let receiver = Arc::new(Mutex::new(receiver));
            for _ in 0..helpers.min(HELPERS_MAX) {
                let (receiver, output) = (Arc::clone(&receiver), Arc::clone(&output));
                scope.spawn(move || help(&receiver, &output));
            }
            jobs = Some(sender);
        }
        Self {
            keys: KeyBlocks::default(),
            full: Vec::new(),
            next: 0,
            jobs,
            packer: ChunkPacker::default(),
            output,
        }
    }

    /// Appends a key and returns its rank in its section. Sections must come in order, keys must ascend in a section.
    pub fn push(&mut self, section: Section, key: &[u8]) -> Result<u64, BuildError> {
        let rank = self.keys.push(section, key, &mut self.full).map_err(|error| self.output.locate(error))?;
        if !self.full.is_empty() {
            self.send()?;
        }
        Ok(rank)
    }

    fn send(&mut self) -> Result<(), BuildError> {
        for chunk in self.full.drain(..) {
            let number = self.next;
            self.next += 1;
            let refused = match &self.jobs {
                None => Some((number, chunk)),
                Some(_) if chunk.is_long() => {
                    drop(self.output.wait_until(|state| state.written == number));
                    Some((number, chunk))
                }
                Some(jobs) => match jobs.try_send((number, chunk)) {
                    Ok(()) => None,
                    Err(TrySendError::Full(job) | TrySendError::Disconnected(job)) => Some(job),
                },
            };
            if let Some((number, chunk)) = refused {
                self.output.pack(number, chunk, &mut self.packer);
            }
            let mut state = self.output.wait_until(|state| state.waiting.len() <= WAITING_CHUNKS);
            if let Some(error) = state.error.take() {
                return Err(error);
            }
            state.spares.drain(..).for_each(|buffer| self.keys.reuse(buffer));
        }
        Ok(())
    }

    /// Ends the dictionary, if there is one. Its file has yet to be made durable.
    pub fn finish(mut self) -> Result<Option<(DictionaryInfo, NewFile)>, BuildError> {
        self.full.extend(self.keys.finish());
        self.send()?;
        // Helpers end once nobody can send any more; the last job may still be in their hands.
        self.jobs = None;
        let next = self.next;
        let mut state = self.output.wait_until(|state| state.written == next);
        if let Some(error) = state.error.take() {
            return Err(error);
        }
        let Some(file) = state.file.take() else { return Ok(None) };
        let (info, file) = file.finish().map_err(|error| self.output.locate(error))?;
        Ok(Some((info, NewFile { file, path: self.output.path.clone() })))
    }
}

fn help(jobs: &Mutex<Receiver<Job>>, output: &Output) {
    let mut packer = ChunkPacker::default();
    loop {
        let next = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((number, chunk)) = next else { return };
        output.pack(number, chunk, &mut packer);
    }
}

impl Output {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for something to be so, or for an error.
    fn wait_until(&self, is_so: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        let mut state = self.lock();
        while !is_so(&state) && state.error.is_none() {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state
    }

    fn locate(&self, error: PackedError) -> BuildError {
        match error {
            PackedError::Io { source, .. } => StoreError::Io { path: self.path.clone(), source }.into(),
            other => other.into(),
        }
    }

    /// Compresses a chunk and appends it, and those that waited for it.
    fn pack(&self, number: u64, chunk: RawChunk, packer: &mut ChunkPacker) {
        let packed = packer.pack(chunk);
        let mut state = self.lock();
        state.waiting.insert(number, packed);
        if let Err(error) = self.append(&mut state) {
            state.error.get_or_insert(error);
        }
        drop(state);
        self.changed.notify_all();
    }

    fn append(&self, state: &mut State) -> Result<(), BuildError> {
        while let Some(chunk) = state.waiting.remove(&state.written) {
            let file = match &mut state.file {
                Some(file) => file,
                none => {
                    let file = self.vfs.create(&self.path).map_err(StoreError::io(&self.path))?;
                    none.insert(DictionaryFile::new(file))
                }
            };
            let buffer = file.append(chunk).map_err(|error| self.locate(error))?;
            state.spares.push(buffer);
            state.written += 1;
        }
        Ok(())
    }
}
