//! `lode bench geo`: what places cost: loading, the index of them, windows, what is nearest, and a join of points with zones, with and without the index, and
//! how long other stores take for the same.

mod asked;
mod rivals;
mod row;

use self::asked::{Queries, asked};
use self::row::{JOIN, JOINS, NEAREST, Row, WINDOW, WITH, write_table};
use crate::args::BenchGeoArgs;
use crate::bench_scratch::Scratch;
use crate::exit::Done;
use crate::number;
use crate::talk::{say, write_json};
use anyhow::Context;
use lode_bench::geo::{Places, Sizes, generate, join, nearest, window};
use lode_engine::store::load::{LoadOptions, LoadProgress, Source, load};
use lode_engine::store::{CompactOptions, PlacesOptions, drop_places, index_places};
use lode_engine::{CancelToken, Database, OpenOptions};
use lode_rdf::format::RdfFormat;
use serde_json::{Value, json};
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Results that a window has, about.
const WINDOW_ROWS: usize = 1_000;
/// Windows are made larger or smaller so often to have them.
const WINDOW_TRIES: usize = 24;
/// Who answers without the index.
const WITHOUT: &str = "lode, no index";
/// Blocks that the database keeps in memory.
const CACHE_BYTES: usize = 512 << 20;

pub fn run(args: &BenchGeoArgs) -> anyhow::Result<Done> {
    let scratch = Scratch::new(args.folder.as_deref(), "geo")?;
    let data = scratch.path.join("places.nt");
    let sizes = Sizes { points: args.points, lines: args.lines, polygons: args.polygons };
    let triples = write_data(sizes, args.seed, &data)?;
    let folder = scratch.path.join("db");
    let (database, loading) = loaded(&data, &folder)?;
    let start = Instant::now();
    let memory_bytes = CompactOptions::default().memory_bytes;
    let options = PlacesOptions { memory_bytes, force: true, cancel: CancelToken::default() };
    let report = index_places(database.store(), &options)?;
    let indexing = start.elapsed();
    let queries = queries(&database, args)?;
    let mut rows = measured(&database, &queries, WITH, args.runs.max(1))?;
    for (name, url) in &args.endpoint {
        rows.extend(rivals::measured(&database, &queries, (name, url), args)?);
    }
    drop_places(database.store())?;
    // Segments that are open have the index still.
    drop(database);
    let database = Database::open(&folder, &OpenOptions::with_cache(CACHE_BYTES))?;
    rows.extend(measured(&database, &queries, WITHOUT, 1)?);
    if args.json {
        let runs: Vec<Value> = rows.iter().map(Row::json).collect();
        write_json(&json!({
            "points": args.points, "lines": args.lines, "polygons": args.polygons, "seed": args.seed, "triples": triples,
            "load_seconds": loading.as_secs_f64(), "index_seconds": indexing.as_secs_f64(), "index_bytes": report.bytes, "runs": runs,
        }))?;
    } else {
        say!(
            "{} loaded in {}, indexed in {}: {}",
            number::of(triples, "place"),
            number::duration(loading),
            number::duration(indexing),
            number::bytes(report.bytes)
        );
        write_table(&rows)?;
    }
    Ok(Done::Ok)
}

fn write_data(sizes: Sizes, seed: u64, path: &Path) -> anyhow::Result<u64> {
    let file = File::create(path).with_context(|| format!("creating {}", path.display()))?;
    let mut out = BufWriter::with_capacity(1 << 18, file);
    generate(sizes, seed, &mut out).with_context(|| format!("writing {}", path.display()))
}

fn loaded(data: &Path, folder: &Path) -> anyhow::Result<(Database, Duration)> {
    let database = Database::create_or_open(folder, &OpenOptions::with_cache(CACHE_BYTES))?;
    let start = Instant::now();
    let source = Source::path(data).with_format(RdfFormat::NTriples);
    load(database.store(), vec![source], LoadOptions::default(), &Arc::new(LoadProgress::default()))?;
    Ok((database, start.elapsed()))
}

fn queries(database: &Database, args: &BenchGeoArgs) -> anyhow::Result<Queries> {
    // Other places than the data has, in the same towns.
    let mut places = Places::new(args.seed);
    let runs = args.runs.max(1);
    let places: Vec<[f64; 2]> = (0..2 * runs).map(|_| places.place()).collect();
    let (of_windows, of_nearest) = places.split_at(runs);
    let windows =
        of_windows.iter().map(|place| window_of(database, *place)).collect::<anyhow::Result<_>>()?;
    Ok(Queries { windows, nearest: of_nearest.to_vec() })
}

/// The window around a place with as many results as are wanted, or as there are.
fn window_of(database: &Database, place: [f64; 2]) -> anyhow::Result<([f64; 2], f64)> {
    let (mut least, mut most) = (0.0, 300.0);
    for _ in 0..WINDOW_TRIES {
        let size = f64::midpoint(least, most);
        let rows = asked(database, &window(place, size))?.0.len();
        match rows {
            rows if rows.abs_diff(WINDOW_ROWS) <= WINDOW_ROWS / 20 => return Ok((place, size)),
            rows if rows < WINDOW_ROWS => least = size,
            _ => most = size,
        }
    }
    Ok((place, most))
}

fn measured(database: &Database, queries: &Queries, who: &str, runs: usize) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    let windows = queries.windows.iter().map(|(place, size)| window(*place, *size)).collect();
    let nearest = queries.nearest.iter().map(|place| nearest(*place)).collect();
    for (query, texts) in [(WINDOW, windows), (NEAREST, nearest)] {
        let texts: Vec<String> = texts;
        let (mut times, mut count) = (Vec::new(), 0);
        for text in texts.iter().take(runs) {
            let (found, time) = asked(database, text)?;
            // Those of the first, which is asked with an index and without.
            if times.is_empty() {
                count = found.len() as u64;
            }
            times.push(time);
        }
        rows.push(Row { query, who: who.to_owned(), times, rows: count, same: None });
    }
    let (mut times, mut pairs) = (Vec::new(), 0);
    for _ in 0..runs.min(JOINS) {
        let (found, time) = asked(database, &join())?;
        times.push(time);
        pairs = found.first().and_then(|count| count.parse().ok()).unwrap_or(0);
    }
    rows.push(Row { query: JOIN, who: who.to_owned(), times, rows: pairs, same: None });
    Ok(rows)
}
