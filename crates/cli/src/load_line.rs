//! The live line of a load or a compaction.

use crate::number;
use crate::progress::{LiveLine, RateMeter};
use lode_engine::store::load::{LoadProgress, ProgressSample, Stage};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Shows what a load or a compaction does until it is dropped.
pub fn live_line(quiet: bool, progress: &Arc<LoadProgress>) -> LiveLine {
    let shown = Arc::clone(progress);
    let mut text = LineText::new();
    LiveLine::start(quiet, move || text.show(shown.sample()))
}

/// A meter that has run for less says nothing.
const METER_MIN: Duration = Duration::from_millis(500);

/// The text of the live line.
struct LineText {
    reading: RateMeter,
    writing: Option<RateMeter>,
    stage: (Stage, Instant),
}

impl LineText {
    fn new() -> Self {
        Self { reading: RateMeter::new(), writing: None, stage: (Stage::Reading, Instant::now()) }
    }

    fn show(&mut self, sample: ProgressSample) -> String {
        if self.stage.0 != sample.stage {
            self.stage = (sample.stage, Instant::now());
        }
        let quads = number::grouped(sample.quads);
        let memory = number::bytes(sample.resident.unwrap_or(sample.memory));
        match sample.stage {
            Stage::Reading => {
                let rate = number::short(self.reading.current(sample.quads));
                let average = number::rate(sample.quads, self.reading.elapsed());
                let left =
                    sample.bytes_total.and_then(|total| self.reading.time_left(sample.bytes_read, total));
                let share = sample.bytes_total.map_or(String::new(), |total| {
                    format!(" {:.0} %,", 100.0 * sample.bytes_read as f64 / total.max(1) as f64)
                });
                let bad = if sample.quarantined > 0 {
                    format!(", {} bad statements set aside", number::grouped(sample.quarantined))
                } else {
                    String::new()
                };
                format!(
                    "reading:{share} {quads} quads{bad}, {rate}/s now, {average} on average, memory {memory}{}",
                    left_text(left)
                )
            }
            Stage::Writing if sample.rows_to_write > 0 => {
                let meter = self.writing.get_or_insert_with(RateMeter::new);
                // All orders hold the same quads: what is written of them is told in quads.
                let done = sample.quads as f64 * sample.rows_written as f64 / sample.rows_to_write as f64;
                let rate = number::short(meter.current(done as u64));
                let share = 100.0 * sample.rows_written as f64 / sample.rows_to_write as f64;
                let mut text =
                    format!("writing indexes: {share:.0} %, {quads} quads, {rate}/s now, memory {memory}");
                // What was written before the first look would make a fine average.
                if meter.elapsed() >= METER_MIN {
                    let average = number::rate(done as u64, meter.elapsed());
                    let left = meter.time_left(sample.rows_written, sample.rows_to_write);
                    text = format!("{text}, {average} on average{}", left_text(left));
                }
                text
            }
            stage => format!(
                "{}: {quads} quads, {} terms, {} so far, memory {memory}",
                stage.name(),
                number::grouped(sample.terms),
                number::duration(self.stage.1.elapsed())
            ),
        }
    }
}

pub fn left_text(left: Option<Duration>) -> String {
    left.map_or(String::new(), |left| format!(", about {} left in this stage", number::duration(left)))
}

#[cfg(test)]
mod tests {
    //! What the live line says.
    use super::*;

    #[test]
    fn the_live_line_tells_stage_counts_rates_memory_and_what_is_left() {
        let mut line = LineText::new();
        let mut sample = ProgressSample {
            quads: 1_234_567,
            quarantined: 2,
            bytes_read: 25,
            bytes_total: Some(100),
            memory: 1 << 20,
            ..ProgressSample::default()
        };
        let text = line.show(sample);
        for part in
            ["reading: 25 %", "1,234,567 quads, 2 bad statements", "/s now", "on average", "1.00 MiB", "left"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        (sample.stage, sample.terms, sample.resident) = (Stage::Terms, 77, Some(3 << 20));
        let text = line.show(sample);
        for part in ["merging terms", "77 terms", "so far", "3.00 MiB"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        (sample.stage, sample.rows_to_write, sample.rows_written) = (Stage::Writing, 600, 300);
        let text = line.show(sample);
        for part in ["writing indexes: 50 %", "/s now", "memory 3.00 MiB"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
