//! `$PATH` in a query: the shape's path stands in its place before anything else is read, since no grammar has it.

use crate::path::Path;

/// The query with the path in the place of `$PATH`.
pub fn with_path(text: &str, path: &Path) -> String {
    let path = path.to_string();
    let mut out = String::with_capacity(text.len() + path.len());
    let mut copied = 0;
    for at in places(text) {
        out.push_str(&text[copied..at]);
        out.push_str(&path);
        copied = at + MARK.len() + 1;
    }
    out + &text[copied..]
}

/// Whether a query has `$PATH` in it.
pub fn uses_path(text: &str) -> bool {
    !places(text).is_empty()
}

const MARK: &str = "PATH";

/// Where `$PATH` or `?PATH` stands, outside of texts, comments and IRIs.
fn places(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let mut places = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        match bytes[at] {
            b'#' => at += rest.find(['\n', '\r']).unwrap_or(rest.len()),
            b'"' | b'\'' => at += string_bytes(rest),
            b'<' => at += iri_bytes(rest),
            b'$' | b'?' => {
                let name = rest[1..].split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or("");
                if name == MARK {
                    places.push(at);
                }
                at += 1 + name.len();
            }
            _ => at += rest.chars().next().map_or(1, char::len_utf8),
        }
    }
    places
}

/// The bytes of the string that begins here.
fn string_bytes(text: &str) -> usize {
    let quote = &text[..1];
    let long = quote.repeat(3);
    let mark = if text.starts_with(&long) { long.as_str() } else { quote };
    let mut at = mark.len();
    while let Some(rest) = text.get(at..) {
        if rest.is_empty() {
            break;
        }
        if rest.starts_with(mark) {
            return at + mark.len();
        }
        let escaped = rest.starts_with('\\');
        at += rest.chars().take(1 + usize::from(escaped)).map(char::len_utf8).sum::<usize>();
    }
    text.len()
}

/// The bytes of the IRI that begins here, or of a sign.
fn iri_bytes(text: &str) -> usize {
    let end = text[1..].find(|c: char| c == '>' || c.is_whitespace() || "<\"{}|^`\\".contains(c));
    match end {
        Some(end) if text[1 + end..].starts_with('>') => end + 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::{uses_path, with_path};
    use crate::path::Path;
    use lode_rdf::NamedNode;

    #[test]
    fn the_path_stands_in_the_place_of_the_variable_only() {
        let path = Path::Inverse(Box::new(Path::Predicate(NamedNode::new_unchecked("e:p"))));
        for (text, expected) in [
            ("{ $this $PATH ?value }", "{ $this (^<e:p>) ?value }"),
            ("{ $this ?PATH/$PATH ?value }", "{ $this (^<e:p>)/(^<e:p>) ?value }"),
            ("# $PATH\n{ \"$PATH\" '''a'$PATH''' <$PATH> $PATHS \"\\\"$PATH\" }", ""),
            ("FILTER(?a < $PATH)", "FILTER(?a < (^<e:p>))"),
            ("\"open $PATH", ""),
            ("'''é$PATH", ""),
            ("$", ""),
        ] {
            let expected = if expected.is_empty() { text } else { expected };
            assert_eq!(with_path(text, &path), expected);
            assert_eq!(uses_path(text), text != expected);
        }
    }
}
