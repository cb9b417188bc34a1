//! Compressed inputs: recognised, read whole, and damage is told.

use super::*;
use std::io::Write;

pub(super) fn compressed(compression: Compression, plain: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    match compression {
        Compression::None => out.extend_from_slice(plain),
        Compression::Gzip => {
            let mut encoder = flate2::write::GzEncoder::new(&mut out, flate2::Compression::fast());
            encoder.write_all(plain).unwrap();
            encoder.finish().unwrap();
        }
        Compression::Bzip2 => {
            let mut encoder = bzip2::write::BzEncoder::new(&mut out, bzip2::Compression::fast());
            encoder.write_all(plain).unwrap();
            encoder.finish().unwrap();
        }
        Compression::Zstd => {
            let mut encoder = zstd::stream::write::Encoder::new(&mut out, 1).unwrap();
            encoder.include_checksum(true).unwrap();
            encoder.write_all(plain).unwrap();
            encoder.finish().unwrap();
        }
        Compression::Xz => {
            let mut encoder = liblzma::write::XzEncoder::new(&mut out, 1);
            encoder.write_all(plain).unwrap();
            encoder.finish().unwrap();
        }
    }
    out
}

pub(super) const COMPRESSIONS: [Compression; 4] =
    [Compression::Gzip, Compression::Bzip2, Compression::Zstd, Compression::Xz];

fn read(bytes: &[u8]) -> (io::Result<Vec<u8>>, Compression, u64) {
    let count = Arc::new(AtomicU64::new(0));
    let mut input = Input::new(Box::new(bytes), Arc::clone(&count)).unwrap();
    let mut plain = Vec::new();
    let result = input.read_to_end(&mut plain).map(|_| plain);
    (result, input.compression(), count.load(Ordering::Relaxed))
}

pub(super) fn sample() -> Vec<u8> {
    (0..50_000_u32).flat_map(|i| format!("{} line\n", i.wrapping_mul(2_654_435_761)).into_bytes()).collect()
}

#[test]
fn all_compressions_are_read() {
    let plain = sample();
    for compression in COMPRESSIONS.into_iter().chain([Compression::None]) {
        let bytes = compressed(compression, &plain);
        let (result, found, count) = read(&bytes);
        assert_eq!((result.unwrap() == plain, found, count), (true, compression, bytes.len() as u64));
    }
}

#[test]
fn several_members_follow_each_other() {
    for compression in COMPRESSIONS {
        let mut bytes = compressed(compression, b"one\n");
        bytes.extend(compressed(compression, b""));
        bytes.extend(compressed(compression, b"two\n"));
        assert_eq!(read(&bytes).0.unwrap(), b"one\ntwo\n", "{compression}");
    }
}

#[test]
fn cut_archives_are_errors() {
    let plain = sample();
    for compression in COMPRESSIONS {
        let bytes = compressed(compression, &plain);
        for keep in [bytes.len() / 2, bytes.len() - 1, 12] {
            let error = read(&bytes[..keep]).0.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData);
            assert!(error.to_string().contains(&compression.to_string()), "{error}");
        }
    }
}

#[test]
fn damaged_archives_are_errors() {
    let plain = sample();
    for compression in COMPRESSIONS {
        let mut bytes = compressed(compression, &plain);
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x55;
        let error = read(&bytes).0.unwrap_err();
        assert!(error.to_string().contains("damaged"), "{compression}: {error}");
    }
}

#[test]
fn short_and_empty_inputs() {
    for text in [b"".as_slice(), b"a", b"BZ", b"\x1F"] {
        assert_eq!(read(text).0.unwrap(), text);
    }
}

#[test]
fn bytes_one_by_one() {
    struct OneByOne(Vec<u8>, usize);
    impl Read for OneByOne {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some(&byte) = self.0.get(self.1) else { return Ok(0) };
            buffer[0] = byte;
            self.1 += 1;
            Ok(1)
        }
    }
    let source = OneByOne(compressed(Compression::Xz, b"text"), 0);
    let mut input = Input::new(Box::new(source), Arc::default()).unwrap();
    let mut text = String::new();
    input.read_to_string(&mut text).unwrap();
    assert_eq!((text.as_str(), input.compression()), ("text", Compression::Xz));
}
