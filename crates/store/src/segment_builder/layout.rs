//! How quads are packed into one integer while they are sorted.
//!
//! All terms get *codes* ([`TermCodes`]), so that a quad fits 64 bits in most loads (and 128 in all). Predicates and graph names are
//! most often few and get places in their own sorted lists ([`NameFields`]).

use super::name_fields::NameFields;
use super::term_codes::{TermCodes, bits};
use lode_packed::order::{Order, Position};
use lode_packed::rows::RowCodes;
pub use lode_packed::rows::{PackedRow, RowShape};

/// All there is to know to pack and unpack quads.
#[derive(Debug)]
pub struct Layout {
    /// Codes of terms, which rows have for objects, and as resources for subjects.
    pub terms: TermCodes,
    /// What rows have for predicates.
    pub predicates: NameFields,
    /// What rows have for graphs.
    pub graphs: NameFields,
    widths: [u32; 4],
}

impl Layout {
    /// A layout for quads with these terms, predicates and graphs (sorted codes without duplicates).
    pub fn new(terms: TermCodes, predicates: Vec<u64>, graphs: Vec<u64>) -> Self {
        Self::with_names(terms, Some(predicates), Some(graphs))
    }

    /// The same, where there may be too many predicates or graphs to list them.
    pub fn with_names(terms: TermCodes, predicates: Option<Vec<u64>>, graphs: Option<Vec<u64>>) -> Self {
        let predicates = NameFields::predicates(predicates, &terms);
        let graphs = NameFields::graphs(graphs, &terms);
        let width = |values: u64| bits(values.saturating_sub(1)).max(1);
        let widths = [terms.resources_end, predicates.end(), terms.end, graphs.end()].map(width);
        Self { terms, predicates, graphs, widths }
    }

    /// Bits of a packed quad.
    pub fn key_bits(&self) -> u32 {
        self.widths.iter().sum()
    }

    /// Bytes of lists.
    pub fn bytes(&self) -> usize {
        self.terms.bytes() + self.predicates.bytes() + self.graphs.bytes()
    }

    /// The shape of rows sorted in `order`.
    pub fn shape(&self, order: Order) -> RowShape {
        self.row_codes().shape(order)
    }

    /// What writers need to know of packed rows.
    pub fn row_codes(&self) -> RowCodes<'_> {
        RowCodes {
            widths: self.widths,
            subjects: &self.terms.resource_ids,
            predicates: self.predicates.ids(),
            objects: &self.terms.ids,
            graphs: self.graphs.ids(),
        }
    }

    /// Whether some quads may be in named graphs.
    pub fn has_named_graphs(&self) -> bool {
        self.graphs.end() > 1
    }

    /// Whether the database may hold a quad of these fields: no new term is in it.
    pub fn may_exist(&self, fields: [u64; 4]) -> bool {
        let [s, p, o, g] = fields;
        let old = |code: u64| self.terms.may_be_old(code);
        old(self.terms.code_of_resource(s))
            && old(o)
            && self.predicates.code(p, &self.terms).is_some_and(old)
            && (g == 0 || self.graphs.code(g, &self.terms).is_some_and(old))
    }

    /// The id of a field.
    #[inline]
    pub fn id(&self, position: Position, field: u64) -> u64 {
        self.row_codes().id(position, field)
    }
}
