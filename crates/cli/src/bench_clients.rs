//! Clients of `lode bench crowd`, `lode bench connections` and `lode bench hostile`: one query, and a client of light queries.

use anyhow::{Context, bail};
use std::io::{Write, copy, sink};
use std::thread;
use std::time::{Duration, Instant};

pub fn agent() -> ureq::Agent {
    ureq::Agent::config_builder().http_status_as_error(false).build().into()
}

/// What came back.
pub struct Reply {
    pub status: u16,
    /// After how many seconds a refused query may come again.
    pub retry_after: Option<u64>,
    /// Whether the answer had an end.
    pub is_whole: bool,
}

/// Asks a query, and reads its answer to the end.
pub fn ask(agent: &ureq::Agent, url: &str, query: &str) -> anyhow::Result<Reply> {
    let request = agent
        .post(url)
        .header("Content-Type", "application/sparql-query")
        .header("Accept", "text/csv, */*;q=0.5");
    let mut response = request.send(query)?;
    let later = response.headers().get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
    let is_whole = copy(&mut response.body_mut().as_reader(), &mut sink()).is_ok();
    Ok(Reply { status: response.status().as_u16(), retry_after: later, is_whole })
}

/// Light queries, one after the other.
pub struct Light<'a> {
    pub url: &'a str,
    /// Asked in turns; `%n%` is a number that is another one each time.
    pub queries: &'a [String],
    pub pause: Duration,
}

impl Light<'_> {
    /// Asks until `is_over`; the times, sorted.
    ///
    /// # Errors
    /// One was not answered.
    pub fn times(&self, is_over: impl Fn() -> bool) -> anyhow::Result<Vec<Duration>> {
        let agent = agent();
        let mut times = Vec::new();
        for (number, query) in self.queries.iter().cycle().enumerate() {
            if is_over() {
                break;
            }
            let query = query.replace("%n%", &number.to_string());
            let started = Instant::now();
            let reply = ask(&agent, self.url, &query)?;
            times.push(started.elapsed());
            if reply.status != 200 {
                bail!("a light query was answered with status {}", reply.status);
            }
            thread::sleep(self.pause);
        }
        times.sort_unstable();
        Ok(times)
    }
}

/// Tells of the times of light queries.
pub fn write_times(light: &[Duration], out: &mut dyn Write) -> std::io::Result<()> {
    let at = |share: f64| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a place in a list"
        )]
        let place = ((light.len() as f64 * share) as usize).min(light.len().saturating_sub(1));
        light.get(place).map_or(0.0, |time| time.as_secs_f64() * 1e3)
    };
    writeln!(out, "light queries     {}", light.len())?;
    for (name, share) in [("median", 0.5), ("95 %", 0.95), ("99 %", 0.99), ("99.9 %", 0.999), ("most", 1.0)] {
        writeln!(out, "  {name:<8} {:>10.1} ms", at(share))?;
    }
    Ok(())
}

/// The most memory of its own that a process ever had.
pub fn most_resident_bytes(process: u32) -> anyhow::Result<u64> {
    let path = format!("/proc/{process}/status");
    let status = std::fs::read_to_string(&path).with_context(|| format!("reading {path}"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no peak is told")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse::<u64>()? * 1024)
}
