//! How quads are packed into one integer while they are sorted.
//!
//! All terms of a load get *codes*: numbers that compare like the final ids but leave no gaps to speak of, so that a
//! quad fits 64 bits in most loads (and 128 in all). Dictionary terms and blank nodes keep their numbers, shifted to the start of
//! their class; inline values are ranked among those that occur. Predicates and graph names are few and get places in their own
//! sorted lists. Class starts are multiples of a power of two, so that decoding is one small table look-up and an addition
//! (`lode_packed::rows`).

use crate::load::class::Class;
use lode_packed::order::{Order, Position};
use lode_packed::rows::{CodeIds, RowCodes};
pub use lode_packed::rows::{PackedRow, RowShape};
use lode_rdf::ValueId;
use lode_rdf::value_id::{PAYLOAD_BITS, Section};

/// A term by its class and its number there, before all classes have been counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct TermIndex(pub u64);

impl TermIndex {
    /// The term `number` of a class.
    pub fn new(class: Class, number: u64) -> Self {
        Self((class as u64) << PAYLOAD_BITS | number)
    }

    /// The class.
    pub fn class(self) -> Class {
        Class::from_bits(self.0 >> PAYLOAD_BITS)
    }

    /// The number.
    pub fn number(self) -> u64 {
        self.0 & ((1 << PAYLOAD_BITS) - 1)
    }
}

/// How many numbers each class has: those the database had before, and new ones.
#[derive(Debug, Clone, Default)]
pub struct ClassCounts {
    /// Terms of a class, by number from 0.
    pub counts: [u64; Class::COUNT],
    /// How many of them the database had before.
    pub old: [u64; Class::COUNT],
    /// First number of the new blank nodes.
    pub blank_base: u64,
    /// The inline values, sorted.
    pub inline: Vec<u64>,
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
        Self { counts, inline, ..Self::default() }
    }
}

/// Bits of a code that choose the table entry.
const CELL_BITS: u32 = 6;

/// The codes of terms.
#[derive(Debug)]
pub struct TermCodes {
    starts: [u64; Class::COUNT],
    old: [u64; Class::COUNT],
    ids: CodeIds,
    /// Beyond all codes.
    end: u64,
    /// Beyond all codes of blank nodes and IRIs.
    resources_end: u64,
}

impl TermCodes {
    /// Lays out the codes.
    pub fn new(mut counts: ClassCounts) -> Self {
        let total: u64 = counts.counts.iter().sum();
        let shift = bits(total).saturating_sub(CELL_BITS);
        let mut codes = Self {
            starts: [0; Class::COUNT],
            old: counts.old,
            ids: CodeIds::new(shift),
            end: 0,
            resources_end: 0,
        };
        for class in Class::ALL {
            let count = counts.counts[class as usize];
            let start = codes.end.next_multiple_of(1 << shift);
            codes.starts[class as usize] = start;
            if count == 0 {
                continue;
            }
            codes.end = start + count;
            let base = if class == Class::Blank { counts.blank_base } else { 0 };
            match class.kind() {
                Some(kind) => {
                    codes.ids.extend(codes.end, ValueId::new(kind, base).to_bits().wrapping_sub(start))
                }
                None => codes.ids.extend_list(start, std::mem::take(&mut counts.inline)),
            }
            if class <= Class::Iri {
                codes.resources_end = codes.end;
            }
        }
        codes
    }

    /// The code of a term.
    #[inline]
    pub fn code(&self, term: TermIndex) -> u64 {
        self.starts[term.class() as usize] + term.number()
    }

    /// The id of a code.
    #[inline]
    pub fn id(&self, code: u64) -> u64 {
        self.ids.id(code)
    }

    /// Whether quads of the database may have this term.
    fn may_be_old(&self, code: u64) -> bool {
        let class = Class::ALL.into_iter().rfind(|class| self.starts[*class as usize] <= code);
        let class = class.unwrap_or(Class::Blank);
        // Inline values need no dictionary to be in quads already.
        class == Class::Inline || code - self.starts[class as usize] < self.old[class as usize]
    }
}

fn bits(values: u64) -> u32 {
    64 - values.leading_zeros()
}

/// All there is to know to pack and unpack quads.
#[derive(Debug)]
pub struct Layout {
    /// Codes of subjects and objects.
    pub terms: TermCodes,
    /// Codes of the predicates, sorted.
    pub predicates: Vec<u64>,
    /// Codes of the named graphs, sorted; place 0 is the default graph, so graph `i` is packed as `i + 1`.
    pub graphs: Vec<u64>,
    predicate_ids: Vec<u64>,
    graph_ids: Vec<u64>,
    widths: [u32; 4],
}

impl Layout {
    /// A layout for quads with these terms, predicates and graphs (sorted codes without duplicates).
    pub fn new(terms: TermCodes, predicates: Vec<u64>, graphs: Vec<u64>) -> Self {
        let width = |values: u64| bits(values.saturating_sub(1)).max(1);
        let widths = [
            width(terms.resources_end),
            width(predicates.len() as u64),
            width(terms.end),
            width(graphs.len() as u64 + 1),
        ];
        let predicate_ids = predicates.iter().map(|code| terms.id(*code)).collect();
        let mut graph_ids = vec![ValueId::DEFAULT_GRAPH.to_bits()];
        graph_ids.extend(graphs.iter().map(|code| terms.id(*code)));
        Self { terms, predicates, graphs, predicate_ids, graph_ids, widths }
    }

    /// Bits of a packed quad.
    pub fn key_bits(&self) -> u32 {
        self.widths.iter().sum()
    }

    /// The shape of rows sorted in `order`.
    pub fn shape(&self, order: Order) -> RowShape {
        self.row_codes().shape(order)
    }

    /// What writers need to know of packed rows.
    pub fn row_codes(&self) -> RowCodes<'_> {
        RowCodes {
            widths: self.widths,
            terms: &self.terms.ids,
            predicates: &self.predicate_ids,
            graphs: &self.graph_ids,
        }
    }

    /// Whether the database may hold a quad of these fields: no new term is in it.
    pub fn may_exist(&self, fields: [u64; 4]) -> bool {
        let [s, p, o, g] = fields;
        let place =
            |list: &[u64], place: u64| list.get(place as usize).is_some_and(|c| self.terms.may_be_old(*c));
        self.terms.may_be_old(s)
            && self.terms.may_be_old(o)
            && place(&self.predicates, p)
            && (g == 0 || place(&self.graphs, g - 1))
    }

    /// The id of a field.
    #[inline]
    pub fn id(&self, position: Position, field: u64) -> u64 {
        self.row_codes().id(position, field)
    }
}
