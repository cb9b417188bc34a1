//! `lode query`.

use crate::args::{PlanForm, QueryArgs};
use crate::exit::{Done, wrong_usage};
use crate::interrupt::Interruptible;
use crate::look::{self, Look};
use crate::memory::SharedMemory;
use crate::number;
use crate::plan_table;
use crate::published;
use crate::remote::{self, Asked, Remote};
use crate::screen::{self, Screen};
use crate::supplied::Written;
use crate::talk::{say, say_warnings};
use crate::written::{NO_COLUMNS, format_names, write_results};
use anyhow::Context;
use lode_assist::{Form, kept_prefixes};
use lode_engine::store::{OpenFiles, StoreError};
use lode_engine::{CancelToken, Database, EngineError, OutputFormat, PreparedQuery, ResultKind};
use lode_rdf::RdfFormat;
use lode_remote::{Address, Published};
use sparesults::QueryResultsFormat;
use std::io::{BufWriter, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// How often something is begun that another process, which replaces files of the database, keeps from its end.
pub const ATTEMPTS: u32 = 5;

pub fn run(args: &QueryArgs) -> anyhow::Result<Done> {
    check_words(&args.database, args.query.as_deref(), "query")?;
    let text = request_text(args.query.as_deref(), args.file.as_deref(), "query")?;
    if let Some(url) = remote::url(&args.database) {
        return ask(args, url, &text);
    }
    if let Some(address) = published::address(&args.database)? {
        return answer_published(args, &text, &address);
    }
    // Most queries read few of the files that many segments have.
    if let Some(done) = answer(args, &text, OpenFiles::WhenRead, true)? {
        return Ok(done);
    }
    for _ in 2..ATTEMPTS {
        if let Some(done) = answer(args, &text, OpenFiles::Now, true)? {
            return Ok(done);
        }
    }
    Ok(answer(args, &text, OpenFiles::Now, false)?.unwrap_or(Done::Ok))
}

/// Asks a server.
fn ask(args: &QueryArgs, url: &str, text: &str) -> anyhow::Result<Done> {
    remote::refuse_own_options(&args.evaluation)?;
    let format = output_format(args)?.unwrap_or(OutputFormat::Table);
    let mut parameters: Vec<String> = args.at.iter().map(|at| remote::parameter("at", at)).collect();
    let plan = match (args.explain, args.profile) {
        (Some(form), _) => Some(("explain", form)),
        (None, Some(form)) => Some(("profile", form)),
        (None, None) => None,
    };
    if let Some((wish, form)) = plan {
        if form == PlanForm::Text && wish == "profile" {
            return Err(wrong_usage("a server tells profiles as JSON: --profile=json"));
        }
        parameters.push(format!("{wish}=1"));
    }
    if args.evaluation.asserted {
        parameters.push("infer=false".to_owned());
    }
    parameters.extend(remote::reasoning(&args.evaluation));
    if let (OutputFormat::Columns(..), Some(name)) = (format, &args.format) {
        // Its media type does not tell the form of its columns.
        parameters.push(remote::parameter("format", name));
    }
    let accept = remote::accepted(format);
    let server = Remote::new(url, &args.login)?;
    let cancel = CancelToken::new(args.timeout);
    let _interruptible = interruptible(args, &cancel);
    let start = Instant::now();
    let written = Written { text, form: Form::Query, base: args.base.as_deref() };
    let response = written.run(
        || remote::prefixes(&server),
        |text| {
            let with_base = args.base.as_ref().map(|base| format!("BASE <{base}>\n{text}"));
            let asked = Asked {
                media_type: "application/sparql-query",
                text: with_base.as_deref().unwrap_or(text),
                accept: if plan.is_some() { "application/json" } else { &accept },
                parameters: parameters.join("&"),
            };
            server.query(&asked, &cancel)
        },
    )?;
    if let Some(("explain", PlanForm::Text)) = plan {
        let told = remote::text_of(response, &cancel)?;
        let mut out = Screen::new(!args.output.no_pager);
        out.write_all(remote::plan_text(&told).unwrap_or(told).as_bytes())?;
        out.finish()?;
        return Ok(Done::Ok);
    }
    let mut out = BufWriter::with_capacity(1 << 16, Screen::new(!args.output.no_pager));
    let mut look = Look::new(text, &[], &args.output);
    let has_names = look.table.width.is_some() && format == OutputFormat::Table
        || matches!(format, OutputFormat::Rdf(RdfFormat::Turtle | RdfFormat::TriG));
    // What has no prefixes needs none.
    if has_names && plan.is_none() {
        look = Look::new(text, &remote::prefixes(&server).unwrap_or_default(), &args.output);
    }
    let format = if plan.is_some() { OutputFormat::Results(QueryResultsFormat::Json) } else { format };
    let shown = remote::show(response, format, &look, &cancel, &mut out);
    let flushed = out.flush().and_then(|()| out.get_mut().finish());
    let shown = shown?;
    flushed?;
    if let Some(rows) = shown.rows.filter(|_| screen::is_terminal()) {
        say!("{}", look::told(rows, start.elapsed()));
    }
    Ok(Done::Ok)
}

/// Where a pager runs beside us, Ctrl-C must not end us before it.
fn interruptible(args: &QueryArgs, cancel: &CancelToken) -> Option<Interruptible> {
    (screen::is_terminal() && !args.output.no_pager).then(|| Interruptible::new(cancel))
}

/// Answers the query from the version of the moment. None where files of that version have gone before anything was answered, and `again`
/// says that somebody will ask again.
fn answer(args: &QueryArgs, text: &str, files: OpenFiles, again: bool) -> anyhow::Result<Option<Done>> {
    let screen = Screen::new(!args.output.no_pager);
    let mut out = BufWriter::with_capacity(1 << 16, Delivered::new(screen));
    let mut below = String::new();
    let outcome = answer_to(args, text, files, &mut out, &mut below);
    let failed =
        out.get_ref().has_lost_files || outcome.as_ref().is_err_and(|error| may_be_stale(error, files));
    if again && failed && !out.get_ref().any {
        // Not written: what waits in the buffer.
        drop(out.into_parts());
        return Ok(None);
    }
    let flushed = out.flush().and_then(|()| out.get_mut().out.finish());
    if !below.is_empty() {
        say!("{}", below.trim_end());
    }
    outcome?;
    flushed?;
    Ok(Some(Done::Ok))
}

/// Answers the query from a published version. Nobody replaces what it consists of.
fn answer_published(args: &QueryArgs, text: &str, address: &Address) -> anyhow::Result<Done> {
    let memory = SharedMemory::new(&args.evaluation);
    let published = published::open(address, args.at.as_deref(), &args.cache, args.timeout)?;
    let database = published.database(&memory.open_options(), OpenFiles::WhenRead)?;
    let mut out = BufWriter::with_capacity(1 << 16, Screen::new(!args.output.no_pager));
    let mut below = String::new();
    let asked = Source { database: &database, at: None, remote: Some(&published) };
    let outcome = answer_from(args, text, &memory, &asked, &mut out, &mut below);
    let flushed = out.flush().and_then(|()| out.get_mut().finish());
    if !below.is_empty() {
        say!("{}", below.trim_end());
    }
    outcome?;
    flushed?;
    Ok(Done::Ok)
}

/// What is asked.
struct Source<'a> {
    database: &'a Database,
    /// The snapshot of it.
    at: Option<&'a str>,
    /// Where it is, unless it is here.
    remote: Option<&'a Published>,
}

