//! `lode update`.

use crate::args::UpdateArgs;
use crate::exit::{Done, wrong_usage};
use crate::keep_few::keep_few;
use crate::load::remove_if_empty;
use crate::memory::SharedMemory;
use crate::number;
use crate::progress::LiveLine;
use crate::query::{check_words, request_text};
use crate::remote::{self, Remote};
use crate::shapes::Guard;
use crate::supplied::Written;
use crate::talk::{say, say_found_log, say_warnings, tell_damaged_snapshots, write_json};
use anyhow::Context;
use lode_assist::{Form, kept_prefixes};
use lode_engine::store::CompactOptions;
use lode_engine::{
    CancelToken, Database, INFERENCES_STALE, LoadAllow, UpdateOptions, UpdateProgress, UpdateReport,
};
use lode_rdf::parse::StatementLimit;
use std::sync::Arc;
use std::time::Duration;

pub fn run(args: &UpdateArgs) -> anyhow::Result<Done> {
    let given = args.update.as_deref().filter(|text| *text != "-");
    check_words(&args.database, given, "update")?;
    let text = request_text(given, args.file.as_deref(), "update")?;
    if let Some(url) = remote::url(&args.database) {
        return send(args, url, &text);
    }
    let load = LoadAllow::new(&args.allow_load).map_err(anyhow::Error::msg).context("--allow-load")?;
    let progress = Arc::new(UpdateProgress::default());
    let memory = SharedMemory::new(&args.evaluation);
    let mut options = UpdateOptions {
        evaluation: memory.query_options(&args.evaluation)?,
        load,
        statement_limit: StatementLimit::new(
            args.statement_bytes_max.unwrap_or_else(|| memory.statement_bytes_max()),
        ),
        unpacked_max: None,
        progress: Some(progress.clone()),
    };
    options.evaluation.base_iri = args.base.clone();
    options.evaluation.cancel = CancelToken::new(args.timeout);
    let existed = args.database.exists();
    let (open, write) = (memory.open_options(), memory.write_options());
    let database = if args.create {
        Database::create_or_open_for_writing(&args.database, &open, write)?
    } else {
        Database::open_for_writing(&args.database, &open, write)?
    };
    if let Some(guard) = Guard::new(&args.guard, memory.query_options(&args.evaluation)?)? {
        database.store().check_commits(guard.check())?;
    }
    say_found_log(&database);
    tell_damaged_snapshots(&database);
    let line = LiveLine::start(args.quiet, move || {
        let (operations, changes) = (progress.operations(), progress.changes());
        format!("{} done, {}", number::of(operations, "operation"), number::of(changes, "change"))
    });
    let written = Written { text: &text, form: Form::Update, base: args.base.as_deref() };
    let mut bytes_before = 0;
    let update = |whole: &str| {
        bytes_before = whole.len() - text.len();
        Ok(database.update(whole, &options)?)
    };
    let result = written.run(|| Some(kept_prefixes(&database)), update);
    drop(line);
    if result.is_ok() {
        let memory_bytes = CompactOptions::default().memory_bytes.min(memory.bytes());
        keep_few(&database, &CompactOptions { memory_bytes, ..CompactOptions::default() }, args.quiet);
    }
    drop(database);
    let report = result.inspect_err(|_| {
        if !existed {
            remove_if_empty(&args.database);
        }
    })?;
    say_warnings(&report.warnings, &text, bytes_before);
    if !args.quiet {
        say!("{}", summary(&report));
    }
    if args.json {
        write_json(&as_json(&report))?;
    }
    Ok(Done::Ok)
}

/// Sends the request to a server.
fn send(args: &UpdateArgs, url: &str, text: &str) -> anyhow::Result<Done> {
    if args.create || !args.allow_load.is_empty() || !args.guard.shapes.is_empty() {
        return Err(wrong_usage(
            "--create, --allow-load and --shapes are for a folder: the server has its own",
        ));
    }
    remote::refuse_own_options(&args.evaluation)?;
    let server = Remote::new(url, &args.login)?;
    let cancel = CancelToken::new(args.timeout);
    let written = Written { text, form: Form::Update, base: args.base.as_deref() };
    let told = written.run(
        || remote::prefixes(&server),
        |text| {
            let with_base = args.base.as_ref().map(|base| format!("BASE <{base}>\n{text}"));
            remote::update(&server, with_base.as_deref().unwrap_or(text), &cancel)
        },
    )?;
    told.warnings.iter().for_each(|warning| say!("warning: {warning}"));
    if !args.quiet {
        say!("{}", told.summary);
    }
    if args.json {
        write_json(&told.json)?;
    }
    Ok(Done::Ok)
}

pub fn summary(report: &UpdateReport) -> String {
    let time = Duration::from_secs_f64(report.seconds);
    let changed = number::changed([report.inserted, report.deleted], time, Some(report.version));
    if report.inferences_stale {
        return format!("{changed}\nwarning: {INFERENCES_STALE}");
    }
    changed
}

fn as_json(report: &UpdateReport) -> serde_json::Value {
    let mut json = serde_json::json!({
        "operations": report.operations,
        "inserted": report.inserted,
        "deleted": report.deleted,
        "version": report.version,
        "seconds": report.seconds,
        "warnings": report.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
    });
    if report.inferences_stale {
        json["inferences_stale"] = true.into();
    }
    json
}
