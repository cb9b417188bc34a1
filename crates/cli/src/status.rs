//! `lode status`: how a server does, for a person.

use crate::args::StatusArgs;
use crate::exit::{Done, text};
use crate::number::{bytes, duration, grouped, of};
use crate::server_client::ServerClient;
use anyhow::{Context, bail};
use serde_json::Value;
use std::fmt::Write as _;
use std::io::Write as _;
use std::time::{Duration, Instant};

pub fn run(args: &StatusArgs) -> anyhow::Result<Done> {
    let server = ServerClient::new(args.server.endpoint_or(args.url.as_deref()), &args.server.login)?;
    if let Some(longest) = args.wait {
        return wait(&server, longest);
    }
    let (status, health) = server.answer("GET", "/health/ready")?;
    if args.ready {
        return ready(status, &health, &server.endpoint);
    }
    let stats = server.ask("GET", "/admin/stats")?;
    let stats: Value = serde_json::from_str(&stats).context("the server's answer")?;
    let health = health.trim();
    let text = if args.json {
        let mut told = stats;
        told["server"]["health"] = health.into();
        format!("{told}\n")
    } else {
        written(&stats, health, &server.endpoint)
    };
    std::io::stdout().write_all(text.as_bytes())?;
    if status != 200 {
        bail!("{}: {health}", server.endpoint);
    }
    Ok(Done::Ok)
}

/// Between two questions whether it is ready.
const PAUSE: Duration = Duration::from_millis(50);

/// Waits until the server is ready.
fn wait(server: &ServerClient, longest: Duration) -> anyhow::Result<Done> {
    let start = Instant::now();
    loop {
        let reason = match server.answer("GET", "/health/ready") {
            Ok((200, _)) => return Ok(Done::Ok),
            Ok((status, health)) => format!("{}: status {status}: {}", server.endpoint, health.trim()),
            Err(error) => text(&error),
        };
        if start.elapsed() >= longest {
            bail!("not ready after {}: {reason}", duration(longest));
        }
        std::thread::sleep(PAUSE);
    }
}

fn ready(status: u16, health: &str, endpoint: &str) -> anyhow::Result<Done> {
    let health = health.trim();
    if status != 200 {
        bail!("{endpoint}: {health}");
    }
    writeln!(std::io::stdout(), "{health}")?;
    Ok(Done::Ok)
}

fn written(stats: &Value, health: &str, endpoint: &str) -> String {
    let count = |pointer: &str| stats.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
    let size = |pointer: &str| {
        stats.pointer(pointer).and_then(Value::as_u64).map_or_else(|| "unknown".to_owned(), bytes)
    };
    let time = |pointer: &str| {
        let seconds = stats.pointer(pointer).and_then(Value::as_f64).unwrap_or(0.0);
        duration(Duration::try_from_secs_f64(seconds).unwrap_or_default())
    };
    let is = |pointer: &str| stats.pointer(pointer).and_then(Value::as_bool).unwrap_or(false);
    let mut lines: Vec<(&str, String)> = Vec::new();
    let version = stats.pointer("/server/version").and_then(Value::as_str).unwrap_or("unknown");
    lines.push(("Server", format!("{endpoint}, lode {version}, up {}", time("/server/uptime_seconds"))));
    lines.push(("Health", health.to_owned()));
    let access = if is("/writable") { "writable" } else { "read-only" };
    lines.push((
        "Data",
        format!("{} quads, version {}, {access}", grouped(count("/quads")), count("/version")),
    ));
    lines.push((
        "Requests",
        format!(
            "{} running, {} waiting (the oldest for {}), {} of {} connections",
            count("/requests/running"),
            count("/requests/waiting"),
            time("/requests/longest_seconds"),
            count("/requests/connections"),
            grouped(count("/requests/connections_max")),
        ),
    ));
    let processor = stats.pointer("/server/processor_seconds").and_then(Value::as_f64).unwrap_or(0.0);
    lines.push((
        "Process",
        format!(
            "{} resident (at most {}), {} of processors, {} of {} files open",
            size("/memory/resident_bytes"),
            size("/memory/resident_bytes_max"),
            duration(Duration::try_from_secs_f64(processor).unwrap_or_default()),
            count("/server/open_files"),
            grouped(count("/server/open_files_max")),
        ),
    ));
    lines.push((
        "Memory",
        format!(
            "{} of {} reserved: queries {}, cache {}, changes {}, bodies {}, encoders {}",
            size("/memory/pool_bytes"),
            size("/memory/pool_bytes_max"),
            size("/memory/query_bytes"),
            size("/memory/cache_bytes"),
            size("/memory/delta_bytes"),
            size("/memory/body_bytes"),
            size("/memory/encoder_bytes"),
        ),
    ));
    let (hits, misses) = (count("/cache/hits"), count("/cache/misses"));
    lines.push((
        "Cache",
        format!(
            "{} of {}, {} of blocks found there ({} read, {})",
            size("/cache/bytes"),
            size("/cache/bytes_max"),
            percent(hits, hits + misses),
            grouped(misses),
            size("/cache/bytes_read"),
        ),
    ));
    lines.push((
        "Changes",
        format!(
            "{} not in segments yet ({} % of what makes a segment), log {}, {} commits, {} syncs",
            grouped(count("/delta_changes")),
            count("/flush/percent_full"),
            size("/disk/log_bytes"),
            grouped(count("/log/records")),
            grouped(count("/log/syncs")),
        ),
    ));
    let compaction = if is("/compactor/running") { "; one is at work" } else { "" };
    lines.push((
        "Segments",
        format!(
            "{}; {} flushes, {} compactions{compaction}",
            count("/segments"),
            grouped(count("/flush/flushes")),
            grouped(count("/compactor/compactions")),
        ),
    ));
    if let Some(inferences) = stats.get("inferences").filter(|value| !value.is_null()) {
        lines.push(("Inferences", inferences_line(inferences)));
    }
    let full = if is("/disk_full") { "; FULL" } else { "" };
    lines.push((
        "Disk",
        format!(
            "database {}, {} of {} free{full}",
            size("/disk/database_bytes"),
            size("/disk/free_bytes"),
            size("/disk/total_bytes")
        ),
    ));
    lines.push(("Indexes", indexes(stats)));
    lines.push((
        "Snapshots",
        format!("{}, {} only for them", count("/snapshots/count"), size("/snapshots/bytes")),
    ));
    if let Some(workers) = stats.pointer("/workers/workers").and_then(Value::as_array) {
        let there = workers.iter().filter(|worker| worker["state"] == "there").count();
        lines.push(("Workers", format!("{there} of {} there", workers.len())));
    }
    for (pointer, what) in [
        ("/workers/trouble", "the list of workers"),
        ("/flush/error", "flush"),
        ("/compactor/error", "compaction"),
        ("/inferences/error", "bringing inferences up to date"),
    ] {
        if let Some(error) = stats.pointer(pointer).and_then(Value::as_str) {
            lines.push(("Failing", format!("{what}: {error}")));
        }
    }
    let dropped: u64 = stats["dropped_log_lines"]
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(_, lines)| lines.as_u64())
        .sum();
    if dropped > 0 {
        lines.push(("Logs", format!("{} lines were dropped", grouped(dropped))));
    }
    lines.iter().fold(String::new(), |mut text, (name, line)| {
        let clean: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let _ = writeln!(text, "{name:<10} {clean}");
        text
    })
}

