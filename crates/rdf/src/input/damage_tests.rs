//! Archives cut and flipped at random: a clear error, never a panic, never fewer bytes without a word.

use super::tests::{COMPRESSIONS, compressed, sample};
use super::*;
use proptest::prelude::*;
use std::io::Write;

/// What a stream gives before its end or its error.
fn read(bytes: &[u8]) -> (Vec<u8>, io::Result<()>) {
    let mut input = match Input::new(Box::new(bytes), Arc::default()) {
        Ok(input) => input,
        Err(error) => return (Vec::new(), Err(error)),
    };
    let (mut plain, mut spare) = (Vec::new(), Vec::new());
    loop {
        match input.next_block(spare) {
            Ok(block) if block.is_empty() => return (plain, Ok(())),
            Ok(block) => {
                plain.extend_from_slice(block.as_bytes());
                spare = block.into_buffer();
            }
            Err(error) => return (plain, Err(error)),
        }
    }
}

/// The same through the members of blocked gzip.
fn read_members(bytes: &[u8]) -> (Vec<u8>, io::Result<()>) {
    let mut plain = Vec::new();
    let result = (|| {
        let Ok(mut members) = Input::new(Box::new(bytes), Arc::default())?.into_members() else {
            return Err(io::Error::other("not blocked"));
        };
        let mut decoder = MemberDecoder::new(&members);
        loop {
            match members.next_batch(Vec::new())? {
                MemberBatch::Members(batch) => {
                    plain.extend_from_slice(decoder.decode(&batch, Vec::new())?.as_bytes());
                }
                MemberBatch::Other(mut input) => drop(input.read_to_end(&mut plain)?),
                MemberBatch::End => return Ok(()),
            }
        }
    })();
    (plain, result)
}

/// Blocked gzip of a text.
fn blocked(plain: &[u8], block_bytes: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for part in plain.chunks(block_bytes).chain([&[][..]]) {
        let member = compressed(Compression::Gzip, part);
        let length = u16::try_from(member.len() + 8 - 1).unwrap().to_le_bytes();
        out.extend([0x1F, 0x8B, 8, 4, 0, 0, 0, 0, 0, 0xFF, 6, 0, b'B', b'C', 2, 0, length[0], length[1]]);
        out.extend_from_slice(&member[10..]);
    }
    out
}

#[test]
fn blocked_gzip_both_ways() {
    let plain = sample();
    let bytes = blocked(&plain, 60_000);
    assert!(bytes.ends_with(&blocked(b"", 1)), "{:?}", &bytes[bytes.len() - 40..]);
    for (read, result) in [read(&bytes), read_members(&bytes)] {
        result.unwrap();
        assert!(read == plain);
    }
    // Files of blocked gzip one after the other, and then one of the other kind.
    let mut bytes = [bytes.clone(), bytes].concat();
    bytes.extend(compressed(Compression::Gzip, b"the end\n"));
    let whole = [&plain[..], &plain[..], b"the end\n"].concat();
    for (read, result) in [read(&bytes), read_members(&bytes)] {
        result.unwrap();
        assert!(read == whole);
    }
}

#[test]
fn blocked_gzip_without_its_last_member_has_been_cut() {
    let plain = sample();
    let bytes = blocked(&plain, 60_000);
    let whole_members = bytes.len() - blocked(b"", 1).len();
    let error = read_members(&bytes[..whole_members]).1.unwrap_err();
    assert!(error.to_string().contains("ends too early"), "{error}");
}

#[test]
fn zeros_after_the_end_fill_up_a_medium_and_other_bytes_do_not() {
    let mut bytes = compressed(Compression::Gzip, b"text\n");
    bytes.extend([0; 5000]);
    assert_eq!(read(&bytes).0, b"text\n");
    read(&bytes).1.unwrap();
    bytes.push(1);
    assert!(read(&bytes).1.unwrap_err().to_string().contains("not gzip"));
}

#[test]
fn data_that_needs_too_much_memory_is_not_called_damaged() {
    let mut zstd = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    zstd.long_distance_matching(true).unwrap();
    zstd.window_log(28).unwrap();
    zstd.write_all(&sample()).unwrap();
    let error = read(&zstd.finish().unwrap()).1.unwrap_err();
    assert!(error.to_string().contains("more memory than it may have"), "{error}");
}

/// Lines of many kinds: some compress well, some do not.
fn text() -> impl Strategy<Value = Vec<u8>> {
    (0_u32..60_000, 1_u32..200, any::<u32>()).prop_map(|(lines, repeat, seed)| {
        let line = |i: u32| format!("<http://e/{}> \"{}\"\n", i / repeat, i.wrapping_mul(seed | 1));
        (0..lines).map(line).collect::<String>().into_bytes()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn members_of_any_size_are_read_as_another_decoder_reads_them(
        parts in prop::collection::vec(text(), 1..4),
        piece in 1_usize..5000,
    ) {
        let bytes: Vec<u8> = parts.iter().flat_map(|part| compressed(Compression::Gzip, part)).collect();
        let plain = parts.concat();
        let mut other = Vec::new();
        flate2::bufread::MultiGzDecoder::new(&bytes[..]).read_to_end(&mut other).unwrap();
        prop_assert!(other == plain);
        let (blocks, result) = read(&bytes);
        prop_assert!(result.is_ok() && blocks == plain);
        // Read in pieces of any size, from a source that gives as it likes.
        // A chain of readers takes a bit of the stack for each, also to drop it.
        if bytes.len() / piece < 500 {
            let source = bytes.chunks(piece).fold(Box::new(io::empty()) as Box<dyn Read + Send>, |before, chunk| {
                Box::new(before.chain(chunk))
            });
            let mut input = Input::new(source, Arc::default()).unwrap();
            let mut read = Vec::new();
            input.read_to_end(&mut read).unwrap();
            prop_assert!(read == plain);
        }
    }

    #[test]
    fn cut_archives_are_errors_and_what_came_before_is_right(plain in text(), at in any::<prop::sample::Index>()) {
        for compression in COMPRESSIONS {
            let bytes = compressed(compression, &plain);
            let keep = at.index(bytes.len());
            // What is too short to be recognised is not an archive; the other checks of a load are for that.
            if keep < 18 {
                continue;
            }
            let (read, result) = read(&bytes[..keep]);
            prop_assert!(result.is_err(), "{compression}: {keep} of {}", bytes.len());
            prop_assert!(plain.starts_with(&read), "{compression}");
        }
        let bytes = blocked(&plain, 30_000);
        let (read, result) = read_members(&bytes[..18.max(at.index(bytes.len()))]);
        prop_assert!(result.is_err());
        prop_assert!(plain.starts_with(&read));
    }

    #[test]
    fn flipped_bits_are_errors_or_harmless(
        plain in text(),
        at in any::<prop::sample::Index>(),
        bit in 0_u8..8,
    ) {
        for compression in COMPRESSIONS {
            let mut bytes = compressed(compression, &plain);
            let place = at.index(bytes.len());
            bytes[place] ^= 1 << bit;
            if Compression::detect(&bytes) != compression {
                continue;
            }
            let (read, result) = read(&bytes);
            prop_assert!(result.is_err() || read == plain, "{compression}: bit {bit} of byte {place}");
        }
        let mut bytes = blocked(&plain, 30_000);
        let place = at.index(bytes.len());
        bytes[place] ^= 1 << bit;
        let (read, result) = read_members(&bytes);
        prop_assert!(result.is_err() || read == plain, "blocked: bit {bit} of byte {place}");
    }
}
