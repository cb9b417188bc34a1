//! What who asks may take, by role.

use std::fmt::{self, Write as _};
use std::str::FromStr;
use std::time::Duration;

/// What one request may take, and how many one may have; none: as much as all requests may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RoleLimits {
    /// The longest a query, an update or a download may take.
    pub time: Option<Duration>,
    /// Bytes that its operators may hold.
    pub memory: Option<usize>,
    /// Rows or triples of an answer.
    pub rows: Option<u64>,
    /// Bytes of an answer, before it is compressed.
    pub bytes: Option<u64>,
    /// Requests that one user, or one client without a name, may have on their way at once.
    pub requests: Option<u32>,
    /// Requests that they may send in a minute.
    pub requests_a_minute: Option<u32>,
    /// Bytes of the text of a query or an update.
    pub query_bytes: Option<usize>,
    /// Rows that a query would read, as the planner estimates.
    pub reads: Option<u64>,
}

/// The keys, as files and command lines have them.
const KEYS: &str = "time, memory, rows, bytes, requests, requests-a-minute, query-bytes, reads";

impl RoleLimits {
    /// Those of `self`, and where it has none those of `other`.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            time: self.time.or(other.time),
            memory: self.memory.or(other.memory),
            rows: self.rows.or(other.rows),
            bytes: self.bytes.or(other.bytes),
            requests: self.requests.or(other.requests),
            requests_a_minute: self.requests_a_minute.or(other.requests_a_minute),
            query_bytes: self.query_bytes.or(other.query_bytes),
            reads: self.reads.or(other.reads),
        }
    }

    /// Sets the one of this name.
    ///
    /// # Errors
    /// Where there is none, or the value is none of it.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let done = match key {
            "time" => seconds(value).map(|time| self.time = Some(time)),
            "memory" => bytes(value).map(|bytes| self.memory = usize::try_from(bytes).ok()),
            "rows" => count(value).map(|rows| self.rows = Some(rows)),
            "bytes" => bytes(value).map(|bytes| self.bytes = Some(bytes)),
            "requests" => small(value).map(|requests| self.requests = Some(requests)),
            "requests-a-minute" => small(value).map(|requests| self.requests_a_minute = Some(requests)),
            "query-bytes" => bytes(value).map(|bytes| self.query_bytes = usize::try_from(bytes).ok()),
            "reads" => count(value).map(|reads| self.reads = Some(reads)),
            other => return Err(format!("there is no limit '{}': known are {KEYS}", other.escape_debug())),
        };
        done.map_err(|wanted| format!("{key}={}: expected {wanted}", value.escape_debug()))
    }
}

/// `time=10,rows=100000`: each at most once.
impl FromStr for RoleLimits {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut limits = Self::default();
        let mut seen: Vec<&str> = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').ok_or_else(|| {
                format!("'{}': expected LIMIT=VALUE,...: known are {KEYS}", part.escape_debug())
            })?;
            let (key, value) = (key.trim(), value.trim());
            if seen.contains(&key) {
                return Err(format!("{key} is there twice"));
            }
            limits.set(key, value)?;
            seen.push(key);
        }
        Ok(limits)
    }
}

impl fmt::Display for RoleLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        let mut add = |key: &str, value: Option<String>| {
            if let Some(value) = value {
                let comma = if text.is_empty() { "" } else { "," };
                let _ = write!(text, "{comma}{key}={value}");
            }
        };
        add("time", self.time.map(|time| time.as_secs_f64().to_string()));
        add("memory", self.memory.map(|bytes| bytes.to_string()));
        add("rows", self.rows.map(|rows| rows.to_string()));
        add("bytes", self.bytes.map(|bytes| bytes.to_string()));
        add("requests", self.requests.map(|requests| requests.to_string()));
        add("requests-a-minute", self.requests_a_minute.map(|requests| requests.to_string()));
        add("query-bytes", self.query_bytes.map(|bytes| bytes.to_string()));
        add("reads", self.reads.map(|reads| reads.to_string()));
        f.write_str(&text)
    }
}

