//! The prefixes that a document declares: what its writer calls things, for who shows them later.

use std::collections::BTreeMap;

/// So many are noted of a document,
const PREFIXES_MAX: usize = 500;
/// with names of so many bytes,
const NAME_BYTES_MAX: usize = 64;
/// and IRIs of so many.
const IRI_BYTES_MAX: usize = 400;

/// Prefixes without the colon, with their IRIs. Of several declarations of one name that of the foremost piece of the document counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeclaredPrefixes(BTreeMap<Box<str>, (u64, Box<str>)>);

impl DeclaredPrefixes {
    /// Notes one that was declared about so far from the beginning of the document, unless there are too many, or it is too long to be shown.
    pub(crate) fn add(&mut self, place: u64, name: &str, iri: &str) {
        if iri.is_empty() || name.len() > NAME_BYTES_MAX || iri.len() > IRI_BYTES_MAX {
            return;
        }
        let has_room = self.0.len() < PREFIXES_MAX;
        match self.0.get_mut(name) {
            Some(known) if known.0 <= place => {}
            Some(known) => *known = (place, iri.into()),
            None if has_room => drop(self.0.insert(name.into(), (place, iri.into()))),
            None => {}
        }
    }

    /// Adds those of another part of the document.
    pub fn merge(&mut self, other: Self) {
        for (name, (place, iri)) in other.0 {
            self.add(place, &name, &iri);
        }
    }

    /// Names and IRIs.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, (_, iri))| (&**name, &**iri))
    }
}

#[cfg(test)]
mod tests {
    use super::{DeclaredPrefixes, PREFIXES_MAX};

    #[test]
    fn the_first_counts_in_whatever_sequence_parts_come() {
        let of = |all: &[(u64, &str, &str)]| {
            let mut prefixes = DeclaredPrefixes::default();
            all.iter().for_each(|(place, name, iri)| prefixes.add(*place, name, iri));
            prefixes
        };
        let (first, second) = (of(&[(3, "a", "x:"), (3, "b", "y:")]), of(&[(9, "a", "z:"), (9, "", "w:")]));
        let mut one = first.clone();
        one.merge(second.clone());
        let mut other = second;
        other.merge(first);
        assert_eq!(one, other);
        assert_eq!(one.iter().collect::<Vec<_>>(), [("", "w:"), ("a", "x:"), ("b", "y:")]);
    }

    #[test]
    fn there_are_not_too_many() {
        let mut prefixes = DeclaredPrefixes::default();
        for number in 0..2 * PREFIXES_MAX {
            prefixes.add(number as u64, &format!("p{number}"), "x:");
        }
        prefixes.add(0, &"n".repeat(100), "x:");
        prefixes.add(0, "long", &"x".repeat(1000));
        prefixes.add(0, "none", "");
        assert_eq!(prefixes.iter().count(), PREFIXES_MAX);
    }
}
