//! How many bytes two keys have in common.

/// How many bytes `a` and `b` have in common at their beginning: eight at a time, then one by one.
#[inline]
pub fn shared_prefix(a: &[u8], b: &[u8]) -> usize {
    let mut shared = 0;
    for (a, b) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        if a != b {
            break;
        }
        shared += 8;
    }
    let rest = |bytes| <[u8]>::get(bytes, shared..).unwrap_or(&[]).iter();
    shared + rest(a).zip(rest(b)).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    //! Against one byte at a time.
    use super::shared_prefix;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_where_they_first_differ(a in "[ab]{0,40}", b in "[ab]{0,40}", shared in "[abc]{0,40}") {
            let (a, b) = (shared.clone() + &a, shared + &b);
            let wanted = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
            prop_assert_eq!(shared_prefix(a.as_bytes(), b.as_bytes()), wanted);
        }
    }
}
