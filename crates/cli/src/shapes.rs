//! Shapes in SHACL: read from files, and kept by changes.

use crate::args::GuardArgs;
use crate::exit::{DataSyntaxError, wrong_usage};
use crate::number;
use crate::talk::say;
use anyhow::{Context, bail};
use lode_engine::store::CommitCheck;
use lode_engine::{CancelToken, Database, DefaultGraph, MemoryBudget, QueryOptions};
use lode_rdf::input::Input;
use lode_rdf::parse::ParseOptions;
use lode_rdf::{NamedNode, RdfFormat};
use lode_shacl::{ShaclError, Shapes, ShapesGraph, ValidateOptions};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// What a server looks at before it serves takes no longer.
const LOOK: Duration = Duration::from_secs(2);
/// Files of shapes are not read beyond this.
const SHAPES_BYTES_MAX: u64 = 256 << 20;

/// Some editors begin a file with it.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Shapes that changes must keep.
pub struct Guard {
    shapes: Arc<Shapes>,
    options: ValidateOptions,
}

impl Guard {
    /// What the options say; none without shapes.
    pub fn new(args: &GuardArgs, mut query: QueryOptions) -> anyhow::Result<Option<Self>> {
        if args.shapes.is_empty() {
            // A configuration file may say what it is without shapes.
            return match args.shapes_data.as_str() {
                "default" => Ok(None),
                _ => Err(wrong_usage("--shapes-data says what --shapes validates, and there is no --shapes")),
            };
        }
        query.service = None;
        set_graph(&mut query, &args.shapes_data, None).context("--shapes-data")?;
        let graph = read_shapes(&args.shapes, query.memory.as_ref())?;
        let shapes = Shapes::read(graph).map_err(told)?;
        shapes.warnings().iter().for_each(|warning| say!("warning: {warning}"));
        Ok(Some(Self {
            shapes: shapes.into(),
            options: ValidateOptions { query, ..ValidateOptions::default() },
        }))
    }

    /// Warns of shapes that are about nobody in a database: a name is misspelt, or another graph is meant. Nothing is said of an empty one, which is to be filled.
    pub fn tell_of_nobody(&self, database: &Database) {
        let snapshot = database.snapshot();
        if snapshot.quad_count() == 0 {
            return;
        }
        let mut options = self.options.clone();
        options.query.cancel = CancelToken::new(Some(LOOK));
        match lode_shacl::empty_targets(&snapshot, &self.shapes, &options) {
            Ok(warnings) => warnings.iter().for_each(|warning| say!("warning: {warning}")),
            Err(error) => say!("warning: whether shapes are about nobody was not found out: {error}"),
        }
    }

    /// The check of the commits of one database.
    pub fn check(&self) -> CommitCheck {
        lode_shacl::guard(Arc::clone(&self.shapes), self.options.clone())
    }
}

/// Reads all files with shapes as one graph, counted in a budget where there is one.
pub fn read_shapes(
    files: &[std::path::PathBuf],
    memory: Option<&MemoryBudget>,
) -> anyhow::Result<ShapesGraph> {
    let mut graph = memory.map_or_else(ShapesGraph::default, ShapesGraph::within);
    let bytes_max = memory.map_or(SHAPES_BYTES_MAX, |memory| SHAPES_BYTES_MAX.min(memory.free() as u64 / 2));
    for file in files {
        let bytes = read_file(file, bytes_max).with_context(|| format!("{}", file.display()))?;
        let name = file.to_string_lossy();
        let format = RdfFormat::from_file_name(&name)
            .or_else(|| RdfFormat::guess_from_content(&bytes[..bytes.len().min(4096)]));
        let Some(format) = format else {
            bail!("{name}: neither its name nor its content tells what RDF syntax it has");
        };
        let address = std::path::absolute(file).ok();
        let address = address.map(|path| format!("file://{}", path.to_string_lossy()));
        let options = ParseOptions::default().with_own_address(address.as_deref().unwrap_or(""));
        graph.add_document(&name, format, &bytes, &options).map_err(told)?;
    }
    Ok(graph)
}

fn read_file(file: &Path, bytes_max: u64) -> anyhow::Result<Vec<u8>> {
    let source: Box<dyn Read + Send> =
        if file.as_os_str() == "-" { Box::new(std::io::stdin()) } else { Box::new(File::open(file)?) };
    let mut bytes = Vec::new();
    let input = Input::new(source, Arc::default())?;
    input.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.starts_with(BYTE_ORDER_MARK) {
        bytes.drain(..BYTE_ORDER_MARK.len());
    }
    if bytes.len() as u64 > bytes_max {
        let more = if bytes_max < SHAPES_BYTES_MAX { " (--memory allows more)" } else { "" };
        bail!("it has more than {}: are these shapes, and no data?{more}", number::bytes(bytes_max));
    }
    Ok(bytes)
}

/// The graph that is validated.
pub fn set_graph(query: &mut QueryOptions, graph: &str, shapes: Option<&NamedNode>) -> anyhow::Result<()> {
    match graph {
        "default" => Ok(()),
        "union" => {
            query.default_graph = DefaultGraph::Union;
            Ok(())
        }
        name => {
            let name = name.trim_start_matches('<').trim_end_matches('>').to_owned();
            let named: Vec<String> = shapes.map(|shapes| shapes.as_str().to_owned()).into_iter().collect();
            query.set_dataset(&[name], &named).context("a graph is default, union or an IRI")
        }
    }
}

/// Shapes that are at fault are syntax errors.
pub fn told(error: ShaclError) -> anyhow::Error {
    match error {
        ShaclError::Engine(error) => error.into(),
        ShaclError::Output(error) => error.into(),
        memory @ ShaclError::Memory(_) => anyhow::anyhow!("{memory} (--memory gives more)"),
        of_shapes => DataSyntaxError(of_shapes.to_string()).into(),
    }
}
