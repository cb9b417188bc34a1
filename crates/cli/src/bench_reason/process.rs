//! One process, with a time limit and what it had resident at most.

use crate::bench_clients::most_resident_bytes;
use anyhow::Context;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How often a process is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(2);
/// Of what a process that failed wrote, so many lines are told.
const LINES_TOLD: usize = 3;

/// What a process that ended well did.
pub struct Ended {
    /// Its standard output.
    pub out: String,
    pub seconds: f64,
    /// The most memory that was seen; none where the system does not tell.
    pub peak_bytes: Option<u64>,
}

/// Runs a process to its end; what it writes goes through files in this folder. Fails where it cannot be run; tells in words why it failed or was ended.
pub fn run(mut command: Command, limit: Duration, folder: &Path) -> anyhow::Result<Result<Ended, String>> {
    let [out, err] = ["out", "err"].map(|name| folder.join(name));
    let [out_file, err_file] =
        [&out, &err].map(|path| File::create(path).with_context(|| format!("creating {}", path.display())));
    command.stdin(Stdio::null()).stdout(out_file?).stderr(err_file?);
    let start = Instant::now();
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Ok(Err(format!("{}: {error}", command.get_program().display()))),
    };
    let mut peak_bytes = None;
    let status = loop {
        // Its last growth may be missed where it ends right after; a process that has ended tells nothing any more.
        if let Ok(bytes) = most_resident_bytes(child.id()) {
            peak_bytes = peak_bytes.max(Some(bytes));
        }
        match child.try_wait().context("waiting for a process")? {
            Some(status) => break status,
            None if start.elapsed() > limit => {
                child.kill().and_then(|()| child.wait()).context("ending a process")?;
                return Ok(Err(format!("ended after {:.0} s (--limit)", limit.as_secs_f64())));
            }
            None => thread::sleep(LOOK_EVERY),
        }
    };
    let seconds = start.elapsed().as_secs_f64();
    let read = |path| std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    if !status.success() {
        let err = read(&err)?;
        let lines: Vec<&str> = err.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = lines.get(lines.len().saturating_sub(LINES_TOLD)..).unwrap_or_default();
        return Ok(Err(format!("{status}: {}", last.join(" / "))));
    }
    Ok(Ok(Ended { out: read(&out)?, seconds, peak_bytes }))
}