/// Whether another process may have replaced the version that was asked. One whose files were not all open may have lost some, or have
/// found others in their place.
fn may_be_stale(error: &anyhow::Error, files: OpenFiles) -> bool {
    let Some(error) = error.downcast_ref::<EngineError>() else { return false };
    let is_of_file =
        matches!(error, EngineError::Store(StoreError::Io { .. } | StoreError::Corruption { .. }));
    error.is_stale() || (files == OpenFiles::WhenRead && is_of_file)
}

/// A writer, and whether anything was written to it.
pub struct Delivered<W> {
    out: W,
    pub any: bool,
    /// What the answer is read from: all of its files are opened before the first of the answer is written, since then nobody can ask
    /// again. An answer that comes as a whole needs no more.
    source: Option<Arc<Database>>,
    /// Whether that has failed.
    has_lost_files: bool,
}

impl<W: Write> Delivered<W> {
    pub fn new(out: W) -> Self {
        Self { out, any: false, source: None, has_lost_files: false }
    }
}

impl<W: Write> Write for Delivered<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if let Some(database) = self.source.take()
            && let Err(error) = database.hold_files()
        {
            self.has_lost_files = true;
            return Err(std::io::Error::other(error));
        }
        self.any |= !bytes.is_empty();
        self.out.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

fn answer_to<W: Write>(
    args: &QueryArgs,
    text: &str,
    files: OpenFiles,
    out: &mut BufWriter<Delivered<W>>,
    below: &mut String,
) -> anyhow::Result<()> {
    let memory = SharedMemory::new(&args.evaluation);
    let options = memory.open_options();
    let database = Arc::new(Database::open_for_reading(&args.database, &options, files)?);
    out.get_mut().source = (files == OpenFiles::WhenRead).then(|| Arc::clone(&database));
    let asked = Source { database: &database, at: args.at.as_deref(), remote: None };
    let answered = answer_from(args, text, &memory, &asked, out, below);
    // All that is left to write was read.
    out.get_mut().source = None;
    answered
}

