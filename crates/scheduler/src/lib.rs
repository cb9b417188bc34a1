//! The threads of all queries, and their turns at the processors.
//!
//! Nobody else starts threads for queries. What a thread takes of time and blocks is counted by [`Frame`]s; long loops go in [`steps`],
//! between which others have their turn.

mod deferred_drop;
mod frame;
mod lock;
mod pool;
mod removal;
pub mod steps;
pub mod turns;
mod wait;

pub use deferred_drop::DeferredDrop;
pub use frame::{Frame, off_the_clock};
pub use lock::lock;
pub use pool::{Panicked, Scheduler, for_ranges, guarded, is_helping, run_team};
pub use removal::{remove_soon, wait_for_removals};
pub use wait::waiting;
