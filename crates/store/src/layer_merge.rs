//! Merges the sorted rows of several layers, some of insertions and some of deletions: for scans, and for the clearing of graphs.
//!
//! Rows come in stretches: from the layer with the least row, all rows before the least row of the others at once. Where a row is in
//! several layers, it counts if more of them insert it than delete it.

use crate::delta::Row;
use crate::error::StoreError;
use crate::manifest::{MANIFEST, Sign};
use lode_base::gallop::gallop;
use std::cmp::Ordering;

/// The rows of one layer, some of them at hand.
pub(crate) trait LayerRows {
    /// Makes sure that there is a row at hand; false at the end.
    fn fill(&mut self) -> Result<bool, StoreError>;

    /// Rows at hand.
    fn waiting(&self) -> usize;

    /// One of the rows at hand.
    fn row(&self, index: usize) -> Option<Row>;

    /// Steps over rows at hand.
    fn skip(&mut self, rows: usize);

    /// How many of the rows at hand, at most `rows_max`, come before `bound`: by steps of growing width, then halving.
    fn run_before(&self, bound: &[u64], rows_max: usize) -> usize {
        let waiting = self.waiting().min(rows_max);
        let is_before = |index| self.row(index).is_some_and(|row| before(&row, bound));
        gallop(0, waiting, is_before)
    }
}

/// Whether a row comes before all rows that begin with `key`.
fn before(row: &Row, key: &[u64]) -> bool {
    row.iter().zip(key).map(|(row, key)| row.cmp(key)).find(|order| order.is_ne()) == Some(Ordering::Less)
}

/// One layer of a merge.
#[derive(Debug)]
pub(crate) struct Layer<R> {
    /// What its rows are.
    pub sign: Sign,
    /// Its rows.
    pub rows: R,
    /// The row that comes next; meaningless once there is none.
    head: Row,
}

impl<R: LayerRows> Layer<R> {
    /// A layer of which no row was taken.
    pub fn new(sign: Sign, rows: R) -> Self {
        Self { sign, rows, head: Row::default() }
    }

    /// Makes sure that there is a row, unless there is none any more, and sets the head.
    fn fill(&mut self) -> Result<bool, StoreError> {
        if !self.rows.fill()? {
            return Ok(false);
        }
        let head = self.rows.row(0);
        self.head = head.unwrap_or_default();
        Ok(head.is_some())
    }
}

/// What a writer never makes: each layer was compared with those before it.
fn contradiction(what: &str) -> StoreError {
    let what = format!("the segments contradict each other: a quad {what}; `lode check` says more");
    StoreError::Corruption { file: MANIFEST.to_owned(), offset: 0, what }
}

/// The rows of several layers, merged.
#[derive(Debug)]
pub(crate) struct LayerMerge<R> {
    /// Layers with rows left, by their next row; not in order while `dirty`. Boxed, because they change places all the time.
    layers: Vec<Box<Layer<R>>>,
    dirty: bool,
}

impl<R: LayerRows> LayerMerge<R> {
    pub fn new(layers: impl Iterator<Item = Layer<R>>) -> Self {
        Self { layers: layers.map(Box::new).collect(), dirty: true }
    }

    /// The layers, of which each may be moved forward.
    pub fn layers_mut(&mut self) -> impl Iterator<Item = &mut Layer<R>> {
        self.dirty = true;
        self.layers.iter_mut().map(|layer| &mut **layer)
    }

    /// The layers that have rows left.
    pub fn layers(&self) -> impl Iterator<Item = &Layer<R>> {
        self.layers.iter().map(|layer| &**layer)
    }

    fn arrange(&mut self) -> Result<(), StoreError> {
        if self.dirty {
            let mut at = 0;
            while let Some(layer) = self.layers.get_mut(at) {
                if layer.fill()? {
                    at += 1;
                } else {
                    self.layers.swap_remove(at);
                }
            }
            self.layers.sort_unstable_by_key(|layer| layer.head);
            self.dirty = false;
        }
        Ok(())
    }

    /// Calls `visit` with stretches of rows, at most `rows_max` in all, that are there: with the layer's rows, and how many of those at hand.
    /// How many rows there were; 0 only at the end.
    pub fn next<E: From<StoreError>>(
        &mut self,
        rows_max: usize,
        visit: &mut impl FnMut(&R, usize) -> Result<(), E>,
    ) -> Result<usize, E> {
        self.arrange()?;
        let mut given = 0;
        while given < rows_max {
            let bound = self.layers.get(1).map(|layer| layer.head);
            let Some(first) = self.layers.first_mut() else { break };
            if bound == Some(first.head) {
                given += self.next_shared(visit)?;
                continue;
            }
            let rows = match bound {
                None => first.rows.waiting().min(rows_max - given),
                Some(bound) => first.rows.run_before(&bound, rows_max - given),
            };
            if first.sign == Sign::Deletions {
                return Err(contradiction("is deleted that is not there").into());
            }
            visit(&first.rows, rows)?;
            first.rows.skip(rows);
            given += rows;
            self.settle(1)?;
        }
        Ok(given)
    }

