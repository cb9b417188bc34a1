//! Mini-blocks: golden bytes of each kind, round trips, and damaged bytes.

use super::*;
use crate::format::MINI_ROWS;
use proptest::prelude::*;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn round_trip(values: &[u64]) -> (MiniHead, Vec<u8>) {
    let mut payload = Vec::new();
    let head = encode(values, &mut payload);
    assert_eq!(payload_bytes(head.tag, &payload, values.len()), Ok(payload.len()));
    let mut out = [7; MINI_ROWS];
    decode(head, &payload, values.len(), &mut out).unwrap();
    assert_eq!(&out[..values.len()], values);
    assert_eq!(first(head, &payload, values.len()), Ok(values[0]));
    (head, payload)
}

#[test]
fn golden_frame() {
    let (head, payload) = round_trip(&[1003, 1000, 1002, 1001, 1003]);
    assert_eq!((head.tag, head.base, hex(&payload).as_str()), (2, 1000, "6303"));
}

#[test]
fn golden_constant() {
    let (head, payload) = round_trip(&[5; 128]);
    assert_eq!((head.tag, head.base, payload.len()), (0, 5, 0));
}

#[test]
fn golden_delta() {
    let dense: Vec<u64> = (100..228).collect();
    let (head, payload) = round_trip(&dense);
    assert_eq!((head.tag, head.base, payload.len()), (98, 100, 0));
    let tens: Vec<u64> = (0..128).map(|i| i * 10).collect();
    let (head, payload) = round_trip(&tens);
    assert_eq!((head.tag, head.base, hex(&payload).as_str()), (131, 0, "0a"));
    let (head, payload) = round_trip(&[4, 4, 5, 5, 5, 6]);
    assert_eq!((head.tag, head.base, hex(&payload).as_str()), (66, 4, "24"));
}

#[test]
fn golden_bitmap() {
    let (head, payload) = round_trip(&[10, 11, 12, 13, 14, 15, 16, 17, 25]);
    assert_eq!((head.tag, head.base, hex(&payload).as_str()), (164, 10, "0f7f40"));
}

#[test]
fn golden_runs() {
    let values: Vec<u64> = (0..128).map(|i| 50 + (i + 4) / 10).collect();
    let (head, payload) = round_trip(&values);
    assert_eq!((head.tag, head.base, hex(&payload).as_str()), (166, 50, "0e060a0000"));
    let values: Vec<u64> = (0..128).map(|i| if i % 16 < 8 { 1 } else { 100 }).collect();
    let (head, payload) = round_trip(&values);
    assert_eq!((head.tag, head.base, &hex(&payload)[..10]), (165, 1, "1008080007"));
    let values: Vec<u64> = (0..128_u64).map(|i| ((i / 3 + i / 7) % 5) * 1_000_000_007).collect();
    let (head, _) = round_trip(&values);
    assert_eq!(head.tag, 167);
}

fn shapes() -> impl Strategy<Value = Vec<u64>> {
    let steps = |max: u64| proptest::collection::vec(0..max, 1..=128);
    let ascending = |steps: Vec<u64>, start: u64| -> Vec<u64> {
        steps
            .into_iter()
            .scan(start, |v, s| {
                *v = v.wrapping_add(s);
                Some(*v)
            })
            .collect()
    };
    prop_oneof![
        proptest::collection::vec(any::<u64>(), 1..=128),
        proptest::collection::vec((any::<u64>(), 0_u32..64).prop_map(|(v, s)| v >> s), 1..=128),
        (steps(2), 0..1_u64 << 60).prop_map(move |(s, start)| ascending(s, start)),
        (steps(9), 0..1_u64 << 60)
            .prop_map(move |(s, start)| ascending(s.into_iter().map(|s| s + 1).collect(), start)),
        (steps(1 << 40), 0..1_u64 << 60).prop_map(move |(s, start)| ascending(s, start)),
        proptest::collection::vec((any::<u64>(), 1_usize..40), 1..=128).prop_map(|runs| {
            let mut values: Vec<u64> =
                runs.into_iter().flat_map(|(v, n)| std::iter::repeat_n(v, n)).collect();
            values.truncate(128);
            values
        }),
        proptest::collection::vec((0_u64..5, 1_usize..20), 1..=128).prop_map(|runs| {
            let mut values: Vec<u64> =
                runs.into_iter().flat_map(|(v, n)| std::iter::repeat_n(v, n)).collect();
            values.sort_unstable();
            values.truncate(128);
            values
        }),
    ]
}

proptest! {
    #[test]
    fn any_values_round_trip(values in shapes()) {
        round_trip(&values);
    }

    #[test]
    fn any_bytes_decode_without_panic(
        tag in any::<u8>(), base in any::<u64>(), count in 1_usize..=128,
        bytes in proptest::collection::vec(any::<u8>(), 0..400),
    ) {
        let _ = payload_bytes(tag, &bytes, count);
        let _ = decode(MiniHead { tag, base }, &bytes, count, &mut [0; MINI_ROWS]);
        let _ = first(MiniHead { tag, base }, &bytes, count);
    }

    #[test]
    fn flipped_bits_decode_without_panic(values in shapes(), bit in any::<usize>()) {
        let mut payload = Vec::new();
        let head = encode(&values, &mut payload);
        if !payload.is_empty() {
            let bit = bit % (payload.len() * 8);
            payload[bit / 8] ^= 1 << (bit % 8);
            let _ = payload_bytes(head.tag, &payload, values.len());
            let _ = decode(head, &payload, values.len(), &mut [0; MINI_ROWS]);
        }
    }
}
