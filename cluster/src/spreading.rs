//! Rows spread over those who take them, by the hash of some columns: in the thread that makes the rows, before they are anything but columns of ids. One
//! copy, and no thread between who makes a row and who takes it.

use crate::columns::{Column, ColumnError, batch_of, schema, values_of};
use crate::part::Spread;
use datafusion::arrow::array::{ArrayRef, BinaryBuilder, RecordBatch, UInt64Array};
use datafusion::arrow::datatypes::SchemaRef;
use lode_exec::EvalContext;
use lode_exec::batch::Batch;
use lode_rdf::ValueId;
use std::sync::Arc;

/// Rows that go to a taker at once, at most: what is sent costs by the batch as well.
const ROWS_MAX: usize = 16_384;
/// And at least, where there are very many takers.
const ROWS_MIN: usize = 1_024;
/// Rows that wait for all takers together, about.
const ROWS_WAITING: usize = 1 << 19;
/// Bytes of the terms that go to a taker at once, about.
const TERM_BYTES_MAX: usize = 1 << 20;

/// Bytes of rows that wait until there are enough of them, at most, but for terms that are long.
pub fn waiting_bytes(columns: &[Column], takers: usize) -> usize {
    let bytes = |column: &Column| match column {
        Column::Id => 8,
        Column::Term => 32,
    };
    let row: usize = columns.iter().map(bytes).sum();
    rows_max(takers).saturating_mul(takers).saturating_mul(row)
}

fn rows_max(takers: usize) -> usize {
    (ROWS_WAITING / takers.max(1)).clamp(ROWS_MIN, ROWS_MAX)
}

/// What waits for a taker.
#[derive(Debug)]
struct Waiting {
    columns: Vec<Values>,
    rows: usize,
}

#[derive(Debug)]
enum Values {
    Ids(Vec<u64>),
    Terms(BinaryBuilder),
}

impl Waiting {
    fn new(columns: &[Column]) -> Self {
        let values = |column: &Column| match column {
            Column::Id => Values::Ids(Vec::new()),
            Column::Term => Values::Terms(BinaryBuilder::new()),
        };
        Self { columns: columns.iter().map(values).collect(), rows: 0 }
    }

    fn is_full(&self, rows_max: usize) -> bool {
        let is_long = |values: &Values| match values {
            Values::Ids(_) => false,
            Values::Terms(terms) => terms.values_slice().len() >= TERM_BYTES_MAX,
        };
        self.rows >= rows_max || self.columns.iter().any(is_long)
    }

    /// All of it, and nothing waits any more.
    fn take(&mut self, schema: &SchemaRef) -> Result<RecordBatch, ColumnError> {
        let taken = |values: &mut Values| -> ArrayRef {
            match values {
                Values::Ids(ids) => {
                    let room = Vec::with_capacity(ids.len());
                    Arc::new(UInt64Array::from(std::mem::replace(ids, room)))
                }
                Values::Terms(terms) => Arc::new(terms.finish()),
            }
        };
        let arrays = self.columns.iter_mut().map(taken).collect();
        batch_of(schema, arrays, std::mem::take(&mut self.rows))
    }
}

/// Spreads rows.
pub struct Spreader<'a> {
    by: &'a [usize],
    kinds: &'a [Column],
    schema: SchemaRef,
    rows_max: usize,
    takers: Vec<Waiting>,
    /// Of a batch: which taker each row goes to.
    targets: Vec<u32>,
    hashes: Vec<u64>,
}

impl<'a> Spreader<'a> {
    /// By these columns, over these takers.
    pub fn new(spread: &'a Spread, kinds: &'a [Column]) -> Self {
        Self {
            by: &spread.by,
            kinds,
            schema: schema(kinds),
            rows_max: rows_max(spread.takers),
            takers: (0..spread.takers).map(|_| Waiting::new(kinds)).collect(),
            targets: Vec::new(),
            hashes: Vec::new(),
        }
    }

    /// Takes rows.
    ///
    /// # Errors
    /// Where they are no rows of these columns, or a value means nothing elsewhere.
    pub fn push(&mut self, batch: &Batch, cx: &EvalContext) -> Result<(), ColumnError> {
        if batch.columns.len() != self.kinds.len() {
            return Err(ColumnError::other_columns());
        }
        self.aim(batch);
        for (place, (ids, kind)) in batch.columns.iter().zip(self.kinds).enumerate() {
            match kind {
                Column::Id => self.put_ids(place, ids),
                Column::Term => self.put_terms(place, ids, cx)?,
            }
        }
        for target in &self.targets {
            if let Some(taker) = self.takers.get_mut(*target as usize) {
                taker.rows += 1;
            }
        }
        Ok(())
    }

    /// What is enough for a taker, or all that waits for one, and which one that is.
    ///
    /// # Errors
    /// Where the columns are none.
    pub fn next(&mut self, is_all: bool) -> Result<Option<(usize, RecordBatch)>, ColumnError> {
        let rows_max = self.rows_max;
        let is_enough = |taker: &Waiting| taker.is_full(rows_max) || (is_all && taker.rows > 0);
        let found = self.takers.iter_mut().enumerate().find(|(_, taker)| is_enough(taker));
        found.map(|(number, taker)| Ok((number, taker.take(&self.schema)?))).transpose()
    }

    /// Finds out which taker each row goes to.
    fn aim(&mut self, batch: &Batch) {
        self.hashes.clear();
        self.hashes.resize(batch.rows, 0);
        for ids in self.by.iter().filter_map(|place| batch.columns.get(*place)) {
            self.hashes.iter_mut().zip(ids).for_each(|(hash, id)| *hash = mixed(*hash, *id));
        }
        let takers = self.takers.len();
        self.targets.clear();
        self.targets.extend(self.hashes.iter().map(|hash| target(*hash, takers)));
    }

