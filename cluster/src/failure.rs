//! What goes wrong in a leaf, on its way to the head: texts with a mark, since errors of DataFusion come over the wire as such.

use datafusion::error::DataFusionError;
use lode_engine::ExecError;
use lode_fragment::FragmentError;

const MARK: &str = "lode leaf ";

/// Whose fault it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The query, wherever it runs: it has no memory, or the store is damaged.
    Query,
    /// What this worker has is not what the head has: another may have it, or the head itself.
    Worker,
    /// It was called off.
    Cancelled,
}

impl Fault {
    const fn letter(self) -> &'static str {
        match self {
            Self::Query => "Q",
            Self::Worker => "W",
            Self::Cancelled => "C",
        }
    }
}

/// An error of a leaf.
pub fn error(fault: Fault, message: &str) -> DataFusionError {
    DataFusionError::Execution(format!("{MARK}{}: {message}", fault.letter()))
}

/// The same of a fragment.
pub fn of_fragment(found: &FragmentError) -> DataFusionError {
    let fault = match found {
        FragmentError::Execution(ExecError::Cancelled(_)) => Fault::Cancelled,
        FragmentError::Program { .. } | FragmentError::Version { .. } | FragmentError::UnknownTerm(_) => {
            Fault::Worker
        }
        _ => Fault::Query,
    };
    error(fault, &found.to_string())
}

/// What a leaf said, if the error is of one.
pub fn said(found: &DataFusionError) -> Option<(Fault, String)> {
    let text = found.to_string();
    let (_, rest) = text.split_once(MARK)?;
    let (letter, message) = rest.split_once(": ")?;
    let fault =
        [Fault::Query, Fault::Worker, Fault::Cancelled].into_iter().find(|fault| fault.letter() == letter)?;
    Some((fault, message.to_owned()))
}

#[cfg(test)]
mod tests {
    //! Through the errors that wrap it.
    use super::*;

    #[test]
    fn is_found_again() {
        let inner = error(Fault::Worker, "no such version: 5");
        let wrapped = DataFusionError::Context("stage 1".into(), Box::new(inner));
        assert_eq!(said(&wrapped), Some((Fault::Worker, "no such version: 5".into())));
        assert_eq!(said(&DataFusionError::Execution("connection refused".into())), None);
    }
}
