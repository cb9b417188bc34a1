//! Content codings (RFC 9110, section 8.4): which one a client takes, and how a body is encoded and decoded piece by piece.

mod decode;
mod encode;

pub(crate) use decode::Decoding;
pub(crate) use encode::Compression;

use axum::http::{HeaderMap, HeaderName, header};

/// The codings of this server, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    Zstd,
    Brotli,
    Gzip,
}

/// The names of all, for clients that sent another one.
pub(crate) const ALL_NAMES: &str = "zstd, br, gzip";
/// The same, one by one.
pub(crate) const ALL_CODINGS: [&str; 3] = ["zstd", "br", "gzip"];

impl Coding {
    const ALL: [Self; 3] = [Self::Zstd, Self::Brotli, Self::Gzip];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Zstd => "zstd",
            Self::Brotli => "br",
            Self::Gzip => "gzip",
        }
    }

    fn of_name(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "zstd" => Some(Self::Zstd),
            "br" => Some(Self::Brotli),
            "gzip" | "x-gzip" => Some(Self::Gzip),
            _ => None,
        }
    }

    /// The one that a body comes in; none where it is plain, and an error with the name of one that is not known.
    pub(crate) fn of_body(headers: &HeaderMap) -> Result<Option<Self>, String> {
        let Some(name) = joined(headers, header::CONTENT_ENCODING) else { return Ok(None) };
        match name.trim() {
            "" => Ok(None),
            name if name.eq_ignore_ascii_case("identity") => Ok(None),
            name => Self::of_name(name).map(Some).ok_or_else(|| name.to_owned()),
        }
    }

    /// The best one that the client takes at least as gladly as a plain answer; none where it takes none.
    pub(crate) fn accepted(headers: &HeaderMap) -> Option<Self> {
        let accepted = joined(headers, header::ACCEPT_ENCODING)?;
        let quality = |name: &str| quality_of(&accepted, name);
        let plain = quality("identity").unwrap_or(0.0);
        let best = |best: Option<(Self, f32)>, coding: Self| {
            let named = quality(coding.name());
            // Of those that it did not name, all clients know the oldest one.
            let quality =
                named.or_else(|| (coding == Self::Gzip).then(|| quality("*")).flatten()).unwrap_or(0.0);
            if quality > 0.0 && quality >= plain && best.is_none_or(|(_, other)| quality > other) {
                return Some((coding, quality));
            }
            best
        };
        Self::ALL.into_iter().fold(None, best).map(|(coding, _)| coding)
    }
}

/// The values of a header as one list.
fn joined(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    let values: Vec<&str> = headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect();
    (!values.is_empty()).then(|| values.join(","))
}

/// What a list of codings says of one; none where it does not name it.
fn quality_of(list: &str, name: &str) -> Option<f32> {
    list.split(',').find_map(|entry| {
        let mut parts = entry.split(';').map(str::trim);
        let is_named = parts.next().is_some_and(|part| part.eq_ignore_ascii_case(name));
        let quality = || {
            let value = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
            value.map_or(1.0, |value| value.trim().parse().unwrap_or(0.0))
        };
        is_named.then(quality)
    })
}

#[cfg(test)]
mod tests;
