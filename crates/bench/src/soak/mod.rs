//! A mixed load for hours, whose every answer can be judged: what clients write, what they were told, and what may be found after it.
//!
//! Quads are written, rewritten and removed in units: all of a unit's quads, which are spread over two graphs, or none. Each rewriting is a
//! *step*, and all quads of a unit tell the step that wrote them, so one look at a unit tells whether a transaction
//! was torn, and a comparison with the [`Book`] whether one was lost. Nothing here runs, reads or writes anything:
//! the command line does.

mod book;
mod latency;
mod unit;

pub use book::{Book, Found, between};
pub use latency::Latencies;
pub use unit::{BUCKETS, State, Unit};

#[cfg(test)]
mod tests;
