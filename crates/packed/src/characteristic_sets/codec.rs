//! The bytes of `stars.lode`.

use super::{CLASSES_MAX, CharacteristicSets, OTHERS_MAX, Other, SET_PREDICATES_MAX, SETS_MAX, StarSet};
use crate::bytes::{Reader, Unsealed};
use crate::error::{Damage, PackedError};
use crate::format::{STARS_MAGIC, STARS_VERSION};
use lode_base::checksum::checksum;
use lode_base::varint::write_varint;
use std::collections::BTreeMap;
use std::sync::Arc;

const DAMAGED: Damage = Damage("the sets of predicates are damaged");
const UNSEALED: Unsealed = Unsealed {
    short: DAMAGED,
    changed: Damage("the checksum of the sets of predicates is wrong"),
    foreign: Damage("not the sets of predicates of a segment"),
};

impl CharacteristicSets {
    /// The bytes of the file. They depend on the quads alone.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = STARS_MAGIC.to_vec();
        out.extend_from_slice(&STARS_VERSION.to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        write_varint(&mut out, self.class_predicate);
        write_varint(&mut out, self.sets.len() as u64);
        for set in &self.sets {
            write_varint(&mut out, set.subjects);
            write_pairs(&mut out, &set.predicates);
            write_varint(&mut out, u64::from(set.classes.is_some()));
            set.classes.iter().for_each(|classes| write_pairs(&mut out, classes));
        }
        write_varint(&mut out, self.others);
        let counts = |count: fn(&Other) -> u64| -> Vec<(u64, u64)> {
            self.other_predicates.iter().map(|(predicate, other)| (*predicate, count(other))).collect()
        };
        write_pairs(&mut out, &counts(|other| other.subjects));
        write_pairs(&mut out, &counts(|other| other.quads));
        let sum = checksum(&out);
        out.extend_from_slice(&sum.to_le_bytes());
        out
    }

    /// Reads what [`CharacteristicSets::encode`] wrote. `file` is for error messages.
    ///
    /// # Errors
    ///
    /// [`PackedError::Corruption`] where the bytes are damaged, [`PackedError::Version`] where another version wrote
    /// them.
    pub fn decode(bytes: &[u8], file: &str) -> Result<Self, PackedError> {
        let file: Arc<str> = Arc::from(file);
        let sealed = Reader::sealed(bytes, STARS_MAGIC, &UNSEALED);
        let (version, mut body) = sealed.map_err(|damage| damage.at(&file, 0))?;
        if version != STARS_VERSION {
            return Err(PackedError::Version { file, found: version, supported: STARS_VERSION });
        }
        let stars = match body.u32() {
            Ok(0) => parse(body),
            _ => Err(DAMAGED),
        };
        stars.map_err(|damage| damage.at(&file, 0))
    }
}

/// Numbers of ids, which ascend: the difference from the id before, and the number.
fn write_pairs(out: &mut Vec<u8>, pairs: &[(u64, u64)]) {
    write_varint(out, pairs.len() as u64);
    let mut before = 0;
    for (id, count) in pairs {
        write_varint(out, id - before);
        write_varint(out, *count);
        before = *id;
    }
}

fn parse(mut reader: Reader<'_>) -> Result<CharacteristicSets, Damage> {
    let class_predicate = reader.varint()?;
    let (mut predicate_room, mut class_room) = (SET_PREDICATES_MAX, CLASSES_MAX);
    let mut sets = Vec::new();
    for _ in 0..reader.count(SETS_MAX)? {
        let subjects = count(&mut reader)?;
        let predicates = pairs(&mut reader, predicate_room)?;
        predicate_room -= predicates.len();
        let classes = match reader.varint()? {
            0 => None,
            1 => Some(pairs(&mut reader, class_room)?),
            _ => return Err(DAMAGED),
        };
        class_room -= classes.as_ref().map_or(0, Vec::len);
        // A subject has each of the predicates at least once, and each class once.
        let fits = predicates.iter().all(|(_, quads)| *quads >= subjects)
            && classes.iter().flatten().all(|(_, of_class)| *of_class <= subjects);
        if subjects == 0 || predicates.is_empty() || !fits {
            return Err(DAMAGED);
        }
        sets.push(StarSet { subjects, predicates, classes });
    }
    let others = reader.varint().and_then(in_range)?;
    let (subjects, quads) = (pairs(&mut reader, OTHERS_MAX)?, pairs(&mut reader, OTHERS_MAX)?);
    let mut other_predicates = BTreeMap::new();
    for (subjects, quads) in subjects.iter().zip(&quads) {
        if subjects.0 != quads.0 || subjects.1 > others || subjects.1 > quads.1 {
            return Err(DAMAGED);
        }
        other_predicates.insert(subjects.0, Other { subjects: subjects.1, quads: quads.1 });
    }
    if subjects.len() != quads.len() || !reader.rest().is_empty() {
        return Err(DAMAGED);
    }
    Ok(CharacteristicSets::new(class_predicate, sets, others, other_predicates))
}

/// A number of subjects or quads: so small that sums do not overflow.
fn in_range(count: u64) -> Result<u64, Damage> {
    if count < 1 << 44 { Ok(count) } else { Err(Damage("a count is too large")) }
}

/// A number that is not zero.
fn count(reader: &mut Reader<'_>) -> Result<u64, Damage> {
    let count = reader.varint().and_then(in_range)?;
    if count == 0 { Err(DAMAGED) } else { Ok(count) }
}

fn pairs(reader: &mut Reader<'_>, max: usize) -> Result<Vec<(u64, u64)>, Damage> {
    let mut pairs: Vec<(u64, u64)> = Vec::new();
    for _ in 0..reader.count(max)? {
        let difference = reader.varint()?;
        let id = match pairs.last() {
            Some(_) if difference == 0 => return Err(DAMAGED),
            Some((before, _)) => before.checked_add(difference).ok_or(DAMAGED)?,
            None => difference,
        };
        pairs.push((id, count(reader)?));
    }
    Ok(pairs)
}
