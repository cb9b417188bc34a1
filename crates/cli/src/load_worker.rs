//! `lode load-worker`: does tasks of a load that is shared out, until all are done.

use crate::args::LoadWorkerArgs;
use crate::exit::Done;
use crate::load_failure::with_code;
use crate::load_scratch::Scratch;
use crate::load_target::board_at;
use crate::memory;
use crate::number;
use crate::publish;
use crate::published::is_address;
use crate::talk::say;
use anyhow::bail;
use lode_engine::CancelToken;
use lode_engine::store::load::parts::{Board, LEASE, Moment, WorkEnd, WorkerOptions, work};
use lode_engine::store::load::{LoadOptions, LoadProgress};
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub fn run(args: &LoadWorkerArgs) -> anyhow::Result<Done> {
    let (board, _scratch) = board(args)?;
    let tasks = args.tasks.map_or_else(|| LoadOptions::default().threads, usize::from);
    if let Some(plan) = board.plan()? {
        memory::keep_to(plan.memory_bytes.saturating_mul(tasks));
    }
    let cancel = CancelToken::default();
    if args.while_input {
        end_with_input(&cancel);
    }
    let done = AtomicU64::new(0);
    let own = args.name.clone().unwrap_or_else(|| std::process::id().to_string());
    let one = &|number: usize| {
        let options = WorkerOptions {
            name: format!("{own}.{number}"),
            lease: LEASE,
            cancel: &cancel,
            progress: &Arc::new(LoadProgress::default()),
            goes_on: &|_, moment| {
                done.fetch_add(u64::from(moment == Moment::Committed), Ordering::Relaxed);
                true
            },
        };
        work(&board, &options)
    };
    let ends: Vec<_> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..tasks).map(|number| scope.spawn(move || one(number))).collect();
        all.into_iter()
            .map(|one| one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    // Whoever started this process tells it, or is gone.
    if args.while_input && (cancel.check().is_err() || board.failure()?.is_some()) {
        return Ok(Done::Ok);
    }
    for end in ends {
        if let WorkEnd::Failed(why) = end.map_err(|error| with_code(&error, error.to_string()))? {
            bail!("the load cannot go on: {}", why.text);
        }
    }
    if !args.quiet {
        say!("{} done here; all tasks of the load are done", number::of(done.into_inner(), "task"));
    }
    Ok(Done::Ok)
}

/// The work, and what goes with this process of a load to an address.
fn board(args: &LoadWorkerArgs) -> anyhow::Result<(Board, Option<Scratch>)> {
    let Some(name) = args.load.to_str().filter(|_| is_address(&args.load)) else {
        return Ok((Board::on_disk(&args.load), None));
    };
    let store = publish::target(name)?.store(Default::default())?;
    if let Some(files) = &args.files {
        return Ok((board_at(&store, files)?, None));
    }
    let scratch = Scratch::take(args.work.as_deref(), store.name())?;
    Ok((board_at(&store, &scratch.files())?, Some(scratch)))
}

/// Cancels the work once nobody writes to standard input any more: whoever started this process has ended.
fn end_with_input(cancel: &CancelToken) {
    let cancel = cancel.clone();
    std::thread::spawn(move || {
        let mut bytes = [0; 64];
        while std::io::stdin().read(&mut bytes).is_ok_and(|count| count > 0) {}
        cancel.cancel();
    });
}
