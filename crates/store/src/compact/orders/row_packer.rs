//! From the old ids of quads to rows packed into one integer, with new ids.

use crate::compact::first_column::FirstIds;
use crate::compact::id_remap::{IdRemap, Lookup};
use crate::error::StoreError;
use crate::segment_builder::{Class, ClassCounts, Layout, PackedRow, RowShape, TermCodes, TermIndex};
use lode_packed::{Cursor, Order};
use lode_rdf::ValueId;
use lode_rdf::value_id::{PAYLOAD_BITS, PAYLOAD_MAX, Section};

/// Rows that are taken apart at once.
const BATCH_ROWS: usize = 1 << 12;
/// Bits of a place in a cache.
const CACHE_BITS: u32 = 10;
/// Stands for a term that was dropped. No code is as large.
const DROPPED: u64 = u64::MAX;
/// Says that ids of a kind are inline values, in a table of what to add for the code.
const INLINE: u64 = u64::MAX;

/// The codes of new ids, by old ids.
pub struct Codes<'a> {
    /// How rows are packed.
    pub layout: Layout,
    remap: &'a IdRemap,
    inline: &'a [u64],
    /// What to add to the number of a new id for its code, by the kind of ids.
    add: Vec<u64>,
    /// Old ids of predicates, sorted, and their places.
    predicates: Vec<(u64, u64)>,
    /// The same of named graphs; the default graph has place 0.
    graphs: Vec<(u64, u64)>,
}

impl<'a> Codes<'a> {
    /// Codes for quads of these ids. New terms have numbers below `terms`, blank nodes below `blanks`.
    pub fn new(
        remap: &'a IdRemap,
        ids: &FirstIds,
        inline: &'a [u64],
        terms: [u64; Section::COUNT],
        blanks: u64,
    ) -> Self {
        let counts = ClassCounts::of_numbers(inline.to_vec(), blanks, &terms);
        let terms = TermCodes::new(counts);
        let mut add = vec![INLINE; 1 << (u64::BITS - PAYLOAD_BITS)];
        for class in Class::ALL {
            if let Some(kind) = class.kind() {
                let first = ValueId::new(kind, 0).to_bits();
                add[(first >> PAYLOAD_BITS) as usize] = terms.code(TermIndex::of_id(first, inline));
            }
        }
        let of_list = |old: &[u64], first: u64| {
            let mut pairs: Vec<(u64, u64)> =
                old.iter().filter_map(|old| Some((remap.id(*old)?, *old))).collect();
            pairs.sort_unstable();
            let codes: Vec<u64> =
                pairs.iter().map(|(new, _)| terms.code(TermIndex::of_id(*new, inline))).collect();
            let mut places: Vec<(u64, u64)> =
                pairs.into_iter().zip(first..).map(|((_, old), place)| (old, place)).collect();
            places.sort_unstable();
            (codes, places)
        };
        let (predicate_codes, predicates) = of_list(&ids.predicates, 0);
        let (graph_codes, mut graphs) = of_list(&ids.graphs, 1);
        let default = ValueId::DEFAULT_GRAPH.to_bits();
        graphs.insert(graphs.partition_point(|(id, _)| *id < default), (default, 0));
        let layout = Layout::new(terms, predicate_codes, graph_codes);
        Self { layout, remap, inline, add, predicates, graphs }
    }

    /// The place of an old id in a list; [`DROPPED`] where it is not.
    fn place(list: &[(u64, u64)], id: u64) -> u64 {
        list.binary_search_by_key(&id, |(id, _)| *id).map_or(DROPPED, |at| list[at].1)
    }

    /// The code of a subject or an object.
    #[inline]
    fn term(&self, id: u64, lookups: &mut [Lookup<'_>], inline: &mut Cache) -> Result<u64, StoreError> {
        let kind = (id >> PAYLOAD_BITS) as usize;
        let add = self.add[kind];
        if add == INLINE {
            return Ok(inline.get(id, || self.layout.terms.code(TermIndex::of_id(id, self.inline))));
        }
        let lookup = &mut lookups[kind % LOOKUPS];
        let merged = lookup.id(id).ok_or(StoreError::UnknownId(ValueId::from_bits(id)))?;
        Ok(self.remap.last_id(merged).map_or(DROPPED, |new| (new & PAYLOAD_MAX) + add))
    }
}

/// Kinds of ids whose stretches are remembered apart; no two kinds of terms leave the same rest.
const LOOKUPS: usize = 11;

/// What some ids stand for, remembered.
struct Cache(Vec<(u64, u64)>);

impl Cache {
    fn new() -> Self {
        // No id is 0 but the one that is undefined, which is in no quad.
        Self(vec![(0, 0); 1 << CACHE_BITS])
    }

    #[inline]
    fn get(&mut self, id: u64, find: impl FnOnce() -> u64) -> u64 {
        let place = (id.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - CACHE_BITS)) as usize;
        let known = &mut self.0[place];
        if known.0 != id {
            *known = (id, find());
        }
        known.1
    }
}

/// Packs rows; one for each thread.
pub struct Packer<'a> {
    codes: &'a Codes<'a>,
    shape: RowShape,
    subjects: Vec<Lookup<'a>>,
    objects: Vec<Lookup<'a>>,
    inline: Cache,
    predicates: Cache,
    columns: [Vec<u64>; 4],
}

impl<'a> Packer<'a> {
    /// None packed yet.
    pub fn new(codes: &'a Codes<'a>) -> Self {
        let lookups = || (0..LOOKUPS).map(|_| codes.remap.map.lookup()).collect();
        Self {
            codes,
            shape: codes.layout.shape(Order::Spog),
            subjects: lookups(),
            objects: lookups(),
            inline: Cache::new(),
            predicates: Cache::new(),
            columns: Default::default(),
        }
    }

    /// Packs the next rows of a cursor over all columns of an order, and says how many; none at the end. Rows with dropped terms, which are
    /// inserted as often as they are deleted, are left out.
    pub fn pack<R: PackedRow>(
        &mut self,
        cursor: &mut Cursor,
        order: Order,
        out: &mut [R],
    ) -> Result<Option<usize>, StoreError> {
        let Self { codes, shape, columns, .. } = self;
        columns.iter_mut().for_each(Vec::clear);
        if cursor.next(BATCH_ROWS, columns)? == 0 {
            return Ok(None);
        }
        if order != Order::Spog {
            for (column, position) in std::mem::take(columns).into_iter().zip(order.positions()) {
                columns[position as usize] = column;
            }
        }
        let [s, p, o, g] = columns;
        // Columns of sorted rows repeat themselves.
        let (mut subject, mut graph) = ((0, 0), (0, 0));
        for id in s.iter_mut() {
            if subject.0 != *id {
                subject = (*id, codes.term(*id, &mut self.subjects, &mut self.inline)?);
            }
            *id = subject.1;
        }
        for id in p.iter_mut() {
            *id = self.predicates.get(*id, || Codes::place(&codes.predicates, *id));
        }
        for id in o.iter_mut() {
            *id = codes.term(*id, &mut self.objects, &mut self.inline)?;
        }
        for id in g.iter_mut() {
            if graph.0 != *id {
                graph = (*id, Codes::place(&codes.graphs, *id));
            }
            *id = graph.1;
        }
        let mut packed = 0;
        for (((s, p), o), g) in s.iter().zip(p).zip(o).zip(g) {
            let fields = [*s, *p, *o, *g];
            if !fields.contains(&DROPPED)
                && let Some(out) = out.get_mut(packed)
            {
                *out = R::pack(fields, shape.shifts);
                packed += 1;
            }
        }
        Ok(Some(packed))
    }
}
