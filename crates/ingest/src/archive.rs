//! tar archives: each file in one is a source of its own. A thread reads the archive from start to end, because there is no other way,
//! and hands over one file after the other as a stream.

use lode_rdf::RdfFormat;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

/// Where a header says that it is one.
const MAGIC: (usize, &[u8]) = (257, b"ustar");
/// How much of a file is handed over at a time.
const PIECE_BYTES: usize = 256 << 10;
/// Pieces that wait to be taken.
const PIECES_AHEAD: usize = 4;
/// Endings of names of archives, the compression's taken off.
const ENDINGS: [&str; 7] = [".tar", ".tgz", ".tbz", ".tbz2", ".tzst", ".txz", ".taz"];

/// Whether a (decompressed) source is an archive: by its mark, or, for old ones, by its name.
pub(crate) fn is_archive(name: &str, head: &[u8]) -> bool {
    let (at, magic) = MAGIC;
    // RDF may say anything anywhere, but has no zeros.
    head.contains(&0) && (head.get(at..at + magic.len()) == Some(magic) || is_archive_name(name))
}

/// What is found in an archive.
pub(crate) enum Found {
    /// A file to load.
    File { name: String, reader: Box<dyn Read + Send> },
    /// A file that is none.
    Skipped(String),
    /// The archive is damaged.
    Failed(io::Error),
    /// There is no more.
    End,
}

/// Starts to read an archive. Files are found as long as they are taken, those that are `wanted` with their contents.
pub(crate) fn open_archive(
    reader: Box<dyn Read + Send>,
    wanted: impl Fn(&str) -> bool + Send + 'static,
) -> io::Result<Receiver<Found>> {
    let (found, finds) = sync_channel(1);
    let work = move || {
        let last = match walk(reader, &wanted, &found) {
            Ok(true) => Found::End,
            Ok(false) => return,
            Err(error) => Found::Failed(explain(error)),
        };
        // Nobody may be listening any more.
        let _ = found.send(last);
    };
    thread::Builder::new().name("read archive".to_owned()).spawn(work)?;
    Ok(finds)
}

/// Whether the name of a file in a folder or an archive is that of RDF, or of an archive. Names with a dot in front are somebody's
/// notes.
pub fn is_loadable(name: &str) -> bool {
    let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
    !base.starts_with('.') && (RdfFormat::from_file_name(base).is_some() || is_archive_name(base))
}

fn is_archive_name(name: &str) -> bool {
    let name = RdfFormat::without_compression(name).to_ascii_lowercase();
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Hands over all files; false where nobody takes them any more.
fn walk(
    reader: Box<dyn Read + Send>,
    wanted: &dyn Fn(&str) -> bool,
    found: &SyncSender<Found>,
) -> io::Result<bool> {
    let at_end = Arc::new(AtomicBool::new(false));
    let mut archive = tar::Archive::new(Watched { inner: reader, at_end: Arc::clone(&at_end) });
    for entry in archive.entries()? {
        let mut entry = entry?;
        let kind = entry.header().entry_type();
        if !(kind.is_file() || kind.is_contiguous() || kind.is_gnu_sparse()) {
            continue;
        }
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        if !wanted(&name) {
            if found.send(Found::Skipped(name)).is_err() {
                return Ok(false);
            }
            continue;
        }
        let (sender, pieces) = sync_channel(PIECES_AHEAD);
        let (spare, spares) = channel();
        let reader = Box::new(Pipe { pieces, spare, piece: Vec::new(), taken: 0, ended: false });
        if found.send(Found::File { name, reader }).is_err() {
            return Ok(false);
        }
        let size = entry.size();
        pump(&mut entry, size, &sender, &spares);
    }
    // The end is marked; where the file ends before, it has been cut.
    if at_end.load(Ordering::Relaxed) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    // What compresses the archive has checksums after its end.
    io::copy(&mut archive.into_inner(), &mut io::sink())?;
    Ok(true)
}

/// Hands over the contents of a file, as long as somebody takes them.
fn pump(
    entry: &mut dyn Read,
    size: u64,
    sender: &SyncSender<io::Result<Vec<u8>>>,
    spares: &Receiver<Vec<u8>>,
) {
    let mut left = size;
    loop {
        let mut piece = spares.try_recv().unwrap_or_default();
        piece.clear();
        let read = entry.take(PIECE_BYTES as u64).read_to_end(&mut piece);
        let message = match read {
            // The archive ends before the file does.
            Ok(0) if left > 0 => Err(explain(io::ErrorKind::UnexpectedEof.into())),
            Ok(read) => {
                left = left.saturating_sub(read as u64);
                Ok(piece)
            }
            Err(error) => Err(explain(error)),
        };
        let last = message.as_ref().map_or(true, Vec::is_empty);
        if sender.send(message).is_err() || last {
            return;
        }
    }
}

/// Errors of what compresses the archive explain themselves.
fn explain(error: io::Error) -> io::Error {
    let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
    match error.kind() {
        io::ErrorKind::UnexpectedEof => invalid("the tar archive ends too early: it has been cut".to_owned()),
        io::ErrorKind::Other if error.raw_os_error().is_none() => {
            invalid(format!("the tar archive is damaged: {error}"))
        }
        _ => error,
    }
}

/// Notes when the end of a stream is reached.
struct Watched<R> {
    inner: R,
    at_end: Arc<AtomicBool>,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        if read == 0 && !buffer.is_empty() {
            self.at_end.store(true, Ordering::Relaxed);
        }
        Ok(read)
    }
}

/// The contents of one file, from the thread that reads the archive. An empty piece is the end.
struct Pipe {
    pieces: Receiver<io::Result<Vec<u8>>>,
    spare: Sender<Vec<u8>>,
    piece: Vec<u8>,
    taken: usize,
    ended: bool,
}

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.piece.len() && !self.ended {
            let used = std::mem::take(&mut self.piece);
            let _ = self.spare.send(used);
            self.taken = 0;
            let lost = |_| io::Error::other("the thread that reads the archive has failed");
            let piece = self.pieces.recv().map_err(lost).flatten();
            self.ended = piece.as_ref().map_or(true, Vec::is_empty);
            self.piece = piece?;
        }
        let read = self.piece.get(self.taken..).unwrap_or_default().read(buffer)?;
        self.taken += read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    //! What is an archive, and what in one is to be loaded.
    use super::*;

    #[test]
    fn archives_are_told_by_mark_or_name() {
        let text = format!("{}ustar {}", " ".repeat(257), " ".repeat(300));
        assert!(!is_archive("a.nt", text.as_bytes()));
        assert!(is_archive("a.nt", text.replace("  ", "\0\0").as_bytes()));
        assert!(is_archive("a.TAR.gz", &[0; 512]) && is_archive("a.tgz", &[0; 512]));
        assert!(!is_archive("a.tar", b"<http://e/a> <http://e/b> 1 ."));
    }

    #[test]
    fn loadable_names() {
        for name in ["a.nt", "x/b.TTL.gz", "c.tar", "d.tar.zst", "e.tgz", "f.jsonld.xz", "g.nq.bgz"] {
            assert!(is_loadable(name), "{name}");
        }
        for name in ["README", "x/.nt", "._a.nt", "a.nt.txt", "a.zip", "nt", "x.tar/LICENSE"] {
            assert!(!is_loadable(name), "{name}");
        }
    }
}
