//! Classes of characters (SPARQL 1.2 section 19.8, terminals 164 to 171).

/// `PN_CHARS_BASE`: what names begin with.
pub(crate) fn is_base(c: char) -> bool {
    c.is_ascii_alphabetic()
        || matches!(c, '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2ff}' | '\u{370}'..='\u{37d}'
            | '\u{37f}'..='\u{1fff}' | '\u{200c}'..='\u{200d}' | '\u{2070}'..='\u{218f}' | '\u{2c00}'..='\u{2fef}'
            | '\u{3001}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}' | '\u{10000}'..='\u{effff}')
}

/// What the names of variables are made of, the first character aside.
pub(crate) fn is_of_variable(c: char) -> bool {
    c.is_ascii_digit()
        || c == '_'
        || is_base(c)
        || matches!(c, '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}'..='\u{2040}')
}

/// What the names of variables begin with, and labels of blank nodes.
pub(crate) fn begins_variable(c: char) -> bool {
    c.is_ascii_digit() || c == '_' || is_base(c)
}

/// `PN_CHARS`.
pub(crate) fn is_of_name(c: char) -> bool {
    c == '-' || is_of_variable(c)
}

/// What may follow a backslash in a local name.
pub(crate) fn is_escaped_in_name(byte: u8) -> bool {
    b"_~.-!$&'()*+,;=/?#@%".contains(&byte)
}

/// The first character of a text, and those behind it that have a property, as bytes.
pub(crate) fn length_of(text: &str, property: fn(char) -> bool) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte < 0x80 {
            if !property(char::from(byte)) {
                return at;
            }
            at += 1;
        } else {
            match text.get(at..).and_then(|rest| rest.chars().next()) {
                Some(c) if property(c) => at += c.len_utf8(),
                _ => return at,
            }
        }
    }
    at
}

/// The character that an escape of so many digits stands for, if it is one.
pub(crate) fn escaped(digits: &str, count: usize) -> Option<char> {
    let digits = digits.get(..count)?;
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)
}
