//! Loads files into a database and prints what it took: `load_file DB MEMORY_MIB THREADS FILE...`

use lode_base::real_vfs::RealVfs;
use lode_store::{LoadOptions, LoadProgress, Source, Stage, Store, load};
use std::error::Error;
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let usage = "usage: load_file DB MEMORY_MIB THREADS FILE...";
    let folder = PathBuf::from(args.next().ok_or(usage)?);
    let memory_mib: usize = args.next().ok_or(usage)?.parse()?;
    let threads: usize = args.next().ok_or(usage)?.parse()?;
    let sources: Vec<Source> = args.map(|file| Source::path(Path::new(&file))).collect();
    let store = Store::create_or_open(RealVfs::shared(), &folder, 8 << 20)?;
    let options = LoadOptions { threads, memory_bytes: memory_mib << 20, ..LoadOptions::default() };
    let start = Instant::now();
    let report = load(&store, sources, options, &Arc::new(LoadProgress::default()))?;
    let seconds = start.elapsed().as_secs_f64();
    let mut out = stdout().lock();
    writeln!(out, "{} quads, {} added, {} duplicates", report.quads, report.added, report.duplicates)?;
    writeln!(out, "{seconds:.2} s, {:.2} million quads/s", report.quads as f64 / seconds / 1e6)?;
    for stage in [Stage::Reading, Stage::Terms, Stage::Sorting, Stage::Writing, Stage::Publishing] {
        writeln!(out, "  {:<16} {:6.2} s", stage.name(), report.seconds.of(stage))?;
    }
    if let Some(meta) = &report.segment {
        let per_quad = |bytes: u64| bytes as f64 / report.added as f64;
        for info in &meta.permutations {
            writeln!(out, "  {:<16} {:6.2} bytes a quad", info.order.name(), per_quad(info.bytes))?;
        }
        let dictionary = meta.dictionary.map_or(0, |info| info.bytes);
        writeln!(out, "  {:<16} {:6.2} bytes a quad", "dictionary", per_quad(dictionary))?;
        writeln!(out, "  {:<16} {:6.2} bytes a quad", "all", per_quad(meta.bytes()))?;
    }
    writeln!(out, "peak resident {} MiB", report.peak_resident_bytes.unwrap_or(0) >> 20)?;
    Ok(())
}
