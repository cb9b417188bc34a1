//! Loads files into a database and prints what it took: `load_file DB MEMORY_MIB THREADS FILE...`

use lode_base::real_vfs::RealVfs;
use lode_store::{LoadOptions, LoadProgress, Source, Stage, Store, load};
use std::error::Error;
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Processor seconds of the process so far: user and system time in ticks of 10 ms.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// Processor seconds of each stage, told apart by looking every few milliseconds: on a busy machine they say more than the clock.
fn watch(progress: &LoadProgress) -> [f64; Stage::COUNT] {
    let mut seconds = [0.0; Stage::COUNT];
    let mut before = processor_seconds();
    loop {
        let stage = progress.sample().stage;
        std::thread::sleep(Duration::from_millis(5));
        let now = processor_seconds();
        seconds[stage as usize] += now - before;
        before = now;
        if stage == Stage::Done {
            return seconds;
        }
    }
}

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
    let progress = Arc::new(LoadProgress::default());
    let watch = {
        let progress = Arc::clone(&progress);
        std::thread::spawn(move || watch(&progress))
    };
    let report = load(&store, sources, options, &progress)?;
    let seconds = start.elapsed().as_secs_f64();
    let processor_seconds = watch.join().unwrap_or_default();
    let mut out = stdout().lock();
    writeln!(out, "{} quads, {} added, {} duplicates", report.quads, report.added, report.duplicates)?;
    writeln!(out, "{seconds:.2} s, {:.2} million quads/s", report.quads as f64 / seconds / 1e6)?;
    for stage in [Stage::Reading, Stage::Terms, Stage::Sorting, Stage::Writing, Stage::Publishing] {
        let (wall, processor) = (report.seconds.of(stage), processor_seconds[stage as usize]);
        writeln!(out, "  {:<16} {wall:6.2} s, {processor:6.2} s of processor time", stage.name())?;
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
