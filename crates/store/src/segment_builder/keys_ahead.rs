//! Walks through the keys of a dictionary while another thread reads, verifies and decompresses the blocks to come.
//!
//! A merge with the dictionaries of a database is done by one thread; this takes from it what does not depend on the merge.

use lode_packed::dictionary::{BlockSupply, TermBlock, Terms};
use lode_packed::{Dictionary, PackedError};
use lode_rdf::value_id::Section;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Blocks that are handed over at once: waking a thread takes longer than reading a block.
const BATCH_BLOCKS: usize = 8;
/// A batch with blocks of so many bytes is handed over early: a block of a long term may have megabytes.
const BATCH_BYTES: usize = BATCH_BLOCKS * (16 << 10);
/// Batches that may wait to be walked through.
const AHEAD_BATCHES: usize = 2;
/// A section of fewer terms is not worth a thread.
const TERMS_MIN: u64 = 1 << 14;

/// The keys of a section in order; with `ahead`, read by a thread of its own, which ends when the walk is dropped.
pub fn walk_keys(dictionary: &Dictionary, section: Section, ahead: bool) -> Terms {
    if !ahead || dictionary.len(section) < TERMS_MIN {
        return dictionary.iter(section);
    }
    let (sender, receiver) = sync_channel(AHEAD_BATCHES);
    let reader = dictionary.clone();
    std::thread::spawn(move || read_ahead(&reader, section, &sender));
    dictionary.iter_over(section, supply(receiver))
}

/// A block, the end, or what went wrong.
type Step = Result<Option<TermBlock>, PackedError>;

fn read_ahead(dictionary: &Dictionary, section: Section, sender: &SyncSender<Vec<Step>>) {
    let mut blocks = dictionary.blocks(section);
    loop {
        let mut batch = Vec::with_capacity(BATCH_BLOCKS);
        let (mut is_last, mut bytes) = (false, 0);
        while batch.len() < BATCH_BLOCKS && bytes < BATCH_BYTES && !is_last {
            let step = blocks.next(TermBlock::default());
            is_last = !matches!(step, Ok(Some(_)));
            bytes += step.as_ref().ok().and_then(Option::as_ref).map_or(0, TermBlock::bytes);
            batch.push(step);
        }
        if sender.send(batch).is_err() || is_last {
            return;
        }
    }
}

fn supply(receiver: Receiver<Vec<Step>>) -> BlockSupply {
    let mut ended = false;
    let mut batch = Vec::new().into_iter();
    Box::new(move |_| {
        if ended {
            return Ok(None);
        }
        if batch.len() == 0 {
            batch = receiver.recv().unwrap_or_default().into_iter();
        }
        let step = batch.next().unwrap_or_else(|| {
            let source = io::Error::other("the thread that reads the dictionary has ended");
            Err(PackedError::Io { path: Arc::from(lode_packed::segment::DICTIONARY_FILE), source })
        });
        ended = !matches!(step, Ok(Some(_)));
        step
    })
}
