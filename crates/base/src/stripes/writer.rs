//! Writes a file: short ones as they are, longer ones in chunks to the stripe folders, by threads of these, while the next bytes come.

use super::folders::in_folder;
use super::lane::Outcome;
use super::shared::{Shared, StripeFolder};
use super::stub::Stub;
use crate::vfs::WriteFile;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// So many chunks of all files may wait for a folder: who writes faster than that waits.
const CHUNKS_WAITING_MAX: usize = 4;

/// A part that is written: by one thread at a time, in order.
#[derive(Debug)]
struct PartWriter {
    folder: Arc<StripeFolder>,
    path: PathBuf,
    /// Made with its first bytes.
    file: Mutex<Option<Box<dyn WriteFile>>>,
    /// The part is gone: what waits to be written would make it anew. Changed with the file locked.
    is_given_up: AtomicBool,
}

impl PartWriter {
    fn file(&self) -> MutexGuard<'_, Option<Box<dyn WriteFile>>> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.file();
        if self.is_given_up.load(Ordering::Relaxed) {
            return Ok(());
        }
        let file = match &mut *file {
            Some(file) => file,
            none => none.insert(self.folder.vfs.create_new(&self.path)?),
        };
        file.write_all(bytes)
    }

    fn give_up(&self) {
        let mut file = self.file();
        self.is_given_up.store(true, Ordering::Relaxed);
        *file = None;
    }

    fn flush(&self, is_durable: bool) -> io::Result<()> {
        let mut file = self.file();
        match &mut *file {
            Some(file) if is_durable => {
                file.sync()?;
                self.folder.vfs.sync_dir(&self.folder.own)
            }
            Some(file) => file.flush(),
            None => Ok(()),
        }
    }
}

/// What has been done of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// All of it is in the buffer: it may be short.
    Short,
    /// It is a file by itself, and stays one.
    Whole,
    /// It is in the stripe folders.
    Striped,
}

/// A file that is written.
#[derive(Debug)]
pub(super) struct StripedWriter {
    shared: Arc<Shared>,
    path: PathBuf,
    /// The file in the folder of the database.
    file: Box<dyn WriteFile>,
    mode: Mode,
    stub: Stub,
    /// What the last record in the file says.
    recorded: Option<Stub>,
    /// Not handed over yet.
    buffer: Vec<u8>,
    parts: Vec<Arc<PartWriter>>,
    /// The first error of a part.
    failure: Arc<Mutex<Option<(ErrorKind, String)>>>,
}

impl StripedWriter {
    /// Writes to `file`, which is empty and called `path`.
    pub fn new(shared: &Arc<Shared>, path: &Path, file: Box<dyn WriteFile>) -> Self {
        Self {
            stub: shared.new_stub(),
            shared: Arc::clone(shared),
            path: path.to_owned(),
            file,
            mode: Mode::Short,
            recorded: None,
            buffer: Vec::new(),
            parts: Vec::new(),
            failure: Arc::default(),
        }
    }

    fn check(&self) -> io::Result<()> {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.as_ref().map_or(Ok(()), |(kind, what)| Err(io::Error::new(*kind, what.clone())))
    }

    fn begin(&mut self) {
        let name = self.stub.part();
        let part = |folder: &Arc<StripeFolder>| {
            let (path, file) = (folder.own.join(&name), Mutex::new(None));
            Arc::new(PartWriter {
                folder: Arc::clone(folder),
                path,
                file,
                is_given_up: AtomicBool::new(false),
            })
        };
        self.parts = self.shared.folders.iter().map(part).collect();
        self.mode = Mode::Striped;
    }

    /// Bytes that the chunk that is being filled has room for, the buffer counted in.
    fn room(&self) -> usize {
        self.stub.place(self.stub.len).bytes as usize - self.buffer.len()
    }

