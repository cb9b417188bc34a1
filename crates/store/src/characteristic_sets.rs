//! What the characteristic sets of a version's segments say of a star.

use crate::error::StoreError;
use crate::manifest::Sign;
use crate::snapshot::Snapshot;
use lode_packed::{Order, Star, StarMember};
use lode_rdf::ValueId;

/// Of the quads of each predicate, at least one of so many must be in segments that have all predicates.
const TOGETHER_PART: u64 = 2;

impl Snapshot {
    /// How many subjects have which of these members of a star, as far as the characteristic sets of the segments tell; `None` where
    /// the quads of one member are mostly in other segments than those of another, or in segments without sets. What came since is left out.
    ///
    /// # Errors
    /// Like [`Snapshot::count`].
    pub fn star(&self, members: &[StarMember]) -> Result<Option<Star>, StoreError> {
        let mut star = Star::new(members.len());
        let mut together = vec![0_u64; members.len()];
        let segments = self.version().segments.iter().filter(|open| open.entry.sign == Sign::Insertions);
        for stars in segments.filter_map(|open| open.segment.characteristic_sets()) {
            stars.add_to(members, &mut star);
            let quads: Vec<u64> = members.iter().map(|member| stars.quads_of(member.predicate)).collect();
            if !quads.contains(&0) {
                together.iter_mut().zip(quads).for_each(|(sum, quads)| *sum += quads);
            }
        }
        for (member, together) in members.iter().zip(together) {
            let all = self.count(Order::Psog, &[ValueId::from_bits(member.predicate)])?;
            if together < all.div_ceil(TOGETHER_PART).max(1) {
                return Ok(None);
            }
        }
        Ok(Some(star))
    }
}

#[cfg(test)]
mod tests;
