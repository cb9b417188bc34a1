//! How long a statement may be: parsers hold one as a whole, so whoever reads what strangers wrote sets a limit.

/// The greatest length of a statement in bytes: of a line of N-Triples or N-Quads, of a statement of Turtle or TriG, of the text of
/// RDF/XML or JSON-LD between two triples or quads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatementLimit(usize);

impl Default for StatementLimit {
    fn default() -> Self {
        Self(64 << 20)
    }
}

impl StatementLimit {
    /// A limit of `bytes`. Parsers read in steps of up to a mebibyte, so that a lower one is not kept exactly.
    pub const fn new(bytes: usize) -> Self {
        Self(bytes)
    }

    /// The limit.
    pub const fn bytes(self) -> usize {
        self.0
    }

    /// What to say of a longer one; `what` is a line or a statement.
    pub fn message(self, what: &str) -> String {
        format!("{what} has more than {} bytes", self.0)
    }

    /// How many bytes to read where `held` of an unfinished statement are held: as many again, so that a long one is not read in ever so
    /// many small steps, but not far beyond the limit; at least `least`.
    pub fn step(self, held: usize, least: usize) -> usize {
        held.min(self.0.saturating_sub(held)).max(least)
    }
}

/// What may help against a statement that is too long.
pub const TOO_LONG_HINT: &str = "--statement-bytes-max takes longer ones";
