//! Warnings of a query or an update as a field of its answer's head: `Lode-Warning`, a list of strings as RFC 9651 writes them
//! (sections 3.1 and 3.3.3). What its strings cannot hold is percent-encoded, as in the URI that an IRI stands for (RFC 3987 section
//! 3.1), so that no text of a query ends the field or begins another one.

use axum::http::HeaderValue;
use axum::http::header::HeaderName;
use axum::response::Response;

/// The field's name.
pub(crate) const WARNING: HeaderName = HeaderName::from_static("lode-warning");

/// The longest value: clients and proxies have limits for whole heads.
const VALUE_BYTES_MAX: usize = 4 << 10;
/// Stands for what would be longer.
const MORE: &str = "\"and others: see EXPLAIN\"";

/// Puts the warnings into the head of an answer.
pub(crate) fn tell(warnings: &[impl ToString], response: &mut Response) {
    if let Some(value) = value(warnings.iter().map(ToString::to_string)) {
        response.headers_mut().insert(WARNING, value);
    }
}

/// The field's value; none without warnings.
fn value(warnings: impl Iterator<Item = String>) -> Option<HeaderValue> {
    let mut value = String::new();
    for warning in warnings {
        if !value.is_empty() {
            value.push_str(", ");
        }
        let string = string(&warning);
        if value.len() + string.len() + 2 + MORE.len() > VALUE_BYTES_MAX {
            value.push_str(MORE);
            break;
        }
        value.push_str(&string);
    }
    if value.is_empty() { None } else { HeaderValue::from_str(&value).ok() }
}

/// A string of RFC 9651.
fn string(text: &str) -> String {
    let mut string = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => string.extend(['\\', char::from(byte)]),
            b' '..=b'~' => string.push(char::from(byte)),
            _ => string.push_str(&format!("%{byte:02X}")),
        }
    }
    string.push('"');
    string
}

#[cfg(test)]
mod tests {
    //! Values hold nothing that ends a field.
    use super::{VALUE_BYTES_MAX, value};

    fn text(warnings: &[&str]) -> String {
        let value = value(warnings.iter().map(|text| (*text).to_owned()));
        value.map_or(String::new(), |value| value.to_str().unwrap().to_owned())
    }

    #[test]
    fn a_list_of_strings() {
        assert_eq!(text(&[]), "");
        assert_eq!(text(&["a <b>", "c, d"]), "\"a <b>\", \"c, d\"");
        assert_eq!(text(&["\"\\\r\nSet-Cookie: x\0\u{7f}"]), "\"\\\"\\\\%0D%0ASet-Cookie: x%00%7F\"");
        assert_eq!(text(&["é日\u{9b}"]), "\"%C3%A9%E6%97%A5%C2%9B\"");
    }

    #[test]
    fn a_value_is_bounded() {
        let long = "日".repeat(300);
        let found = text(&["short", &long, &long, "lost"]);
        assert!(found.len() <= VALUE_BYTES_MAX && found.starts_with("\"short\", \"%E6"), "{found}");
        assert!(found.ends_with("\", \"and others: see EXPLAIN\""), "{found}");
        assert_eq!(text(&[&long.repeat(3)]), "\"and others: see EXPLAIN\"");
    }
}
