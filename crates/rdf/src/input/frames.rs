//! Where a compressed file may be cut, so that several read it: at the frames of Zstandard, and at the members of blocked gzip (`bgzip`), where there is more
//! than one. What follows such a place is a compressed stream of its own. Only headers are read, nothing is decoded.

use super::blocked::END;
use super::member_header::{HEADER_BYTES, member_bytes};
use lode_base::vfs::ReadAt;
use std::io;

/// A frame of Zstandard begins with this.
const ZSTD: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];
/// One that is to be passed over begins with this, but for four bits of the first byte.
const SKIPPED: [u8; 4] = [0x50, 0x2A, 0x4D, 0x18];

/// Places in a file where frames begin, each at least so many bytes behind the one before, and not too near to the end; none where the file is not compressed
/// so, or is not whole: then it is read from its beginning, and whoever does so says what is wrong.
///
/// # Errors
/// Where the file cannot be read.
pub fn frame_starts(file: &dyn ReadAt, bytes_min: u64) -> io::Result<Vec<u64>> {
    let (mut starts, mut at, mut last) = (Vec::new(), 0, 0);
    while at < file.len() {
        if at >= last + bytes_min && file.len() - at >= bytes_min / 2 {
            starts.push(at);
            last = at;
        }
        let Some(next) = frame_end(file, at)?.filter(|next| *next <= file.len()) else {
            return Ok(Vec::new());
        };
        at = next;
    }
    Ok(starts)
}

/// Where the frame that begins at a place ends; none where that is not told.
fn frame_end(file: &dyn ReadAt, at: u64) -> io::Result<Option<u64>> {
    let mut header = [0; HEADER_BYTES];
    let bytes = header.len().min(usize::try_from(file.len() - at).unwrap_or(usize::MAX));
    let header = header.get_mut(..bytes).unwrap_or_default();
    file.read_exact_at(header, at)?;
    if let Some(bytes) = member_bytes(header) {
        let next = at + bytes as u64;
        // Without its last member, which is empty, a file has been cut.
        return Ok((next != file.len() || bytes == END.len()).then_some(next));
    }
    match header.split_first_chunk::<4>() {
        Some((magic, rest)) if *magic == ZSTD => zstd_end(file, at, rest),
        Some((magic, rest)) if (magic[0] & 0xF0, &magic[1..]) == (SKIPPED[0], &SKIPPED[1..]) => {
            let size = rest.first_chunk().map(|size| u64::from(u32::from_le_bytes(*size)));
            Ok(size.map(|size| at + 8 + size))
        }
        _ => Ok(None),
    }
}

