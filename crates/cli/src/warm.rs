//! `lode warm`: reads a database into the memory of the system.

use crate::args::{WarmArgs, WarmPart};
use crate::exit::Done;
use crate::number;
use crate::progress::{LiveLine, RateMeter};
use crate::talk::say;
use anyhow::bail;
use lode_engine::store::{CachedPart, HotBlocks, Store};
use lode_engine::{CancelToken, Database, OpenOptions};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

pub fn run(args: &WarmArgs) -> anyhow::Result<Done> {
    // Nothing is kept in this process.
    let database = Database::open(&args.database, &OpenOptions::with_cache(0))?;
    let store = database.store();
    let list = list(args, store)?;
    let read = Arc::new(AtomicU64::new(0));
    let shown = Arc::clone(&read);
    let mut meter = RateMeter::new();
    let line = LiveLine::start(args.quiet, move || {
        let bytes = shown.load(Ordering::Relaxed);
        format!("reading: {}, {}/s", number::bytes(bytes), number::bytes(meter.current(bytes) as u64))
    });
    let start = Instant::now();
    let report = store.read_through(&list, &CancelToken::default(), &mut |bytes| {
        read.fetch_add(bytes, Ordering::Relaxed);
    });
    drop(line);
    let report = report?;
    if !args.quiet {
        say!("read {} in {}", number::bytes(report.bytes), number::duration(start.elapsed()));
        if report.passed_over > 0 && args.orders.is_empty() {
            let blocks = number::of(report.passed_over, "block");
            say!("{blocks} of segments that are not there any more, or cannot be read, were passed over");
        }
    }
    Ok(Done::Ok)
}

fn list(args: &WarmArgs, store: &Store) -> anyhow::Result<HotBlocks> {
    if args.orders.is_empty() {
        let Some(list) = store.saved_hot_blocks()? else {
            bail!(
                "{} has no list of what was in memory: lode serve writes one while it runs. --orders says what else to read (--orders all: all)",
                args.database.display()
            );
        };
        return Ok(list);
    }
    let mut list = store.all_blocks();
    list.retain(&|part| args.orders.iter().any(|wanted| is_of(*wanted, part)));
    Ok(list)
}

fn is_of(wanted: WarmPart, part: CachedPart) -> bool {
    match (wanted, part) {
        (WarmPart::All, _) => true,
        (WarmPart::Terms, part) => !matches!(part, CachedPart::Rows(_)),
        (order, CachedPart::Rows(rows)) => order.order() == Some(rows),
        _ => false,
    }
}