    /// Takes the row that several layers have next; it is there if it is inserted once more than deleted.
    fn next_shared<E: From<StoreError>>(
        &mut self,
        visit: &mut impl FnMut(&R, usize) -> Result<(), E>,
    ) -> Result<usize, E> {
        let Some(head) = self.layers.first().map(|layer| layer.head) else { return Ok(0) };
        let sharing = self.layers.iter().take_while(|layer| layer.head == head).count();
        let sum: i128 = self.layers[..sharing].iter().map(|layer| layer.sign.of(1)).sum();
        let given = match sum {
            0 => 0,
            1 => {
                visit(&self.layers[0].rows, 1)?;
                1
            }
            _ => {
                let what = "is there more than once, or deleted more often than it was there";
                return Err(contradiction(what).into());
            }
        };
        self.layers[..sharing].iter_mut().for_each(|layer| layer.rows.skip(1));
        self.settle(sharing)?;
        Ok(given)
    }

    /// Puts the first `count` layers, whose heads have changed, in their places.
    fn settle(&mut self, count: usize) -> Result<(), StoreError> {
        for at in (0..count).rev() {
            if self.layers[at].fill()? {
                self.sink(at);
            } else {
                self.layers.remove(at);
            }
        }
        Ok(())
    }

    /// Puts a layer, whose head has grown, behind those that come before it.
    fn sink(&mut self, from: usize) {
        let Some(head) = self.layers.get(from).map(|layer| layer.head) else { return };
        let end = gallop(from + 1, self.layers.len(), |at| self.layers[at].head < head);
        self.layers[from..end].rotate_left(1);
    }
}

#[cfg(test)]
mod tests {
    //! Layers against a plain set of rows, however many rows are at hand and are asked for.
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Rows of which some are at hand.
    struct Hand {
        rows: Vec<Row>,
        at: usize,
        hand: usize,
    }

    impl LayerRows for Hand {
        fn fill(&mut self) -> Result<bool, StoreError> {
            Ok(self.at < self.rows.len())
        }

        fn waiting(&self) -> usize {
            (self.rows.len() - self.at).min(self.hand)
        }

        fn row(&self, index: usize) -> Option<Row> {
            self.rows.get(self.at + index).copied()
        }

        fn skip(&mut self, rows: usize) {
            self.at += rows;
        }
    }

    fn row(number: u64) -> Row {
        [number / 16, number / 4, number % 4, 1]
    }

    proptest! {
        #[test]
        fn what_is_left_is_what_a_set_would_hold(
            changes in proptest::collection::vec(proptest::collection::btree_set(0_u64..200, 0..60), 0..7),
            hand in 1_usize..9,
            rows_max in 1_usize..40,
        ) {
            let (mut left, mut layers) = (BTreeSet::new(), Vec::new());
            for numbers in changes {
                // Each is deleted where it is, and inserted where it is not.
                let (gone, new): (Vec<u64>, Vec<u64>) = numbers.iter().partition(|number| left.contains(*number));
                left.retain(|number| !gone.contains(number));
                left.extend(new.iter().copied());
                for (sign, numbers) in [(Sign::Insertions, new), (Sign::Deletions, gone)] {
                    let rows = numbers.into_iter().map(row).collect();
                    layers.push(Layer::new(sign, Hand { rows, at: 0, hand }));
                }
            }
            let (mut merge, mut found) = (LayerMerge::new(layers.into_iter()), Vec::new());
            while merge.next(rows_max, &mut |layer: &Hand, rows| {
                found.extend((0..rows).filter_map(|index| layer.row(index)));
                Ok::<_, StoreError>(())
            }).unwrap() > 0 {}
            prop_assert_eq!(found, left.into_iter().map(row).collect::<Vec<_>>());
        }
    }

    #[test]
    fn layers_that_contradict_each_other_are_damage() {
        let layer = |sign| Layer::new(sign, Hand { rows: vec![row(1)], at: 0, hand: 1 });
        for signs in [
            &[Sign::Deletions][..],
            &[Sign::Insertions; 2],
            &[Sign::Insertions, Sign::Deletions, Sign::Deletions],
        ] {
            let mut merge = LayerMerge::new(signs.iter().map(|sign| layer(*sign)));
            let result = merge.next(9, &mut |_, _| Ok::<_, StoreError>(()));
            assert!(matches!(result, Err(StoreError::Corruption { .. })), "{signs:?}");
        }
    }
}
