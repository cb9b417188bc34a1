//! `lode dump --format parquet`: a table of quads, or a table for each class.

use crate::args::DumpArgs;
use crate::dump_graph::{graph_id, whole};
use crate::exit::Done;
use crate::memory::DumpMemory;
use crate::number;
use crate::published;
use crate::talk::say;
use anyhow::{Context, bail};
use lode_arrow::{dump_by_class, dump_quads};
use lode_engine::store::{DumpOptions, DumpScope};
use lode_engine::{CancelToken, DatasetOverride, DefaultGraph, MemoryBudget, OpenOptions, QueryOptions};
use lode_rdf::{NamedNode, Term};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

/// Writes all quads, or those of a graph, as a table.
pub fn quads(args: &DumpArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    let memory = DumpMemory::new(args.memory);
    let open = OpenOptions::with_cache(memory.cache_bytes);
    let (_database, snapshot) = published::read(&args.database, args.at.as_deref(), &args.published, &open)?;
    let scope = match &args.graph {
        Some(name) => DumpScope::Graph(graph_id(&snapshot, name)?),
        None => whole(&snapshot, args.inferred)?,
    };
    let options = DumpOptions { scope, text_bytes_max: memory.text_bytes_max };
    let budget = MemoryBudget::new(memory.table_bytes());
    dump_quads(&snapshot, options, &budget, &CancelToken::default(), out)?;
    Ok(())
}

/// Writes a table for each class.
pub fn by_class(args: &DumpArgs) -> anyhow::Result<Done> {
    let Some(folder) = &args.output else { bail!("--by-class needs --output") };
    let memory = DumpMemory::new(args.memory);
    let open = OpenOptions::with_cache(memory.cache_bytes);
    let (database, snapshot) = published::read(&args.database, args.at.as_deref(), &args.published, &open)?;
    let mut options = QueryOptions { memory_bytes: memory.table_bytes(), ..QueryOptions::default() };
    match &args.graph {
        None => options.default_graph = DefaultGraph::Union,
        Some(name) if name == "default" => {}
        Some(name) => {
            let id = graph_id(&snapshot, name)?;
            if let Term::NamedNode(graph) = snapshot.term(id)? {
                options.dataset = Some(of_graph(graph));
            }
        }
    }
    make_empty(folder)?;
    let mut create = |name: &str| -> std::io::Result<Box<dyn Write>> {
        Ok(Box::new(BufWriter::new(File::create_new(folder.join(name))?)))
    };
    let files = dump_by_class(&database, &snapshot, &options, &mut create)?;
    for file in &files {
        say!("{}: {} resources of <{}>", file.name, number::grouped(file.rows), file.class);
    }
    Ok(Done::Ok)
}

fn of_graph(graph: NamedNode) -> DatasetOverride {
    DatasetOverride { default: vec![graph], ..DatasetOverride::default() }
}

/// Makes a folder, or takes an empty one.
fn make_empty(folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("making the folder {}", folder.display()))?;
    let mut files = fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
    if files.next().is_some() {
        bail!("{} is not empty: --output names a new folder", folder.display());
    }
    Ok(())
}
