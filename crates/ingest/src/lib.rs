//! From files, streams and archives to quads: what a source is, how its format and compression are told, how it is split into pieces for
//! several threads, and what becomes of what is wrong in it. The store takes the quads; nothing here knows of it.
//!
//! Feeders (`feed`) open sources, sniff what they are (`sniff`), undo compression (`read_ahead`), unpack archives (`archive`) and send
//! pieces (`job`) to workers. [`read_sources`] hands the quads of these to a [`QuadSink`] for each worker, [`validate()`] only counts
//! them, and [`read_document`] reads one document on the caller's thread.

mod address;
mod archive;
mod document;
mod error;
mod feed;
mod feeders;
mod job;
mod long_pieces;
mod progress;
mod quad_sink;
mod quarantine;
mod read;
mod read_ahead;
mod sniff;
mod source;
mod source_list;
mod split;
mod spool;
mod validate;

pub use archive::is_loadable;
pub use document::read_document;
pub use error::IngestError;
pub use progress::{ReadProgress, ReadSample};
pub use quad_sink::QuadSink;
pub use quarantine::{FilePart, Quarantine};
pub use read::{ReadContext, SourcesRead, read_sources};
pub use source::{Opened, Opener, Source};
pub use source_list::{Skipped, SourceReport};
pub use validate::{ValidateOptions, ValidateReport, validate};
