//! Where answers go: standard output as it is; on a terminal without what controls it, and through a pager.

mod clean;

pub use clean::Clean;
use std::io::{self, IsTerminal, Stdout, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

/// Quits at once where all fits, keeps colours out of harm, and leaves what was shown.
const PAGER: &str = "less -FRX";

/// Standard output.
pub struct Screen {
    out: Out,
    pages: bool,
    /// The last byte that was written.
    last: u8,
}

enum Out {
    /// Nothing was written yet.
    Unopened,
    Plain(Stdout),
    Terminal(Clean<Stdout>),
    Pager(Child, Option<Clean<ChildStdin>>),
}

/// Whether standard output is a terminal.
pub fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// The columns of the terminal that standard output is.
pub fn width() -> Option<usize> {
    if !is_terminal() {
        return None;
    }
    let (terminal_size::Width(width), _) = terminal_size::terminal_size_of(io::stdout())?;
    Some(usize::from(width).max(20))
}

impl Screen {
    /// Standard output, through a pager where it is a terminal and `pages` allows it.
    pub fn new(pages: bool) -> Self {
        Self { out: Out::Unopened, pages, last: b'\n' }
    }

    /// A pager begins with the first bytes, so that one that is not needed is none.
    fn open(&self) -> Out {
        if !is_terminal() {
            return Out::Plain(io::stdout());
        }
        let pager = if self.pages { pager() } else { None };
        match pager {
            Some((child, to)) => Out::Pager(child, Some(Clean::new(to))),
            None => Out::Terminal(Clean::new(io::stdout())),
        }
    }

    /// Ends the answer, on a terminal with a whole line, and waits until nobody reads it in the pager any more.
    pub fn finish(&mut self) -> io::Result<()> {
        let is_shown = matches!(self.out, Out::Terminal(_) | Out::Pager(_, Some(_)));
        if is_shown && std::mem::replace(&mut self.last, b'\n') != b'\n' {
            self.write_all(b"\n")?;
        }
        if let Out::Pager(child, to) = &mut self.out {
            to.take();
            child.wait()?;
            self.out = Out::Unopened;
            return Ok(());
        }
        self.flush()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // Nothing is left to be said where that fails.
        let _ = self.finish();
    }
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if matches!(self.out, Out::Unopened) {
            self.out = self.open();
        }
        self.last = bytes.last().copied().unwrap_or(self.last);
        match &mut self.out {
            Out::Plain(out) => out.write(bytes),
            Out::Terminal(out) => out.write(bytes),
            Out::Pager(_, Some(out)) => out.write(bytes),
            Out::Unopened | Out::Pager(_, None) => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.out {
            Out::Plain(out) => out.flush(),
            Out::Terminal(out) => out.flush(),
            Out::Pager(_, Some(out)) => out.flush(),
            Out::Unopened | Out::Pager(_, None) => Ok(()),
        }
    }
}

/// Starts the pager that the environment names, or the usual one; none where it cannot be started.
fn pager() -> Option<(Child, ChildStdin)> {
    let named = std::env::var("PAGER").ok();
    let named = named.as_deref().map(str::trim);
    if matches!(named, Some("" | "cat")) || std::env::var("TERM").is_ok_and(|term| term == "dumb") {
        return None;
    }
    let mut words = named.unwrap_or(PAGER).split_whitespace();
    let mut command = Command::new(words.next()?);
    command.args(words).stdin(Stdio::piped());
    for (name, value) in [("LESSCHARSET", "utf-8"), ("LESS", "FRX")] {
        if std::env::var_os(name).is_none() {
            command.env(name, value);
        }
    }
    let mut child = command.spawn().ok()?;
    let to = child.stdin.take()?;
    Some((child, to))
}