/// Writes the answer, and puts what is to be said of it behind `below`.
fn answer_from(
    args: &QueryArgs,
    text: &str,
    memory: &SharedMemory,
    source: &Source<'_>,
    out: &mut dyn Write,
    below: &mut String,
) -> anyhow::Result<()> {
    let mut options = memory.query_options(&args.evaluation)?;
    #[cfg(feature = "cluster")]
    {
        options.elsewhere = crate::cluster::elsewhere(&args.workers)?;
    }
    options.base_iri = args.base.clone();
    options.cancel = CancelToken::new(args.timeout);
    let _interruptible = interruptible(args, &options.cancel);
    let start = Instant::now();
    let database = source.database;
    let written = Written { text, form: Form::Query, base: args.base.as_deref() };
    let mut bytes_before = 0;
    let query = written.run(
        || Some(kept_prefixes(database)),
        |whole| {
            bytes_before = whole.len() - text.len();
            Ok(database.prepare_at(database.snapshot_at(source.at)?, whole, &options)?)
        },
    )?;
    if let Some(form) = args.explain {
        let text = match form {
            PlanForm::Text => query.explain(),
            PlanForm::Json => json(&query, None)?,
        };
        return Ok(out.write_all(text.as_bytes())?);
    }
    let kind = query.kind();
    let format = output_format(args)?.map_or_else(|| default_format(kind), |format| format.of_kind(kind));
    say_warnings(query.warnings(), text, bytes_before);
    let planned = start.elapsed();
    let look = Look::new(text, &kept_prefixes(database), &args.output);
    let outcome = query.run().and_then(|results| write_results(results, format, &look, out));
    // Also of a query that ran out of time: it tells where that went.
    match args.profile {
        None => {}
        Some(PlanForm::Json) => *below += &json(&query, source.remote)?,
        Some(PlanForm::Text) => {
            let rows = outcome.as_ref().map_or("not all".to_owned(), |rows| number::grouped(*rows));
            let table = plan_table::of(&query.report());
            *below += &format!(
                "{}\nplanned in {planned:.2?}, {rows} rows in {:.2?}",
                table.trim_end(),
                start.elapsed()
            );
            if let Some(remote) = source.remote {
                *below += &format!("\n{}", published::told(&remote.counters().sample()));
            }
        }
    }
    let rows = outcome?;
    if below.is_empty() && format == OutputFormat::Table && query.kind() == ResultKind::Solutions {
        *below += &if screen::is_terminal() { look::told(rows, start.elapsed()) } else { String::new() };
    }
    Ok(())
}

/// The plan, and what has become of it, as a line of JSON.
fn json(query: &PreparedQuery, remote: Option<&Published>) -> anyhow::Result<String> {
    let Some(remote) = remote else { return Ok(serde_json::to_string(&query.report())? + "\n") };
    let mut report = serde_json::to_value(query.report())?;
    report["object_storage"] = published::as_json(&remote.counters().sample());
    Ok(report.to_string() + "\n")
}

/// Whether the words after `lode query` or `lode update` are others than they should be: a file's name in place of a text, or the text in
/// place of the database.
pub fn check_words(database: &Path, text: Option<&str>, what: &str) -> anyhow::Result<()> {
    let Some(text) = text else { return Ok(()) };
    if Path::new(text).is_file() {
        return Err(wrong_usage(format!("{text} is a file: --file {text} reads the {what} from it")));
    }
    if Path::new(text).is_dir() && !database.exists() {
        return Err(wrong_usage(format!(
            "the database comes first, then the {what}: lode {what} {text} '...'"
        )));
    }
    Ok(())
}

/// The text of a query or an update: given, from a file, or from standard input.
pub fn request_text(text: Option<&str>, file: Option<&Path>, what: &str) -> anyhow::Result<String> {
    if let Some(text) = text.filter(|text| *text != "-") {
        return Ok(text.to_owned());
    }
    if let Some(file) = file.filter(|file| file.as_os_str() != "-") {
        let text = std::fs::read_to_string(file);
        return text.map(without_mark).with_context(|| format!("reading the {what} {}", file.display()));
    }
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .with_context(|| format!("reading the {what} from standard input"))?;
    Ok(without_mark(text))
}

/// A text without the byte order mark with which some editors begin a file.
fn without_mark(text: String) -> String {
    text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)
}

/// What is written unless a format is named.
pub fn default_format(kind: ResultKind) -> OutputFormat {
    match kind {
        ResultKind::Graph => OutputFormat::default_for(kind),
        ResultKind::Boolean | ResultKind::Solutions => OutputFormat::Table,
    }
}

/// The format that is named.
fn output_format(args: &QueryArgs) -> anyhow::Result<Option<OutputFormat>> {
    args.format.as_deref().map(format_named).transpose()
}

/// The format of this name.
pub fn format_named(name: &str) -> anyhow::Result<OutputFormat> {
    let Some(format) = OutputFormat::from_name(name) else {
        return Err(wrong_usage(format!("unknown format {name}: use one of {}", format_names())));
    };
    if !lode_server::is_offered(format) {
        return Err(wrong_usage(NO_COLUMNS.to_owned()));
    }
    Ok(format)
}
