//! How the rate of a cold database rises, as SVG: a panel for each device, a line for each policy; seconds since it was opened on a
//! logarithmic axis, and the rate as a share of that in memory.

use crate::bench_report::plot::{COLOURS, text};

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

/// One line.
pub struct Curve {
    /// Of its panel.
    pub device: String,
    /// Its own name.
    pub policy: String,
    /// Seconds, and the share of the rate in memory then.
    pub points: Vec<(f64, f64)>,
}

/// The document. Curves of one panel are neighbours.
pub fn svg(curves: &[Curve]) -> String {
    let panels: Vec<&[Curve]> = curves.chunk_by(|a, b| a.device == b.device).collect();
    let height = panels.len() as f64 * (PANEL_HEIGHT + HEAD_HEIGHT) + 20.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    );
    let ends = curves.iter().filter_map(|curve| curve.points.last()).map(|(at, _)| *at);
    let axis = Axis { end: ends.fold(1.0, f64::max) };
    for (number, panel) in panels.into_iter().enumerate() {
        let top = HEAD_HEIGHT + number as f64 * (PANEL_HEIGHT + HEAD_HEIGHT);
        svg += &frame(&axis, top, &panel[0].device);
        for (at, curve) in panel.iter().enumerate() {
            svg += &line(&axis, curve, top, at);
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

fn frame(axis: &Axis, top: f64, device: &str) -> String {
    let mut svg =
        text(LEFT, top - 8.0, "start", &format!("{device}: share of the rate in memory, by seconds"));
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

/// A curve, and its name at the right.
fn line(axis: &Axis, curve: &Curve, top: f64, number: usize) -> String {
    let colour = COLOURS[number % COLOURS.len()];
    let points: Vec<String> =
        curve.points.iter().map(|(at, share)| format!("{:.1},{:.1}", axis.x(*at), y(*share, top))).collect();
    let (x, y) = (WIDTH - RIGHT + 12.0, top + 12.0 + 16.0 * number as f64);
    format!(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>\n\
         <rect x=\"{x}\" y=\"{:.1}\" width=\"12\" height=\"3\" fill=\"{colour}\"/>\n",
        points.join(" "),
        y - 5.0
    ) + &text(x + 18.0, y, "start", &curve.policy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_device_has_a_panel_and_each_policy_a_line() {
        let curve = |device: &str, policy: &str, count: u32| Curve {
            device: device.to_owned(),
            policy: policy.to_owned(),
            points: (0..count).map(|n| (0.1 * f64::from(n), 0.5 * f64::from(n))).collect(),
        };
        let svg = svg(&[curve("disk", "none", 30), curve("disk", "warm", 2), curve("ssd", "none", 0)]);
        assert_eq!((svg.matches("<polyline").count(), svg.matches("by seconds").count()), (3, 2), "{svg}");
        assert_eq!(svg.lines().find(|line| line.contains("polyline")).unwrap().matches(',').count(), 30);
        assert!(svg.contains(">0.1<") && svg.contains(">1<") && svg.contains("points=\"\""), "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
}
