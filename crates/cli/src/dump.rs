//! `lode dump`.

use crate::again;
use crate::args::DumpArgs;
use crate::direct;
use crate::dump_graph::{bare, graph_id, has_graphs, whole};
use crate::exit::{Done, unknown_format, wrong_usage};
use crate::look;
use crate::memory::DumpMemory;
use crate::published;
use crate::remote::{self, Remote, Told};
use crate::screen::Screen;
use anyhow::bail;
use lode_assist::kept_prefixes;
use lode_engine::store::{DumpOptions, DumpScope, dump_graph, dump_lines, dump_quads};
use lode_engine::{CancelToken, OpenOptions};
use lode_rdf::format::RdfFormat;
use lode_rdf::serialize::{GraphText, QuadWriter};
use lode_rdf::{GraphNameRef, QuadRef};
use std::io::{BufWriter, Write};

/// What quads are collected to before they are written.
const BUFFER_BYTES: usize = 1 << 20;

pub fn run(args: &DumpArgs) -> anyhow::Result<Done> {
    if let Some(url) = remote::url(&args.database) {
        return download(args, url);
    }
    direct::use_if(args.direct);
    if args.format == "parquet" {
        return tables(args);
    }
    again::to_stdout(BUFFER_BYTES, &|out| write(args, out))
}

/// Writes what a server sends.
fn download(args: &DumpArgs, url: &str) -> anyhow::Result<Done> {
    if args.direct {
        return Err(wrong_usage(
            "--direct is for a folder: a server reads its files as it was told to (lode serve --direct)",
        ));
    }
    if args.inferred {
        return Err(wrong_usage(
            "--inferred is for a folder: of a server, ask for the graph <urn:lodestore:inferred>",
        ));
    }
    let format = RdfFormat::from_name(&args.format).ok_or_else(|| unknown_format(&args.format))?;
    let graph = args.graph.as_deref().map(|name| match name {
        "default" => "default".to_owned(),
        name => remote::parameter("graph", bare(name)),
    });
    let at = args.at.as_deref().map(|at| remote::parameter("at", at));
    let parameters: Vec<String> = graph.into_iter().chain(at).collect();
    let path =
        if parameters.is_empty() { "/data".to_owned() } else { format!("/data?{}", parameters.join("&")) };
    let server = Remote::new(url, &args.login)?;
    let cancel = CancelToken::default();
    let response = server.get(&path, format.media_type(), &cancel)?;
    let kind = remote::media_type(&response);
    let is_asked =
        [format.media_type(), "text/plain", "application/octet-stream", ""].contains(&kind.as_str());
    if !is_asked {
        bail!("{url}: the answer is {kind}, and not {}: no such dump", format.media_type());
    }
    let mut out = BufWriter::with_capacity(BUFFER_BYTES, Screen::new(false));
    let copied = std::io::copy(&mut Told::new(response, &cancel), &mut out);
    let flushed = out.flush();
    copied?;
    flushed?;
    Ok(Done::Ok)
}

#[cfg(feature = "arrow")]
fn tables(args: &DumpArgs) -> anyhow::Result<Done> {
    if args.by_class {
        return crate::dump_tables::by_class(args);
    }
    again::to_stdout(BUFFER_BYTES, &|out| crate::dump_tables::quads(args, out))
}

#[cfg(not(feature = "arrow"))]
fn tables(_: &DumpArgs) -> anyhow::Result<Done> {
    Err(wrong_usage(crate::written::NO_COLUMNS.to_owned()))
}

fn write(args: &DumpArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    #[cfg(feature = "arrow")]
    if args.by_class {
        return Err(wrong_usage("--by-class is for --format parquet".to_owned()));
    }
    let format = RdfFormat::from_name(&args.format).ok_or_else(|| unknown_format(&args.format))?;
    let memory = DumpMemory::new(args.memory);
    let open = OpenOptions::with_cache(memory.cache_bytes);
    let (database, snapshot) = published::read(&args.database, args.at.as_deref(), &args.published, &open)?;
    let scope = match &args.graph {
        Some(name) => DumpScope::Graph(graph_id(&snapshot, name)?),
        None if !format.supports_datasets() && has_graphs(&snapshot, args.inferred)? => bail!(
            "{} holds one graph, and there are named graphs: choose one with --graph, or use nq or trig",
            args.format
        ),
        None => whole(&snapshot, args.inferred)?,
    };
    let scope = DumpOptions { scope, text_bytes_max: memory.text_bytes_max };
    let cancel = CancelToken::default();
    let as_triples = args.graph.is_some() || !format.supports_datasets();
    if let (RdfFormat::NQuads, false) = (format, as_triples) {
        dump_lines(&snapshot, scope, &cancel, out)?;
        return Ok(());
    }
    if let Some(format) = GraphText::new(format) {
        let format = format.with_prefixes(&look::prefixes(&[], &kept_prefixes(&database)));
        dump_graph(&snapshot, scope, format, &cancel, out)?;
        return Ok(());
    }
    let mut writer = QuadWriter::start(format, out)?;
    dump_quads(&snapshot, scope, &cancel, &mut |quad| {
        let graph_name = if as_triples { GraphNameRef::DefaultGraph } else { quad.graph_name };
        writer.write(QuadRef { graph_name, ..quad })
    })?;
    writer.finish()?.flush()?;
    Ok(())
}