    /// Hands the buffer over to its folder.
    fn hand_over(&mut self) -> io::Result<()> {
        self.check()?;
        if self.buffer.is_empty() {
            return Ok(());
        }
        let bytes = std::mem::take(&mut self.buffer);
        let place = self.stub.place(self.stub.len);
        self.stub.len += bytes.len() as u64;
        let Some(part) = self.parts.get(place.folder).map(Arc::clone) else { return Ok(()) };
        let failure = Arc::clone(&self.failure);
        let lane = Arc::clone(&part.folder.writes);
        let job = move || fail(&failure, &part.folder.path, part.write(&bytes));
        lane.push_last(CHUNKS_WAITING_MAX, Box::new(job));
        Ok(())
    }

    /// Waits until all parts have all bytes, durably or not, and says so in the stub.
    fn finish_parts(&mut self, is_durable: bool) -> io::Result<()> {
        self.hand_over()?;
        let end = |part: &Arc<PartWriter>| {
            let (outcome, promise) = Outcome::new();
            let (part, failure) = (Arc::clone(part), Arc::clone(&self.failure));
            let lane = Arc::clone(&part.folder.writes);
            let job = move || {
                fail(&failure, &part.folder.path, part.flush(is_durable));
                promise.keep(Ok(()));
            };
            lane.push_last(usize::MAX, Box::new(job));
            outcome
        };
        let ends: Vec<Arc<Outcome<()>>> = self.parts.iter().map(end).collect();
        for end in ends {
            end.with(|found| match found {
                Ok(()) => Ok(()),
                Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
            })?;
        }
        self.check()?;
        let was_durable = self.recorded.is_some_and(|before| before.is_durable);
        let record = Stub { is_durable: is_durable || was_durable, ..self.stub };
        if self.recorded != Some(record) {
            self.file.write_all(&record.encode())?;
            self.recorded = Some(record);
        }
        Ok(())
    }

    /// Leaves the short file a file by itself.
    fn finish_short(&mut self) -> io::Result<()> {
        if !self.buffer.is_empty() {
            self.mode = Mode::Whole;
            let bytes = std::mem::take(&mut self.buffer);
            self.file.write_all(&bytes)?;
        }
        Ok(())
    }

    fn end(&mut self, is_durable: bool) -> io::Result<()> {
        match self.mode {
            Mode::Short => self.finish_short(),
            Mode::Whole => Ok(()),
            Mode::Striped => self.finish_parts(is_durable),
        }
    }
}

/// Notes the first error.
fn fail(failure: &Mutex<Option<(ErrorKind, String)>>, folder: &Path, result: io::Result<()>) {
    if let Err(error) = result {
        let error = in_folder(&error, folder);
        let mut failure = failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert_with(|| (error.kind(), error.to_string()));
    }
}

impl Write for StripedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.mode == Mode::Whole {
            return self.file.write(bytes);
        }
        if self.room() == 0 {
            if self.mode == Mode::Short {
                self.begin();
            }
            self.hand_over()?;
        }
        let count = self.room().min(bytes.len());
        if self.mode == Mode::Striped && self.buffer.is_empty() {
            self.buffer.reserve_exact(self.room());
        }
        self.buffer.extend_from_slice(bytes.get(..count).unwrap_or_default());
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.end(false)?;
        self.file.flush()
    }
}

impl WriteFile for StripedWriter {
    fn sync(&mut self) -> io::Result<()> {
        self.end(true)?;
        self.file.sync()
    }

    fn sync_data(&mut self) -> io::Result<()> {
        self.end(true)?;
        self.file.sync_data()
    }
}

impl Drop for StripedWriter {
    fn drop(&mut self) {
        // As every writer does: who wants to know of errors has flushed it.
        let flushed = self.flush();
        if self.mode != Mode::Striped || self.recorded.is_some_and(|stub| stub.is_durable) {
            return;
        }
        // Nobody finds the parts of a file that is gone, or never came to be.
        if flushed.is_err() && self.recorded.is_none() || !self.shared.vfs.exists(&self.path) {
            self.parts.iter().for_each(|part| part.give_up());
            self.shared.remove_parts(&self.stub);
        }
    }
}
