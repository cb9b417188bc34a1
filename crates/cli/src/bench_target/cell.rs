//! A term of an answer as text, the same for terms that answer a query alike: numbers by value, strings without their datatype, languages in
//! small letters, blank nodes without their labels.

const XSD: &str = "http://www.w3.org/2001/XMLSchema#";

/// Digits that count in numbers with a fraction. Few enough for sums and averages of doubles that were added in another order.
const DIGITS: usize = 6;

/// Integers up to here are told apart by doubles.
const EXACT_MAX: f64 = 9e15;

/// An IRI.
pub fn iri(iri: &str) -> String {
    format!("<{iri}>")
}

/// A blank node; which one is not told.
pub fn blank_node() -> String {
    "_:".to_owned()
}

/// A literal; an empty datatype is that of strings.
pub fn literal(value: &str, datatype: &str, language: Option<&str>) -> String {
    if let Some(language) = language.filter(|language| !language.is_empty()) {
        return format!("{value:?}@{}", language.to_ascii_lowercase());
    }
    match datatype.strip_prefix(XSD) {
        Some("string") => format!("{value:?}"),
        Some("boolean") => match value {
            "1" => "true".to_owned(),
            "0" => "false".to_owned(),
            value => value.to_owned(),
        },
        Some(name) if is_numeric(name) => number(value).unwrap_or_else(|| format!("{value:?}^^<{datatype}>")),
        None if datatype.is_empty() => format!("{value:?}"),
        _ => format!("{value:?}^^<{datatype}>"),
    }
}

/// By its name in XML Schema.
fn is_numeric(name: &str) -> bool {
    let is_integer = name.ends_with("nteger") || name.ends_with("Integer");
    let is_short = matches!(
        name.trim_start_matches("unsigned").to_ascii_lowercase().as_str(),
        "long" | "int" | "short" | "byte"
    );
    is_integer || is_short || matches!(name, "decimal" | "double" | "float")
}

/// A number in its shortest form, rounded if it has a fraction; none if it is no number.
fn number(text: &str) -> Option<String> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let magnitude = digits.trim_start_matches('0');
        return Some(match magnitude {
            "" => "0".to_owned(),
            magnitude if text.starts_with('-') => format!("-{magnitude}"),
            magnitude => magnitude.to_owned(),
        });
    }
    let value: f64 = text.parse().ok()?;
    if value.fract() == 0.0 && value.abs() <= EXACT_MAX {
        return Some(format!("{}", value as i64));
    }
    let rounded: f64 = format!("{value:.*e}", DIGITS - 1).parse().ok()?;
    Some(format!("{}", if rounded == 0.0 { 0.0 } else { rounded }))
}

#[cfg(test)]
mod tests {
    //! Terms that are one, and terms that are not.
    use super::*;

    fn typed(value: &str, name: &str) -> String {
        literal(value, &format!("{XSD}{name}"), None)
    }

    #[test]
    fn numbers_count_by_value() {
        for (value, name) in
            [("1", "integer"), ("+01", "long"), ("1.0", "decimal"), ("1e0", "double"), ("1.", "float")]
        {
            assert_eq!(typed(value, name), "1", "{value}");
        }
        assert_eq!(typed("2.00000000001", "double"), "2");
        assert_eq!(typed("5.4999999999999", "decimal"), typed("5.5", "decimal"));
        assert_eq!(typed("1234567.25", "decimal"), typed("1234567.75", "double"));
        assert_eq!(typed("-0.0", "double"), "0");
        assert_eq!(typed("-0012", "unsignedInt"), "-12");
        assert_eq!(typed("123456789012345678901234567890", "integer"), "123456789012345678901234567890");
        assert_eq!((typed("INF", "double"), typed("NaN", "float")), ("inf".into(), "NaN".into()));
        assert_ne!(typed("1", "integer"), typed("2", "integer"));
        assert_ne!(typed("one", "integer"), typed("1", "integer"));
        assert_ne!(literal("1", "", None), typed("1", "integer"));
    }

    #[test]
    fn other_terms_keep_what_tells_them_apart() {
        assert_eq!(typed("a\tb", "string"), r#""a\tb""#);
        assert_eq!(literal("a", "", Some("EN-us")), r#""a"@en-us"#);
        assert_ne!(literal("a", "", Some("en")), literal("a", "", None));
        assert_eq!((typed("1", "boolean"), typed("false", "boolean")), ("true".into(), "false".into()));
        assert_ne!(typed("a", "date"), typed("a", "string"));
        assert_eq!(iri("http://e/"), "<http://e/>");
    }
}
