//! Which ids stand first in the rows of an order, and in how many rows. Reads one column, and not that where a block has one id
//! alone: all predicates of a database are told almost by the indexes.

use crate::manifest::Sign;
use crate::segment_builder::{BuildError, Class};
use crate::throttle::Throttle;
use crate::version::OpenSegment;
use lode_packed::{Order, Permutation};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Orders that begin with the subject, predicate, object and graph of quads.
pub const FIRST_COLUMN_ORDERS: [Order; 4] = [Order::Spog, Order::Psog, Order::Ospg, Order::Gspo];

/// Ids of the quads of some segments, ascending once [`FirstIds::finish`] was called.
#[derive(Debug)]
pub struct FirstIds {
    /// Predicates.
    pub predicates: Vec<u64>,
    /// Names of graphs.
    pub graphs: Vec<u64>,
    /// Inline values; none where there are more than one wants to know.
    pub inline: Option<Vec<u64>>,
}

impl FirstIds {
    /// None yet.
    pub fn new() -> Self {
        Self { predicates: Vec::new(), graphs: Vec::new(), inline: Some(Vec::new()) }
    }

    /// Notes what [`visit_first_ids`] tells of an order. Of `inline_max` inline values at least half are too many.
    pub fn note(&mut self, order: Order, id: u64, inline_max: usize) {
        match order {
            Order::Psog => self.predicates.push(id),
            Order::Gspo => self.graphs.push(id),
            Order::Ospg if Class::of_id(id) == Class::Inline => {
                if let Some(inline) = &mut self.inline {
                    inline.push(id);
                    if inline.len() >= inline_max {
                        sort(inline);
                        self.inline = self.inline.take().filter(|inline| inline.len() < inline_max / 2);
                    }
                }
            }
            _ => {}
        }
    }

    /// Sorts them.
    pub fn finish(&mut self) {
        sort(&mut self.predicates);
        sort(&mut self.graphs);
        self.inline.iter_mut().for_each(sort);
    }

    /// Bytes that they take.
    pub fn memory_bytes(&self) -> usize {
        let inline = self.inline.as_ref().map_or(0, Vec::capacity);
        (self.predicates.capacity() + self.graphs.capacity() + inline) * size_of::<u64>()
    }
}

fn sort(ids: &mut Vec<u64>) {
    ids.sort_unstable();
    ids.dedup();
}

/// Calls `visit` with every id that stands first in an order, and with how many rows insert quads with it, less those that
/// delete some. Where no layer deletes, that may be told of an id in parts, one for each layer.
pub fn visit_first_ids(
    layers: &[(&OpenSegment, Sign)],
    order: Order,
    throttle: &Throttle,
    visit: &mut dyn FnMut(u64, i128),
) -> Result<(), BuildError> {
    if layers.iter().all(|(_, sign)| *sign != Sign::Deletions) {
        for (segment, sign) in layers {
            let mut groups = Groups::new(segment.sound_permutation(order), *sign);
            while let Some((id, rows)) = groups.next(throttle)? {
                visit(id, sign.of(rows));
            }
        }
        return Ok(());
    }
    let mut groups: Vec<Groups<'_>> = Vec::new();
    let mut next = BinaryHeap::new();
    for (segment, sign) in layers {
        let mut of_segment = Groups::new(segment.sound_permutation(order), *sign);
        if let Some((id, rows)) = of_segment.next(throttle)? {
            next.push(Reverse((id, groups.len(), rows)));
            groups.push(of_segment);
        }
    }
    while let Some(Reverse((id, _, _))) = next.peek().copied() {
        let mut sum = 0;
        while let Some(Reverse((_, at, rows))) = next.peek().copied().filter(|Reverse(top)| top.0 == id) {
            sum += groups[at].sign.of(rows);
            next.pop();
            next.extend(groups[at].next(throttle)?.map(|(id, rows)| Reverse((id, at, rows))));
        }
        visit(id, sum);
    }
    Ok(())
}

/// The first column of a permutation, as ids and how many rows begin with each.
struct Groups<'a> {
    permutation: &'a Permutation,
    sign: Sign,
    /// The next block.
    block: usize,
    /// The first column of the block before.
    columns: [Vec<u64>; 4],
    /// The place in it.
    at: usize,
    /// What comes after what was given.
    ahead: Option<(u64, u64)>,
}

impl<'a> Groups<'a> {
    fn new(permutation: &'a Permutation, sign: Sign) -> Self {
        Self { permutation, sign, block: 0, columns: Default::default(), at: 0, ahead: None }
    }

    /// The next id, and its rows.
    fn next(&mut self, throttle: &Throttle) -> Result<Option<(u64, u64)>, BuildError> {
        let first = match self.ahead.take() {
            None => self.piece(throttle)?,
            first => first,
        };
        let Some((id, mut rows)) = first else { return Ok(None) };
        loop {
            match self.piece(throttle)? {
                Some((same, more)) if same == id => rows += more,
                other => {
                    self.ahead = other;
                    return Ok(Some((id, rows)));
                }
            }
        }
    }

    /// Rows of one id in one block; the next block may go on with it.
    fn piece(&mut self, throttle: &Throttle) -> Result<Option<(u64, u64)>, BuildError> {
        loop {
            let rest = self.columns[0].get(self.at..).unwrap_or_default();
            if let Some(id) = rest.first().copied() {
                let rows = rest.iter().take_while(|other| **other == id).count();
                self.at += rows;
                return Ok(Some((id, rows as u64)));
            }
            throttle.check()?;
            let Some(bounds) = self.permutation.block_bounds(self.block)? else { return Ok(None) };
            self.block += 1;
            if bounds.min[0] == bounds.max[0] {
                return Ok(Some((bounds.min[0], bounds.rows.end - bounds.rows.start)));
            }
            self.columns[0].clear();
            self.at = 0;
            self.permutation.cursor(bounds.rows, 0b0001).next(usize::MAX, &mut self.columns)?;
        }
    }
}
