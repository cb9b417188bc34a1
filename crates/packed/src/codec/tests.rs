//! Columns: golden bytes of each codec, round trips, and damaged bytes.

use super::*;
use proptest::prelude::*;

fn encode(values: &[u64]) -> Vec<u8> {
    let mut out = Vec::new();
    ColumnEncoder::default().encode(&ColumnValues::of(values), Hints::default(), &mut out);
    out
}

fn decode(bytes: &[u8], rows: usize) -> Result<Vec<u64>, Damage> {
    let column = Column::parse(bytes, rows)?;
    let mut values = Vec::new();
    let mut mini: Mini = [0; _];
    for (i, start) in (0..rows).step_by(MINI_ROWS).enumerate() {
        column.decode(bytes, i, &mut mini)?;
        assert_eq!(column.first(bytes, i), Ok(mini[0]));
        values.extend_from_slice(mini.get(..rows - start).unwrap_or(&mini));
    }
    Ok(values)
}

fn round_trip(values: &[u64]) -> Vec<u8> {
    let bytes = encode(values);
    assert_eq!(decode(&bytes, values.len()).as_deref(), Ok(values));
    bytes
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[test]
fn golden_constant() {
    assert_eq!(hex(&round_trip(&[0x10; 300])), "001000000000000000");
}

#[test]
fn golden_runs() {
    let values: Vec<u64> = (0..8192).map(|i| if i < 5000 { 7 } else { 9 }).collect();
    // Codec 1, 2 runs, base 7, width 2, values 0 and 2, ends 4999 and 8191 in 13 bits each.
    assert_eq!(hex(&round_trip(&values)), "01020700000000000000020887f3ff03");
}

#[test]
fn golden_affine() {
    let day = 86_400_000;
    let values: Vec<u64> = [5, 2, 3, 9].map(|d| (1 << 62) + d * day).to_vec();
    // Codec 2, base, stride, no byte of base (0), one tag: frame of width 3, and 3, 0, 1, 7 packed.
    assert_eq!(hex(&round_trip(&values)), "0200b84c0a0000004080b899290003430e");
}

#[test]
fn golden_table() {
    let names = [1 << 40, 5 << 50, 3 << 33];
    let values: Vec<u64> = (0..512).map(|i| names[i * i % 7 % 3]).collect();
    let bytes = round_trip(&values);
    assert_eq!(bytes[0], TABLE);
    assert_eq!(bytes[1], 3);
}

#[test]
fn golden_dense() {
    let (number, date) = (0x30 << 56, 0x48 << 56);
    let stretch = |i: u64| {
        if (i / 200).is_multiple_of(2) { number + i * i % 1021 } else { date + i * i % 4099 * 86_400_000 }
    };
    let values: Vec<u64> = (0..8000).map(stretch).collect();
    let bytes = round_trip(&values);
    // Codec 6; 2 kinds: base, stride and number of codes.
    assert_eq!(hex(&bytes[..10]), "06020000000000000030");
    assert!(bytes.len() < 8000 * 2, "{}", bytes.len());
}

fn columns() -> impl Strategy<Value = Vec<u64>> {
    prop_oneof![
        proptest::collection::vec(any::<u64>(), 1..600),
        proptest::collection::vec(0..40_u64, 1..3000).prop_map(|v| v.into_iter().map(|v| v << 44).collect()),
        proptest::collection::vec((0..40_u64, 1_usize..900), 1..30).prop_map(|runs| {
            let mut v: Vec<u64> = runs.into_iter().flat_map(|(v, n)| std::iter::repeat_n(v, n)).collect();
            v.truncate(BLOCK_ROWS);
            v
        }),
        proptest::collection::vec(0..1_u64 << 20, 1..1500).prop_map(|mut v| {
            v.sort_unstable();
            v
        }),
        (proptest::collection::vec(0..3000_u64, 1..1500), 1..1_u64 << 30)
            .prop_map(|(v, stride)| v.into_iter().map(|v| (7 << 56) + v * stride).collect()),
        proptest::collection::vec((0..3_u64, 0..3000_u64), 1..1500)
            .prop_map(|v| v.into_iter().map(|(kind, v)| (kind << 56) + v * 1000).collect()),
    ]
}

proptest! {
    #[test]
    fn any_column_round_trips(values in columns()) {
        round_trip(&values);
    }

    #[test]
    fn long_columns_round_trip(values in proptest::collection::vec(any::<u32>().prop_map(u64::from), 0..20_000)) {
        let mut bytes = Vec::new();
        ColumnEncoder::default().encode_long(&values, &mut bytes);
        prop_assert_eq!(decode_long(&mut Reader::new(&bytes), values.len()), Ok(values));
    }

    #[test]
    fn damaged_columns_decode_without_panic(values in columns(), bit in any::<usize>(), cut in any::<usize>()) {
        let mut bytes = encode(&values);
        let cut = cut % bytes.len();
        let _ = decode_any(&bytes[..cut], values.len());
        let bit = bit % (bytes.len() * 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
        let _ = decode_any(&bytes, values.len());
    }
}

fn decode_any(bytes: &[u8], rows: usize) -> Result<(), Damage> {
    let column = Column::parse(bytes, rows)?;
    for mini in 0..rows.div_ceil(MINI_ROWS) + 1 {
        let _ = column.decode(bytes, mini, &mut [0; MINI_ROWS]);
        let _ = column.first(bytes, mini);
    }
    Ok(())
}
