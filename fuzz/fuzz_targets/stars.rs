//! The sets of predicates of a segment: any bytes decode to sets that encode the same and can be asked, or are refused. Also with the
//! checksum put right, which a fuzzer would not find.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lode_base::checksum::checksum;
use lode_packed::{Star, StarMember, Stars};

fn ask(bytes: &[u8]) {
    let Ok(stars) = Stars::decode(bytes, "file") else { return };
    let again = Stars::decode(&stars.encode(), "file").expect("what was encoded");
    assert_eq!(again, stars);
    let member = |predicate, object| StarMember { predicate, object };
    let members = [member(1, None), member(2, Some(3)), member(stars.class_predicate().unwrap_or(4), Some(1))];
    let mut star = Star::new(members.len());
    stars.add_to(&members, &mut star);
    for wanted in 0..1 << members.len() {
        assert!(star.rows(wanted) >= 0.0 && star.subjects(wanted) >= 0.0);
    }
}

fuzz_target!(|data: &[u8]| {
    ask(data);
    let mut sealed = data.to_vec();
    sealed.extend_from_slice(&checksum(data).to_le_bytes());
    ask(&sealed);
});