/// Whether what was inferred is up to date, or how far it is behind.
fn inferences_line(inferences: &Value) -> String {
    let count = |name: &str| inferences[name].as_u64().unwrap_or(0);
    if inferences["up_to_date"] == true {
        return "up to date".to_owned();
    }
    let versions = inferences["behind_versions"].as_u64().map(|n| format!("{}, ", of(n, "version")));
    let seconds = inferences["behind_seconds"].as_f64().map_or(String::new(), |seconds| {
        let running = if inferences["running"] == true { "; at work" } else { "" };
        format!("{:.1} s{running}", seconds)
    });
    let by_whom = if seconds.is_empty() { "until lode materialise" } else { "" };
    format!(
        "behind by {}{seconds}{by_whom}; gone on from {} times, made anew {}",
        versions.unwrap_or_default(),
        grouped(count("gone_on")),
        grouped(count("anew")),
    )
}

/// What each index takes.
fn indexes(stats: &Value) -> String {
    let all = stats.pointer("/disk/indexes").and_then(Value::as_object);
    let of = |(name, size): (&String, &Value)| format!("{name} {}", bytes(size.as_u64().unwrap_or(0)));
    let mut parts: Vec<String> = all.into_iter().flatten().map(of).collect();
    for (pointer, name) in
        [("/disk/dictionary_bytes", "dictionary"), ("/disk/characteristic_sets_bytes", "characteristic sets")]
    {
        let size = stats.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
        parts.push(format!("{name} {}", bytes(size)));
    }
    parts.join(", ")
}

fn percent(part: u64, whole: u64) -> String {
    if whole == 0 { "none".to_owned() } else { format!("{:.1} %", part as f64 * 100.0 / whole as f64) }
}

#[cfg(test)]
mod tests {
    //! What a person reads.
    use super::{inferences_line, written};
    use serde_json::json;

    #[test]
    fn one_version_is_one() {
        let line =
            |versions: u64| inferences_line(&json!({"behind_versions": versions, "behind_seconds": 1.5}));
        assert!(line(1).starts_with("behind by 1 version, 1.5 s"), "{}", line(1));
        assert!(line(1200).starts_with("behind by 1,200 versions, 1.5 s"), "{}", line(1200));
    }

    #[test]
    fn in_units_that_a_person_reads() {
        let stats = json!({"quads": 1_234_567, "version": 7, "writable": true, "segments": 2, "delta_changes": 1500,
            "server": {"version": "0.1.0", "uptime_seconds": 7300.0, "processor_seconds": 61.5, "open_files": 12, "open_files_max": 1024},
            "cache": {"hits": 999, "misses": 1, "bytes": 1 << 20, "bytes_max": 1 << 30, "bytes_read": 65536},
            "memory": {"resident_bytes": 3 << 20, "pool_bytes": 2 << 20, "pool_bytes_max": 1 << 30},
            "flush": {"percent_full": 3, "flushes": 1, "error": "no\nroom"},
            "disk": {"database_bytes": 5 << 20, "log_bytes": 1024, "indexes": {"spog": 2 << 20}, "dictionary_bytes": 4096},
            "dropped_log_lines": {"access": 3}});
        let text = written(&stats, "ready", "http://h:1");
        for part in [
            "Server     http://h:1, lode 0.1.0, up 2 h 01 min\n",
            "Health     ready\n",
            "Data       1,234,567 quads, version 7, writable\n",
            "99.9 % of blocks found there (1 read, 64.0 KiB)",
            "2.00 MiB of 1.00 GiB reserved",
            "spog 2.00 MiB, dictionary 4.00 KiB",
            "Failing    flush: no room\n",
            "Logs       3 lines were dropped\n",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
