//! Lines of the logs. Whatever clients send stays inside its line, and is nothing that a terminal obeys.

use super::logs::LogFormat;
use super::stages::{Change, Stages};
use crate::listener::Peer;
use axum::http::Version;
use serde::{Serialize, Serializer};
use std::fmt::Write as _;
use std::time::SystemTime;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// A request.
#[derive(Serialize)]
pub(super) struct AccessLine<'a> {
    #[serde(rename = "time", serialize_with = "as_time")]
    pub(super) at: SystemTime,
    pub(super) request: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) trace: Option<&'a str>,
    #[serde(serialize_with = "as_text")]
    pub(super) client: Peer,
    pub(super) user: Option<&'a str>,
    pub(super) role: Option<&'static str>,
    pub(super) method: &'a str,
    pub(super) target: &'a str,
    #[serde(rename = "protocol", serialize_with = "as_protocol")]
    pub(super) version: Version,
    pub(super) status: u16,
    pub(super) bytes_in: u64,
    pub(super) bytes: u64,
    pub(super) seconds: f64,
    /// Whether the client has got all of the answer.
    #[serde(rename = "whole")]
    pub(super) is_whole: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rows: Option<u64>,
    #[serde(flatten)]
    pub(super) stages: Option<Stages>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<&'a str>,
    pub(super) agent: &'a str,
}

/// A query or an update that took long.
#[derive(Serialize)]
pub(super) struct SlowLine<'a> {
    #[serde(rename = "time", serialize_with = "as_time")]
    pub(super) at: SystemTime,
    pub(super) request: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) trace: Option<&'a str>,
    #[serde(serialize_with = "as_text")]
    pub(super) client: Peer,
    pub(super) user: Option<&'a str>,
    pub(super) kind: &'static str,
    pub(super) result: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<&'a str>,
    pub(super) seconds: f64,
    #[serde(flatten)]
    pub(super) stages: Stages,
    pub(super) rows: u64,
    pub(super) spilled_bytes: u64,
    pub(super) bytes: u64,
    pub(super) text: &'a str,
}

/// A change, an act of the administration, or a login that failed.
#[derive(Serialize)]
pub(super) struct AuditLine<'a> {
    #[serde(rename = "time", serialize_with = "as_time")]
    pub(super) at: SystemTime,
    pub(super) request: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) trace: Option<&'a str>,
    #[serde(serialize_with = "as_text")]
    pub(super) client: Peer,
    pub(super) user: Option<&'a str>,
    pub(super) role: Option<&'static str>,
    pub(super) action: &'a str,
    pub(super) method: &'a str,
    pub(super) target: &'a str,
    pub(super) status: u16,
    pub(super) result: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<&'a str>,
    #[serde(flatten)]
    pub(super) changed: Option<Change>,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) text: &'a str,
}

impl AccessLine<'_> {
    pub(super) fn written(&self, format: LogFormat) -> Vec<u8> {
        match format {
            LogFormat::Text => self.text(),
            LogFormat::Json => bytes_of(self),
        }
    }

    /// Much as the Common Log Format has it, with the time, the number and the client's name for itself at the end.
    fn text(&self) -> Vec<u8> {
        let mut line = String::with_capacity(256);
        let Self { method, target, version, status, bytes, seconds, request, .. } = self;
        let (user, whole) = (self.user.unwrap_or("-"), if self.is_whole { "" } else { "+" });
        let at = time_of(self.at);
        let _ = write!(line, "{} - {user} [{at}] \"{method} ", address(self.client));
        escape(target, &mut line);
        let _ = write!(line, " {version:?}\" {status} {bytes}{whole} {seconds:.6} {request} \"");
        escape(self.agent, &mut line);
        line.push('"');
        line.into_bytes()
    }
}

impl SlowLine<'_> {
    /// The line, with the plan's JSON.
    pub(super) fn written(&self, plan: Option<&str>) -> Vec<u8> {
        let mut bytes = bytes_of(self);
        if let Some(plan) = plan {
            // The tree of a plan may be deep: its text is put in as it is.
            bytes.pop();
            bytes.extend_from_slice(b",\"plan\":");
            bytes.extend_from_slice(without_controls(plan).as_bytes());
            bytes.push(b'}');
        }
        bytes
    }
}

impl AuditLine<'_> {
    pub(super) fn written(&self) -> Vec<u8> {
        bytes_of(self)
    }
}

fn as_time<S: Serializer>(at: &SystemTime, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&time_of(*at))
}

fn as_text<S: Serializer>(client: &Peer, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(client)
}

fn as_protocol<S: Serializer>(version: &Version, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{version:?}"))
}

/// The address alone: a port says nothing of who it is.
fn address(client: Peer) -> String {
    match client {
        Peer::Tcp(address) => address.ip().to_string(),
        Peer::Unix => "unix".to_owned(),
    }
}

/// A time by RFC 3339, to the millisecond.
pub(super) fn time_of(at: SystemTime) -> String {
    let at = OffsetDateTime::from(at);
    let at = at.replace_millisecond(at.millisecond()).unwrap_or(at);
    at.format(&Rfc3339).unwrap_or_default()
}

/// A line of JSON, in which control characters beyond those of ASCII are escaped, too.
fn bytes_of(line: &impl Serialize) -> Vec<u8> {
    // Nothing of a line can fail: it has neither maps nor types of others.
    let text = serde_json::to_string(line).unwrap_or_default();
    if text.chars().any(char::is_control) { without_controls(&text).into_bytes() } else { text.into_bytes() }
}

fn without_controls(json: &str) -> String {
    json.chars().fold(String::with_capacity(json.len() + 16), |mut text, c| {
        if c.is_control() {
            let _ = write!(text, "\\u{:04x}", u32::from(c));
        } else {
            text.push(c);
        }
        text
    })
}

/// A text between quotes.
fn escape(text: &str, line: &mut String) {
    for c in text.chars() {
        match c {
            '"' | '\\' => line.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(line, "\\u{:04x}", u32::from(c));
            }
            c => line.push(c),
        }
    }
}
