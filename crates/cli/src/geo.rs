//! `lode geo`.

use crate::args::GeoArgs;
use crate::exit::Done;
use crate::load::CACHE_BYTES;
use crate::memory;
use crate::no_geometries::{named, tell_unreadable};
use crate::number;
use crate::talk::{say, say_found_log, write_json};
use lode_engine::store::{
    CompactOptions, PlacesOptions, PlacesReport, WriteOptions, drop_places, index_places, keeps_places,
};
use lode_engine::{CancelToken, Database, OpenOptions};
use serde_json::json;
use std::time::{Duration, Instant};

pub fn run(args: &GeoArgs) -> anyhow::Result<Done> {
    let memory_bytes = args.memory.unwrap_or(CompactOptions::default().memory_bytes);
    memory::keep_to(memory_bytes);
    let open = OpenOptions::with_cache(CACHE_BYTES);
    let database = Database::open_for_writing(&args.database, &open, WriteOptions::default())?;
    say_found_log(&database);
    if args.drop {
        let was_there = keeps_places(database.store());
        drop_places(database.store())?;
        if !args.quiet {
            let told = if was_there {
                "the index of geometries is gone"
            } else {
                "there was no index of geometries"
            };
            say!("{told}");
        }
        return Ok(Done::Ok);
    }
    let start = Instant::now();
    // An index is of segments: what was committed since, and is in the log alone, becomes one.
    database.store().flush_all(&CancelToken::default())?;
    let options = PlacesOptions { memory_bytes, force: args.force, cancel: CancelToken::default() };
    let report = index_places(database.store(), &options)?;
    if !args.quiet {
        tell(&report, start.elapsed());
        tell_unreadable(&database, &report);
    }
    if args.json {
        write_json(&json!({
            "segments": report.segments,
            "segments_left_as_they_are": report.others,
            "geometries": report.geometries,
            "unreadable": report.unreadable,
            "unreadable_examples": named(&database, &report).iter().map(|named| json!({
                "text": named.text, "subject": named.subject, "reason": named.reason,
            })).collect::<Vec<_>>(),
            "bytes": report.bytes,
            "seconds": start.elapsed().as_secs_f64(),
        }))?;
    }
    Ok(Done::Ok)
}

fn tell(report: &PlacesReport, time: Duration) {
    if report.segments == 0 && report.others > 0 && report.without == report.others {
        say!(
            "there are no geometries: no literal has a datatype such as geo:wktLiteral <http://www.opengis.net/ont/geosparql#wktLiteral>"
        );
        return;
    }
    if report.segments == 0 && report.others > 0 {
        let segments = number::of(report.others, "segment");
        say!("nothing to do: the geometries of {segments} are indexed (--force makes the index again)");
        return;
    }
    say!(
        "indexed {} of {} in {}: {}",
        match report.geometries {
            1 => "1 geometry".to_owned(),
            geometries => format!("{} geometries", number::grouped(geometries)),
        },
        number::of(report.segments, "segment"),
        number::duration(time),
        number::bytes(report.bytes),
    );
}
