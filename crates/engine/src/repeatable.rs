//! Whether a query has the same answer each time, as long as nothing in the database changes.

/// What may have another answer each time, in capitals: functions of chance and time, and other endpoints.
const CHANGING: [&[u8]; 5] = [b"RAND", b"NOW", b"UUID", b"BNODE", b"SERVICE"];

/// Whether a query asked again of the same version has the same answer, but for the order of its rows. It may be denied of queries of which it
/// is true, such as those whose texts only look like calls of `NOW`; it is never said of one of which it is not.
pub fn is_repeatable(text: &str) -> bool {
    let bytes = text.as_bytes();
    // A character may be written by its number, also in a name.
    let has_escape = bytes.windows(2).any(|pair| matches!(pair, [b'\\', b'u' | b'U']));
    !has_escape && !CHANGING.iter().any(|word| contains(bytes, word))
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    let Some((first, _)) = word.split_first() else { return true };
    let begins = |byte: u8| byte.to_ascii_uppercase() == *first;
    text.windows(word.len())
        .any(|window| window.first().is_some_and(|byte| begins(*byte)) && window.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    //! What has the same answer each time.
    use super::is_repeatable;

    #[test]
    fn chance_time_and_others_change() {
        for text in ["SELECT * { ?s ?p ?o }", "ASK { ?s <http://e/p> \"rank\" }", ""] {
            assert!(is_repeatable(text), "{text}");
        }
        for text in [
            "SELECT (NOW() AS ?n) {}",
            "SELECT * { ?s ?p ?o } ORDER BY rand()",
            "SELECT (StrUUID() AS ?n) {}",
            "SELECT (BNode() AS ?n) {}",
            "SELECT * { service <http://e/> { ?s ?p ?o } }",
            "SELECT (N\\u004FW() AS ?n) {}",
        ] {
            assert!(!is_repeatable(text), "{text}");
        }
    }
}
