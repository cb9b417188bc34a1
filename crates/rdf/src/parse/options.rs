//! What a parser is told besides the text, and where its quads go.

use super::error::ParseError;
use super::limit::StatementLimit;
use oxiri::Iri;
use oxrdf::QuadRef;
use std::fmt;
use std::ops::ControlFlow;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

/// Receives quads until it breaks.
pub type QuadSink<'s> = dyn FnMut(QuadRef<'_>) -> ControlFlow<()> + 's;

/// Finds the text of a JSON-LD context by its IRI, or says why there is none.
pub type ContextLoader = dyn Fn(&str) -> Result<Vec<u8>, String> + Send + Sync + UnwindSafe + RefUnwindSafe;

/// What a parser needs to know besides the text.
#[derive(Clone, Default)]
pub struct ParseOptions {
    base_iri: Option<String>,
    statement_limit: StatementLimit,
    pub(super) base_is_own: bool,
    lenient: bool,
    pub(super) contexts: Option<Arc<ContextLoader>>,
}

impl fmt::Debug for ParseOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParseOptions")
            .field("base_iri", &self.base_iri)
            .field("statement_limit", &self.statement_limit)
            .field("base_is_own", &self.base_is_own)
            .field("lenient", &self.lenient)
            .field("contexts", &self.contexts.is_some())
            .finish()
    }
}

impl ParseOptions {
    /// Sets the IRI that relative IRIs are resolved against (in Turtle, TriG, RDF/XML and JSON-LD).
    ///
    /// # Errors
    ///
    /// [`ParseError::BaseIri`] where it is no IRI.
    pub fn with_base_iri(mut self, base_iri: &str) -> Result<Self, ParseError> {
        Iri::parse(base_iri)
            .map_err(|error| ParseError::BaseIri { iri: base_iri.to_owned(), message: error.to_string() })?;
        self.base_iri = Some(base_iri.to_owned());
        self.base_is_own = false;
        Ok(self)
    }

    /// Sets how long a statement may be.
    #[must_use]
    pub fn with_statement_limit(mut self, limit: StatementLimit) -> Self {
        self.statement_limit = limit;
        self
    }

    /// How long a statement may be.
    pub fn statement_limit(&self) -> StatementLimit {
        self.statement_limit
    }

    /// Sets the document's own address as the base IRI (RFC 3986, section 5.1.3), if none is set and it is an IRI.
    #[must_use]
    pub fn with_own_address(mut self, address: &str) -> Self {
        if self.base_iri.is_none() && Iri::parse(address).is_ok() {
            self.base_iri = Some(address.to_owned());
            self.base_is_own = true;
        }
        self
    }

    /// Keeps what can be kept although the standards forbid it.
    #[must_use]
    pub fn lenient(mut self, lenient: bool) -> Self {
        self.lenient = lenient;
        self
    }

    /// Sets where JSON-LD contexts come from that are named by IRIs; without, such documents are errors.
    #[must_use]
    pub fn with_contexts(mut self, contexts: Arc<ContextLoader>) -> Self {
        self.contexts = Some(contexts);
        self
    }

    /// The base IRI.
    pub fn base_iri(&self) -> Option<&str> {
        self.base_iri.as_deref()
    }

    /// Whether what can be kept is kept.
    pub fn is_lenient(&self) -> bool {
        self.lenient
    }

    /// The beginning of IRIs that only come from resolving relative ones, where that shall be noted.
    pub(super) fn own_files(&self) -> Option<&'static str> {
        const FILES: &str = "file:";
        (self.base_is_own && self.base_iri.as_ref().is_some_and(|base| base.starts_with(FILES)))
            .then_some(FILES)
    }
}
