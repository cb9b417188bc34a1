//! The codes of terms: numbers that compare like the final ids but leave no gaps to speak of.
//!
//! Dictionary terms and blank nodes keep their numbers, shifted to the start of their class; inline values are ranked among those that
//! occur, unless these are too many to list ([`InlineValues`]). Class starts are multiples of a power of two, so that decoding is one
//! small table look-up and an addition (`lode_packed::rows`).

use super::class::Class;
use super::inline_values::InlineValues;
use super::term_index::TermIndex;
use lode_packed::rows::CodeIds;
use lode_rdf::value_id::{PAYLOAD_BITS, Section};
use lode_rdf::{Kind, ValueId};

/// How many numbers each class has: those the database had before, and new ones.
#[derive(Debug, Clone, Default)]
pub struct ClassCounts {
    /// Terms of a class, by number from 0.
    pub counts: [u64; Class::COUNT],
    /// How many of them the database had before.
    pub old: [u64; Class::COUNT],
    /// First number of the new blank nodes.
    pub blank_base: u64,
    /// The inline values.
    pub inline: InlineValues,
}

impl ClassCounts {
    /// Of inline values (sorted), blank nodes below `blanks`, and terms of each section below their numbers; none is old.
    pub fn of_numbers(inline: Vec<u64>, blanks: u64, terms: &[u64; Section::COUNT]) -> Self {
        let mut counts = [0; Class::COUNT];
        counts[Class::Blank as usize] = blanks;
        counts[Class::Inline as usize] = inline.len() as u64;
        for section in Section::ALL {
            counts[Class::of(section) as usize] = terms[section as usize];
        }
        Self { counts, inline: InlineValues::of_list(inline), ..Self::default() }
    }

    /// Codes that the terms of a class need.
    fn codes(&self, class: Class) -> u64 {
        match self.inline.spans() {
            Some(spans) if class == Class::Inline => spans.iter().map(|span| span.ids()).sum(),
            _ => self.counts[class as usize],
        }
    }

    /// The first id of a class whose ids are numbered.
    fn first_id(&self, kind: Kind) -> u64 {
        ValueId::new(kind, if kind == Kind::Blank { self.blank_base } else { 0 }).to_bits()
    }
}

/// Bits of a code that choose the table entry.
const CELL_BITS: u32 = 6;

/// Codes being laid out, stretch after stretch.
struct Stretches {
    ids: CodeIds,
    shift: u32,
    end: u64,
}

impl Stretches {
    /// For about so many codes.
    fn new(codes: u64) -> Self {
        let shift = bits(codes).saturating_sub(CELL_BITS);
        Self { ids: CodeIds::new(shift), shift, end: 0 }
    }

    /// Where the next stretch begins.
    fn next(&self) -> u64 {
        self.end.next_multiple_of(1 << self.shift)
    }

    /// Adds codes of ids that follow each other.
    fn add(&mut self, codes: u64, first_id: u64) {
        let start = self.next();
        if codes > 0 {
            self.end = start + codes;
            self.ids.extend(self.end, first_id.wrapping_sub(start));
        }
    }

    fn add_list(&mut self, ids: Vec<u64>) {
        let start = self.next();
        if !ids.is_empty() {
            self.end = start + ids.len() as u64;
            self.ids.extend_list(start, ids);
        }
    }
}

/// Codes of inline values that are not all listed.
#[derive(Debug)]
struct ValueCodes {
    listed: Vec<u64>,
    /// What to add to an id, by the byte of its kind.
    add: Vec<u64>,
}

/// The codes of terms.
///
/// Those that may be subjects, predicates or graph names, *resources*, also have codes that leave no room for others. They are the same
/// unless inline values have codes by value, which may be so far apart that rows would be needlessly wide.
#[derive(Debug)]
pub struct TermCodes {
    starts: [u64; Class::COUNT],
    old: [u64; Class::COUNT],
    pub(super) ids: CodeIds,
    values: Option<ValueCodes>,
    /// Beyond all codes.
    pub(super) end: u64,
    pub(super) resource_ids: CodeIds,
    pub(super) resources_end: u64,
    /// How much less the code of an IRI as a resource is.
    iri_gap: u64,
}

