//! Queries on several machines: workers, which run fragments of plans with Lodestore's own engine, and the head, which cuts plans into stages for them.
//!
//! Between fragments stand DataFusion's operators and its exchange (`datafusion-distributed`): stages, tasks, the wire. Their plan is made by hand from
//! ours, so neither DataFusion's optimizer nor its SQL takes part. What is decided, and why, is in `docs/design/056-distributed-queries.md`.

mod address;
mod arriving;
mod bytes;
mod call;
mod channels;
mod codec;
mod collected;
mod columns;
mod command;
mod databases;
mod failure;
mod gate;
mod head;
mod health;
mod in_turn;
mod leaf;
mod members;
mod part;
mod pool;
mod queues;
mod route;
mod running;
mod session;
mod spreading;
mod stage;
mod stages;
mod telling;
mod token;
mod watch;
mod work;
mod worker;

pub use address::{Address, AddressError};
pub use command::Program;
pub use databases::{DatabaseError, Databases};
pub use head::{Head, HeadError, HeadOptions};
pub use leaf::{FragmentExec, Site};
pub use members::MembersError;
pub use token::{Token, TokenError};
pub use work::Work;
pub use worker::{Tls, Worker, WorkerError, WorkerOptions};

/// Head and workers have to be of one version.
pub const VERSION: &str = concat!("lodestore ", env!("CARGO_PKG_VERSION"), " cluster 2");
