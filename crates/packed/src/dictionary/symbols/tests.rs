//! Texts there and back, and tables and codes that no encoder wrote.

#![expect(clippy::single_range_in_vec_init, reason = "one block")]

use super::*;
use proptest::prelude::*;
use std::ops::Range;

const PIECE_BYTES: usize = 64;

/// Encodes the parts `blocks` of `text` with symbols found in `sample`, and compares what comes back. Returns the lengths.
fn there_and_back(text: &[u8], blocks: &[Range<usize>], sample: &[u8]) -> Vec<Option<usize>> {
    let mut encoder = Encoder::default();
    Trainer::default().train(sample, PIECE_BYTES, &mut encoder);
    let table = encoder.table();
    let mut stored = Vec::new();
    table.write(&mut stored);
    assert_eq!(stored.len(), table.stored_bytes());
    let table = SymbolTable::read(&mut Reader::new(&stored)).unwrap();

    let mut encoded = vec![0; text.len()];
    let mut lens = vec![None; blocks.len()];
    let mut heard = 0;
    encoder.encode(text, blocks, &mut encoded, &mut |block, len| {
        lens[block] = len;
        heard += 1;
    });
    assert_eq!(heard, blocks.len());
    for (block, len) in blocks.iter().zip(&lens) {
        let Some(len) = *len else { continue };
        assert!(len < block.len() || block.is_empty());
        let codes = &encoded[block.start..block.start + len];
        assert!(SymbolTable::raw_bytes_max(codes) >= block.len());
        let mut raw = vec![0xAA; block.len()];
        table.decode(codes, &mut raw).unwrap();
        assert_eq!(raw, &text[block.clone()]);
        // Any other length is noticed.
        raw.push(0);
        assert!(table.decode(codes, &mut raw).is_err());
        raw.truncate(block.len().saturating_sub(1));
        assert!(block.is_empty() || table.decode(codes, &mut raw).is_err());
    }
    lens
}

fn whole(text: &[u8]) -> Option<usize> {
    there_and_back(text, &[0..text.len()], text)[0]
}

fn words(len: usize) -> Vec<u8> {
    let words = [&b"http://example.org/"[..], b"product", b"-12345", b"\x07\0\x01", b"Offer", b"z\xFF"];
    let mut text = Vec::new();
    for i in 0_usize.. {
        if text.len() >= len {
            break;
        }
        text.extend_from_slice(words[(i * i / 3 + i) % words.len()]);
    }
    text.truncate(len);
    text
}

fn noise(len: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..len).map(|_| next()).collect()
}

#[test]
fn every_length() {
    for len in (0..200).chain([1000, 8191, 8192, 8193, 65_535, 70_000]) {
        let text = words(len);
        let encoded = whole(&text);
        assert!(len < 1000 || encoded.is_some_and(|encoded| encoded * 2 < len), "{len}: {encoded:?}");
        whole(&vec![0; len]);
        whole(&vec![255; len]);
        whole(&noise(len));
    }
}

#[test]
fn all_bytes() {
    let all: Vec<u8> = (0..=255).collect();
    whole(&all);
    assert_eq!(there_and_back(&all, &[0..256], b"nothing like it"), [None]);
    whole(&all.repeat(300));
}

#[test]
fn blocks_of_all_sizes_side_by_side() {
    let text = [words(9000), noise(300), words(2000)].concat();
    let mut blocks = Vec::new();
    let mut start = 0;
    for len in [0, 1, 2, 3, 4, 7, 8, 9, 0, 4000, 15, 16, 17, 3000, 1, 1000, 300, 2000] {
        blocks.push(start..(start + len).min(text.len()));
        start = (start + len).min(text.len());
    }
    for count in 0..=blocks.len() {
        there_and_back(&text, &blocks[..count], &text);
        there_and_back(&text, &blocks[count..], b"abcabcabc");
    }
    // A block is encoded as it is alone: symbols do not reach beyond its end.
    let together = there_and_back(&text, &blocks, &text);
    for (block, len) in blocks.iter().zip(together) {
        assert_eq!(there_and_back(&text, std::slice::from_ref(block), &text), [len]);
    }
}

