//! The memory that the bodies of all requests take together, and the wait for some of it.

use crate::error::HttpError;
use lode_engine::{MemoryBudget, Reservation};
use std::time::{Duration, Instant};

/// How often it is looked whether there is memory now for a body that waits for some.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Bodies up to this length find room also where longer ones wait for some: an eighth of all is theirs.
const SMALL_BYTES: usize = 16 << 10;

/// The memory for bodies of all requests.
#[derive(Debug)]
pub(crate) struct Bodies {
    memory: MemoryBudget,
    /// The longest body that may be kept.
    pub(crate) bytes_max: usize,
}

/// Room that a body takes, given back when dropped.
#[derive(Debug, Default)]
pub(crate) struct Room(Option<Reservation>);

impl Room {
    /// How many bytes it has.
    pub(crate) fn bytes(&self) -> usize {
        self.0.as_ref().map_or(0, Reservation::bytes)
    }
}

impl Bodies {
    /// Bodies of so many bytes together; they count in `pool`, if there is one.
    pub(crate) fn new(bytes_max: usize, pool: Option<MemoryBudget>) -> Self {
        let pool = pool.unwrap_or_else(MemoryBudget::unlimited);
        Self { memory: pool.part(bytes_max.saturating_add(bytes_max / 7 + SMALL_BYTES)), bytes_max }
    }

    /// Bytes that are taken.
    pub(crate) fn used(&self) -> usize {
        self.memory.used()
    }

    /// Makes room for `bytes` bytes in all; waits for it until `deadline` at most.
    pub(crate) async fn make_room(
        &self,
        room: &mut Room,
        bytes: usize,
        deadline: Instant,
    ) -> Result<(), HttpError> {
        let is_small = bytes <= SMALL_BYTES;
        let room = room.0.get_or_insert_with(|| self.memory.reserve_spillable());
        let mut make = || if is_small { room.resize_to_limit(bytes) } else { room.resize(bytes) };
        while make().is_err() {
            if Instant::now() >= deadline {
                return Err(no_room());
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(())
    }
}

fn no_room() -> HttpError {
    HttpError::busy("too many large requests are being read: try again later")
}
