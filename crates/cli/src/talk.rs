//! What the program says to people: lines on standard error. A standard error that nobody reads any more is no reason to stop
//! (`eprintln!` would panic).

/// Writes a line to standard error, if it can be written.
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($text)*);
    }};
}

pub(crate) use say;
