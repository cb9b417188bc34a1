//! Which texts of a version no index of words has, by where they stand: what was found out once is kept with the version.

use lode_rdf::ValueId;
use std::sync::{Arc, Mutex, PoisonError};

/// What is kept of a version: beyond that the oldest goes.
const KEPT_MAX: usize = 32;
/// Texts of an entry.
const TEXTS_MAX: usize = 1 << 14;

/// Where texts stand: behind a property, in a graph, and which indexes there were, since these may come later than the version.
pub type Place = (Option<ValueId>, Option<ValueId>, Vec<usize>);

/// What was found out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Uncovered {
    /// These, ascending.
    All(Arc<[ValueId]>),
    /// More than so many.
    MoreThan(u64),
}

/// What was found out of a version. Its clone knows nothing, since whoever clones a version makes another one of it.
#[derive(Debug, Default)]
pub struct KeptTexts(Mutex<Vec<(Place, Uncovered)>>);

impl Clone for KeptTexts {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl KeptTexts {
    /// What is known, if it tells whether there are at most so many.
    pub fn get(&self, place: &Place, most: u64) -> Option<Uncovered> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, found) = kept.iter().find(|(other, _)| other == place)?;
        let tells = match found {
            Uncovered::All(_) => true,
            Uncovered::MoreThan(count) => most <= *count,
        };
        tells.then(|| found.clone())
    }

    /// Keeps it, if that is little.
    pub fn keep(&self, place: Place, found: Uncovered) {
        if matches!(&found, Uncovered::All(texts) if texts.len() > TEXTS_MAX) {
            return;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(other, _)| *other != place);
        if kept.len() >= KEPT_MAX {
            kept.remove(0);
        }
        kept.push((place, found));
    }
}

#[cfg(test)]
mod tests {
    use super::{KEPT_MAX, KeptTexts, TEXTS_MAX, Uncovered};
    use lode_rdf::ValueId;

    #[test]
    fn what_is_known_is_told_where_it_answers() {
        let kept = KeptTexts::default();
        let place = |index: usize| (Some(ValueId::DEFAULT_GRAPH), None, vec![index]);
        let all = Uncovered::All([ValueId::DEFAULT_GRAPH].into());
        kept.keep(place(1), Uncovered::MoreThan(9));
        assert_eq!(kept.get(&place(1), 9), Some(Uncovered::MoreThan(9)));
        assert_eq!((kept.get(&place(1), 10), kept.get(&place(2), 1)), (None, None));
        kept.keep(place(1), all.clone());
        assert_eq!(kept.get(&place(1), 0), Some(all));
        // Another version may have others.
        assert_eq!(kept.clone().get(&place(1), 9), None);
        kept.keep(place(2), Uncovered::All(vec![ValueId::DEFAULT_GRAPH; TEXTS_MAX + 1].into()));
        assert_eq!(kept.get(&place(2), u64::MAX), None);
        (0..KEPT_MAX).for_each(|number| kept.keep(place(100 + number), Uncovered::MoreThan(1)));
        assert_eq!(kept.get(&place(1), 0), None);
        assert!(kept.get(&place(100), 1).is_some());
    }
}
