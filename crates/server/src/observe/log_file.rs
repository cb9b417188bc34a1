//! A log: lines that requests hand over without waiting, and a thread that writes them.
//!
//! What waits to be written has a limit in lines and bytes. Beyond it lines are dropped, counted, and told of in the log itself once there is
//! room again: a disk that is full or slow holds nobody up, and fills no memory.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::time::Duration;

/// Lines that wait to be written, and their bytes.
const LINES_MAX: usize = 16 << 10;
const BYTES_MAX: usize = 8 << 20;
/// What is gathered before it is written.
const GATHERED_BYTES: usize = 64 << 10;
/// Lines of a file come together for so long before they are written: to wake for each of them and to write it alone takes longer than a light
/// request.
const GATHERED_FOR: Duration = Duration::from_millis(5);
/// For so long the end waits for what was not written yet.
const END_WAIT: Duration = Duration::from_millis(500);

/// Where lines go.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    File(PathBuf),
    Output,
    Error,
}

/// A log.
#[derive(Debug)]
pub struct LogFile {
    place: Place,
    sender: SyncSender<Message>,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    waiting_bytes: AtomicUsize,
    dropped: AtomicU64,
}

#[derive(Debug)]
enum Message {
    Line(Vec<u8>),
    Reopen(SyncSender<io::Result<()>>),
    /// All before it is to be written.
    Written(SyncSender<()>),
}

impl LogFile {
    /// Opens a file to append to it, or makes it, for its owner to write and its group to read; `-` is standard output.
    ///
    /// # Errors
    /// Where it cannot be opened.
    pub fn open(path: &Path) -> io::Result<Arc<Self>> {
        if path == Path::new("-") {
            return Ok(Self::start(Place::Output, Box::new(io::stdout())));
        }
        let file = append(path)?;
        Ok(Self::start(Place::File(path.to_owned()), Box::new(file)))
    }

    /// Standard error.
    pub fn standard_error() -> Arc<Self> {
        Self::start(Place::Error, Box::new(io::stderr()))
    }

    fn start(place: Place, to: Box<dyn Write + Send>) -> Arc<Self> {
        let (sender, receiver) = sync_channel(LINES_MAX);
        let shared = Arc::<Shared>::default();
        let mut writer =
            Writer { to, place: place.clone(), shared: Arc::clone(&shared), told: 0, gathered: Vec::new() };
        std::thread::spawn(move || writer.run(&receiver));
        Arc::new(Self { place, sender, shared })
    }

    /// Hands over a line, without its end.
    pub fn write(&self, mut line: Vec<u8>) {
        line.push(b'\n');
        let bytes = line.len();
        let waiting = self.shared.waiting_bytes.fetch_add(bytes, Ordering::Relaxed);
        if waiting + bytes > BYTES_MAX || self.sender.try_send(Message::Line(line)).is_err() {
            self.shared.waiting_bytes.fetch_sub(bytes, Ordering::Relaxed);
            self.shared.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Lines that were dropped.
    pub fn dropped(&self) -> u64 {
        self.shared.dropped.load(Ordering::Relaxed)
    }

    /// Opens the file anew, as when it was renamed to make room for another.
    ///
    /// # Errors
    /// Where it cannot be opened: then the one of before is written to.
    pub fn reopen(&self) -> io::Result<()> {
        let (done, is_done) = sync_channel(1);
        if self.sender.try_send(Message::Reopen(done)).is_err() {
            return Err(io::Error::other("too many lines wait to be written"));
        }
        is_done.recv_timeout(END_WAIT).unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }

    /// Waits a short time until all that was handed over is written.
    pub fn flush(&self) {
        let (done, is_done) = sync_channel(1);
        if self.sender.try_send(Message::Written(done)).is_ok() {
            let _ = is_done.recv_timeout(END_WAIT);
        }
    }

    /// How it is called.
    pub fn name(&self) -> String {
        match &self.place {
            Place::File(path) => path.display().to_string(),
            Place::Output => "standard output".to_owned(),
            Place::Error => "standard error".to_owned(),
        }
    }
}

fn append(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o640);
    options.open(path)
}

/// The other end.
struct Writer {
    to: Box<dyn Write + Send>,
    place: Place,
    shared: Arc<Shared>,
    /// Dropped lines that were told of.
    told: u64,
    gathered: Vec<u8>,
}

impl Writer {
    fn run(&mut self, receiver: &Receiver<Message>) {
        while let Ok(message) = receiver.recv() {
            let is_line = matches!((&message, &self.place), (Message::Line(_), Place::File(_)));
            self.take(message);
            if is_line {
                std::thread::sleep(GATHERED_FOR);
            }
            loop {
                match receiver.try_recv() {
                    Ok(message) => self.take(message),
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => return self.write(),
                }
            }
            self.write();
        }
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Line(line) => {
                self.shared.waiting_bytes.fetch_sub(line.len(), Ordering::Relaxed);
                self.gathered.extend_from_slice(&line);
                if self.gathered.len() >= GATHERED_BYTES {
                    self.write();
                }
            }
            Message::Reopen(done) => {
                self.write();
                let _ = done.try_send(self.reopen());
            }
            Message::Written(done) => {
                self.write();
                let _ = done.try_send(());
            }
        }
    }

    fn reopen(&mut self) -> io::Result<()> {
        if let Place::File(path) = &self.place {
            self.to = Box::new(append(path)?);
        }
        Ok(())
    }

    fn write(&mut self) {
        let dropped = self.shared.dropped.load(Ordering::Relaxed);
        if dropped > self.told {
            let missing = dropped - self.told;
            let note = format!(
                "{{\"dropped\":{missing},\"reason\":\"the log could not be written as fast as lines came\"}}\n"
            );
            self.gathered.extend_from_slice(note.as_bytes());
            self.told = dropped;
        }
        if self.gathered.is_empty() {
            return;
        }
        if self.to.write_all(&self.gathered).and_then(|()| self.to.flush()).is_err() {
            // Who could be told? They count as dropped, and are told of here if it goes well again.
            let lines = self.gathered.iter().filter(|byte| **byte == b'\n').count() as u64;
            self.shared.dropped.fetch_add(lines, Ordering::Relaxed);
        }
        self.gathered.clear();
    }
}
