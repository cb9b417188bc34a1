//! A column as encoders take it: ids, or smaller numbers that ascend like them and are quickly made ids of.

/// What the choice of a codec needs to know about a column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ColumnStats {
    pub min: u64,
    pub max: u64,
    /// Stretches of equal values.
    pub runs: usize,
    pub ascending: bool,
}

impl ColumnStats {
    pub(crate) fn of(values: &[u64]) -> Self {
        let first = values.first().copied().unwrap_or(0);
        if values.iter().fold(0, |differs, value| differs | (value ^ first)) == 0 {
            return Self { min: first, max: first, runs: 1, ascending: true };
        }
        Self::of_varying(values)
    }

    /// The same for a column that is known not to be constant.
    pub(crate) fn of_varying(values: &[u64]) -> Self {
        let first = values.first().copied().unwrap_or(0);
        let (mut min, mut max, mut last) = (first, first, first);
        let (mut runs, mut descents) = (1, 0);
        for &value in values {
            runs += usize::from(value != last);
            descents += usize::from(value < last);
            min = min.min(value);
            max = max.max(value);
            last = value;
        }
        Self { min, max, runs, ascending: descents == 0 }
    }
}

/// What ids the values of a column stand for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Numbers<'a> {
    /// This has to be added.
    Distance(u64),
    /// They are places in an ascending list, from `min` to `max`.
    Places { list: &'a [u64], min: u64, max: u64 },
}

/// A column of a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ColumnValues<'a> {
    pub rows: usize,
    /// May be empty if all are the same.
    pub values: &'a [u64],
    pub numbers: Numbers<'a>,
    /// Of the ids.
    pub stats: ColumnStats,
}

impl<'a> ColumnValues<'a> {
    /// A column of ids.
    pub(crate) fn of(ids: &'a [u64]) -> Self {
        Self { rows: ids.len(), values: ids, numbers: Numbers::Distance(0), stats: ColumnStats::of(ids) }
    }

    /// The same id in all rows.
    pub(crate) fn constant(id: u64, rows: usize) -> Self {
        let stats = ColumnStats { min: id, max: id, runs: 1, ascending: true };
        Self { rows, values: &[], numbers: Numbers::Distance(0), stats }
    }

    /// The id of a value.
    #[inline]
    pub(super) fn id(&self, value: u64) -> u64 {
        match self.numbers {
            Numbers::Distance(distance) => value.wrapping_add(distance),
            Numbers::Places { list, .. } => list.get(value as usize).copied().unwrap_or(0),
        }
    }

    /// The least and the greatest of the values.
    pub(super) fn bounds(&self) -> (u64, u64) {
        match self.numbers {
            Numbers::Distance(distance) => {
                (self.stats.min.wrapping_sub(distance), self.stats.max.wrapping_sub(distance))
            }
            Numbers::Places { min, max, .. } => (min, max),
        }
    }

    /// Values that are a fixed distance from their ids; `room` is for those that have to be made.
    pub(super) fn with_distance<'b>(&self, room: &'b mut Vec<u64>) -> ColumnValues<'b>
    where
        'a: 'b,
    {
        match self.numbers {
            Numbers::Distance(_) => *self,
            Numbers::Places { .. } => {
                room.clear();
                room.extend(self.values.iter().map(|value| self.id(*value)));
                ColumnValues { values: room, numbers: Numbers::Distance(0), ..*self }
            }
        }
    }
}
