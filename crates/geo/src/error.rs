//! Why a geometry cannot be read, or an operation has no answer.

/// Why a geometry cannot be read, or an operation has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GeoError {
    /// The text is no geometry of its format.
    #[error("{format}: {message} (at byte {})", at + 1)]
    Syntax {
        /// Which format.
        format: &'static str,
        /// Where, in bytes before it.
        at: usize,
        /// What was expected.
        message: String,
    },
    /// The datatype is not one whose geometries are read.
    #[error("<{0}> is no geometry that is read: wktLiteral, geoJSONLiteral, gmlLiteral and kmlLiteral are")]
    Datatype(String),
    /// More than a limit allows.
    #[error("a geometry with more than {limit} {what}")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// The coordinate reference system is not known, or there is no way to it.
    #[error("no transformation between <{from}> and <{to}>")]
    NoTransformation {
        /// From which.
        from: String,
        /// To which.
        to: String,
    },
    /// The shape is not valid: its rings cross themselves or each other, or it has too few points.
    #[error("not a valid geometry: its rings or parts cross, or have too few points")]
    Invalid,
    /// Nobody waits for the answer any more, or it would come too late.
    #[error("stopped")]
    Stopped,
    /// The operation has no answer for geometries of this kind.
    #[error("{operation} has no answer for {what}")]
    NoAnswer {
        /// Which operation.
        operation: &'static str,
        /// Which geometries.
        what: &'static str,
    },
}

impl GeoError {
    /// A text is no geometry of its format.
    pub(crate) fn syntax(format: &'static str, at: usize, message: impl Into<String>) -> Self {
        Self::Syntax { format, at, message: message.into() }
    }
}
