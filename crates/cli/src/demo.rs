//! `lode demo`: from nothing to an endpoint with data, in about a minute.

use crate::args::DemoArgs;
use crate::bench::write_data;
use crate::exit::Done;
use crate::load::load_sources;
use crate::number;
use crate::serve::{Content, serve};
use crate::talk::say;
use anyhow::{Context, bail};
use lode_bench::bsbm::{DEFAULT_SEED, Format, Options, demo_queries};
use lode_engine::store::load::{LoadOptions, Source};
use lode_engine::{Database, OpenOptions, OutputFormat, QueryOptions, write_results};
use lode_server::ServerOptions;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

pub fn run(args: &DemoArgs) -> anyhow::Result<Done> {
    let folder = Folder::new(args.database.as_deref())?;
    say!("BSBM, {} products, in {}", number::grouped(args.products), folder.path.display());
    let data = folder.path.join("data.nt");
    let database = folder.path.join("db");
    let options = Options { products: args.products, seed: DEFAULT_SEED, format: Format::NTriples };
    let mut file =
        BufWriter::new(File::create(&data).with_context(|| format!("creating {}", data.display()))?);
    write_data(&options, false, &mut file)?;
    file.flush()?;
    load_sources(&database, vec![Source::path(&data)], LoadOptions::default(), true, false)?;
    std::fs::remove_file(&data).with_context(|| format!("removing {}", data.display()))?;
    let database = Database::open(&database, &OpenOptions::default())?;
    show_queries(&database)?;
    if !args.once {
        say!("");
        let content = Content::One(Arc::new(database).into());
        serve(content, args.bind.clone(), ServerOptions::default())?;
    }
    Ok(Done::Ok)
}

fn show_queries(database: &Database) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    for (title, text) in demo_queries() {
        let start = Instant::now();
        let mut results = database.query(text, &QueryOptions::default())?;
        let mut table = Vec::new();
        write_results(&mut results, OutputFormat::Table, &mut table)?;
        let time = number::duration(start.elapsed());
        writeln!(out, "\n{title} ({time})\n")?;
        out.write_all(&table)?;
    }
    Ok(())
}

/// Where the demo works: a folder that the caller named, which stays, or a temporary one.
struct Folder {
    path: PathBuf,
    temporary: bool,
}

impl Folder {
    fn new(named: Option<&Path>) -> anyhow::Result<Self> {
        let (path, temporary) = match named {
            Some(path) => (path.to_owned(), false),
            None => (std::env::temp_dir().join(format!("lode-demo-{}", std::process::id())), true),
        };
        if path.join("db").exists() {
            bail!(
                "{} holds a demo already: serve it with `lode serve {}`",
                path.display(),
                path.join("db").display()
            );
        }
        std::fs::create_dir_all(&path).with_context(|| format!("creating {}", path.display()))?;
        Ok(Self { path, temporary })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.temporary {
            // It lies in the system's temporary folder: what cannot be removed now goes with that.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}
