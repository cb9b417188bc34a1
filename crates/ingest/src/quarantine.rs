//! What is set aside because it is wrong: statements, and whole files of which nothing or only a part could be read.

use crate::error::IngestError;
use lode_rdf::parse::BadText;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

/// Where it goes: each thing after a comment that says where it was and what is wrong.
pub struct Quarantine(Mutex<Box<dyn Write + Send>>);

impl Quarantine {
    /// What is set aside goes to `writer`.
    pub fn new(writer: Box<dyn Write + Send>) -> Self {
        Self(Mutex::new(writer))
    }

    /// Sets text aside.
    pub(crate) fn add(&self, error: &IngestError, bad: &BadText<'_>) -> Result<(), IngestError> {
        let mut entry = format!("# {error}\n").into_bytes();
        entry.extend_from_slice(bad.text);
        entry.push(b'\n');
        self.write(&entry)
    }

    /// Notes what could not be read of a file; nothing of it is here.
    pub(crate) fn add_file(&self, error: &IngestError, part: FilePart) -> Result<(), IngestError> {
        let what = match part {
            FilePart::All => "nothing of this file was loaded",
            FilePart::Rest => "the rest of this file was not loaded",
        };
        self.write(format!("# {error} ({what})\n").as_bytes())
    }

    fn write(&self, entry: &[u8]) -> Result<(), IngestError> {
        let mut writer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        writer.write_all(entry).map_err(IngestError::Quarantine)
    }

    /// At the end.
    pub(crate) fn flush(&self) -> Result<(), IngestError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).flush().map_err(IngestError::Quarantine)
    }
}

/// How much of a file is set aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilePart {
    /// All of it.
    All,
    /// What was behind the statements that were loaded.
    Rest,
}
