//! What escapes in texts and IRIs stand for.

use crate::chars;
use std::borrow::Cow;

/// The text that a text with escapes (`\n`, `\"`, `\u00e9`) stands for; none where an escape is none.
pub fn unescaped(text: &str) -> Option<Cow<'_, str>> {
    let Some(first) = text.find('\\') else { return Some(Cow::Borrowed(text)) };
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.get(first..)?;
    plain.push_str(text.get(..first)?);
    while let Some(tail) = rest.strip_prefix('\\') {
        let letter = tail.chars().next()?;
        let (c, length) = match letter {
            't' => ('\t', 1),
            'b' => ('\u{8}', 1),
            'n' => ('\n', 1),
            'r' => ('\r', 1),
            'f' => ('\u{c}', 1),
            '"' | '\'' | '\\' => (letter, 1),
            'u' => (chars::escaped(tail.get(1..)?, 4)?, 5),
            'U' => (chars::escaped(tail.get(1..)?, 8)?, 9),
            _ => return None,
        };
        plain.push(c);
        rest = tail.get(length..)?;
        let next = rest.find('\\').unwrap_or(rest.len());
        plain.push_str(rest.get(..next)?);
        rest = rest.get(next..)?;
    }
    Some(Cow::Owned(plain))
}

#[cfg(test)]
mod tests {
    use super::unescaped;

    #[test]
    fn escapes_stand_for_characters() {
        for (text, plain) in [
            ("a", Some("a")),
            (r"\u0061b\U0001F600\\", Some("ab😀\\")),
            (r#"\t\"\'"#, Some("\t\"'")),
            (r"\ud800", None),
            (r"\u12", None),
            (r"\x", None),
            ("\\", None),
        ] {
            assert_eq!(unescaped(text).as_deref(), plain, "{text}");
        }
    }
}
