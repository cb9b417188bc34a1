//! What a request says of who sends it: the `Authorization` field (RFC 9110, section 11.6.2), Basic (RFC 7617) or Bearer (RFC 6750).

use axum::http::{HeaderMap, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::fmt;

/// A longer field is none that anybody would send. Tokens of providers have lists of groups in them.
const FIELD_BYTES_MAX: usize = 16 << 10;

/// What was sent. It is never shown: neither in logs nor in errors.
pub(super) enum Credentials {
    Password { name: String, password: String },
    Token(String),
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Password { .. } => "a name and a password",
            Self::Token(_) => "a token",
        })
    }
}

impl Credentials {
    /// What is in the head; none where nothing is, and an error where it cannot be read.
    pub(super) fn of(headers: &HeaderMap) -> Result<Option<Self>, ()> {
        let mut fields = headers.get_all(header::AUTHORIZATION).iter();
        let Some(field) = fields.next() else { return Ok(None) };
        if fields.next().is_some() || field.len() > FIELD_BYTES_MAX {
            return Err(());
        }
        let text = field.to_str().map_err(|_| ())?;
        let (scheme, rest) = text.split_once(' ').ok_or(())?;
        let rest = rest.trim();
        if scheme.eq_ignore_ascii_case("bearer") {
            return Ok(Some(Self::Token(rest.to_owned())));
        }
        if !scheme.eq_ignore_ascii_case("basic") {
            return Err(());
        }
        let pair = STANDARD.decode(rest).map_err(|_| ())?;
        let pair = String::from_utf8(pair).map_err(|_| ())?;
        let (name, password) = pair.split_once(':').ok_or(())?;
        Ok(Some(Self::Password { name: name.to_owned(), password: password.to_owned() }))
    }
}
