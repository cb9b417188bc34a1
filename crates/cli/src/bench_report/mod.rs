//! `lode bench report`: tables and plots of what several stores needed for the same.

pub mod plot;
mod results;
mod table;

use crate::args::BenchReportArgs;
use crate::exit::Done;
use crate::marked;
use anyhow::{Context, bail};
use std::fs;
use std::io::Write as _;
use table::Table;

const MARK: &str = "tables of lode bench report";

pub fn run(args: &BenchReportArgs) -> anyhow::Result<Done> {
    let results = results::read(&args.folder, &args.first)?;
    let tables = table::tables(&results);
    if tables.is_empty() {
        bail!("{} has no results, which are files named STORE.BENCHMARK.json", args.folder.display());
    }
    let text: String = tables.iter().map(Table::as_markdown).collect();
    std::io::stdout().lock().write_all(text.as_bytes())?;
    if let Some(path) = &args.markdown {
        marked::replace(path, MARK, &text)?;
    }
    if let Some(folder) = &args.plots {
        fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
        for table in tables.iter().filter(|table| table.is_plotted()) {
            let path = folder.join(format!("{}.svg", table.name));
            fs::write(&path, plot::svg(table)).with_context(|| format!("writing {}", path.display()))?;
        }
    }
    Ok(Done::Ok)
}
