//! What a soak tells at its end.

use super::field::Field;
use super::watch::Minute;
use crate::number;
use lode_bench::soak::Latencies;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// The database after the last server.
pub struct Ending {
    pub quads: u64,
    /// As the server has left it, with named snapshots.
    pub bytes: u64,
    /// Without them, made one segment.
    pub packed_bytes: u64,
    /// Written out, and loaded into a new database.
    pub reloaded_bytes: u64,
}

/// All figures.
pub struct Report {
    minutes: Vec<Minute>,
    deeds: BTreeMap<&'static str, u64>,
    openings: Vec<Duration>,
    units_begun: u64,
    ending: Ending,
    pub failure_count: usize,
    pub failures: Vec<String>,
}

impl Report {
    pub fn new(minutes: Vec<Minute>, field: &Field, ending: Ending) -> Self {
        let (failure_count, failures) = field.failures();
        let units_begun = field.book().begun();
        Self {
            minutes,
            deeds: field.deeds(),
            openings: field.openings(),
            units_begun,
            ending,
            failure_count,
            failures,
        }
    }

    /// What a minute's quads would take, packed as at the end.
    fn packed(&self, minute: &Minute) -> f64 {
        self.ending.packed_bytes as f64 * minute.disk.quads as f64 / self.ending.quads.max(1) as f64
    }

    /// Most bytes on the disk, without what only snapshots need, for each byte of the packed database; and with that.
    fn disk_ratios(&self) -> (f64, f64) {
        let looked_at = || self.minutes.iter().filter(|minute| minute.disk.quads > 0);
        let own = looked_at().map(|minute| {
            minute.disk.bytes.saturating_sub(minute.disk.snapshot_bytes) as f64 / self.packed(minute)
        });
        let all = looked_at().map(|minute| minute.disk_bytes_max as f64 / self.packed(minute));
        (own.fold(0.0, f64::max), all.fold(0.0, f64::max))
    }

    /// A figure of the last third of the minutes over that of the first third, each the median.
    fn growth(&self, figure: impl Fn(&Minute) -> f64) -> f64 {
        let third = self.minutes.len() / 3;
        let median = |minutes: &[Minute]| {
            let mut figures: Vec<f64> = minutes.iter().map(&figure).collect();
            figures.sort_by(f64::total_cmp);
            figures.get(figures.len() / 2).copied().unwrap_or(0.0)
        };
        let (first, last) =
            (&self.minutes[..third.max(1).min(self.minutes.len())], self.minutes.len() - third);
        let last = self.minutes.get(last.min(self.minutes.len().saturating_sub(1))..).unwrap_or_default();
        median(last) / median(first).max(1e-9)
    }

    fn growths(&self) -> [(&'static str, f64); 5] {
        [
            ("memory", self.growth(|minute| minute.resident_bytes as f64)),
            ("commit_median", self.growth(|minute| seconds(&minute.counts.commits, 0.5))),
            ("commit_p99", self.growth(|minute| seconds(&minute.counts.commits, 0.99))),
            ("query_median", self.growth(|minute| seconds(&minute.counts.queries, 0.5))),
            ("query_p99", self.growth(|minute| seconds(&minute.counts.queries, 0.99))),
        ]
    }

    pub fn as_text(&self) -> String {
        let deeds: Vec<String> = self.deeds.iter().map(|(name, count)| format!("{count} {name}")).collect();
        let (own, all) = self.disk_ratios();
        let growths: Vec<String> =
            self.growths().iter().map(|(name, growth)| format!("{name} {growth:.2}")).collect();
        let Ending { quads, bytes, packed_bytes, reloaded_bytes } = &self.ending;
        format!(
            "{} units were written; {}\n\
             ready after {:.2?} at most, in {} starts\n\
             last third over first third: {}\n\
             {} quads: {} on disk at the end, {} packed, {} loaded anew; disk over packed at most {own:.2} ({all:.2} with what only snapshots need)\n\
             {} answers were wrong",
            number::grouped(self.units_begun),
            deeds.join(", "),
            self.openings.iter().max().copied().unwrap_or_default(),
            self.openings.len(),
            growths.join(", "),
            number::grouped(*quads),
            number::bytes(*bytes),
            number::bytes(*packed_bytes),
            number::bytes(*reloaded_bytes),
            self.failure_count,
        )
    }

    pub fn as_json(&self) -> Value {
        let (own, all) = self.disk_ratios();
        let growths: serde_json::Map<String, Value> =
            self.growths().iter().map(|(name, growth)| ((*name).to_owned(), json!(growth))).collect();
        json!({
            "minutes": self.minutes.iter().map(|minute| self.minute(minute)).collect::<Vec<_>>(),
            "units": self.units_begun,
            "deeds": self.deeds,
            "opening_seconds": self.openings.iter().map(Duration::as_secs_f64).collect::<Vec<_>>(),
            "last_third_over_first": growths,
            "end": {
                "quads": self.ending.quads,
                "bytes": self.ending.bytes,
                "packed_bytes": self.ending.packed_bytes,
                "reloaded_bytes": self.ending.reloaded_bytes,
            },
            "disk_over_packed": own,
            "disk_with_snapshots_over_packed": all,
            "wrong": self.failure_count,
            "failures": self.failures,
        })
    }

    fn minute(&self, minute: &Minute) -> Value {
        let of = |latencies: &Latencies| {
            json!({
                "count": latencies.count(),
                "per_second": minute.rate(latencies),
                "median_seconds": seconds(latencies, 0.5),
                "p99_seconds": seconds(latencies, 0.99),
                "max_seconds": latencies.max().as_secs_f64(),
            })
        };
        json!({
            "end_seconds": minute.end.as_secs_f64(),
            "served_seconds": minute.served.as_secs_f64(),
            "commits": of(&minute.counts.commits),
            "queries": of(&minute.counts.queries),
            "refused": minute.counts.refused,
            "resident_bytes": minute.resident_bytes,
            "disk_bytes": minute.disk_bytes_max,
            "snapshot_bytes": minute.disk.snapshot_bytes,
            "quads": minute.disk.quads,
        })
    }
}

fn seconds(latencies: &Latencies, part: f64) -> f64 {
    latencies.quantile(part).unwrap_or_default().as_secs_f64()
}
