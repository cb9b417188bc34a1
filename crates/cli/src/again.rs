//! What reads all of a database that another process writes to: where files of the version that is read have been replaced meanwhile, it
//! is begun again with the version of the moment, as long as nothing was written. Queries, which read few files, do so in their own way.

use crate::exit::Done;
use crate::query::{ATTEMPTS, Delivered};
use crate::screen::Screen;
use lode_engine::EngineError;
use lode_engine::store::{DumpError, StoreError};
use std::io::{BufWriter, Write};

/// Writes to standard output; so many bytes are collected before.
pub fn to_stdout(
    buffer_bytes: usize,
    work: &dyn Fn(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<Done> {
    write(&mut Screen::new(false), buffer_bytes, work)?;
    Ok(Done::Ok)
}

fn write(
    out: &mut dyn Write,
    buffer_bytes: usize,
    work: &dyn Fn(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    for _ in 1..ATTEMPTS {
        let mut buffer = BufWriter::with_capacity(buffer_bytes, Delivered::new(&mut *out));
        let outcome = work(&mut buffer);
        if !outcome.as_ref().is_err_and(is_stale) || buffer.get_ref().any {
            return end(buffer, outcome);
        }
        // Not written: what waits in the buffer.
        drop(buffer.into_parts());
    }
    let mut buffer = BufWriter::with_capacity(buffer_bytes, out);
    let outcome = work(&mut buffer);
    end(buffer, outcome)
}

/// Writes what waits in the buffer, also after an error.
fn end(mut buffer: BufWriter<impl Write>, outcome: anyhow::Result<()>) -> anyhow::Result<()> {
    let flushed = buffer.flush();
    outcome?;
    Ok(flushed?)
}

/// Whether files of the version that was read are gone.
fn is_stale(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref().is_some_and(EngineError::is_stale)
            || cause.downcast_ref().is_some_and(StoreError::is_stale)
            || matches!(cause.downcast_ref(), Some(DumpError::Store(error)) if error.is_stale())
    })
}

#[cfg(test)]
mod tests {
    //! Versions that go away once, always, and after something was written.
    use super::*;
    use std::cell::Cell;
    use std::io;
    use std::path::Path;

    fn stale() -> StoreError {
        StoreError::io(Path::new("db"))(io::Error::from(io::ErrorKind::StaleNetworkFileHandle))
    }

    /// What is written, how often it was begun, and how it ended, where each attempt before the `good`-th fails.
    fn attempts(good: u32, text: &str, error: &dyn Fn() -> anyhow::Error) -> (String, u32, bool) {
        let (mut out, begun) = (Vec::new(), Cell::new(0));
        let result = write(&mut out, 8, &|out| {
            begun.set(begun.get() + 1);
            out.write_all(text.as_bytes())?;
            if begun.get() < good { Err(error()) } else { Ok(()) }
        });
        (String::from_utf8(out).unwrap(), begun.get(), result.is_ok())
    }

    #[test]
    fn what_was_replaced_is_read_again_and_written_once() {
        for error in [
            &(|| stale().into()) as &dyn Fn() -> anyhow::Error,
            &|| DumpError::Store(stale()).into(),
            &|| EngineError::Store(stale()).into(),
        ] {
            assert_eq!(attempts(3, "text", error), ("text".to_owned(), 3, true));
            assert_eq!(attempts(9, "text", error), ("text".to_owned(), ATTEMPTS, false));
            assert_eq!(attempts(3, "a longer text", error), ("a longer text".to_owned(), 1, false));
        }
        let other = || StoreError::Limit("other".to_owned()).into();
        assert_eq!(attempts(3, "text", &other), ("text".to_owned(), 1, false));
    }
}
