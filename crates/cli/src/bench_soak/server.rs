//! The server under test: this program, as a child process.

use super::places::Places;
use crate::args::BenchSoakArgs;
use crate::bench_data::program;
use anyhow::{Context, bail};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

/// Uploads of more quads are loaded in bulk. Below the size of large units.
const TRANSACTION_QUADS_MAX: &str = "2000";

/// A running server, killed when dropped.
pub struct Server {
    child: Child,
    stderr: BufReader<ChildStderr>,
    /// `http://127.0.0.1:PORT`
    pub base: String,
    /// How long it took to be there.
    pub ready_after: Duration,
}

impl Server {
    pub fn start(places: &Places, args: &BenchSoakArgs) -> anyhow::Result<Self> {
        let start = Instant::now();
        let mut command = program()?;
        command.arg("serve").arg(&places.database).args(["--bind", "127.0.0.1:0"]);
        command.arg("--backup-dir").arg(&places.backups);
        command.args(["--transaction-quads-max", TRANSACTION_QUADS_MAX]);
        command.args(["--cache", &args.cache.to_string()]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let mut stderr = BufReader::new(child.stderr.take().context("the server's standard error")?);
        let mut line = String::new();
        stderr.read_line(&mut line)?;
        let base = line.split_whitespace().last().and_then(|url| url.strip_suffix("/sparql"));
        let Some(base) = base.map(str::to_owned) else {
            stderr.read_to_string(&mut line)?;
            bail!("the server did not start: {line}")
        };
        Ok(Self { child, stderr, base, ready_after: start.elapsed() })
    }

    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// What it said since it started, once it has ended.
    pub fn said(&mut self) -> String {
        let mut text = String::new();
        let _ = self.stderr.read_to_string(&mut text);
        text.trim_end().to_owned()
    }

    /// Bytes of memory that are its own and in use, where the system tells.
    pub fn resident_bytes(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
    }

    /// Ends it without any warning.
    pub fn kill(mut self) -> anyhow::Result<()> {
        // Where it has ended by itself there is nothing to kill.
        let _ = self.child.kill();
        self.child.wait()?;
        Ok(())
    }

    /// Asks it to end, as Ctrl+C does.
    pub fn stop(mut self) -> anyhow::Result<()> {
        let asked = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status();
        if !asked.is_ok_and(|status| status.success()) {
            return self.kill();
        }
        let status = self.child.wait()?;
        if !status.success() {
            bail!("the server ended with {status}: {}", self.said());
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
