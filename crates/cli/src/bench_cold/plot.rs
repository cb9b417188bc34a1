//! How the rate of a cold database rises, as SVG: a panel for each device, a line for each policy; seconds since it was opened on a
//! logarithmic axis, and the rate as a share of that in memory.

use super::{Run, WINDOW, name, rate};
use crate::args::ColdDevice;
use crate::bench_report::plot::{COLOURS, text};
use std::time::Duration;

/// Places in pixels.
const WIDTH: f64 = 720.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 120.0;
const PANEL_HEIGHT: f64 = 200.0;
const HEAD_HEIGHT: f64 = 34.0;
/// Shares above this are drawn here.
const SHARE_MAX: f64 = 1.2;
/// The axis begins here, in seconds.
const START: f64 = 0.01;

/// The document.
pub fn svg(runs: &[Run], warm: Duration) -> String {
    let panels: Vec<&[Run]> = runs.chunk_by(|a, b| a.device == b.device).collect();
    let height = panels.len() as f64 * (PANEL_HEIGHT + HEAD_HEIGHT) + 20.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    );
    let ends = runs.iter().filter_map(|run| run.mixes.last()).map(|(at, _)| at.as_secs_f64());
    let axis = Axis { end: ends.fold(1.0, f64::max) };
    for (number, panel) in panels.into_iter().enumerate() {
        let top = HEAD_HEIGHT + number as f64 * (PANEL_HEIGHT + HEAD_HEIGHT);
        svg += &frame(&axis, top, panel[0].device);
        for (at, run) in panel.iter().enumerate() {
            svg += &line(&axis, run, warm, top, COLOURS[at % COLOURS.len()], at);
        }
    }
    svg + "</svg>\n"
}

struct Axis {
    end: f64,
}

impl Axis {
    fn x(&self, seconds: f64) -> f64 {
        let place = (seconds.max(START) / START).ln() / (self.end / START).ln();
        LEFT + place.min(1.0) * (WIDTH - LEFT - RIGHT)
    }
}

fn y(share: f64, top: f64) -> f64 {
    top + (1.0 - share.min(SHARE_MAX) / SHARE_MAX) * (PANEL_HEIGHT - 20.0)
}

fn frame(axis: &Axis, top: f64, device: ColdDevice) -> String {
    let mut svg =
        text(LEFT, top - 8.0, "start", &format!("{}: share of the rate in memory, by seconds", name(&device)));
    for share in [0.0, 0.5, 0.9, 1.0] {
        let (y, right) = (y(share, top), WIDTH - RIGHT);
        let dashes = if share == 0.9 { " stroke-dasharray=\"4 3\"" } else { "" };
        svg += &format!(
            "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\" stroke=\"#cccccc\"{dashes}/>\n"
        );
        svg += &text(LEFT - 6.0, y + 4.0, "end", &format!("{:.0} %", share * 100.0));
    }
    for tick in [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0].into_iter().filter(|tick| *tick <= axis.end) {
        svg += &text(axis.x(tick), y(0.0, top) + 14.0, "middle", &format!("{tick}"));
    }
    svg
}

/// The rate of the last mixes at each time, and the policy's name at the right.
fn line(axis: &Axis, run: &Run, warm: Duration, top: f64, colour: &str, number: usize) -> String {
    let mut points = String::new();
    for window in run.mixes.windows(WINDOW) {
        let (Some((at, _)), mean) = (window.last(), window.iter().map(|(_, time)| *time).sum::<Duration>())
        else {
            continue;
        };
        let share = rate(mean / WINDOW as u32) / rate(warm);
        points += &format!("{:.1},{:.1} ", axis.x(at.as_secs_f64()), y(share, top));
    }
    let (x, y) = (WIDTH - RIGHT + 12.0, top + 12.0 + 16.0 * number as f64);
    format!(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>\n\
         <rect x=\"{x}\" y=\"{:.1}\" width=\"12\" height=\"3\" fill=\"{colour}\"/>\n",
        points.trim_end(),
        y - 5.0
    ) + &text(x + 18.0, y, "start", &name(&run.policy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::ColdPolicy;

    #[test]
    fn each_device_has_a_panel_and_each_policy_a_line() {
        let run = |device, policy, mixes: u64| Run {
            device,
            policy,
            open: Duration::ZERO,
            first_pass: None,
            warm: None,
            mixes: (1..=mixes)
                .map(|n| (Duration::from_millis(100 * n), Duration::from_millis(100)))
                .collect(),
            reads: Default::default(),
        };
        let runs = [
            run(ColdDevice::Disk, ColdPolicy::None, 30),
            run(ColdDevice::Disk, ColdPolicy::Warm, 11),
            run(ColdDevice::Ssd, ColdPolicy::None, 3),
        ];
        let svg = svg(&runs, Duration::from_millis(50));
        assert_eq!((svg.matches("<polyline").count(), svg.matches("by seconds").count()), (3, 2), "{svg}");
        // Ten mixes make the first point.
        assert_eq!(svg.lines().find(|line| line.contains("polyline")).unwrap().matches(',').count(), 21);
        assert!(svg.contains(">0.1<") && svg.contains(">1<") && svg.contains("points=\"\""), "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
}
