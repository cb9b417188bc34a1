//! MD5 and the SHA functions (17.4.6).

use crate::expr::call::Kernel;
use crate::values::value::Value;
use lode_sparql::Function;
use lode_sparql::function::ValueType;
use sha2::Digest;
use std::fmt::Write as _;

/// The entries.
pub(super) static FUNCTIONS: [Function; 5] = [
    Function::new(
        "MD5",
        &[ValueType::String],
        ValueType::String,
        &Kernel::One(|rows, a| rows.unary(a, digest::<md5::Md5>)),
    ),
    Function::new(
        "SHA1",
        &[ValueType::String],
        ValueType::String,
        &Kernel::One(|rows, a| rows.unary(a, digest::<sha1::Sha1>)),
    ),
    Function::new(
        "SHA256",
        &[ValueType::String],
        ValueType::String,
        &Kernel::One(|rows, a| rows.unary(a, digest::<sha2::Sha256>)),
    ),
    Function::new(
        "SHA384",
        &[ValueType::String],
        ValueType::String,
        &Kernel::One(|rows, a| rows.unary(a, digest::<sha2::Sha384>)),
    ),
    Function::new(
        "SHA512",
        &[ValueType::String],
        ValueType::String,
        &Kernel::One(|rows, a| rows.unary(a, digest::<sha2::Sha512>)),
    ),
];

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
