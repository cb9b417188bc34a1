//! A session: what was set in it, and what each statement does.

use super::edit;
use super::state::KeptPrefixes;
use super::statement::without_semicolon;
use super::target::Target;
use crate::args::{EvaluationArgs, ShellArgs};
use crate::exit::wrong_usage;
use crate::interrupt::Interruptible;
use crate::look::{self, Look};
use crate::number::duration;
use crate::remote;
use crate::screen::Screen;
use crate::supplied::Written;
use crate::talk::say;
use lode_assist::{Form, form_of};
use lode_engine::{CancelToken, OutputFormat};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// What a command leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    GoOn,
    /// A script is to be read.
    Read(PathBuf),
    Quit,
}

/// A session.
pub struct Session<'a> {
    pub args: &'a ShellArgs,
    /// How queries are evaluated: as the command line says, until a command says another thing.
    pub evaluation: EvaluationArgs,
    pub target: Target,
    pub prefixes: KeptPrefixes,
    /// Whether a server is to be asked for its prefixes.
    pub asks_prefixes: bool,
    /// What answers are written in; none is a table, and Turtle for graphs.
    pub format: Option<OutputFormat>,
    /// Whether rows and time are told.
    pub timer: bool,
    /// Whether queries are explained in place of being run.
    pub explains: bool,
    /// Where answers go, if not to the screen.
    pub output: Option<(PathBuf, File)>,
    /// What completes, where somebody types.
    pub completes: Option<edit::Help>,
    /// Scripts that are being read, each by the one before.
    pub scripts: usize,
    /// Whether Ctrl-C is for the query.
    pub is_interactive: bool,
}

impl Session<'_> {
    /// Runs a statement.
    pub fn run(&mut self, text: &str) -> anyhow::Result<()> {
        let text = without_semicolon(text).unwrap_or(text);
        if text.trim().is_empty() {
            return Ok(());
        }
        self.look_at_prefixes();
        match (form_of(text), self.explains) {
            (Form::Query, false) => drop(self.query(text)?),
            (Form::Query, true) => self.explain(text)?,
            (Form::Update, _) => self.update(text)?,
        }
        for prefix in lode_assist::declared_prefixes(text) {
            self.prefixes.add(prefix)?;
        }
        Ok(())
    }

    /// Learns the prefixes that are kept with the data.
    pub fn look_at_prefixes(&mut self) {
        let found = match &mut self.target {
            Target::Folder(folder) => folder.prefixes(),
            Target::Server(server) if std::mem::take(&mut self.asks_prefixes) => remote::prefixes(server),
            Target::Server(_) => None,
        };
        if let Some(found) = found {
            self.prefixes.of_data = found;
        }
    }

    /// A query, with the prefixes that it lacks.
    fn whole(&self, text: &str) -> String {
        lode_assist::with_prefixes(text, &self.prefixes.known(), false)
    }

    /// What is wrong with a statement, with the places that it has without the line of prefixes.
    fn explained(error: anyhow::Error, whole: &str, text: &str, form: Form) -> anyhow::Error {
        Written { text, form, base: None }.explained(error, whole)
    }

    fn interruptible(&self, cancel: &CancelToken) -> Option<Interruptible> {
        self.is_interactive.then(|| Interruptible::new(cancel))
    }

    /// Writes the answer to a query; tells its rows or triples, where they were counted.
    pub fn query(&mut self, text: &str) -> anyhow::Result<Option<u64>> {
        let whole = self.whole(text);
        let cancel = CancelToken::new(self.args.timeout);
        let look = self.look(&whole);
        let _interruptible = self.interruptible(&cancel);
        let (format, evaluation, start) = (self.format, self.evaluation.clone(), Instant::now());
        let rows = self.write(|target, out| target.query(&whole, format, &look, &evaluation, &cancel, out));
        let rows = rows.map_err(|error| Self::explained(error, &whole, text, Form::Query))?;
        if self.timer {
            match rows {
                Some(rows) => say!("{}", look::told(rows, start.elapsed())),
                None => say!("{}", duration(start.elapsed())),
            }
        }
        Ok(rows)
    }

    /// What a query finds for its first variable in so much time; nothing where it fails.
    pub fn values(&mut self, text: &str, time: Duration) -> Vec<String> {
        let (whole, args) = (self.whole(text), self.args);
        let cancel = CancelToken::new(Some(args.timeout.map_or(time, |own| own.min(time))));
        let _interruptible = self.interruptible(&cancel);
        self.target.values(&whole, &self.evaluation, &cancel).unwrap_or_default()
    }

    pub fn explain(&mut self, text: &str) -> anyhow::Result<()> {
        let whole = self.whole(text);
        let cancel = CancelToken::new(self.args.timeout);
        let _interruptible = self.interruptible(&cancel);
        let evaluation = self.evaluation.clone();
        let plan = self.write(|target, out| target.explain(&whole, &evaluation, &cancel, out));
        plan.map_err(|error| Self::explained(error, &whole, text, Form::Query))
    }

    fn update(&mut self, text: &str) -> anyhow::Result<()> {
        self.may_write()?;
        let whole = self.whole(text);
        let cancel = CancelToken::new(self.args.timeout);
        let _interruptible = self.interruptible(&cancel);
        let done = self.target.update(&whole, &self.evaluation, &cancel);
        self.has_changed();
        let done = done.map_err(|error| Self::explained(error, &whole, text, Form::Update))?;
        say!("{done}");
        Ok(())
    }

    /// Refuses what changes data where only reading was asked for.
    pub fn may_write(&self) -> anyhow::Result<()> {
        if self.args.read_only {
            return Err(wrong_usage("the shell was started with --read-only: nothing was changed"));
        }
        Ok(())
    }

    /// What completes looks at the data anew.
    pub fn has_changed(&self) {
        if let Some(help) = &self.completes {
            help.forget();
        }
    }

    /// An IRI as a person writes it here.
    pub fn written(&self, iri: &str) -> String {
        let short = look::prefixes(&[], &self.prefixes.known()).shorten(iri);
        short.unwrap_or_else(|| format!("<{iri}>"))
    }

    fn look(&self, query: &str) -> Look {
        let mut output = self.args.output.clone();
        output.full |= self.output.is_some();
        if output.full {
            output.width = None;
        }
        Look::new(query, &self.prefixes.known(), &output)
    }

    /// Lets `work` write to where answers go.
    pub fn write<T>(
        &mut self,
        work: impl FnOnce(&mut Target, &mut dyn Write) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        if let Some((_, file)) = &mut self.output {
            let mut out = BufWriter::new(file);
            let done = work(&mut self.target, &mut out);
            out.flush()?;
            return done;
        }
        let screen = Screen::new(self.is_interactive && !self.args.output.no_pager);
        let mut out = BufWriter::with_capacity(1 << 16, screen);
        let done = work(&mut self.target, &mut out);
        let flushed = out.flush().and_then(|()| out.get_mut().finish());
        let done = done?;
        // Who leaves the pager has seen enough.
        flushed
            .or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })?;
        Ok(done)
    }
}
