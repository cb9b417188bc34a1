//! Literals that Turtle writes without quotes and datatype.

use oxrdf::LiteralRef;

const XSD_SUFFIX: &[u8] = b"^^<http://www.w3.org/2001/XMLSchema#";

/// A term's text in Turtle: numbers and truth values that need neither quotes nor a datatype go without.
pub(super) fn short(term: &[u8]) -> &[u8] {
    let long = || {
        let quoted = term.strip_prefix(b"\"")?.strip_suffix(b">")?;
        // Names of datatypes that have a short form, none longer than seven letters, have no quote.
        let at = quoted.iter().rposition(|byte| *byte == b'"')?;
        let (text, datatype) = (quoted.get(..at)?, quoted.get(at + 1..)?.strip_prefix(XSD_SUFFIX)?);
        is_bare(text, datatype).then_some(text)
    };
    long().unwrap_or(term)
}

/// Whether Turtle writes a literal without quotes and datatype: a number or a truth value (Turtle, 2.5.2 and 2.5.3).
pub fn goes_bare(literal: LiteralRef<'_>) -> bool {
    let name = literal.datatype().as_str().strip_prefix("http://www.w3.org/2001/XMLSchema#");
    name.is_some_and(|name| is_bare(literal.value().as_bytes(), name.as_bytes()))
}

/// Whether Turtle reads a text without quotes as a literal of this datatype, of which the local name in XSD is given.
fn is_bare(text: &[u8], datatype: &[u8]) -> bool {
    let unsigned = text.strip_prefix(b"+").or_else(|| text.strip_prefix(b"-")).unwrap_or(text);
    match datatype {
        b"boolean" => matches!(text, b"true" | b"false"),
        b"integer" => !unsigned.is_empty() && digits(unsigned) == unsigned.len(),
        b"decimal" => is_decimal(unsigned),
        b"double" => is_double(unsigned),
        _ => false,
    }
}

/// How many digits a text begins with.
fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// `[0-9]* '.' [0-9]+`
fn is_decimal(text: &[u8]) -> bool {
    match text.split_at(digits(text)).1 {
        [b'.', fraction @ ..] => !fraction.is_empty() && digits(fraction) == fraction.len(),
        _ => false,
    }
}

/// `([0-9]+ '.' [0-9]* | '.' [0-9]+ | [0-9]+) [eE] [+-]? [0-9]+`
fn is_double(text: &[u8]) -> bool {
    let whole = digits(text);
    let (fraction, rest) = match text.split_at(whole).1 {
        [b'.', rest @ ..] => (digits(rest), rest.split_at(digits(rest)).1),
        rest => (0, rest),
    };
    let [b'e' | b'E', exponent @ ..] = rest else { return false };
    let exponent = exponent.strip_prefix(b"+").or_else(|| exponent.strip_prefix(b"-")).unwrap_or(exponent);
    whole + fraction > 0 && !exponent.is_empty() && digits(exponent) == exponent.len()
}