#[test]
fn the_same_every_time() {
    let text = words(20_000);
    let (mut trainer, mut encoder) = (Trainer::default(), Encoder::default());
    let mut table = |sample: &[u8]| {
        trainer.train(sample, PIECE_BYTES, &mut encoder);
        let mut stored = Vec::new();
        encoder.table().write(&mut stored);
        stored
    };
    let first = table(&text);
    table(&noise(20_000));
    assert_eq!(table(&text), first);
}

#[test]
fn golden_table_and_codes() {
    let symbols = [&b"http://"[..], b"ab", b"c"].map(|symbol| {
        let mut bytes = [0; 8];
        bytes[..symbol.len()].copy_from_slice(symbol);
        Symbol { bytes: u64::from_le_bytes(bytes), len: symbol.len() }
    });
    let mut encoder = Encoder::default();
    encoder.fill(symbols.into_iter());
    let mut stored = Vec::new();
    encoder.table().write(&mut stored);
    assert_eq!(stored, b"\x03\x07\x02\x01http://abc");
    let text = b"http://abcabacchttp://";
    let mut codes = [0; 22];
    let mut len = None;
    encoder.encode(text, &[0..22], &mut codes, &mut |_, encoded| len = encoded);
    assert_eq!(codes[..len.unwrap()], [0, 1, 2, 1, 255, b'a', 2, 2, 0]);
}

#[test]
fn tables_that_cannot_be() {
    let read = |bytes: &[u8]| SymbolTable::read(&mut Reader::new(bytes)).map(|table| table.stored_bytes());
    assert_eq!(read(b"\0"), Ok(1));
    assert_eq!(read(b"\x01\x02ab"), Ok(4));
    for wrong in [&b""[..], b"\x01", b"\x01\0", b"\x01\x02a", b"\x01\x09123456789", b"\x02\x01\x00a"] {
        assert!(read(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn codes_that_cannot_be() {
    let table = SymbolTable::new(&[Symbol { bytes: u64::from_le_bytes(*b"abcdefgh"), len: 8 }]);
    let decode = |codes: &[u8], len: usize| table.decode(codes, &mut vec![0; len]);
    assert_eq!(decode(&[0; 100], 800), Ok(()));
    assert_eq!(decode(&[], 0), Ok(()));
    for (codes, len) in
        [(&[0; 100][..], 799), (&[0; 100], 801), (&[0; 100], 0), (&[255], 1), (&[255], 0), (&[7], 1)]
    {
        assert!(decode(codes, len).is_err(), "{} codes, {len}", codes.len());
    }
    // An escape with nothing after it, at each place of eight codes and with room for all of them.
    for before in 0..20 {
        let codes = [vec![0; before], vec![255]].concat();
        assert!(decode(&codes, 8 * before + 1).is_err());
        assert!(decode(&codes, 8 * before + 64).is_err());
        let codes = [&codes[..], b"x"].concat();
        assert_eq!(decode(&codes, 8 * before + 1), Ok(()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text(
        text in proptest::collection::vec(prop_oneof![Just(b'a'), b'a'..b'd', any::<u8>()], 0..3000),
        cut in any::<prop::sample::Index>(),
    ) {
        let cut = cut.index(text.len() + 1);
        there_and_back(&text, &[0..cut, cut..text.len()], &text[..cut]);
        whole(&text);
    }

    #[test]
    fn any_table_and_codes(
        stored in proptest::collection::vec(prop_oneof![1..9_u8, any::<u8>()], 1..400),
        codes in proptest::collection::vec(prop_oneof![0..40_u8, Just(255), any::<u8>()], 0..300),
        len in 0..1000_usize,
    ) {
        let stored = [&[(stored.len() / 5) as u8][..], &stored].concat();
        if let Ok(table) = SymbolTable::read(&mut Reader::new(&stored)) {
            let _ = table.decode(&codes, &mut vec![0; len]);
        }
    }
}
