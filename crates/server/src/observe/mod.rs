//! What is noted of each request, for those who watch the server: its number, its counters, and its lines in the logs.
//!
//! A [`Record`] begins with a request and ends when its answer was sent, or given up. Whoever answers finds it as [`Record::current`], or
//! takes it along to another thread, and notes what it knows.

mod counters;
mod lines;
mod log_file;
mod logs;
mod record;
mod request_id;
mod route;
mod stages;
#[cfg(test)]
mod tests;
mod trace_context;
mod traces;
mod watch;

pub use log_file::LogFile;
pub use logs::{LogFormat, Logs, SlowMin};
pub use traces::Traces;

pub(crate) use counters::Counters;
pub(crate) use record::{Begun, Ended, Record, Who};
pub(crate) use request_id::REQUEST_ID;
pub(crate) use stages::{Change, WorkKind};
pub(crate) use watch::Watch;
