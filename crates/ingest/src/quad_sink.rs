//! Takes the quads that a worker reads.

use crate::error::IngestError;
use lode_rdf::RawQuad;

/// Takes the quads of one worker; a load has one for each of its threads.
pub trait QuadSink {
    /// What is left at the end.
    type Output: Send;
    /// Why a quad cannot be taken. Ends the reading of all sources.
    type Error: From<IngestError> + Send;

    /// The quads that come now are of source number `source`, which scopes blank nodes.
    ///
    /// # Errors
    /// Where there are too many sources.
    fn set_source(&mut self, source: usize) -> Result<(), Self::Error>;

    /// Takes a quad.
    ///
    /// # Errors
    /// Where it cannot be kept.
    fn add(&mut self, quad: &RawQuad<'_>) -> Result<(), Self::Error>;

    /// Bytes held.
    fn bytes(&self) -> usize;

    /// All quads have come.
    ///
    /// # Errors
    /// Where what was taken cannot be kept.
    fn finish(self) -> Result<Self::Output, Self::Error>;
}
