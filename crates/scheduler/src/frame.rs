//! Frames, by which each thread takes time and blocks: a frame is a step of one node of a plan, and what steps of other nodes inside it take
//! is theirs.

use lode_base::block_work::{self, BlockWork};
use std::cell::Cell;
use std::time::Instant;

/// What a step takes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Taken {
    pub time_ns: u64,
    pub blocks: BlockWork,
}

thread_local! {
    /// What the frames that have ended inside the present one took.
    static INNER: Cell<Taken> = const { Cell::new(Taken { time_ns: 0, blocks: BlockWork::NONE }) };
}

/// A step on its way. A panic may leave what was [`INNER`] behind: only what is charged to the nodes of the query that failed is wrong then.
pub struct Frame {
    started: Instant,
    blocks: BlockWork,
    outer: Taken,
}

impl Frame {
    /// A step begins.
    #[inline]
    pub fn enter() -> Self {
        let outer = INNER.replace(Taken::default());
        Self { started: Instant::now(), blocks: block_work::sample(), outer }
    }

    /// What the step itself took.
    #[inline]
    pub fn leave(self) -> Taken {
        let blocks = block_work::sample().since(&self.blocks);
        let time_ns = u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let outer = Taken { time_ns: self.outer.time_ns + time_ns, blocks: self.outer.blocks.and(&blocks) };
        let inner = INNER.replace(outer);
        Taken { time_ns: time_ns.saturating_sub(inner.time_ns), blocks: blocks.since(&inner.blocks) }
    }
}

/// No node takes the time.
pub fn off_the_clock<T>(wait: impl FnOnce() -> T) -> T {
    let frame = Frame::enter();
    let result = wait();
    frame.leave();
    result
}
