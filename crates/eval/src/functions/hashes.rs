//! MD5 and the SHA functions (17.4.6).

use crate::values::value::Value;
use sha2::Digest;
use std::fmt::Write as _;

/// The digest of a simple string's UTF-8 bytes in lower-case hexadecimal.
pub(crate) fn digest<D: Digest>(value: &Value) -> Option<Value> {
    let bytes = D::digest(value.simple()?.as_bytes());
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(out, "{byte:02x}");
    }
    Some(Value::string(out))
}
