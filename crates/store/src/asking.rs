//! Asks for what several readers will need one after the other, so that it comes at once: terms of a query, ends of the rows of its patterns, terms of
//! its results. Where a request takes as long as over a network, what counts is how many follow each other.
//!
//! Nothing is asked of segments whose files are read in no time. What was asked for is given up with what is returned; errors are those of who
//! reads it.

use crate::delta::is_delta_term;
use crate::error::StoreError;
use crate::manifest::Sign;
use crate::snapshot::Snapshot;
use crate::version::OpenSegment;
use lode_packed::{Dictionary, Flights, KeyHash, Order, Permutation};
use lode_rdf::key::{Encoded, encode};
use lode_rdf::value_id::Section;
use lode_rdf::{Kind, Term, ValueId};

/// Terms of one segment, by rank.
type Group<'a> = (&'a Dictionary, Section, Vec<u64>);

impl Snapshot {
    /// Whether reads of any of its files are known to take long.
    pub fn is_far(&self) -> bool {
        self.version().segments.iter().any(|segment| {
            let has_far_terms = segment.dictionary().is_some_and(Dictionary::is_far);
            has_far_terms || segment.permutation(Order::Spog).is_far()
        })
    }

    /// Asks for what tells the ids of terms.
    ///
    /// # Errors
    /// Where an index cannot be read or is damaged.
    pub fn ask_for_ids_of(&self, terms: &[Term]) -> Result<Flights, StoreError> {
        let mut keys: Vec<(Section, Vec<u8>, KeyHash)> = Vec::new();
        for term in terms {
            let mut key = Vec::new();
            if let Encoded::Key(section) = encode(term.as_ref(), &mut key) {
                let hash = KeyHash::of(&key);
                keys.push((section, key, hash));
            }
        }
        let mut flights = Flights::default();
        let far = || {
            self.version()
                .segments
                .iter()
                .filter_map(OpenSegment::dictionary)
                .filter(|dictionary| dictionary.is_far())
        };
        let of = |section: Section| keys.iter().filter(move |(of, ..)| *of == section);
        for dictionary in far() {
            for section in Section::ALL {
                let keys: Vec<&[u8]> = of(section).map(|(_, key, _)| key.as_slice()).collect();
                dictionary.ask_for_tops(section, &keys, &mut flights)?;
            }
        }
        for dictionary in far() {
            for section in Section::ALL {
                let keys: Vec<(&[u8], KeyHash)> =
                    of(section).map(|(_, key, hash)| (key.as_slice(), *hash)).collect();
                dictionary.ask_for_keys(section, &keys, &mut flights)?;
            }
        }
        Ok(flights)
    }

    /// Asks for what tells where the rows under prefixes begin and end.
    ///
    /// # Errors
    /// Where an index cannot be read or is damaged.
    pub fn ask_for_rows(&self, wanted: &[(Order, Vec<ValueId>)]) -> Result<Flights, StoreError> {
        let mut flights = Flights::default();
        let far = |order: Order| {
            let segments = self.version().segments.iter();
            let segments = segments.filter(|segment| segment.entry.sign != Sign::TermsOnly);
            segments.map(move |segment| segment.permutation(order)).filter(|permutation| permutation.is_far())
        };
        let asks: [fn(&Permutation, &[Vec<u64>], &mut Flights) -> _; 2] =
            [Permutation::ask_for_pages, Permutation::ask_for_ends];
        for ask in asks {
            for order in Order::ALL {
                let of_order = wanted.iter().filter(|(of, prefix)| *of == order && !prefix.is_empty());
                let prefixes: Vec<Vec<u64>> =
                    of_order.map(|(_, prefix)| prefix.iter().map(|id| id.to_bits()).collect()).collect();
                if !prefixes.is_empty() {
                    far(order).try_for_each(|permutation| ask(permutation, &prefixes, &mut flights))?;
                }
            }
        }
        Ok(flights)
    }

    /// Asks for the terms of ids: for who makes terms of them in several steps.
    ///
    /// # Errors
    /// Where an index cannot be read or is damaged.
    pub fn ask_for_terms(&self, ids: impl Iterator<Item = ValueId>) -> Result<Flights, StoreError> {
        if !self.is_far() {
            return Ok(Flights::default());
        }
        let is_stored = |id: &ValueId| id.kind().is_some_and(|kind| kind.section().is_some());
        let mut ids: Vec<(ValueId, usize)> = ids.filter(is_stored).map(|id| (id, 0)).collect();
        ids.sort_unstable();
        ids.dedup();
        self.ask_for_groups(&self.far_groups(&ids))
    }

    /// Asks for the keys of ids, which are of dictionary kinds and ascend: only where they are in several parts of dictionaries, since who reads
    /// one part asks for what is needed of it.
    pub(crate) fn ask_for_keys_of(&self, ids: &[(ValueId, usize)]) -> Result<Flights, StoreError> {
        let groups = if self.is_far() { self.far_groups(ids) } else { Vec::new() };
        if groups.len() > 1 { self.ask_for_groups(&groups) } else { Ok(Flights::default()) }
    }

    fn ask_for_groups(&self, groups: &[Group<'_>]) -> Result<Flights, StoreError> {
        let mut flights = Flights::default();
        for (dictionary, section, ranks) in groups {
            dictionary.ask_for_term_pages(*section, ranks, &mut flights)?;
        }
        for (dictionary, section, ranks) in groups {
            dictionary.ask_for_terms(*section, ranks, &mut flights)?;
        }
        Ok(flights)
    }

    /// Ids by the part of a dictionary that has them; those of which there is none are left out.
    fn far_groups(&self, ids: &[(ValueId, usize)]) -> Vec<Group<'_>> {
        let mut groups = Vec::new();
        let mut rest = ids;
        while let Some((first, _)) = rest.first() {
            let section = first.kind().and_then(Kind::section).filter(|_| !is_delta_term(*first));
            let owner = section.and_then(|section| Some((section, self.owner(section, first.payload())?)));
            let Some((section, segment)) = owner else {
                rest = rest.split_first().map_or(&[], |(_, later)| later);
                continue;
            };
            let Some(dictionary) = segment.dictionary() else { return groups };
            let base = segment.base(section);
            let end = ValueId::new(section.kind(), base + dictionary.len(section));
            let (here, later) = rest.split_at(rest.partition_point(|(id, _)| *id < end));
            if dictionary.is_far() {
                groups.push((dictionary, section, here.iter().map(|(id, _)| id.payload() - base).collect()));
            }
            rest = later;
        }
        groups
    }
}
