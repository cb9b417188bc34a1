//! Decompression ahead of those who split and parse: on a thread of its own, or on several where the stream consists of members that
//! can be decoded independently. Buffers go round, and only a few of them: who is ahead waits.

use lode_rdf::input::{Block, Compression, Input, MemberBatch, MemberDecoder, Members};
use std::io::{self, Read};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Blocks that wait to be taken, of one stream.
const BLOCKS_AHEAD: usize = 4;
/// Memory that one stream holds ahead, about: blocks waiting, being filled and being taken.
pub(crate) const AHEAD_BYTES: usize = (BLOCKS_AHEAD + 2) * (288 << 10);

/// Starts to read: compressed streams on up to `threads` threads of their own, others when they are asked.
pub(crate) fn read_ahead(input: Input<'static>, threads: usize) -> io::Result<Box<dyn Read + Send>> {
    if input.compression() == Compression::None {
        return Ok(Box::new(input));
    }
    // Also for one thread: only whoever looks at the members sees that the last one is missing.
    Ok(match input.into_members() {
        Ok(members) => Box::new(decode_members(members, threads.max(1))?),
        Err(input) => Box::new(decode_stream(*input)?),
    })
}

/// What comes next.
enum Next {
    Block(io::Result<Block>),
    /// A block that another thread is working on.
    Promised(Receiver<io::Result<Block>>),
    End,
}

/// The plain bytes of a stream that other threads decompress.
struct ReadAhead {
    queue: Receiver<Next>,
    spare: Sender<Vec<u8>>,
    block: Block,
    ended: bool,
}

impl ReadAhead {
    fn next(&mut self) -> io::Result<Block> {
        // A thread that goes without having said that this is the end has failed.
        let lost = || io::Error::other("the thread that decompresses has failed");
        match self.queue.recv().map_err(|_| lost())? {
            Next::Block(block) => block,
            Next::Promised(block) => block.recv().map_err(|_| lost())?,
            Next::End => {
                self.ended = true;
                Ok(Block::default())
            }
        }
    }
}

impl Read for ReadAhead {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.block.is_empty() && !self.ended {
            let used = std::mem::take(&mut self.block).into_buffer();
            if !used.is_empty() {
                // Nobody wants it once all is decompressed.
                let _ = self.spare.send(used);
            }
            self.block = self.next().inspect_err(|_| self.ended = true)?;
        }
        self.block.read(buffer)
    }
}

fn decode_stream(mut input: Input<'static>) -> io::Result<ReadAhead> {
    let (sender, queue) = sync_channel(BLOCKS_AHEAD);
    let (spare, spares) = channel();
    start("decompress", move || send_blocks(&mut input, &sender, &mut || spares.try_recv().ok()))?;
    Ok(ReadAhead { queue, spare, block: Block::default(), ended: false })
}

/// Sends what is left of a stream, until its end, an error, or until nobody listens any more.
fn send_blocks(input: &mut Input<'_>, queue: &SyncSender<Next>, spare: &mut dyn FnMut() -> Option<Vec<u8>>) {
    loop {
        let block = input.next_block(spare().unwrap_or_default());
        let (last, next) = match block {
            Ok(block) if block.is_empty() => (true, Next::End),
            Err(error) => (true, Next::Block(Err(error))),
            block => (false, Next::Block(block)),
        };
        if queue.send(next).is_err() || last {
            return;
        }
    }
}

/// Members to decode, and where the result goes.
struct Work {
    batch: Vec<u8>,
    to: SyncSender<io::Result<Block>>,
}

fn decode_members(members: Members<'static>, threads: usize) -> io::Result<ReadAhead> {
    let (sender, queue) = sync_channel(2 * threads);
    let (spare, spares) = channel::<Vec<u8>>();
    let spares = Arc::new(Mutex::new(spares));
    let (work, works) = sync_channel::<Work>(threads);
    let works = Arc::new(Mutex::new(works));
    let (used, used_batches) = channel();
    for _ in 0..threads {
        let mut decoder = MemberDecoder::new(&members);
        let (works, spares, used) = (Arc::clone(&works), Arc::clone(&spares), used.clone());
        start("decompress", move || {
            while let Some(Work { batch, to }) = take(&works, |works| works.recv().ok()) {
                let buffer = take(&spares, |spares| spares.try_recv().ok()).unwrap_or_default();
                let _ = to.send(decoder.decode(&batch, buffer));
                let _ = used.send(batch);
            }
        })?;
    }
    start("read members", move || send_members(members, &sender, &work, &used_batches))?;
    Ok(ReadAhead { queue, spare, block: Block::default(), ended: false })
}