/// Those of each role, and of who sends no name whatever their role is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LimitsOfRoles {
    /// Of who sends no name.
    pub anonymous: RoleLimits,
    /// Of who may read.
    pub read: RoleLimits,
    /// Of who may update.
    pub update: RoleLimits,
    /// Of who may administer.
    pub admin: RoleLimits,
}

fn seconds(text: &str) -> Result<Duration, &'static str> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| *seconds > 0.0);
    seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).ok_or("a number of seconds above 0")
}

fn small(text: &str) -> Result<u32, &'static str> {
    text.parse().ok().filter(|count| *count > 0).ok_or("a number above 0")
}

/// A count: `1000000`, `1M`, `3G` (or `3B`), `1.5k`; as digits may be grouped, `1_000_000`.
fn count(text: &str) -> Result<u64, &'static str> {
    let units = [("k", 1e3), ("K", 1e3), ("M", 1e6), ("G", 1e9), ("B", 1e9), ("T", 1e12)];
    scaled(text, &units).ok_or("a number above 0, such as 1000000 or 1M")
}

fn bytes(text: &str) -> Result<u64, &'static str> {
    let lower = text.to_ascii_lowercase();
    let number = lower.trim_end_matches('b').trim_end_matches('i');
    let units = [("k", 1024.0), ("m", 1048576.0), ("g", 1073741824.0), ("t", 1099511627776.0)];
    scaled(number, &units).ok_or("a number of bytes above 0, such as 65536 or 10MiB")
}

fn scaled(text: &str, units: &[(&str, f64)]) -> Option<u64> {
    let text = text.replace('_', "");
    if let Ok(whole) = text.parse::<u64>() {
        return (whole > 0).then_some(whole);
    }
    let (number, scale) = units
        .iter()
        .find_map(|(unit, scale)| Some((text.strip_suffix(unit)?, *scale)))
        .unwrap_or((&text, 1.0));
    let value = number.trim().parse::<f64>().ok()? * scale;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is in between")]
    (1.0..9e18).contains(&value).then_some(value as u64)
}

#[cfg(test)]
mod tests {
    //! Limits as they are written.
    use super::RoleLimits;
    use std::time::Duration;

    #[test]
    fn limits_are_read_and_written() {
        let text = "time=1.5, memory=64MiB,rows=1M,bytes=10mb,requests=4,requests-a-minute=60,query-bytes=2K,reads=3B";
        let limits: RoleLimits = text.parse().unwrap();
        assert_eq!(
            limits,
            RoleLimits {
                time: Some(Duration::from_millis(1500)),
                memory: Some(64 << 20),
                rows: Some(1_000_000),
                bytes: Some(10 << 20),
                requests: Some(4),
                requests_a_minute: Some(60),
                query_bytes: Some(2048),
                reads: Some(3_000_000_000),
            }
        );
        assert_eq!(limits.to_string().parse::<RoleLimits>().unwrap(), limits);
        assert_eq!("".parse::<RoleLimits>().unwrap(), RoleLimits::default());
        assert_eq!("reads=1_500_000".parse::<RoleLimits>().unwrap().reads, Some(1_500_000));
    }

    #[test]
    fn mistakes_tell_what_is_expected() {
        for (text, told) in [
            ("row=1", "there is no limit 'row': known are time, memory"),
            ("rows", "'rows': expected LIMIT=VALUE"),
            ("rows=0", "rows=0: expected a number above 0"),
            ("rows=-1", "rows=-1: expected a number"),
            ("rows=NaN", "rows=NaN: expected a number"),
            ("time=0", "time=0: expected a number of seconds above 0"),
            ("time=inf", "time=inf: expected"),
            ("bytes=1XB", "bytes=1XB: expected a number of bytes"),
            ("requests=1.5", "requests=1.5: expected a number above 0"),
            ("rows=1,rows=2", "rows is there twice"),
        ] {
            let error = text.parse::<RoleLimits>().unwrap_err();
            assert!(error.starts_with(told), "{text}: {error}");
        }
    }
}
