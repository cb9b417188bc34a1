//! Faults and power cuts at random moments of what a busy server does: several writers, transactions too large for the log, loads that
//! replace graphs, cleared graphs, compactions, flushes, named snapshots, backups and readers at once.
//!
//! After each crash the database is compared with a book of what was acknowledged: that is there wholly, what is in doubt is there
//! wholly or not at all, and nothing else is; `check` calls it sound; it can be worked on, and crashes again.
//!
//! `LODE_CRASH_POINTS=100000` simulates so many crashes, `LODE_CRASH_SEED` says where to begin: a failure tells its seed. Half of the simulations
//! run in one thread and come out alike each time; in the others the moments of the threads differ.

mod book;
mod faults;
mod keeper;
mod tests;
mod workload;
