//! `lode validate`.

use crate::args::ValidateArgs;
use crate::exit::{Done, wrong_usage};
use crate::look::Look;
use crate::memory::SharedMemory;
use crate::number;
use crate::published;
use crate::remote;
use crate::screen::Screen;
use crate::shapes::{read_shapes, set_graph, told};
use crate::talk::say;
use anyhow::bail;
use lode_engine::store::Snapshot;
use lode_engine::{CancelToken, Database, QueryOptions, QueryResults};
use lode_rdf::RdfFormat;
use lode_shacl::{Report, ReportFormat, Shapes, Summary, ValidateOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

pub fn run(args: &ValidateArgs) -> anyhow::Result<Done> {
    let format = report_format(&args.format)?;
    check_shapes(args)?;
    if let Some(url) = remote::url(&args.database) {
        return remote::validate(args, url);
    }
    let memory = SharedMemory::new(&args.evaluation);
    let mut query = memory.query_options(&args.evaluation)?;
    query.cancel = CancelToken::new(args.timeout);
    set_graph(&mut query, &args.graph, args.shapes_graph.as_ref())?;
    let (database, snapshot) =
        published::read(&args.database, args.at.as_deref(), &args.published, &memory.open_options())?;
    let graph = match &args.shapes_graph {
        Some(name) => lode_shacl::shapes_of_graph(&snapshot, name, &query).map_err(told)?,
        None => read_shapes(&args.shapes, query.memory.as_ref())?,
    };
    if let (true, Some(name)) = (graph.is_empty(), &args.shapes_graph) {
        bail!("there is no graph {name} with shapes");
    }
    let shapes = Shapes::read(graph).map_err(told)?;
    shapes.warnings().iter().for_each(|warning| say!("warning: {warning}"));
    let options = ValidateOptions {
        query,
        results_max: args.limit,
        shapes_graph: args.shapes_graph.clone(),
        ..ValidateOptions::default()
    };
    if args.explain {
        let mut out = Screen::new(!args.output.no_pager);
        for query in lode_shacl::queries(&snapshot, &shapes, &options).map_err(told)? {
            writeln!(out, "{query}")?;
        }
        out.finish()?;
        return Ok(Done::Ok);
    }
    warn_of_nothing(&database, &snapshot, &options.query)?;
    let start = Instant::now();
    let look = Look::new("", &[], &args.output);
    let out = BufWriter::with_capacity(1 << 16, Screen::new(!args.output.no_pager));
    let mut report = Report::start(format, look.table, out).map_err(told)?;
    let summary = lode_shacl::validate(&snapshot, &shapes, &options, &mut |result| report.push(result))
        .map_err(told)?;
    let mut out = report.finish(&summary).map_err(told)?;
    out.flush()?;
    out.get_mut().finish()?;
    if !args.quiet {
        let empty = lode_shacl::empty_targets(&snapshot, &shapes, &options).map_err(told)?;
        empty.iter().for_each(|warning| say!("warning: {warning}"));
        say!("{}", line(&summary, args.limit, start));
    }
    Ok(if summary.conforms() { Done::Ok } else { Done::Violated })
}

/// What there is to say of a validation.
fn line(summary: &Summary, limit: u64, start: Instant) -> String {
    let time = number::duration(start.elapsed());
    let queries = match summary.queries {
        1 => "1 query".to_owned(),
        many => format!("{} queries", number::grouped(many as u64)),
    };
    if summary.conforms() {
        return format!("the data conform to the shapes ({queries} in {time})");
    }
    let shown = if summary.results > limit {
        format!(", {} of them shown (--limit)", number::grouped(limit))
    } else {
        String::new()
    };
    let mild = summary.results - summary.violations;
    let mild = if mild > 0 {
        format!(", of which {} only warn or inform", number::grouped(mild))
    } else {
        String::new()
    };
    format!(
        "the data do not conform to the shapes: {}{mild}{shown} ({queries} in {time})",
        number::of(summary.results, "result")
    )
}

/// How a report is to be written.
pub fn report_format(name: &str) -> anyhow::Result<ReportFormat> {
    match name {
        "table" => Ok(ReportFormat::Table),
        "json" => Ok(ReportFormat::Json),
        other => RdfFormat::from_name(other).map(ReportFormat::Rdf).ok_or_else(|| {
            wrong_usage(format!("unknown format {other}: use table, json, ttl, nt, nq, trig, rdf or jsonld"))
        }),
    }
}

/// Says that the graph that is validated is empty: nearly always another one is meant.
fn warn_of_nothing(database: &Database, snapshot: &Snapshot, options: &QueryOptions) -> anyhow::Result<()> {
    let any = database.prepare_at(snapshot.clone(), "ASK { ?s ?p ?o }", options)?.run()?;
    if matches!(any, QueryResults::Boolean(false)) {
        say!(
            "warning: there is nothing in the graph that is validated; --graph union is all graphs, --graph IRI is one of them"
        );
    }
    Ok(())
}

/// Whether there are shapes, and are where they should be: files and names of graphs are easily mistaken for each other.
fn check_shapes(args: &ValidateArgs) -> anyhow::Result<()> {
    let place = args.database.display();
    if let Some(graph) = &args.shapes_graph {
        let file = graph.as_str().strip_prefix("file://").unwrap_or(graph.as_str());
        if Path::new(file).is_file() {
            return Err(wrong_usage(format!(
                "--shapes-graph names a graph of the database, and {file} is a file: lode validate {place} {file}"
            )));
        }
        return Ok(());
    }
    let is_graph =
        |shapes: &&PathBuf| !shapes.exists() && shapes.to_str().is_some_and(|name| name.contains("://"));
    if let Some(graph) = args.shapes.iter().find(is_graph) {
        let graph = graph.display();
        return Err(wrong_usage(format!(
            "shapes are files, and there is none called {graph}; those of a graph of the database: lode validate {place} --shapes-graph {graph}"
        )));
    }
    if args.shapes.is_empty() && args.database.is_file() {
        return Err(wrong_usage(format!(
            "the database comes first, then the shapes: lode validate DB {place}"
        )));
    }
    if let [shapes] = args.shapes.as_slice()
        && args.database.is_file()
        && shapes.is_dir()
    {
        let shapes = shapes.display();
        return Err(wrong_usage(format!(
            "the database comes first, then the shapes: lode validate {shapes} {place}"
        )));
    }
    if args.shapes.is_empty() {
        return Err(wrong_usage(format!(
            "there are no shapes: name files (lode validate {place} shapes.ttl), or a graph of the database (--shapes-graph IRI)"
        )));
    }
    Ok(())
}
