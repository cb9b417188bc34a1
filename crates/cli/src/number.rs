//! Numbers for people: thousands separated, bytes and rates with units.

use std::time::Duration;

/// A count and what is counted, in the singular or the plural.
pub fn of(n: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(n), if n == 1 { "" } else { "s" })
}

/// `1234567` as `1,234,567`.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Bytes in binary units with three digits.
pub fn bytes(n: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = n as f64;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{n} B") } else { format!("{value:.*} {}", decimals(value), units[unit]) }
}

/// A count a second: `1.52 M/s`.
pub fn rate(count: u64, time: Duration) -> String {
    format!("{}/s", short(count as f64 / time.as_secs_f64().max(1e-9)))
}

/// A count with three digits: `10.1 M`.
pub fn short(count: f64) -> String {
    let (value, unit) = match count {
        c if c >= 1e9 => (c / 1e9, " G"),
        c if c >= 1e6 => (c / 1e6, " M"),
        c if c >= 1e4 => (c / 1e3, " k"),
        c => return format!("{c:.0}"),
    };
    format!("{value:.*}{unit}", decimals(value))
}

/// `3.2 s`, `4 min 05 s`, `1 h 02 min`.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..=9 if time.as_millis() < 1000 => format!("{} ms", time.as_millis()),
        0..=99 => format!("{:.1} s", time.as_secs_f64()),
        100..=3599 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// What an update has inserted and deleted, how long that took, and the version since.
pub fn changed([inserted, deleted]: [u64; 2], time: Duration, version: Option<u64>) -> String {
    let nothing = if inserted == 0 && deleted == 0 { "nothing has changed: " } else { "" };
    let version = version.map_or(String::new(), |version| format!("; version {version}"));
    let (inserted, deleted) = (grouped(inserted), of(deleted, "quad"));
    format!("{nothing}inserted {inserted}, deleted {deleted} in {}{version}", duration(time))
}

fn decimals(value: f64) -> usize {
    match value {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    //! Examples.
    use super::*;

    #[test]
    fn examples() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(1536), "1.50 KiB");
        assert_eq!(bytes(10 << 30), "10.0 GiB");
        assert_eq!(short(10_095_035.0), "10.1 M");
        assert_eq!(rate(3_000_000, Duration::from_secs(2)), "1.50 M/s");
        assert_eq!(duration(Duration::from_millis(12)), "12 ms");
        assert_eq!(duration(Duration::from_secs(245)), "4 min 05 s");
    }
}
