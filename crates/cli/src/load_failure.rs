//! What is told when a load fails: why, what the database holds then, and what would help.

use crate::exit::DataSyntaxError;
use crate::number;
use lode_engine::store::StoreError;
use lode_engine::store::load::{IngestError, LoadError, LoadOptions};
use std::fmt::Write;

/// Options that were not given and may help against what is wrong in the data.
#[derive(Debug, Clone, Copy)]
pub struct Remedies {
    quarantine: bool,
    lenient: bool,
    several_sources: bool,
}

impl Remedies {
    /// Those that a load with these options of so many sources leaves.
    pub fn left(options: &LoadOptions, sources: usize) -> Self {
        Self {
            quarantine: options.quarantine.is_none(),
            lenient: !options.lenient,
            several_sources: sources > 1,
        }
    }

    /// What can be done about an error.
    fn against(self, error: &LoadError) -> Vec<&'static str> {
        let mut lines = Vec::new();
        match error {
            LoadError::Source(IngestError::Syntax { .. }) => {
                if self.quarantine {
                    lines.push("--quarantine FILE sets aside what is wrong and loads the rest");
                }
                if self.lenient {
                    lines.push("--lenient keeps invalid IRIs, language tags and escapes");
                }
                lines.push("--dry-run lists all mistakes without loading");
            }
            LoadError::Source(IngestError::Input { .. } | IngestError::Format { .. })
                if self.several_sources =>
            {
                if self.quarantine {
                    lines.push("--quarantine FILE leaves out files that cannot be read and loads the others");
                }
                lines.push("--dry-run lists all such files without loading");
            }
            _ => {}
        }
        lines
    }
}

/// The error of a load that has failed, when the database holds so many quads.
pub fn load_failed(error: &LoadError, quads: u64, remedies: Remedies) -> anyhow::Error {
    let mut text = error.to_string();
    // Then nobody knows, and the error says so.
    if !matches!(error, LoadError::Store(StoreError::InDoubt { .. })) {
        text.push_str("\nnothing was loaded");
        if quads > 0 {
            let _ = write!(text, "; the database is as it was, with {} quads", number::grouped(quads));
        }
    }
    for remedy in remedies.against(error) {
        let _ = write!(text, "\nhint: {remedy}");
    }
    with_code(error, text)
}

/// An error with this text and with the exit code of `error`.
pub fn with_code(error: &LoadError, text: String) -> anyhow::Error {
    match error {
        LoadError::Source(IngestError::Syntax { .. }) => anyhow::Error::new(DataSyntaxError(text)),
        _ => anyhow::Error::msg(text),
    }
}
