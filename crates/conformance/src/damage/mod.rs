//! Damage: databases whose files were changed behind the store's back, queries and RDF documents with errors in them.
//!
//! Whatever comes, there is an error or the right answer: never a panic, a hang, or a wrong answer. A text that the reference parsers
//! still accept has to mean the same to the engine as to them and the oracle.

mod bytes;
mod database;
mod documents;
mod texts;

use crate::generate::Random;
use crate::subject::no_panic;
use anyhow::{Result, anyhow};
use std::sync::mpsc;
use std::time::Duration;

pub use database::damaged_databases;
pub use documents::damaged_documents;
pub use texts::damaged_queries;

/// A variant that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// What came of many variants.
#[derive(Debug, Default, Clone)]
pub struct Outcome {
    /// Variants that gave an error.
    pub refused: u64,
    /// Variants that gave the right answer.
    pub right: u64,
    /// What should not happen, with the seed of the variant.
    pub failures: Vec<String>,
}

impl Outcome {
    fn add(&mut self, seed: u64, verdict: Result<Verdict>) {
        match verdict {
            Ok(Verdict::Refused) => self.refused += 1,
            Ok(Verdict::Right) => self.right += 1,
            Err(error) => self.failures.push(format!("seed {seed}: {error:#}")),
        }
    }
}

/// What became of one variant, if nothing went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Refused,
    Right,
}

/// Runs some work in a thread of its own; a panic, or no end, is an error. A thread that hangs is left behind.
fn with_patience<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        // Nobody listens any more if it took too long.
        let _ = sender.send(no_panic(work));
    });
    match receiver.recv_timeout(PATIENCE) {
        Ok(result) => result,
        Err(_) => Err(anyhow!("no end after {PATIENCE:?}")),
    }
}

/// The random numbers of a variant.
fn dice(seed: u64) -> Random {
    Random::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d))
}

#[cfg(test)]
mod tests;
