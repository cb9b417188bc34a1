//! Updates at a server, and what it tells of them.

use super::{Asked, Remote};
use crate::number;
use lode_engine::CancelToken;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use ureq::Body;
use ureq::http::Response;

/// What became of an update.
pub struct Changed {
    pub warnings: Vec<String>,
    pub summary: String,
    pub json: Value,
}

/// Sends an update; servers that are no `lode serve` tell no numbers.
pub fn update(remote: &Remote, text: &str, cancel: &CancelToken) -> anyhow::Result<Changed> {
    let asked = Asked {
        media_type: "application/sparql-update",
        text,
        accept: "application/json, */*;q=0.1",
        parameters: String::new(),
    };
    let start = Instant::now();
    let response = remote.update(&asked, cancel)?;
    changed(response, start, cancel)
}

/// What of a statement is most likely not meant, as a `lode serve` tells it: strings in quotes, with what they cannot hold percent-encoded.
pub fn warnings(response: &Response<Body>) -> Vec<String> {
    let header = response.headers().get("lode-warning").and_then(|value| value.to_str().ok());
    let (mut all, mut text, mut is_inside) = (Vec::new(), Vec::new(), false);
    let mut bytes = header.unwrap_or("").bytes();
    while let Some(byte) = bytes.next() {
        match (byte, is_inside) {
            (b'"', false) => is_inside = true,
            (b'"', true) => {
                is_inside = false;
                let whole = String::from_utf8_lossy(&std::mem::take(&mut text)).into_owned();
                all.push(whole.chars().filter(|c| !c.is_control()).collect());
            }
            (b'\\', true) => text.extend(bytes.next()),
            (b'%', true) => {
                let digits = [bytes.next(), bytes.next()].map(|digit| digit.map_or('0', char::from));
                let code = digits.iter().try_fold(0, |code, digit| Some(code * 16 + digit.to_digit(16)?));
                text.extend(code.and_then(|code| u8::try_from(code).ok()));
            }
            (byte, true) => text.push(byte),
            (_, false) => {}
        }
    }
    all
}

/// What a server tells of a change.
pub fn changed(response: Response<Body>, start: Instant, cancel: &CancelToken) -> anyhow::Result<Changed> {
    let warnings = warnings(&response);
    let text = super::text_of(response, cancel)?;
    let told: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
    let told_number = |name: &str| told.get(name).and_then(Value::as_u64);
    let seconds = told.get("seconds").and_then(Value::as_f64);
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let time = time.unwrap_or_else(|| start.elapsed());
    let summary = match (told_number("inserted"), told_number("deleted")) {
        (Some(inserted), Some(deleted)) => number::changed([inserted, deleted], time, told_number("version")),
        _ => format!("done in {}", number::duration(time)),
    };
    let json = if told.is_object() { told } else { json!({}) };
    Ok(Changed { warnings, summary, json })
}
