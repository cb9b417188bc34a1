//! The pieces of sources that workers get.

use crate::long_pieces::LongPiece;
use lode_rdf::parse::TurtlePiece;
use lode_rdf::{ParseOptions, RdfFormat};
use std::io::Read;

/// A piece of work.
pub(crate) enum Job {
    /// Whole lines of a line-based source.
    Lines {
        /// Number of the source.
        source: usize,
        /// N-Triples or N-Quads.
        format: RdfFormat,
        /// A buffer that begins with the text.
        buffer: Vec<u8>,
        /// Bytes of the text.
        length: usize,
        /// Held while it is worked on, if it is a long one.
        long: Option<LongPiece>,
        /// Number of its first line.
        first_line: u64,
        /// Where it is in the (decompressed) source.
        offset: u64,
    },
    /// Statements of a Turtle or TriG source.
    Statements {
        /// Number of the source.
        source: usize,
        /// What holds where they begin.
        piece: Box<TurtlePiece>,
        /// A buffer that begins with the text.
        buffer: Vec<u8>,
        /// Bytes of the text.
        length: usize,
        /// Held while it is worked on, if it is a long one.
        long: Option<LongPiece>,
    },
    /// A whole source of another format.
    Document {
        /// Number of the source.
        source: usize,
        /// Its format.
        format: RdfFormat,
        /// Its base IRI and the like.
        parse: ParseOptions,
        /// Its text.
        reader: Box<dyn Read + Send>,
    },
}
