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
    let places = Places::new(args.database.as_deref())?;
    say!("BSBM, {} products, in {}", number::grouped(args.products), places.database.display());
    let options = Options { products: args.products, seed: DEFAULT_SEED, format: Format::NTriples };
    let create = || File::create(&places.data).with_context(|| format!("creating {}", places.data.display()));
    let mut file = BufWriter::new(create()?);
    write_data(&options, false, &mut file)?;
    file.flush()?;
    load_sources(&places.database, vec![Source::path(&places.data)], LoadOptions::default(), true, false)?;
    places.remove_data();
    let database = Database::open(&places.database, &OpenOptions::default())?;
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

/// Where the demo works.
struct Places {
    /// Where the caller wants it, and then it stays; or in a temporary folder.
    database: PathBuf,
    /// What is loaded: a file beside it, which goes.
    data: PathBuf,
    temporary: Option<PathBuf>,
}

impl Places {
    fn new(named: Option<&Path>) -> anyhow::Result<Self> {
        let Some(database) = named else {
            let folder = std::env::temp_dir().join(format!("lode-demo-{}", std::process::id()));
            std::fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
            let (database, data) = (folder.join("db"), folder.join("data.nt"));
            return Ok(Self { database, data, temporary: Some(folder) });
        };
        let holds_something = std::fs::read_dir(database).is_ok_and(|mut entries| entries.next().is_some());
        if holds_something && Database::open(database, &OpenOptions::default()).is_ok() {
            let name = database.display();
            bail!("{name} is a database already: serve it with `lode serve {name}`, or name another folder");
        }
        if holds_something || database.is_file() {
            bail!(
                "{} is there already, and no database: name a folder that is not there",
                database.display()
            );
        }
        let mut data = database.as_os_str().to_owned();
        data.push(format!("-demo-{}.nt", std::process::id()));
        Ok(Self { database: database.to_owned(), data: data.into(), temporary: None })
    }

    /// It may have gone already, and a file that stays harms nobody.
    fn remove_data(&self) {
        let _ = std::fs::remove_file(&self.data);
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        self.remove_data();
        if let Some(folder) = &self.temporary {
            // It lies in the system's temporary folder: what cannot be removed now goes with that.
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}
