//! Writes the new dictionary with several threads: the merge front-codes keys into blocks, others compress them, and whoever
//! holds the next block appends it. Where the others are behind, the merge compresses too, so no thread waits.

use crate::error::StoreError;
use crate::load::error::LoadError;
use lode_base::vfs::{Vfs, WriteFile};
use lode_packed::DictionaryInfo;
use lode_packed::PackedError;
use lode_packed::dictionary::{BlockPacker, DictionaryFile, KeyBlocks, PackedBlock, RawBlock};
use lode_rdf::value_id::Section;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;

/// Blocks that may wait to be compressed.
const QUEUE_BLOCKS: usize = 32;

type Job = (u64, RawBlock);

/// The dictionary being written.
#[derive(Debug)]
pub struct DictionaryPipeline {
    keys: KeyBlocks,
    full: Vec<RawBlock>,
    /// Number of the next block.
    next: u64,
    jobs: Option<SyncSender<Job>>,
    packer: BlockPacker,
    output: Arc<Output>,
}

#[derive(Debug)]
struct Output {
    vfs: Arc<dyn Vfs>,
    path: PathBuf,
    state: Mutex<State>,
    /// A block was appended, or something failed.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Created with the first block: a load without new terms has no dictionary.
    file: Option<DictionaryFile>,
    /// Blocks appended.
    written: u64,
    /// Blocks compressed out of turn.
    waiting: BTreeMap<u64, PackedBlock>,
    error: Option<LoadError>,
}

/// A written file that is not durable yet.
#[derive(Debug)]
pub struct NewFile {
    file: Box<dyn WriteFile>,
    path: PathBuf,
}

impl NewFile {
    /// Makes it durable.
    pub fn sync(mut self) -> Result<(), LoadError> {
        Ok(self.file.sync().map_err(StoreError::io(&self.path))?)
    }
}

impl DictionaryPipeline {
    /// A pipeline to the file `path` with `helpers` threads besides the caller's.
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
            let (sender, receiver) = sync_channel(QUEUE_BLOCKS);
            let receiver = Arc::new(Mutex::new(receiver));
            for _ in 0..helpers {
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
            packer: BlockPacker::default(),
            output,
        }
    }

    /// Appends a key and returns its rank in its section. Sections must come in order, keys must ascend in a section.
    pub fn push(&mut self, section: Section, key: &[u8]) -> Result<u64, LoadError> {
        let rank = self.keys.push(section, key, &mut self.full).map_err(|error| self.output.locate(error))?;
        if !self.full.is_empty() {
            self.send()?;
        }
        Ok(rank)
    }

    fn send(&mut self) -> Result<(), LoadError> {
        for block in self.full.drain(..) {
            let number = self.next;
            self.next += 1;
            let refused = match &self.jobs {
                None => Some((number, block)),
                Some(jobs) => match jobs.try_send((number, block)) {
                    Ok(()) => None,
                    Err(TrySendError::Full(job) | TrySendError::Disconnected(job)) => Some(job),
                },
            };
            if let Some((number, block)) = refused {
                self.output.pack(number, block, &mut self.packer);
            }
        }
        match self.output.lock().error.take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Ends the dictionary, if there is one. Its file has yet to be made durable.
    pub fn finish(mut self) -> Result<Option<(DictionaryInfo, NewFile)>, LoadError> {
        self.full.extend(self.keys.finish());
        self.send()?;
        // Helpers end once nobody can send any more; the last job may still be in their hands.
        self.jobs = None;
        let mut state = self.output.lock();
        while state.written < self.next && state.error.is_none() {
            state = self.output.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if let Some(error) = state.error.take() {
            return Err(error);
        }
        let Some(file) = state.file.take() else { return Ok(None) };
        let (info, file) = file.finish().map_err(|error| self.output.locate(error))?;
        Ok(Some((info, NewFile { file, path: self.output.path.clone() })))
    }
}

fn help(jobs: &Mutex<Receiver<Job>>, output: &Output) {
    let mut packer = BlockPacker::default();
    loop {
        let next = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((number, block)) = next else { return };
        output.pack(number, block, &mut packer);
    }
}

impl Output {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn locate(&self, error: PackedError) -> LoadError {
        match error {
            PackedError::Io { source, .. } => StoreError::Io { path: self.path.clone(), source }.into(),
            other => other.into(),
        }
    }

    /// Compresses a block and appends it, and those that waited for it.
    fn pack(&self, number: u64, block: RawBlock, packer: &mut BlockPacker) {
        let packed = packer.pack(block).map_err(|error| self.locate(error));
        let mut state = self.lock();
        let result = packed.and_then(|packed| {
            state.waiting.insert(number, packed);
            self.append(&mut state)
        });
        if let Err(error) = result {
            state.error.get_or_insert(error);
        }
        drop(state);
        self.changed.notify_all();
    }

    fn append(&self, state: &mut State) -> Result<(), LoadError> {
        while let Some(block) = state.waiting.remove(&state.written) {
            let file = match &mut state.file {
                Some(file) => file,
                none => {
                    let file = self.vfs.create(&self.path).map_err(StoreError::io(&self.path))?;
                    none.insert(DictionaryFile::new(file))
                }
            };
            file.append(block).map_err(|error| self.locate(error))?;
            state.written += 1;
        }
        Ok(())
    }
}