/// Hands out members in order, until the end, an error, or until nobody listens any more.
fn send_members(
    mut members: Members<'_>,
    queue: &SyncSender<Next>,
    work: &SyncSender<Work>,
    used: &Receiver<Vec<u8>>,
) {
    loop {
        let next = match members.next_batch(used.try_recv().unwrap_or_default()) {
            Ok(MemberBatch::Members(batch)) => {
                let (to, promised) = sync_channel(1);
                if work.send(Work { batch, to }).is_err() || queue.send(Next::Promised(promised)).is_err() {
                    return;
                }
                continue;
            }
            Ok(MemberBatch::Other(mut input)) => return send_blocks(&mut input, queue, &mut || None),
            Ok(MemberBatch::End) => Next::End,
            Err(error) => Next::Block(Err(error)),
        };
        // Nobody may be listening any more.
        let _ = queue.send(next);
        return;
    }
}

fn take<T, R>(shared: &Mutex<T>, from: impl FnOnce(&T) -> R) -> R {
    from(&shared.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Starts a thread that ends by itself when nobody takes what it makes.
fn start(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(work).map(drop)
}

#[cfg(test)]
mod tests {
    //! Order, ends and errors over several threads.
    use super::*;
    use std::io::Cursor;

    fn gzip(plain: &[u8], blocked: bool) -> Vec<u8> {
        // Members with stored blocks: header, one block, checksum, length.
        let mut out = Vec::new();
        let last: &[&[u8]] = if blocked { &[&[]] } else { &[] };
        for part in plain.chunks(40_000).chain(last.iter().copied()) {
            let length = u16::try_from(part.len()).unwrap();
            let mut body = if part.is_empty() { vec![3, 0] } else { vec![1] };
            if !part.is_empty() {
                body.extend([length.to_le_bytes(), (!length).to_le_bytes()].concat());
                body.extend_from_slice(part);
            }
            body.extend(crc32(part).to_le_bytes());
            body.extend(u32::from(length).to_le_bytes());
            let total = u16::try_from(18 + body.len() - 1).unwrap().to_le_bytes();
            if blocked {
                out.extend([
                    0x1F, 0x8B, 8, 4, 0, 0, 0, 0, 0, 0xFF, 6, 0, b'B', b'C', 2, 0, total[0], total[1],
                ]);
            } else {
                out.extend([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF]);
            }
            out.extend(body);
        }
        out
    }

    fn crc32(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(!0, |crc: u32, byte| {
            (0..8)
                .fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg()))
        })
    }

    fn read(bytes: &[u8], threads: usize) -> io::Result<Vec<u8>> {
        let input = Input::new(Box::new(Cursor::new(bytes.to_vec())), Arc::default())?;
        let mut plain = Vec::new();
        read_ahead(input, threads)?.read_to_end(&mut plain)?;
        Ok(plain)
    }

    #[test]
    fn all_ways_give_the_same_bytes_or_an_error() {
        let plain: Vec<u8> =
            (0..900_000_u32).flat_map(|i| (i.wrapping_mul(0x9E37_79B9) >> 7).to_le_bytes()).collect();
        for blocked in [false, true] {
            let bytes = gzip(&plain, blocked);
            for threads in [1, 2, 5] {
                assert!(read(&bytes, threads).unwrap() == plain, "{blocked} {threads}");
                for at in [30, bytes.len() / 3 + 27, bytes.len() - 100] {
                    let cut =
                        read(&bytes[..at], threads).map_or_else(|error| error.to_string(), |_| String::new());
                    assert!(cut.contains("too early"), "{blocked} {threads} {at}: {cut}");
                    let mut damaged = bytes.clone();
                    damaged[at] ^= 4;
                    assert!(read(&damaged, threads).is_err(), "{blocked} {threads} {at}");
                }
            }
        }
        let mixed = [gzip(&plain, true), gzip(b"and more", false)].concat();
        assert!(read(&mixed, 3).unwrap() == [&plain[..], b"and more"].concat());
    }

    #[test]
    fn who_stops_listening_ends_the_threads() {
        let plain = vec![7; 8 << 20];
        for blocked in [false, true] {
            let read_count = Arc::default();
            let source = Cursor::new(gzip(&plain, blocked));
            let input = Input::new(Box::new(source), Arc::clone(&read_count)).unwrap();
            let mut reader = read_ahead(input, 2).unwrap();
            reader.read_exact(&mut [0; 10]).unwrap();
            drop(reader);
            // The threads own the counter as long as they live.
            while Arc::strong_count(&read_count) > 1 {
                thread::yield_now();
            }
        }
    }
}
