//! Sets of characters.

use regex_syntax::hir::{self, ClassUnicode, ClassUnicodeRange};

/// A set of characters.
#[derive(Debug, Clone)]
pub(super) struct Class {
    /// The bit of each character below 128.
    ascii: u128,
    /// First and last characters, ascending.
    ranges: Box<[(char, char)]>,
}

impl Class {
    /// The same set; `None` if it is one of bytes, which XPath does not have.
    pub fn of(class: &hir::Class) -> Option<Self> {
        match class {
            hir::Class::Unicode(class) => Some(Self::of_ranges(class.ranges())),
            hir::Class::Bytes(_) => None,
        }
    }

    /// One character.
    pub fn one(c: char) -> Self {
        Self::of_ranges(&[ClassUnicodeRange::new(c, c)])
    }

    fn of_ranges(ranges: &[ClassUnicodeRange]) -> Self {
        let ranges: Box<[_]> = ranges.iter().map(|range| (range.start(), range.end())).collect();
        let has = |c: u8| ranges.iter().any(|range| (range.0..=range.1).contains(&char::from(c)));
        let ascii = (0..128_u8).filter(|c| has(*c)).fold(0, |bits, c| bits | 1 << c);
        Self { ascii, ranges }
    }

    /// What it takes beside itself.
    pub fn heap_bytes(&self) -> usize {
        size_of_val(&*self.ranges)
    }

    /// Whether a character is in it.
    pub fn contains(&self, c: char) -> bool {
        if c.is_ascii() {
            return self.ascii >> u32::from(c) & 1 == 1;
        }
        let at = self.ranges.partition_point(|range| range.1 < c);
        self.ranges.get(at).is_some_and(|range| range.0 <= c)
    }
}

/// Whether two characters are the same but for their case.
pub(super) fn same_but_for_case(a: char, b: char) -> bool {
    if a == b || a.eq_ignore_ascii_case(&b) {
        return true;
    }
    if a.is_ascii() && b.is_ascii() {
        return false;
    }
    let mut variants = ClassUnicode::new([ClassUnicodeRange::new(a, a)]);
    variants.try_case_fold_simple().is_ok()
        && variants.ranges().iter().any(|range| (range.start()..=range.end()).contains(&b))
}
