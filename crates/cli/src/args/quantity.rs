//! Numbers with units, on the command line.

/// A number of bytes: `1073741824`, `512MiB`, `2G`, `1.5GiB`.
pub fn parse_bytes(text: &str) -> Result<usize, String> {
    let lower = text.trim().to_ascii_lowercase();
    let digits = lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let scale: f64 = match lower[digits.len()..].trim_end_matches('b') {
        "" => 1.0,
        "k" | "ki" => 1024.0,
        "m" | "mi" => 1024.0 * 1024.0,
        "g" | "gi" => 1024.0 * 1024.0 * 1024.0,
        "t" | "ti" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        unit => return Err(format!("unknown unit {unit:?}: use KiB, MiB, GiB or TiB")),
    };
    let number: f64 =
        digits.trim().parse().map_err(|_| "expected a number such as 512MiB or 2GiB".to_owned())?;
    let bytes = number * scale;
    if !(bytes >= 1.0 && bytes < usize::MAX as f64) {
        return Err("expected a number of bytes above 0".to_owned());
    }
    Ok(bytes as usize)
}

/// The least memory that queries and updates can keep to: half of it is the program's own, and the rest has room for what sorts and joins
/// cannot do without.
const MEMORY_BYTES_MIN: usize = 64 << 20;
/// The least that a load can keep to.
const LOAD_MEMORY_BYTES_MIN: usize = 48 << 20;

/// Memory for queries and updates.
pub fn parse_memory(text: &str) -> Result<usize, String> {
    at_least(MEMORY_BYTES_MIN, parse_bytes(text)?)
}

/// Memory for a load.
pub fn parse_load_memory(text: &str) -> Result<usize, String> {
    at_least(LOAD_MEMORY_BYTES_MIN, parse_bytes(text)?)
}

fn at_least(least: usize, bytes: usize) -> Result<usize, String> {
    if bytes < least { Err(format!("the least is {} MiB", least >> 20)) } else { Ok(bytes) }
}

/// A number of seconds, with or without fraction.
pub fn parse_seconds(text: &str) -> Result<std::time::Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    std::time::Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}
