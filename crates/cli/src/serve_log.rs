//! What a server tells while it runs: lines on standard error, of text or JSON, handed to a thread that writes them.

use crate::args::{LogFormatArg, LogLevelArg, ServeArgs};
use crate::talk::say;
use anyhow::Context;
use lode_server::{LogFile, LogFormat, Logs, SlowMin, Traces};
use std::io;
use std::path::Path;
use std::sync::Arc;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;

/// The logs that the options ask for.
///
/// # Errors
/// Where a file cannot be opened.
pub fn logs(args: &ServeArgs) -> anyhow::Result<Logs> {
    let open = |path: &Option<std::path::PathBuf>, option: &str| {
        let open = |path: &Path| LogFile::open(path).with_context(|| format!("{option} {}", path.display()));
        path.as_deref().map(open).transpose()
    };
    Ok(Logs {
        access: open(&args.access_log, "--access-log")?,
        access_format: match args.log_format {
            LogFormatArg::Text => LogFormat::Text,
            LogFormatArg::Json => LogFormat::Json,
        },
        slow: open(&args.slow_query_log, "--slow-query-log")?,
        slow_min: SlowMin::new(args.slow_query),
        audit: open(&args.audit_log, "--audit-log")?,
        program: None,
        traces: match &args.otlp_endpoint {
            Some(address) => {
                let traces = Traces::start(address, args.otlp_ratio);
                Some(traces.map_err(anyhow::Error::msg).context("--otlp-endpoint")?)
            }
            None => None,
        },
    })
}

/// What tells it from now on.
pub struct Teller {
    log: Arc<LogFile>,
    format: LogFormatArg,
}

impl Teller {
    /// Has everything told go to standard error.
    pub fn start(format: LogFormatArg, level: LogLevelArg) -> Self {
        let log = LogFile::standard_error();
        let level = match level {
            LogLevelArg::Error => LevelFilter::ERROR,
            LogLevelArg::Warn => LevelFilter::WARN,
            LogLevelArg::Info => LevelFilter::INFO,
            LogLevelArg::Debug => LevelFilter::DEBUG,
        };
        let lines = tracing_subscriber::fmt()
            .with_max_level(level)
            .with_ansi(false)
            .with_target(false)
            .with_writer(Lines(Arc::clone(&log)));
        // Where there is a subscriber already, as in a process that serves twice, it stays.
        let _ = match format {
            LogFormatArg::Text => tracing::subscriber::set_global_default(lines.finish()),
            LogFormatArg::Json => {
                tracing::subscriber::set_global_default(lines.json().flatten_event(true).finish())
            }
        };
        Self { log, format }
    }

    /// Where it is written.
    pub fn log(&self) -> Arc<LogFile> {
        Arc::clone(&self.log)
    }

    /// Something for the person who has started the server: plain, unless programs read it.
    pub fn tell(&self, line: &str) {
        match self.format {
            LogFormatArg::Text => {
                self.log.flush();
                say!("{line}");
            }
            LogFormatArg::Json => tracing::info!("{line}"),
        }
    }
}

/// Takes lines.
#[derive(Clone)]
struct Lines(Arc<LogFile>);

impl io::Write for Lines {
    /// One event, whose text may be of clients: it stays in its line.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        let line = text.trim_end_matches('\n');
        let clean = line.chars().fold(String::with_capacity(line.len()), |mut clean, c| {
            if c.is_control() {
                clean.extend(c.escape_default())
            } else {
                clean.push(c)
            }
            clean
        });
        self.0.write(clean.into_bytes());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}
