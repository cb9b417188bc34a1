//! What becomes of each segment when graphs are cleared: as few quads as possible are written.
//!
//! A segment that holds mostly quads of these graphs is replaced by the few others; from one that holds few of them, these are deleted
//! by another segment. Where a segment of deletions speaks of the graphs, too, what others insert and it deletes must stay together:
//! then all segments go the same way.

use crate::manifest::Sign;

/// What there is in a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holding {
    /// What its quads are.
    pub sign: Sign,
    /// Its quads.
    pub quads: u64,
    /// Those of them that are in the graphs.
    pub cleared: u64,
}

/// What becomes of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It stays as it is: it has nothing of the graphs.
    Stays,
    /// The quads that it has of the graphs are deleted by a segment of deletions.
    Deleted,
    /// It gives way to a segment of its other quads, if there are any.
    Replaced,
}

/// What becomes of each of the segments.
pub fn plan(segments: &[Holding]) -> Vec<Fate> {
    let is_deleted = |held: &Holding| held.sign == Sign::Deletions && held.cleared > 0;
    let together = segments.iter().any(is_deleted).then(|| {
        let affected = || segments.iter().filter(|held| held.sign != Sign::TermsOnly && held.cleared > 0);
        let others: u64 = affected().map(|held| held.quads - held.cleared).sum();
        let visible: i128 = affected().map(|held| held.sign.of(held.cleared)).sum();
        if i128::from(others) <= visible { Fate::Replaced } else { Fate::Deleted }
    });
    let fate = |held: &Holding| {
        if held.sign == Sign::TermsOnly || held.cleared == 0 {
            return Fate::Stays;
        }
        let alone = if held.quads - held.cleared <= held.cleared { Fate::Replaced } else { Fate::Deleted };
        together.unwrap_or(alone)
    };
    segments.iter().map(fate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fates(segments: &[(Sign, u64, u64)]) -> Vec<Fate> {
        let held = |(sign, quads, cleared): &(Sign, u64, u64)| Holding {
            sign: *sign,
            quads: *quads,
            cleared: *cleared,
        };
        plan(&segments.iter().map(held).collect::<Vec<_>>())
    }

    #[test]
    fn each_segment_goes_the_shorter_way() {
        let (plus, none) = (Sign::Insertions, Sign::TermsOnly);
        assert_eq!(
            fates(&[(plus, 100, 1), (plus, 100, 99), (plus, 100, 100), (plus, 100, 0), (none, 100, 100)]),
            [Fate::Deleted, Fate::Replaced, Fate::Replaced, Fate::Stays, Fate::Stays]
        );
    }

    #[test]
    fn all_go_the_same_way_where_some_are_deleted_already() {
        let (plus, minus) = (Sign::Insertions, Sign::Deletions);
        assert_eq!(fates(&[(plus, 100, 60), (plus, 100, 1), (minus, 9, 1)]), [Fate::Deleted; 3]);
        assert_eq!(fates(&[(plus, 100, 90), (plus, 100, 50), (minus, 19, 10)]), [Fate::Replaced; 3]);
        // What is deleted of other graphs is of no consequence.
        assert_eq!(
            fates(&[(plus, 100, 60), (plus, 100, 1), (minus, 9, 0)]),
            [Fate::Replaced, Fate::Deleted, Fate::Stays]
        );
    }
}
