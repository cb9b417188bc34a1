//! Codings as clients name them, and what comes back of what was encoded.

use super::{Coding, Decoding};
use axum::http::{HeaderMap, HeaderValue, header};
use bytes::Bytes;
use compression_codecs::core::Level;
use compression_codecs::core::util::{PartialBuffer, WriteBuffer};
use compression_codecs::{BrotliEncoder, EncodeV2, GzipEncoder, ZstdEncoder};
use std::io;

fn accepted(value: &str) -> Option<Coding> {
    let header = (header::ACCEPT_ENCODING, HeaderValue::from_str(value).unwrap());
    Coding::accepted(&HeaderMap::from_iter([header]))
}

#[test]
fn the_best_that_a_client_takes() {
    for (value, coding) in [
        ("", None),
        ("identity", None),
        ("deflate", None),
        ("gzip", Some(Coding::Gzip)),
        ("x-unknown, BR", Some(Coding::Brotli)),
        ("gzip, deflate, br, zstd", Some(Coding::Zstd)),
        ("zstd;q=0.5, gzip;q=0.9", Some(Coding::Gzip)),
        ("zstd;q=0, br;q=0, gzip;q=0", None),
        ("gzip;q=0.5, identity;q=0.9", None),
        ("gzip;q=0.5, identity;q=0.5", Some(Coding::Gzip)),
        ("*", Some(Coding::Gzip)),
        ("*;q=0", None),
        ("gzip;q=x", None),
    ] {
        assert_eq!(accepted(value), coding, "{value}");
    }
    assert_eq!(Coding::accepted(&HeaderMap::new()), None);
}

#[test]
fn codings_of_bodies() {
    let of_body = |value: &str| {
        let header = (header::CONTENT_ENCODING, HeaderValue::from_str(value).unwrap());
        Coding::of_body(&HeaderMap::from_iter([header]))
    };
    assert_eq!(of_body("identity"), Ok(None));
    assert_eq!(of_body("X-GZIP"), Ok(Some(Coding::Gzip)));
    assert_eq!(of_body("br"), Ok(Some(Coding::Brotli)));
    // Nobody needs several, and each multiplies what a few bytes may stand for.
    for name in ["gzip, gzip", "compress", "*"] {
        assert_eq!(of_body(name), Err(name.to_owned()));
    }
}

fn encoded(coding: Coding, text: &[u8]) -> Vec<u8> {
    let mut encoder: Box<dyn EncodeV2> = match coding {
        Coding::Zstd => Box::new(ZstdEncoder::new(3)),
        Coding::Brotli => Box::new(BrotliEncoder::new(Default::default())),
        Coding::Gzip => Box::new(GzipEncoder::new(Level::Default.into())),
    };
    let mut bytes = vec![0; text.len() + 1000];
    let mut output = WriteBuffer::new_initialized(&mut bytes);
    let mut input = PartialBuffer::new(text);
    encoder.encode(&mut input, &mut output).unwrap();
    assert!(encoder.finish(&mut output).unwrap());
    let length = output.written_len();
    bytes.truncate(length);
    bytes
}

/// What comes out where the bytes come in parts of this length; the longest piece as well.
fn decoded(coding: Coding, bytes: &[u8], part: usize) -> io::Result<(Vec<u8>, usize)> {
    let (mut decoding, mut text, mut longest) = (Decoding::new(coding), Vec::new(), 0);
    for part in bytes.chunks(part) {
        decoding.feed(Bytes::copy_from_slice(part));
        while let Some(piece) = decoding.piece()? {
            longest = longest.max(piece.len());
            text.extend_from_slice(&piece);
        }
    }
    decoding.end()?;
    Ok((text, longest))
}

/// Text that compresses to some extent.
fn text(bytes: usize) -> Vec<u8> {
    let words = (0_u64..).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40);
    words.flat_map(|n| format!("<http://e/{n}> ").into_bytes()).take(bytes).collect()
}

#[test]
fn what_was_encoded_comes_back_however_it_is_cut() {
    for coding in Coding::ALL {
        for length in [0, 1, 1000, 65_536, 65_537, 300_000] {
            let text = text(length);
            let bytes = encoded(coding, &text);
            for part in [1, 7, 1000, usize::MAX] {
                assert_eq!(decoded(coding, &bytes, part).unwrap().0, text, "{coding:?} {length} {part}");
            }
            let cut = decoded(coding, &bytes[..bytes.len() - 1], 1000);
            // Of the shortest stream nothing is left, which is an empty body.
            assert!(cut.is_err() || bytes.len() == 1, "{coding:?} {length}");
        }
        let two = [encoded(coding, b"one "), encoded(coding, b"two")].concat();
        assert_eq!(decoded(coding, &two, 1000).unwrap().0, b"one two", "{coding:?}");
        assert!(decoded(coding, b"nothing of that kind at all", 1000).is_err(), "{coding:?}");
        assert_eq!(decoded(coding, b"", 1000).unwrap().0, b"", "{coding:?}");
    }
}

#[test]
fn a_bomb_comes_in_pieces() {
    let zeros = vec![b' '; 64 << 20];
    for coding in Coding::ALL {
        let bytes = encoded(coding, &zeros);
        assert!(bytes.len() < 100_000, "{coding:?}");
        let (text, longest) = decoded(coding, &bytes, usize::MAX).unwrap();
        assert_eq!((text.len(), longest), (zeros.len(), 64 << 10), "{coding:?}");
    }
}

#[test]
fn windows_have_a_limit() {
    // A frame that asks for 64 MiB, and a stream of brotli that asks for 1 GiB.
    let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x80, 0x01, 0x00, 0x00];
    assert!(decoded(Coding::Zstd, &frame, 100).is_err());
    assert!(decoded(Coding::Brotli, &[0x11, 0x1e, 0x00, 0x00, 0x03], 100).is_err());
}
