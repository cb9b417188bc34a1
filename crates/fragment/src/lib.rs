//! Parts of plans that travel: to other processes that have the same version of a database, and run there over ranges of values.
//!
//! [`take_apart()`] finds the sub-plans of a plan that others can run (fragments) and what is left of it: the head's plan. [`write()`] makes bytes of a
//! fragment, with terms in the place of ids, and [`read()`] makes a plan of them again, over another process's view of the same version, believing
//! nothing. [`run()`] runs one over a range of values; the rows of all ranges, one range after the other, are the fragment's rows. Fragments may be made of
//! the rows of others, which are exchanged so that those with the same values meet: [`run_over()`] runs one of these.
//!
//! What travels and what stays at the head, and why, is in [`carried`] and in `docs/design/050-plans-that-travel.md`. There is no network here.

pub mod carried;
mod claims;
mod error;
mod exchange;
mod fragment;
mod graphs;
mod known;
mod limits;
mod narrow;
mod run;
mod scan;
mod take_apart;
mod two_steps;
mod values;
mod wire;

pub use error::FragmentError;
pub use fragment::{Fragment, Input};
pub use limits::{BYTES_MAX, LEVELS_MAX, PARTS_MAX, RANGES_MAX};
pub use lode_exec::{Came, FragmentRows, NewTerm, OpenFragment};
pub use run::{RunOptions, ranges, rows, rows_over, run, run_over};
pub use scan::ScanDescriptor;
pub use take_apart::{Apart, Exchange, Wanted, take_apart};
pub use values::RowValue;
pub use wire::{read, read_ranges, write, write_ranges};
