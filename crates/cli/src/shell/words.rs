//! Words behind a command: parted by spaces, unless they stand in quotes.

use crate::exit::wrong_usage;

/// The words of a text. Quotes of either kind hold one together; a backslash takes the next quote, space or backslash as it is.
pub fn words(text: &str) -> anyhow::Result<Vec<String>> {
    let (mut all, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', None | Some('"')) if chars.peek().is_some_and(|next| is_special(*next)) => {
                word.get_or_insert_default().extend(chars.next());
            }
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, Some(end)) if c == end => quote = None,
            (c, None) if c.is_whitespace() => all.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    if let Some(quote) = quote {
        return Err(wrong_usage(format!("a quote is open: {quote} is missing at the end")));
    }
    all.extend(word);
    Ok(all)
}

fn is_special(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | '\\')
}

/// The only name of a text: all of it, where nothing in it is quoted.
pub fn one_name(text: &str) -> anyhow::Result<String> {
    if !text.contains(['"', '\'', '\\']) {
        return Ok(text.to_owned());
    }
    match words(text)?.as_slice() {
        [name] => Ok(name.clone()),
        _ => Err(wrong_usage("one name is expected; quote it where it has spaces")),
    }
}

/// Where the word that a text ends in begins, and what it is so far.
pub fn last_word(text: &str) -> (usize, String) {
    let begins =
        |at: &usize| *at == 0 || text.get(..*at).is_some_and(|before| before.ends_with(char::is_whitespace));
    let closed =
        |at: &usize| text.get(..*at).is_some_and(|before| words(before).is_ok() && !ends_escaped(before));
    // The last space that is not within quotes.
    let start = text
        .char_indices()
        .map(|(at, _)| at)
        .chain([text.len()])
        .rev()
        .filter(begins)
        .find(closed)
        .unwrap_or(0);
    let rest = text.get(start..).unwrap_or("");
    let ends = ["", "\"", "'"].into_iter().find_map(|end| words(&format!("{rest}{end}")).ok());
    (start, ends.and_then(|words| words.into_iter().next()).unwrap_or_default())
}

/// Whether the last space of a text is one of a word.
fn ends_escaped(text: &str) -> bool {
    let before = text.strip_suffix(char::is_whitespace).unwrap_or(text);
    before.len() < text.len() && (before.len() - before.trim_end_matches('\\').len()) % 2 == 1
}

/// A name as it is written for [`words`].
pub fn quoted(name: &str) -> String {
    if !name.is_empty() && !name.contains(is_special) {
        return name.to_owned();
    }
    let escaped = name.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hold_words_together() {
        for (text, expected) in [
            ("a.ttl  b.nt", &["a.ttl", "b.nt"][..]),
            ("\"my file.ttl\" 'it''s' x", &["my file.ttl", "its", "x"]),
            (r#"my\ file.ttl "a\"b" C:\data '\'"#, &["my file.ttl", "a\"b", r"C:\data", r"\"]),
            ("''", &[""]),
            ("", &[]),
        ] {
            assert_eq!(words(text).unwrap(), expected, "{text}");
        }
        assert!(words("'a b").is_err());
        assert_eq!(one_name("my file.rq").unwrap(), "my file.rq");
        assert_eq!(one_name("'my file.rq'").unwrap(), "my file.rq");
        assert!(one_name("'a' 'b'").is_err());
        for (text, at, word) in [
            ("a b", 2, "b"),
            ("a ", 2, ""),
            ("a 'b c", 2, "b c"),
            (r"x a\ b", 2, "a b"),
            ("'a b'/c", 0, "a b/c"),
            ("", 0, ""),
        ] {
            assert_eq!(last_word(text), (at, word.to_owned()), "{text}");
        }
        for name in ["a", "a b", "it's \"x\"", r"C:\x y", ""] {
            assert_eq!(words(&quoted(name)).unwrap(), [name]);
        }
    }
}