impl TermCodes {
    /// Lays out the codes.
    pub fn new(mut counts: ClassCounts) -> Self {
        let total = Class::ALL.into_iter().map(|class| counts.codes(class)).sum();
        let (mut all, mut starts, mut values) = (Stretches::new(total), [0; Class::COUNT], None);
        for class in Class::ALL {
            starts[class as usize] = all.next();
            match class.kind() {
                Some(kind) => all.add(counts.codes(class), counts.first_id(kind)),
                None if class == Class::Inline => {
                    values = lay_out_values(std::mem::take(&mut counts.inline), &mut all);
                }
                None => {}
            }
        }
        let resources = [Class::Blank, Class::Iri].map(|class| counts.codes(class));
        let mut few = match values {
            Some(_) => Stretches::new(resources.iter().sum()),
            None => Stretches::new(total),
        };
        few.add(resources[0], counts.first_id(Kind::Blank));
        let iri_gap = starts[Class::Iri as usize] - few.next();
        few.add(resources[1], counts.first_id(Kind::Iri));
        Self {
            starts,
            old: counts.old,
            ids: all.ids,
            values,
            end: all.end,
            resource_ids: few.ids,
            resources_end: few.end,
            iri_gap,
        }
    }

    /// The code of a term.
    #[inline]
    pub fn code(&self, term: TermIndex) -> u64 {
        match &self.values {
            Some(values) if term.class() == Class::Inline => values.code(term),
            _ => self.starts[term.class() as usize] + term.number(),
        }
    }

    /// The id of a code.
    #[inline]
    pub fn id(&self, code: u64) -> u64 {
        self.ids.id(code)
    }

    /// The code of a resource as such, from its code among all terms.
    #[inline]
    pub fn resource(&self, code: u64) -> u64 {
        if code >= self.starts[Class::Iri as usize] { code - self.iri_gap } else { code }
    }

    /// The inverse of [`Self::resource`].
    pub fn code_of_resource(&self, resource: u64) -> u64 {
        let iris = self.starts[Class::Iri as usize] - self.iri_gap;
        if resource >= iris { resource + self.iri_gap } else { resource }
    }

    /// The ids of resources by their codes as such.
    pub fn resource_ids(&self) -> &CodeIds {
        &self.resource_ids
    }

    /// Beyond all codes of resources.
    pub fn resources_end(&self) -> u64 {
        self.resources_end
    }

    /// Bytes of lists.
    pub fn bytes(&self) -> usize {
        let listed = self.values.as_ref().map_or(0, |values| values.listed.len());
        (self.ids.listed() + listed) * size_of::<u64>()
    }

    /// Whether quads of the database may have this term.
    pub fn may_be_old(&self, code: u64) -> bool {
        let class = Class::ALL.into_iter().rfind(|class| self.starts[*class as usize] <= code);
        let class = class.unwrap_or(Class::Blank);
        // Inline values need no dictionary to be in quads already.
        class == Class::Inline || code - self.starts[class as usize] < self.old[class as usize]
    }
}

/// Adds the codes of inline values; what is needed to find them where they are codes by value.
fn lay_out_values(inline: InlineValues, all: &mut Stretches) -> Option<ValueCodes> {
    let Some(spans) = inline.spans() else {
        all.add_list(inline.into_listed());
        return None;
    };
    let mut add = vec![0; 1 << (u64::BITS - PAYLOAD_BITS)];
    for span in spans {
        let start = all.next();
        all.add(span.ids(), span.first);
        add[span.kind()] = start.wrapping_sub(span.first);
    }
    Some(ValueCodes { listed: inline.into_listed(), add })
}

impl ValueCodes {
    fn code(&self, term: TermIndex) -> u64 {
        let id = term.inline_id(&self.listed);
        id.wrapping_add(self.add.get((id >> PAYLOAD_BITS) as usize).copied().unwrap_or_default())
    }
}

pub(super) fn bits(values: u64) -> u32 {
    64 - values.leading_zeros()
}
