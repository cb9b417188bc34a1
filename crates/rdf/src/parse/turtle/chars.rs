//! Which bytes and characters may stand where: the character classes of the grammar.

/// May stand inside a name: letters, digits, `_` and `-`.
const NAME: u8 = 1;
/// May begin a local name or the label of a blank node.
const LABEL_START: u8 = 2;
/// May begin the name of a prefix.
const PREFIX_START: u8 = 4;
/// A blank or a line's end.
const SPACE: u8 = 8;
/// Makes a local name one for the slow way: `:`, `%`, `\` and all beyond ASCII.
const SPECIAL: u8 = 16;

const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => NAME | LABEL_START | PREFIX_START,
            b'0'..=b'9' | b'_' => NAME | LABEL_START,
            b'-' => NAME,
            b' ' | b'\t' | b'\n' | b'\r' => SPACE,
            b':' | b'%' | b'\\' | 0x80..=0xFF => SPECIAL,
            _ => 0,
        };
        byte += 1;
    }
    classes
};

#[inline]
fn has(byte: u8, class: u8) -> bool {
    CLASSES[usize::from(byte)] & class != 0
}

#[inline]
pub(super) fn is_name(byte: u8) -> bool {
    has(byte, NAME)
}

#[inline]
pub(super) fn is_label_start(byte: u8) -> bool {
    has(byte, LABEL_START)
}

#[inline]
pub(super) fn is_prefix_start(byte: u8) -> bool {
    has(byte, PREFIX_START)
}

#[inline]
pub(super) fn is_space(byte: u8) -> bool {
    has(byte, SPACE)
}

#[inline]
pub(super) fn is_special(byte: u8) -> bool {
    has(byte, SPECIAL)
}

/// Whether a name may go on with this byte; a dot is another matter.
#[inline]
pub(super) fn continues_name(byte: u8) -> bool {
    has(byte, NAME | SPECIAL)
}

/// `PN_CHARS_BASE`: begins the name of a prefix.
pub(in crate::parse) fn is_base_char(c: char) -> bool {
    matches!(c,
        'A'..='Z' | 'a'..='z'
        | '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' | '\u{F8}'..='\u{2FF}'
        | '\u{370}'..='\u{37D}' | '\u{37F}'..='\u{1FFF}' | '\u{200C}'..='\u{200D}'
        | '\u{2070}'..='\u{218F}' | '\u{2C00}'..='\u{2FEF}' | '\u{3001}'..='\u{D7FF}'
        | '\u{F900}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}' | '\u{10000}'..='\u{EFFFF}')
}

/// `PN_CHARS_U` or a digit: begins a local name or a label.
pub(super) fn is_label_start_char(c: char) -> bool {
    is_base_char(c) || c == '_' || c.is_ascii_digit()
}

/// `PN_CHARS`: goes on in any name.
pub(in crate::parse) fn is_name_char(c: char) -> bool {
    is_label_start_char(c) || matches!(c, '-' | '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}'..='\u{2040}')
}