    fn put_ids(&mut self, place: usize, ids: &[ValueId]) {
        fn ids_of(taker: &mut Waiting, place: usize) -> Option<&mut Vec<u64>> {
            match taker.columns.get_mut(place) {
                Some(Values::Ids(ids)) => Some(ids),
                _ => None,
            }
        }
        let takers = self.takers.iter_mut();
        let mut columns: Vec<&mut Vec<u64>> = takers.filter_map(|taker| ids_of(taker, place)).collect();
        for (target, id) in self.targets.iter().zip(ids) {
            if let Some(to) = columns.get_mut(*target as usize) {
                to.push(id.to_bits());
            }
        }
    }

    fn put_terms(
        &mut self,
        place: usize,
        ids: &[ValueId],
        cx: &EvalContext,
    ) -> Result<(), lode_fragment::FragmentError> {
        let takers = &mut self.takers;
        let mut targets = self.targets.iter();
        values_of(ids, cx, |bytes| {
            let taker = targets.next().and_then(|target| takers.get_mut(*target as usize));
            if let Some(Values::Terms(to)) = taker.and_then(|taker| taker.columns.get_mut(place)) {
                to.append_value(bytes);
            }
        })
    }
}

/// The same in every process of a version of the program, and none of the hashes that tables of our operators are made by: they would have gaps.
const fn mixed(hash: u64, id: ValueId) -> u64 {
    let hash = (hash ^ id.to_bits()).wrapping_mul(0xff51_afd7_ed55_8ccd);
    (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53)
}

/// Of so many takers, each gets an equal part of all hashes.
const fn target(hash: u64, takers: usize) -> u32 {
    (((hash >> 32) * takers as u64) >> 32) as u32
}

#[cfg(test)]
mod tests {
    //! No row is lost or comes twice, those that have to meet do, and all takers get about as many.
    use super::*;
    use crate::columns::{from_arrow, tests::with_context};
    use lode_exec::Came;
    use lode_rdf::Literal;
    use lode_sparql::VarId;

    fn batch(columns: Vec<Vec<ValueId>>) -> Batch {
        let vars = (0..columns.len()).map(|n| VarId(u32::try_from(n).unwrap())).collect::<Vec<_>>();
        let rows = columns.first().map_or(0, Vec::len);
        Batch { columns, rows, ..Batch::new(vars.into()) }
    }

    #[test]
    fn each_row_is_with_those_that_it_has_to_meet() {
        with_context(|cx| {
            let kinds = [Column::Id, Column::Term, Column::Id];
            let text = cx.intern(&Literal::new_simple_literal("new").into()).unwrap();
            for takers in [1, 2, 3, 64] {
                let spread = Spread { by: vec![2, 0], takers };
                let mut spreader = Spreader::new(&spread, &kinds);
                let (mut sent, mut met) = (vec![0; takers], std::collections::HashMap::new());
                let mut came = Vec::new();
                let mut take = |spreader: &mut Spreader<'_>, is_all| {
                    while let Some((taker, batch)) = spreader.next(is_all).unwrap() {
                        assert!(batch.num_rows() > 0 && taker < takers);
                        sent[taker] += batch.num_rows();
                        let mut rows = Came { batch: batch_of_none(), terms: Vec::new() };
                        from_arrow(&batch, &kinds, &mut rows).unwrap();
                        assert_eq!(
                            rows.terms.len(),
                            rows.batch.columns[1].iter().filter(|id| id.is_undef()).count()
                        );
                        for row in 0..rows.batch.rows {
                            let key = (rows.batch.columns[2][row], rows.batch.columns[0][row]);
                            assert_eq!(*met.entry(key).or_insert(taker), taker);
                            came.push((key, rows.batch.columns[1][row].is_undef()));
                        }
                    }
                };
                let mut given = Vec::new();
                for part in 0..60_u64 {
                    let id = ValueId::from_bits;
                    let first: Vec<_> = (0..1000).map(|n| id((part * 1000 + n) % 7_000)).collect();
                    let third: Vec<_> = first.iter().map(|id| ValueId::from_bits(id.to_bits() % 5)).collect();
                    let second: Vec<_> =
                        first.iter().map(|n| if n.to_bits() % 3 == 0 { text } else { *n }).collect();
                    given.extend((0..1000).map(|row| {
                        ((third[row], first[row]), second[row] == text || second[row].is_undef())
                    }));
                    spreader.push(&batch(vec![first, second, third]), cx).unwrap();
                    take(&mut spreader, false);
                }
                take(&mut spreader, true);
                given.sort_unstable();
                came.sort_unstable();
                assert!(given == came, "{takers}: {} and {}", given.len(), came.len());
                let (least, most) = (sent.iter().min().unwrap(), sent.iter().max().unwrap());
                assert!(most - least < 60_000 / takers / 2 + 200, "{sent:?}");
            }
        });
    }

    fn batch_of_none() -> Batch {
        batch(vec![Vec::new(); 3])
    }

    #[test]
    fn other_columns_are_refused() {
        with_context(|cx| {
            let (spread, kinds) = (Spread { by: vec![0], takers: 2 }, [Column::Id, Column::Id]);
            let mut spreader = Spreader::new(&spread, &kinds);
            assert!(spreader.push(&batch(vec![vec![ValueId::MAX]]), cx).is_err());
        });
    }
}
