//! What the processors spend on the side that answers.

use crate::args::TargetArgs;
use anyhow::{Context, bail};
use std::thread;
use std::time::{Duration, Instant};

/// How often processes are looked at while they become idle, and what they may spend meanwhile and count as idle.
const LOOK_EVERY: Duration = Duration::from_millis(300);
const IDLE_SECONDS: f64 = 0.03;

/// The processes that are looked at.
pub struct Processors {
    processes: Vec<String>,
}

impl Processors {
    /// Those that were named; else, where there is no endpoint, this one.
    /// Fails where they cannot be looked at.
    pub fn of(args: &TargetArgs) -> anyhow::Result<Self> {
        let mut processes: Vec<String> = args.server_pid.iter().map(u32::to_string).collect();
        if !processes.is_empty() && !cfg!(target_os = "linux") {
            bail!("--server-pid reads /proc, which only Linux has");
        }
        if processes.is_empty() && args.endpoint.is_none() && cfg!(target_os = "linux") {
            processes.push("self".to_owned());
        }
        let processors = Self { processes };
        processors.seconds()?;
        Ok(processors)
    }

    /// Seconds, user and system, since these processes began; none where there is no process.
    pub fn seconds(&self) -> anyhow::Result<Option<f64>> {
        let ticks: anyhow::Result<u64> = self.processes.iter().map(|process| ticks(process)).sum();
        let ticks = ticks?;
        // Linux tells hundredths of a second, whatever its clock.
        Ok((!self.processes.is_empty()).then_some(ticks as f64 / 100.0))
    }

    /// Waits until they are idle, at most so long: some servers go on with a query that nobody waits for any more.
    pub fn settle(&self, at_most: Duration) -> anyhow::Result<()> {
        let start = Instant::now();
        while let Some(before) = self.seconds()?
            && start.elapsed() < at_most
        {
            thread::sleep(LOOK_EVERY);
            if self.seconds()?.is_none_or(|after| after - before <= IDLE_SECONDS) {
                break;
            }
        }
        Ok(())
    }
}

fn ticks(process: &str) -> anyhow::Result<u64> {
    let path = format!("/proc/{process}/stat");
    let text = std::fs::read_to_string(&path).with_context(|| format!("reading {path}"))?;
    // After the name in parentheses, which may hold anything.
    let fields = text.rsplit_once(')').map(|(_, rest)| rest.split_whitespace().skip(11).take(2));
    let ticks: Option<Vec<u64>> = fields.and_then(|fields| fields.map(|field| field.parse().ok()).collect());
    let ticks = ticks.filter(|ticks| ticks.len() == 2);
    Ok(ticks.with_context(|| format!("{path} is not as expected"))?.into_iter().sum())
}
