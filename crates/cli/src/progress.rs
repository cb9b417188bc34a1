//! One live line on standard error: on a terminal it changes in place, in a log it comes every ten seconds.

use crate::talk::say;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Between two changes on a terminal.
const TERMINAL_INTERVAL: Duration = Duration::from_millis(150);
/// Between two lines in a log.
const LOG_INTERVAL: Duration = Duration::from_secs(10);

/// A thread that shows what `text` says until this is dropped.
pub struct LiveLine {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl LiveLine {
    /// Starts showing `text()`; with `quiet` nothing.
    pub fn start(quiet: bool, text: impl FnMut() -> String + Send + 'static) -> Self {
        if quiet {
            return Self { stop: None, thread: None };
        }
        let (stop, stopped) = channel::<()>();
        let terminal = std::io::stderr().is_terminal();
        let mut text = text;
        let thread = std::thread::spawn(move || {
            let bar = terminal.then(bar);
            let interval = if terminal { TERMINAL_INTERVAL } else { LOG_INTERVAL };
            while stopped.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                match &bar {
                    Some(bar) => bar.set_message(text()),
                    None => say!("{}", text()),
                }
            }
            if let Some(bar) = bar {
                bar.finish_and_clear();
            }
        });
        Self { stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for LiveLine {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the display must not hide the outcome of the work.
            let _ = thread.join();
        }
    }
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{wide_msg}") {
        bar.set_style(style);
    }
    bar
}

/// A rate over the last few seconds beside the average since the start.
pub struct RateMeter {
    start: Instant,
    window: std::collections::VecDeque<(Instant, u64)>,
}

impl RateMeter {
    /// Starts now.
    pub fn new() -> Self {
        Self { start: Instant::now(), window: std::collections::VecDeque::new() }
    }

    /// Time since the start.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Units a second over about the last three seconds, given the count so far.
    pub fn current(&mut self, count: u64) -> f64 {
        let now = Instant::now();
        self.window.push_back((now, count));
        while self.window.len() > 2 && now - self.window[0].0 > Duration::from_secs(3) {
            self.window.pop_front();
        }
        let (then, before) = self.window[0];
        let seconds = (now - then).as_secs_f64();
        if seconds < 0.05 { 0.0 } else { count.saturating_sub(before) as f64 / seconds }
    }

    /// Time left when `done` of `total` units have taken the time so far.
    pub fn time_left(&self, done: u64, total: u64) -> Option<Duration> {
        remaining(self.elapsed(), done, total)
    }
}

/// Time left when `done` of `total` units have taken so long.
pub fn remaining(elapsed: Duration, done: u64, total: u64) -> Option<Duration> {
    if done == 0 || total < done {
        return None;
    }
    let seconds = elapsed.as_secs_f64() * (total - done) as f64 / done as f64;
    Duration::try_from_secs_f64(seconds).ok()
}
