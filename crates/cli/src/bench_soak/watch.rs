//! What is seen from outside while the clients work: figures of each minute.

use super::field::{Counts, Field};
use super::server::Server;
use crate::number;
use crate::talk::say;
use lode_bench::soak::Latencies;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

const MINUTE: Duration = Duration::from_secs(60);
/// Between two looks.
const STEP: Duration = Duration::from_millis(500);

/// Figures of a minute.
#[derive(Debug, Default, Clone)]
pub struct Minute {
    /// Since the beginning.
    pub end: Duration,
    /// Of which there was a server for so long.
    pub served: Duration,
    pub counts: Counts,
    pub resident_bytes: u64,
    /// At the moment when the database, without what only snapshots need, was largest for its quads.
    pub disk: Disk,
    /// Most bytes in its folder at any moment.
    pub disk_bytes_max: u64,
}

/// The folder of the database at a moment.
#[derive(Debug, Default, Clone, Copy)]
pub struct Disk {
    pub bytes: u64,
    /// Of which only snapshots need so many.
    pub snapshot_bytes: u64,
    pub quads: u64,
}

impl Disk {
    /// Bytes of the database as it is, for each quad.
    fn bytes_per_quad(&self) -> f64 {
        self.bytes.saturating_sub(self.snapshot_bytes) as f64 / self.quads.max(1) as f64
    }
}

/// Looks at a server and its database.
pub struct Watch<'a> {
    database: &'a Path,
    start: Instant,
    pub minutes: Vec<Minute>,
    current: Minute,
    agent: ureq::Agent,
    /// Where the figures go that are told as they come.
    is_quiet: bool,
}

impl<'a> Watch<'a> {
    pub fn new(database: &'a Path, is_quiet: bool) -> Self {
        let agent =
            ureq::Agent::config_builder().timeout_global(Some(Duration::from_secs(60))).build().into();
        let start = Instant::now();
        Self { database, start, minutes: Vec::new(), current: Minute::default(), agent, is_quiet }
    }

    /// Looks on until some time, or until the server has ended.
    pub fn follow(&mut self, server: &mut Server, field: &Field, until: Instant) {
        let mut last = Instant::now();
        while last < until && server.is_running() {
            thread::sleep(STEP.min(until - last));
            let now = Instant::now();
            self.current.served += now - last;
            last = now;
            self.look(server);
            if self.start.elapsed() >= MINUTE * (self.minutes.len() as u32 + 1) {
                self.close(field);
            }
        }
    }

    fn look(&mut self, server: &Server) {
        let minute = &mut self.current;
        minute.resident_bytes = minute.resident_bytes.max(server.resident_bytes().unwrap_or(0));
        let Some((quads, snapshot_bytes)) = figures(&self.agent, &server.base) else { return };
        let disk = Disk { bytes: folder_bytes(self.database), snapshot_bytes, quads };
        minute.disk_bytes_max = minute.disk_bytes_max.max(disk.bytes);
        if disk.bytes_per_quad() >= minute.disk.bytes_per_quad() {
            minute.disk = disk;
        }
    }

    /// Ends the last minute, unless it has only just begun.
    pub fn end(&mut self, field: &Field) {
        if self.minutes.is_empty() || self.current.served * 6 > MINUTE {
            self.close(field);
        }
    }

    /// Ends the minute.
    fn close(&mut self, field: &Field) {
        let mut minute = std::mem::take(&mut self.current);
        minute.end = self.start.elapsed();
        minute.counts = field.take_counts();
        if !self.is_quiet {
            say!("{}", minute.as_text());
        }
        self.minutes.push(minute);
    }
}

/// Quads, and bytes that only snapshots need, as the server tells.
fn figures(agent: &ureq::Agent, base: &str) -> Option<(u64, u64)> {
    let body = agent.get(format!("{base}/admin/stats")).call().ok()?.body_mut().read_to_string().ok()?;
    let stats: serde_json::Value = serde_json::from_str(&body).ok()?;
    Some((stats["quads"].as_u64()?, stats["snapshots"]["bytes"].as_u64()?))
}

impl Minute {
    /// So many a second, while there was a server.
    pub fn rate(&self, latencies: &Latencies) -> f64 {
        latencies.count() as f64 / self.served.as_secs_f64().max(1e-3)
    }

    fn as_text(&self) -> String {
        let Counts { commits, queries, refused } = &self.counts;
        let part = |latencies: &Latencies| {
            let quantile = |part| latencies.quantile(part).unwrap_or_default();
            format!(
                "{:>6}/s {:>9} {:>9}",
                number::short(self.rate(latencies)),
                format!("{:.1?}", quantile(0.5)),
                format!("{:.1?}", quantile(0.99))
            )
        };
        format!(
            "{:>6.1} min: commits {}, queries {}, {refused} refused; memory {}, disk {} ({} of snapshots), {} quads",
            self.end.as_secs_f64() / 60.0,
            part(commits),
            part(queries),
            number::bytes(self.resident_bytes),
            number::bytes(self.disk_bytes_max),
            number::bytes(self.disk.snapshot_bytes),
            number::grouped(self.disk.quads),
        )
    }
}

/// Bytes that the files in a folder take on the disk. What vanishes meanwhile takes none.
pub fn folder_bytes(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let bytes = entries.flatten().filter_map(|entry| {
        let meta = entry.metadata().ok()?;
        Some(if meta.is_dir() { folder_bytes(&entry.path()) } else { file_bytes(&meta) })
    });
    bytes.sum()
}

#[cfg(unix)]
fn file_bytes(meta: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::blocks(meta) * 512
}

#[cfg(not(unix))]
fn file_bytes(meta: &std::fs::Metadata) -> u64 {
    meta.len()
}