/// Where a frame of Zstandard ends, of whose header this is what comes after the magic number.
fn zstd_end(file: &dyn ReadAt, at: u64, header: &[u8]) -> io::Result<Option<u64>> {
    let Some(descriptor) = header.first() else { return Ok(None) };
    let is_single = descriptor & 0x20 != 0;
    let size_bytes = match (descriptor >> 6, is_single) {
        (0, false) => 0,
        (0, true) => 1,
        (1, _) => 2,
        (2, _) => 4,
        _ => 8,
    };
    let dictionary_bytes = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let mut next = at + 4 + 1 + u64::from(!is_single) + dictionary_bytes + size_bytes;
    loop {
        let mut block = [0; 3];
        if next + block.len() as u64 > file.len() {
            return Ok(None);
        }
        file.read_exact_at(&mut block, next)?;
        let block = u32::from_le_bytes([block[0], block[1], block[2], 0]);
        let bytes = match block >> 1 & 3 {
            // One byte that is repeated.
            1 => 1,
            3 => return Ok(None),
            _ => u64::from(block >> 3),
        };
        next += 3 + bytes;
        if block & 1 != 0 {
            let checksum_bytes = if descriptor & 4 != 0 { 4 } else { 0 };
            return Ok(Some(next + checksum_bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    //! Against what the libraries make: each piece is a stream of its own.
    use super::super::{Compression, Input};
    use super::*;
    use lode_base::mem_vfs::MemVfs;
    use lode_base::vfs::Vfs;
    use std::io::{Read, Write};
    use std::path::Path;
    use std::sync::Arc;

    fn text(line: usize) -> Vec<u8> {
        format!("<http://s/{line}> <http://p> \"{}\" .\n", line * 7919 % 1000)
            .repeat(line % 50 + 1)
            .into_bytes()
    }

    fn member(plain: &[u8]) -> Vec<u8> {
        let mut deflate = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        deflate.write_all(plain).unwrap();
        let body = deflate.finish().unwrap();
        let mut crc = flate2::Crc::new();
        crc.update(plain);
        let mut member = END[..16].to_vec();
        member.extend_from_slice(&((body.len() + 18 + 8 - 1) as u16).to_le_bytes());
        member.extend_from_slice(&body);
        member.extend_from_slice(&crc.sum().to_le_bytes());
        member.extend_from_slice(&(plain.len() as u32).to_le_bytes());
        member
    }

    fn zstd_frame(plain: &[u8], number: usize) -> Vec<u8> {
        if number % 5 == 4 {
            return [&[0x53, 0x2A, 0x4D, 0x18, 3, 0, 0, 0][..], b"any"].concat();
        }
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.include_checksum(number.is_multiple_of(2)).unwrap();
        if number.is_multiple_of(3) {
            encoder.set_pledged_src_size(Some(plain.len() as u64)).unwrap();
        }
        encoder.write_all(plain).unwrap();
        encoder.finish().unwrap()
    }

    fn starts(bytes: &[u8], bytes_min: u64) -> Vec<u64> {
        let vfs = MemVfs::new();
        vfs.create(Path::new("/f")).unwrap().write_all(bytes).unwrap();
        frame_starts(&*vfs.open(Path::new("/f")).unwrap(), bytes_min).unwrap()
    }

    fn plain(bytes: &[u8]) -> Vec<u8> {
        let mut plain = Vec::new();
        Input::new(Box::new(bytes), Arc::default()).unwrap().read_to_end(&mut plain).unwrap();
        plain
    }

    #[test]
    fn each_piece_is_a_stream_of_its_own() {
        let blocked: Vec<Vec<u8>> = (0..90).map(|line| member(&text(line))).chain([END.to_vec()]).collect();
        // Some of the frames have many blocks.
        let long = |number: usize| text(number).repeat(if number.is_multiple_of(7) { 400 } else { 1 });
        let zstd: Vec<Vec<u8>> = (0..90).map(|number| zstd_frame(&long(number), number)).collect();
        for (frames, compression) in [(blocked, Compression::Gzip), (zstd, Compression::Zstd)] {
            let bytes = frames.concat();
            assert_eq!(Compression::detect(&bytes), compression);
            let ends: Vec<u64> = frames
                .iter()
                .scan(0, |at, frame| {
                    *at += frame.len() as u64;
                    Some(*at)
                })
                .collect();
            assert_eq!(starts(&bytes, 1), ends[..ends.len() - 1], "{compression}");
            for bytes_min in [1, 100, 1000] {
                let cuts = starts(&bytes, bytes_min);
                assert!(cuts.len() > 1 && cuts.windows(2).all(|two| two[1] - two[0] >= bytes_min));
                let all = [&[0][..], &cuts, &[bytes.len() as u64]].concat();
                let pieces = all.windows(2).map(|two| plain(&bytes[two[0] as usize..two[1] as usize]));
                assert!(pieces.collect::<Vec<_>>().concat() == plain(&bytes), "{compression} {bytes_min}");
            }
            // What is not whole is not cut, nor what has something else behind it.
            for end in [bytes.len() - 1, bytes.len() - 5] {
                assert!(starts(&bytes[..end], 1).is_empty(), "{compression} {end}");
            }
            assert!(starts(&[&bytes[..], b"and more of it"].concat(), 1).is_empty());
        }
        assert!(starts(&(0..3).flat_map(|line| member(&text(line))).collect::<Vec<_>>(), 1).is_empty());
    }

    #[test]
    fn what_is_not_made_of_frames_is_not_cut() {
        let one = zstd_frame(&text(30).repeat(1000), 1);
        for bytes in
            [&b""[..], b"<http://s> <http://p> <http://o> .\n", &one, b"\x28\xB5\x2F\xFD", b"\x1F\x8B\x08"]
        {
            assert!(starts(bytes, 1).is_empty());
        }
        // Whatever a byte is changed to, no place is behind the end.
        let bytes = [zstd_frame(&text(3), 1), zstd_frame(&text(4), 2), zstd_frame(b"", 3)].concat();
        for at in 0..bytes.len() {
            for change in [1, 0x10, 0x80, 0xFF] {
                let mut changed = bytes.clone();
                changed[at] ^= change;
                assert!(starts(&changed, 1).iter().all(|start| *start < bytes.len() as u64));
            }
        }
    }
}
