//! Which trace a request is of (W3C Trace Context): what came in `traceparent`, or a trace of its own.

use axum::http::{HeaderMap, HeaderName};
use std::fmt::Write as _;

/// Where a trace stands.
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// A trace, and the place of a request in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TraceContext {
    /// 32 hexadecimal digits.
    pub(crate) trace: String,
    /// That of who has asked; 16 digits, like the next one.
    pub(crate) parent: Option<String>,
    /// The request's own.
    pub(crate) span: String,
    /// Whether it is to be told.
    pub(crate) is_sampled: bool,
}

impl TraceContext {
    /// That of a request. Without one that was sent, it is a new trace with `is_told`; none where nobody asks for that, or there is no randomness.
    pub(super) fn of(headers: &HeaderMap, is_told: impl FnOnce() -> Option<bool>) -> Option<Self> {
        let mut sent = headers.get_all(TRACEPARENT).iter();
        let text = sent.next().and_then(|value| value.to_str().ok()).filter(|_| sent.next().is_none());
        let mut random = [0; 24];
        if let Some((trace, parent, is_sampled)) = text.and_then(parsed) {
            getrandom::fill(&mut random[..8]).ok()?;
            return Some(Self { trace, parent: Some(parent), span: hex(&random[..8]), is_sampled });
        }
        let is_sampled = is_told()?;
        getrandom::fill(&mut random).ok()?;
        Some(Self { trace: hex(&random[8..]), parent: None, span: hex(&random[..8]), is_sampled })
    }

    /// What those are sent who are asked for this request.
    pub(crate) fn traceparent(&self) -> String {
        format!("00-{}-{}-0{}", self.trace, self.span, u8::from(self.is_sampled))
    }
}

/// `00-TRACE-PARENT-FLAGS`; later versions may have more behind it.
fn parsed(text: &str) -> Option<(String, String, bool)> {
    let mut parts = text.split('-');
    let (version, trace, parent, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let is_hex = |part: &str, length: usize| {
        part.len() == length && part.bytes().all(|c| c.is_ascii_digit() || (b'a'..=b'f').contains(&c))
    };
    let is_some = |part: &str| part.bytes().any(|c| c != b'0');
    let is_fit = is_hex(version, 2) && is_hex(trace, 32) && is_hex(parent, 16) && is_hex(flags, 2);
    if !is_fit || !is_some(trace) || !is_some(parent) || version == "ff" {
        return None;
    }
    if version == "00" && parts.next().is_some() {
        return None;
    }
    let flags = u8::from_str_radix(flags, 16).ok()?;
    Some((trace.to_owned(), parent.to_owned(), flags & 1 == 1))
}

/// A number of 16 digits that nobody has.
pub(super) fn new_span() -> Option<String> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).ok()?;
    Some(hex(&random))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    //! What is taken for a trace.
    use super::TraceContext;
    use axum::http::HeaderMap;

    const SENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn of(sent: &[&str]) -> Option<TraceContext> {
        let mut headers = HeaderMap::new();
        for text in sent {
            headers.append("traceparent", text.parse().unwrap());
        }
        TraceContext::of(&headers, || None)
    }

    #[test]
    fn traces_that_were_sent() {
        let found = of(&[SENT]).unwrap();
        assert_eq!(
            (found.trace.as_str(), found.parent.as_deref()),
            ("0af7651916cd43dd8448eb211c80319c", Some("b7ad6b7169203331"))
        );
        assert!(found.is_sampled && found.span.len() == 16 && found.span != "b7ad6b7169203331");
        assert_eq!(found.traceparent(), format!("00-{}-{}-01", found.trace, found.span));
        assert!(!of(&[&SENT.replace("-01", "-00")]).unwrap().is_sampled);
        assert!(of(&[&SENT.replacen("00", "01", 1).replace("-01", "-01-more")]).is_some());
        let wrong = [
            "",
            "00",
            &SENT.to_uppercase(),
            &format!("{SENT}-x"),
            &SENT.replacen("00", "ff", 1),
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        ];
        wrong.iter().for_each(|text| assert_eq!(of(&[text]), None, "{text}"));
        assert_eq!(of(&[SENT, SENT]), None);
        let own = TraceContext::of(&HeaderMap::new(), || Some(true)).unwrap();
        assert!(own.parent.is_none() && own.trace.len() == 32 && own.is_sampled);
    }
}
